"""What a study takes from the release instead of computing it, and the witnesses with which it holds the release.

``data/released/full`` has results of the study of ``workflow/config/full.yaml``, and ``release.json`` says by which commit,
configuration, machine and libraries they were made; under ``added`` it says so of each problem, and each file, that was made
apart from the others (``polhode release --full --keep`` and ``--experiment``). With ``further: released`` a study computes
what the sources report. Of each further experiment with the same settings as in the release it computes a small part, the
witness, and takes the rest from the release. A witness that differs ends the study: the bits must be the same on the processor
family and with the libraries of the release; elsewhere the tolerances of ``polhode verify`` hold. Methods that the release
lacks are computed.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polhode_study.checks import CHECKS, WITNESSES

if TYPE_CHECKING:  # what only plans needs no arrays
    import xarray as xr

    from polhode_study.comparing import Manifest

#: The folder of the release in a checkout, and the file in it that says what it is.
FOLDER, INDEX = "data/released/full", "release.json"
#: The methods in figures and tables of del Valle et al. (2024), whose program keeps the angular velocity in the lab.
OF_SPIRAL = (
    "spiral_leapfrog",
    "omelyan1998",
    "buss2000_delvalle2024",
    "verlet_delvalle2024",
    "fincham1992_delvalle2024",
    "johnson2008_delvalle2024",
    "pfc4_delvalle2024",
    "euler",
    "rk4",
)
#: The methods of Seelen et al. (2016).
OF_PCDM = ("pcdm2013_lag", "pcdm2013_lead", "pcdm2013_mid", "pcdm2016", "scalar_factor")
#: Those of the figure of the sources on the chess pieces, and of which a step of many bodies is timed.
ON_CHESS = (
    "spiral_leapfrog",
    "spiral_synchronous",
    "omelyan1998",
    "fincham1992",
    "fincham1992_delvalle2024",
    "verlet",
    "buss2000",
)
#: The methods that are computed of a problem or scene although the release has them; of all others :data:`WITNESSES` are.
#: What is not computed of a problem is tried, so that no change of a method goes unseen
#: (:func:`polhode_study.gather.single_body.trial`).
COMPUTED: Mapping[tuple[str, str], tuple[str, ...]] = {
    # Two of its forms, and the scheme of Seelen et al., are judged by statements of del Valle et al. as well.
    ("problems", "spiral_cylinder"): (*OF_SPIRAL, "spiral_synchronous", "pcdm2016", "verlet"),
    ("problems", "free_symmetric_top"): (*OF_PCDM, *WITNESSES),
    ("problems", "exponential_sphere"): (*OF_PCDM, *WITNESSES),
    ("problems", "forced_cylinder"): (*OF_PCDM, *WITNESSES),
    ("problems", "coupled_cylinders"): (*OF_PCDM, *WITNESSES),
    ("many_body", "chess"): ON_CHESS,
    ("many_body", "chess_no_spin"): ("spiral_leapfrog", "fincham1992_delvalle2024"),
    ("many_body", "rods"): ON_CHESS,
}
#: The methods of which a step of one body is timed, by frame; the others have the released time, relative to direct Euler.
TIMED: Mapping[str, tuple[str, ...]] = {
    "body": tuple(dict.fromkeys(chain(*(keys for (section, _), keys in COMPUTED.items() if section == "problems")))),
    "lab": OF_SPIRAL,
}
#: The files of the release: their names are those in the folder of results.
SINGLE_BODY, MANY_BODY, ENSEMBLES = "single_body.nc", "many_body.nc", "ensembles.nc"


#: What to do after a change on purpose.
AGAIN = (
    "If a method or this experiment was changed on purpose, run workflow/config/full.yaml and polhode release --full, or write "
    "further: computed in the configuration"
)


class ReleaseDiffers(Exception):
    """Error for a witness that differs from the release, or for a released file that is missing or was changed."""


def check_file(check: str) -> str:
    """The file of a check, in the release as in the results."""
    return f"checks/{check}.nc"


class Release:
    """The release in a folder, ``data/released/full`` of a checkout."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    @cached_property
    def index(self) -> dict[str, Any]:
        """``run``: origin and configuration; ``files``: checksum of each file; ``methods``: keys, by file and group;
        ``added``: commit and machine of problems and files that are not of this run."""
        content: dict[str, Any] = json.loads((self.folder / INDEX).read_text(encoding="utf-8"))
        return content

    def origin(self, file: str) -> Mapping[str, Any]:
        """Commit, processor, Python and libraries of a file."""
        origin: Mapping[str, Any] = self.index.get("added", {}).get(file, self.index["run"])
        return origin

    def digest(self, file: str) -> str:
        """The checksum that a file has now, for what depends on it; empty if it is missing."""
        path = self.folder / file
        return sha256(path.read_bytes()).hexdigest() if path.is_file() else ""

    def methods(self, file: str, group: str = "") -> tuple[str, ...]:
        """The methods that a group of a file has; none if there is no such group."""
        return tuple(self.index["methods"].get(f"{file}/{group}".rstrip("/"), ()))

    def has(self, section: str, key: str, settings: Any, digits: int) -> bool:
        """Whether the release has what these settings of a key of the configuration ask for."""
        made = self.index["run"]["configuration"]
        of_section = made.get(section) or {}
        known = of_section.get(key) if key else of_section
        return bool(known) and known == settings and made["digits"] == digits

    def path(self, file: str) -> Path:
        """A file of the release with the checksum that the index lists.

        Raises
        ------
        ReleaseDiffers
            If it is missing or has other bytes.
        """
        path = self.folder / file
        if self.digest(file) != self.index["files"].get(file):
            state = "has other bytes than" if path.is_file() else "is missing, unlike"
            raise ReleaseDiffers(
                f"{path} {state} {self.folder / INDEX} says: take it from the repository again "
                f"(git checkout -- {self.folder}), or write further: computed in the configuration"
            )
        return path

    def group(self, file: str, name: str) -> "xr.Dataset":
        """A group of a file, which is checked and opened once: that takes longer than reading most groups."""
        from polhode.interface.netcdf import read_groups

        if file not in self._opened:
            self._opened[file] = read_groups(self.path(file))
        return self._opened[file][f"/{name}"]

    @cached_property
    def _opened(self) -> dict[str, Mapping[str, "xr.Dataset"]]:
        return {}


