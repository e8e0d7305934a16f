"""A genuine Slurm of one node for the tests: munged, slurmctld and slurmd on the loopback device, no database, no systemd.

It wants root, as slurmd does, and Debian's packages ``slurm-wlm`` and ``munge``. All files lie in one folder; nothing of the
machine's own Slurm is read or changed.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "sinfo")
#: The node has more processors than the machine may have, so that several jobs run at once.
PROCESSORS = 4
MEMORY = 16000  # MB; nobody holds the jobs to it

CONFIGURATION = """\
ClusterName=polhode
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CryptoType=crypto/munge
# On the loopback device alone.
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
# What needs neither control groups nor a database.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
# Processors are promised that the machine need not have.
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
# Finished jobs are remembered as on a cluster that keeps the default or more.
MinJobAge={min_job_age}
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1
ReturnToService=2
NodeName=node NodeHostname={host} NodeAddr=127.0.0.1 CPUs={processors} RealMemory={memory} State=UNKNOWN
PartitionName=all Nodes=node Default=YES MaxTime=INFINITE State=UP
"""


def why_not() -> str | None:
    """The reason why Slurm cannot be started here; None where it can."""
    if not sys.platform.startswith("linux"):
        return "Slurm runs on Linux"
    if os.geteuid() != 0:
        return "slurmd wants root"
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    missing = [name for name in PROGRAMS if shutil.which(name, path=path) is None]
    if missing:
        return f"{', '.join(missing)} not installed (Debian: apt-get install slurm-wlm munge)"
    return None


class Cluster:
    """Slurm from ``with`` to its end, whatever happens in between. ``environment`` tells commands where it is."""

    def __init__(self, folder: Path, min_job_age: int = 3600) -> None:
        self.folder = folder
        self.min_job_age = min_job_age
        self.daemons: list[subprocess.Popen[bytes]] = []
        path = f"{folder / 'bin'}:{os.environ['PATH']}:/usr/sbin:/sbin"
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": path}

    def __enter__(self) -> "Cluster":
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def _start(self) -> None:
        for name in ("bin", "munge", "state", "spool"):
            (self.folder / name).mkdir(parents=True)
            (self.folder / name).chmod(0o755)
        # Snakemake's plugin takes all variables of Slurm from what a job starts, also the place of its configuration.
        srun = self.folder / "bin" / "srun"
        srun.write_text(f'#!/bin/sh\nSLURM_CONF={self.folder}/slurm.conf exec {shutil.which("srun")} "$@"\n')
        srun.chmod(0o755)
        munge = self.folder / "munge"
        (munge / "key").write_bytes(os.urandom(128))
        (munge / "key").chmod(0o600)
        text = CONFIGURATION.format(
            host=socket.gethostname().split(".")[0],
            folder=self.folder,
            ports=_free_ports(2),
            processors=PROCESSORS,
            memory=MEMORY,
            min_job_age=self.min_job_age,
        )
        (self.folder / "slurm.conf").write_text(text)
        # --force: the folder of the tests may be writable by a group, which munged does not like.
        places = [f"--{kind}-file={munge}/{kind}" for kind in ("key", "log", "pid", "seed")]
        self._daemon("munged", "--foreground", "--force", f"--socket={munge}/socket", *places)
        self._until((munge / "socket").exists, "munged")
        self._daemon("slurmctld", "-D", "-i")
        self._until(lambda: self.run("scontrol", "ping", check=False).returncode == 0, "slurmctld")
        self._daemon("slurmd", "-D", "-N", "node")
        self._until(lambda: "idle" in self.run("sinfo", "--noheader", "--format=%T").stdout, "slurmd")

    def _daemon(self, *command: str) -> None:
        log = open(self.folder / f"{command[0]}.out", "wb")  # noqa: SIM115 (the daemon keeps it)
        # In a session of its own: Ctrl-C ends the test, and the test ends the daemons.
        self.daemons.append(
            subprocess.Popen(
                command, stdout=log, stderr=log, env=os.environ | self.environment, start_new_session=True, cwd=self.folder
            )
        )
        log.close()

    def _until(self, happens: Callable[[], bool], what: str, seconds: float = 120.0) -> None:
        end = time.monotonic() + seconds
        while not happens():
            dead = [daemon.args[0] for daemon in self.daemons if daemon.poll() is not None]
            if dead or time.monotonic() > end:
                logs = [self.folder / f"{what}.out", self.folder / f"{what}.log", self.folder / "munge" / "log"]
                tails = "\n".join(f"{log.name}: {log.read_text()[-2000:]}" for log in logs if log.exists())
                raise RuntimeError(f"{what} did not start ({dead or 'no answer'}):\n{tails}")
            time.sleep(0.1)

    def run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """One of Slurm's commands."""
        environment = os.environ | self.environment
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=check)

    def jobs(self) -> list[dict[str, str]]:
        """All jobs that Slurm remembers; the plugin puts the rule into the comment."""
        fields = {"id": "%i", "state": "%T", "comment": "%k", "cpus": "%C", "memory": "%m", "time": "%l", "sharing": "%h"}
        listing = self.run("squeue", "--states=all", "--noheader", f"--format={'|'.join(fields.values())}").stdout
        return [dict(zip(fields, line.strip().split("|"), strict=True)) for line in listing.splitlines()]

    def stop(self) -> None:
        """End the jobs and the daemons."""
        if len(self.daemons) > 1:
            subprocess.run(["scancel", "--user=root"], env=os.environ | self.environment, capture_output=True, timeout=600)
            end = time.monotonic() + 10
            while time.monotonic() < end and self.run("squeue", "--noheader", check=False).stdout.strip():
                time.sleep(0.2)
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def _free_ports(number: int) -> list[int]:
    sockets = [socket.socket() for _ in range(number)]
    for connection in sockets:
        connection.bind(("127.0.0.1", 0))
    ports = [int(connection.getsockname()[1]) for connection in sockets]
    for connection in sockets:
        connection.close()
    return ports


def megabytes(text: str) -> int:
    """The memory of a job as squeue shows it: 1500M, 3G."""
    return round(float(text[:-1]) * {"M": 1, "G": 1024}[text[-1]])
