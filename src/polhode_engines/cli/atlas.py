"""Find out which integrators physics engines run: ``polhode atlas mujoco lammps --install``.

Each engine spins one rigid body in a process of its own. The table says which of our methods does the same step, the orders,
what becomes of energy and momentum of a free spin, and about which axis it turns in the end. Engines are installed only with
``--install``, each into an environment of its own below the cache folder. Rows that ``atlas.nc`` has of other engines and
options are kept.
``polhode atlas my_adapter.py`` runs an adapter of your own, and writes nothing unless ``--results`` says where.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from polhode.cli import UsageError, check_writable, positive
from polhode.interface.arguments import regular_file
from polhode.interface.progress import Stage, watched
from polhode.registry import nearest

#: Seconds that one run of one body may take.
LIMIT = 600.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``polhode atlas`` to a parser."""
    parser.add_argument(
        "engines",
        nargs="*",
        metavar="ENGINE",
        help="engines, or adapters of your own (my.py, or my.mjs for node); by default all that are installed",
    )
    parser.add_argument("--list", action="store_true", help="list the engines with their options, and run nothing")
    parser.add_argument("--install", action="store_true", help="install the engines named first, each in its own environment")
    parser.add_argument("--contacts", action="store_true", help="run impacts with friction instead, for contacts.nc")
    parser.add_argument("--liquids", action="store_true", help="run liquids of rigid molecules instead, for liquids_ENGINE.nc")
    parser.add_argument("--option", action="append", default=[], help="only this option of the engines; may be repeated")
    parser.add_argument("--results", type=Path, help="folder for atlas.nc (results; for adapters of your own none)")
    parser.add_argument("--limit", type=positive, default=LIMIT, help="seconds that one run may take (%(default)g)")
    parser.add_argument("--json", action="store_true", help="print the table as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Install if asked to, run, write ``atlas.nc`` and print the table; the status is 0.

    With ``--list`` it prints the engines alone; with ``--contacts`` or ``--liquids`` it runs these and writes their files.
    For adapters of one's own it writes nothing without ``--results``.

    Raises
    ------
    UsageError
        For an unknown engine or option, a folder that cannot be written, or nothing to run.
    """
    from polhode_engines import all_engines, atlas, how_to_install, install, is_installed
    from polhode_engines.environments import EngineError, NotInReleaseError
    from polhode_engines.protocol import SUFFIXES

    known, keys = dict(all_engines()), []
    for key in arguments.engines:
        if key.endswith(SUFFIXES):
            engine = _engine_of_file(Path(key))
            known[engine.key], key = engine, engine.key
        keys.append(key)
        if key not in known:
            raise UsageError(f"unknown engine {key!r}; {nearest(key, list(known))}")
    chosen = atlas.select(known, keys)
    written = arguments.results is not None or not any(engine.is_own for engine in chosen)
    arguments.results = arguments.results or Path("results")
    if arguments.list:
        print("\n".join(_described(engine, is_installed(engine)) for engine in chosen))
        return 0
    options = {option for engine in chosen for option in engine.options}
    for option in arguments.option:
        if option not in options:
            raise UsageError(f"--option: unknown option {option!r}; {nearest(option, sorted(options))}")
    if arguments.install and not arguments.engines:
        raise UsageError("--install: name the engines to install; polhode atlas --list shows them")
    # Measuring needs references.
    from polhode.interface.netcdf import read_dataset
    from polhode.interface.storage import write_dataset

    path = arguments.results / ("contacts.nc" if arguments.contacts else "atlas.nc")
    if written:
        check_writable(path, "--results")
    present = []
    installing = [engine for engine in chosen if arguments.install and not is_installed(engine)]
    if installing:
        stage = Stage("installing", len(installing), "engines")
        with watched(stage):
            for engine in installing:
                try:
                    install(engine)
                except EngineError as error:
                    print(f"{engine.key}: {error}", file=sys.stderr)
                stage.advance()
    for engine in chosen:
        if is_installed(engine):
            present.append(engine)
        else:
            print(f"{engine.key}: not installed, left out; {how_to_install(engine)}", file=sys.stderr)
    if arguments.contacts:
        return _contacts(arguments, path, [engine for engine in present if engine.contacts])
    if arguments.liquids:
        return _liquids(arguments, [engine for engine in present if engine.liquids])
    wanted = [(engine, option) for engine in present for option in engine.options if option in (arguments.option or options)]
    if not wanted:
        raise UsageError("none of these engines is installed")
    stage = Stage("spinning", sum(atlas.jobs(engine, option) for engine, option in wanted), "runs")
    rows = []
    with watched(stage):
        for engine, option in wanted:
            try:
                rows.append(atlas.measure(engine, option, stage.advance, arguments.limit))
            except NotInReleaseError as error:
                print(f"{engine.key}: {option} left out; {error}", file=sys.stderr)
                stage.advance(atlas.jobs(engine, option))
    if not rows:
        raise UsageError("no installed release has one of these options")
    data = atlas.dataset(rows)
    if written:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            data = atlas.merged(read_dataset(path), data)
        write_dataset(data, path)
    where = f"written to {path}" if written else "not written; --results FOLDER keeps it"
    print(json.dumps(_as_json(data), indent=1) if arguments.json else f"{atlas.as_text(data, not keys)}\n\n{where}")
    return 0


def _engine_of_file(path: Path) -> Any:
    """The engine of an adapter of one's own.

    Raises
    ------
    UsageError
        If there is no such file, or what is declared beside it is refused.
    """
    from polhode_engines.protocol import own_engine

    try:
        return own_engine(regular_file("adapter", path))
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist; name the file of an adapter, as docs/identify.md has it") from None
    except ValueError as error:
        raise UsageError("; ".join(str(error).splitlines())) from error


def _of_the_study(option: str) -> Any:
    """The module that measures what the option asks for: an entry point of the group ``polhode.atlas``.

    Raises
    ------
    UsageError
        If none is installed.
    """
    for point in entry_points(group="polhode.atlas", name=option):
        return point.load()
    raise UsageError(
        f"--{option} compares scenes of the study: run ./reproduce atlas --{option} in a checkout of its repository"
    )


def _contacts(arguments: argparse.Namespace, path: Path, engines: Sequence[Any]) -> int:
    """Run the impacts in these engines, write ``contacts.nc`` and print what came out."""
    from polhode.interface.netcdf import read_dataset
    from polhode.interface.storage import write_dataset

    codes = _of_the_study("contacts")
    if not engines:
        raise UsageError("none of these engines is installed and has contacts with friction")
    stage = Stage("colliding", len(engines) * codes.jobs(), "runs")
    with watched(stage):
        for engine in (None, *engines):
            data = codes.contacts_in(engine, stage.advance, arguments.limit)
            data = codes.merged(read_dataset(path), data) if path.is_file() else data
            write_dataset(data, path)
    print(f"{codes.as_text(data)}\n\nwritten to {path}")
    return 0


def _liquids(arguments: argparse.Namespace, engines: Sequence[Any]) -> int:
    """Run the liquids in these engines, write a file for each and print what came out."""
    from polhode.interface.storage import write_dataset

    liquid_codes = _of_the_study("liquids")
    if not engines:
        raise UsageError("none of these engines is installed and runs liquids of rigid molecules")
    stage = Stage("flowing", sum(liquid_codes.jobs(engine) for engine in engines), "runs")
    done = []
    with watched(stage):
        for engine in engines:
            path = arguments.results / f"liquids_{engine.key}.nc"
            data = liquid_codes.liquids_in(engine, stage.advance, arguments.limit)
            write_dataset(data, path)
            done.append(f"{liquid_codes.as_text(data)}\n\nwritten to {path}")
    print("\n\n".join(done))
    return 0


def _described(engine: Any, installed: bool) -> str:
    """An engine with its options."""
    origin = " ".join((f"Debian: {' '.join(engine.debian)}",) if engine.debian else engine.packages or ("your own",))
    head = f"{engine.key}: {engine.label}, {engine.precision}, {origin}{'' if installed else ' (not installed)'}"
    return "\n".join([head, *(f"    {name}: {option.chosen_by}" for name, option in engine.options.items())])


def _as_json(data: Any) -> list[dict[str, Any]]:
    """The rows without the paths; numbers that are not finite are null."""
    rows = []
    for i in range(data.sizes["engine"]):
        row = data.isel(engine=i)
        rows.append({str(name): _plain(row[name].values.tolist()) for name in data.data_vars if name != "path"})
    return rows


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not (-float("inf") < value < float("inf")) else value