def computed(section: str, key: str, methods: Sequence[str], released: Sequence[str]) -> tuple[str, ...]:
    """The methods of a problem or scene that a study computes, if the release has ``released``: at least one."""
    witnesses = COMPUTED.get((section, key), WITNESSES)
    chosen = tuple(method for method in methods if method in witnesses or method not in released)
    return chosen or tuple(methods[:1])


def witness_settings(
    check: str, methods: Sequence[str], released: Sequence[str], known: Sequence[str] | None = None
) -> dict[str, Any]:
    """The settings of the witness of a check; its ``methods`` are some of the study's, and those that are not released.

    Of an experiment with all methods at least one is run that the release has, if the study has one. ``known`` are the methods
    with which the release was made, by default those that it has of the experiment: others run all of it.
    """
    experiment = CHECKS[check]
    settings = dict(experiment.witness or {})
    witnesses = [method for method in methods if method in settings.get("methods", methods)]
    if not experiment.all_methods:
        return settings | {"methods": witnesses}
    in_release = [method for method in methods if method in released]
    chosen = {*([m for m in witnesses if m in in_release] or in_release[:1]), *(m for m in methods if m not in released)}
    smaller = dict(experiment.smaller) if set(methods) <= set(released if known is None else known) else {}
    return settings | smaller | {"methods": [method for method in methods if method in chosen]}


def completed(
    release: Release, file: str, group: str, data: "xr.Dataset", methods: Sequence[str], machine: Mapping[str, Any]
) -> "xr.Dataset":
    """Data of some methods, compared with the release, and completed by the other ``methods`` from the release.

    Parameters
    ----------
    group : the group of the file, empty for its root
    data : over ``integrator`` and other dimensions, along which it has the same coordinates as the release
    machine : family, Python and versions of this process (:func:`this_machine`)

    Returns
    -------
    xarray.Dataset
        The attributes ``released``, the methods that were taken from the release, and ``witness``, the outcome, are added.

    Raises
    ------
    ReleaseDiffers
        If the data differ from the release.
    """
    import numpy as np
    import xarray as xr

    computed_keys = [str(key) for key in data["integrator"].values]
    others = [key for key in methods if key not in computed_keys]
    if missing := [key for key in others if key not in release.methods(file, group)]:
        raise ReleaseDiffers(f"{_name(file, group)}: the release has no {', '.join(missing)}; {AGAIN}")
    if not release.methods(file, group):
        return data
    old = release.group(file, group)
    outcome = held(release, file, group, old, data, machine)
    if others:
        rows = old.sel(integrator=others)
        variables = {}
        for name, variable in data.variables.items():
            if "integrator" in variable.dims:
                pieces = [variable, rows[name].variable.transpose(*variable.dims)]
                values = np.concatenate([piece.values for piece in pieces], variable.dims.index("integrator"))
                variables[name] = xr.Variable(variable.dims, values, variable.attrs)
            else:
                variables[name] = variable
        coords = {name: variables.pop(name) for name in data.coords}
        data = xr.Dataset(variables, coords, data.attrs).sel(integrator=list(methods))
    return data.assign_attrs(released=",".join(others), witness=outcome, release=release.origin(file)["commit"])


def whole(
    release: Release, file: str, witness: "xr.Dataset", methods: Sequence[str], machine: Mapping[str, Any], all_methods: bool
) -> "xr.Dataset":
    """An experiment of the release, compared with its witness; with ``all_methods`` new methods of the witness are added.

    Raises
    ------
    ReleaseDiffers
        If the witness differs.
    """
    from polhode.interface.netcdf import read_dataset

    if not witness.variables:  # none of these methods can run the experiment
        return witness
    old = read_dataset(release.path(file))
    outcome = held(release, file, "", old, witness, machine)
    data = old.drop_attrs(deep=False).assign_attrs({k: v for k, v in old.attrs.items() if k not in ("job", "checksum")})
    for name in data.variables:
        data[name].encoding = {}
    if all_methods:
        new = [key for key in methods if key not in old["integrator"].values and key in witness["integrator"].values]
        if new:
            import xarray as xr

            rows = witness.sel(integrator=new)
            data = xr.concat([data, rows], "integrator", data_vars="minimal", coords="minimal", combine_attrs="override")
        data = data.sel(integrator=[key for key in data["integrator"].values if key in methods])
    return data.assign_attrs(released="all" if not all_methods else ",".join(old["integrator"].values), witness=outcome)


def held(release: Release, file: str, group: str, old: "xr.Dataset", data: "xr.Dataset", machine: Mapping[str, Any]) -> str:
    """The outcome of the comparison of a witness with the release, in words.

    Raises
    ------
    ReleaseDiffers
        If it differs.
    """
    from polhode_study.comparing import compare

    common = _common(old, data, _name(file, group))
    if common is None:
        return "no method of the release was computed"
    of_release, of_witness = common
    result = compare(_manifest(release.origin(file), file, group, of_release), _manifest(machine, file, group, of_witness))
    if result.differences:
        worst = result.differences[0]
        raise ReleaseDiffers(
            f"{_name(file, group)}: this machine computes something else than the release ({len(result.differences)} of "
            f"{len(of_release.variables)} variables). {worst.variable} at {worst.where or 'all places'} is {worst.released} "
            f"there and {worst.here} here (allowed: {worst.allowed}). {AGAIN}"
        )
    within = f", {result.within} within the tolerances for another processor" if result.within else ""
    apart = f", {len(result.uncompared)} not compared on another processor" if result.uncompared else ""
    return f"{result.same} variables with the same bits{within}{apart}"


def _name(file: str, group: str) -> str:
    """An experiment in words."""
    if file == ENSEMBLES:
        return "random bodies"
    if file.startswith("checks/"):
        return f"check {Path(file).stem}"
    kind = "problem" if file == SINGLE_BODY else "scene"
    problem, _, rest = group.partition("/")
    return f"{kind} {problem}" + (f" ({rest})" if rest else "")


def _common(old: "xr.Dataset", data: "xr.Dataset", name: str) -> "tuple[xr.Dataset, xr.Dataset] | None":
    """The methods that both have, at the coordinates of the data; None if there are none.

    Raises
    ------
    ReleaseDiffers
        If the release lacks a variable of the data.
    """
    if lacking := [str(variable) for variable in data.data_vars if variable not in old]:
        raise ReleaseDiffers(f"{name}: the release has no {', '.join(lacking)}; {AGAIN}")
    if "integrator" in data.dims and "integrator" in old.dims:
        both = [key for key in data["integrator"].values if key in old["integrator"].values]
        if not both:
            return None
        data = data.sel(integrator=both)
    for dim, size in data.sizes.items():
        if dim not in old.sizes or (old.sizes[dim] == size and dim != "integrator"):
            continue
        old = old.sel({dim: data[dim].values}) if dim in data.coords and dim in old.coords else old.isel({dim: slice(size)})
    return old[list(data.data_vars)], data


def _manifest(run: Mapping[str, Any], file: str, group: str, data: "xr.Dataset") -> "Manifest":
    from polhode_study.comparing import Manifest, variable_of

    # Steps and coordinates belong to it, because tolerances depend on them.
    variables = [
        variable_of(file, group, str(name), variable.dims, variable.values) for name, variable in data.variables.items()
    ]
    return Manifest(run, {}, {variable.key: variable for variable in variables}, {}, file)


def this_machine() -> dict[str, Any]:
    """Processor family, Python and versions of the libraries that matter for the bits."""
    import platform
    from importlib.metadata import version

    from polhode_study.comparing import NUMERICAL
    from polhode_study.provenance import family

    versions = {}
    for name in NUMERICAL:
        try:
            versions[name] = version(name)
        except ImportError:
            continue
    return {"family": family(), "python": platform.python_version(), "versions": versions}
