"""The generated pages: one for each method, problem and scene, and the landing page's table and figures.

Every method, problem or scene in its registry has a page; nothing is listed by hand. The text and the formula come from the
docstring of its module, everything else from its declaration and from measurements.
"""

import ast
import importlib
import shutil
from collections.abc import Mapping
from importlib.util import find_spec
from math import isfinite, pi
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent
from typing import Any

import numpy as np

from polhode.advice.prices import USUAL
from polhode.export import LANGUAGES
from polhode.fits.bath_runs import CHAINS, KINDS, RELEASED, BathRun, BathRuns
from polhode.fits.baths import BIAS
from polhode.fits.liquid_drifts import MeanDrift, fastest, outcome
from polhode.fits.seed_statistics import LEVEL
from polhode.interface.netcdf import read_dataset
from polhode.interface.storage import write_dataset
from polhode.interface.table import one_line
from polhode.manybody import Fluid, Scene, forces, molecules, scenes
from polhode.manybody.fluid import LOST_KT
from polhode.methods import METHODS, grouped
from polhode.methods.libration import libration
from polhode.methods.protocol import Method, OneTorque
from polhode.problems import PROBLEMS
from polhode.problems.problem import TORQUE_CLASSES
from polhode.problems.system import System
from polhode_study.chapters.baths.frames import SCHEMES
from polhode_study.chapters.laws import frames as law_frames
from polhode_study.chapters.laws.advice import all_advice
from polhode_study.chapters.laws.frames import FREE, FRICTION, SMOOTH
from polhode_study.documentation import pictures, reference
from polhode_study.documentation.markdown import facts, figure, number, put, rst, seconds, table
from polhode_study.documentation.measured import Measurements
from polhode_study.documentation.texts import docstring
from polhode_study.inputs import Inputs
from polhode_study.report import method_page as one_page
from polhode_study.report import method_tables
from polhode_study.workflow.entry import HOME

#: The packages whose modules have pages (docs/api.md).
PACKAGES = ("polhode", "polhode_engines")
#: The modules whose kernels methods are made of.
ALGEBRA = ("polhode.algebra.vector", "polhode.algebra.quaternion", "polhode.algebra.body")
#: The errors of the tables of problems.
TARGETS = (1e-2, 1e-4, 1e-6)
#: The rows of the table on the landing page: situations of the article's second page, and what a reader calls them.
LANDING = {
    FREE.key: "none",
    SMOOTH.key: "constant, or of time or orientation (`smooth`)",
    FRICTION.key: "of the angular velocity (`friction`)",
}


def write(folder: Path, results: Path | None = None) -> None:
    """Write all generated pages and pictures, and remove those of objects that no longer exist.

    Parameters
    ----------
    folder : Path
        Output folder, inside the sources of the documentation.
    results : Path, optional
        Folder of a run, for its notebooks; by default ``results`` of the checkout.
    """
    measured, released = Measurements.released(), method_tables.released_sheets()
    texts = {
        **{f"methods/{key}.md": method_page(METHODS[key], measured, released) for key in METHODS},
        **{f"problems/{key}.md": problem_page(PROBLEMS[key], measured) for key in PROBLEMS},
        **{f"scenes/{key}.md": scene_page(scenes[key]) for key in scenes},
        "forces.md": forces_page(),
        **reference.pages(),
    }
    drawn: Mapping[str, bytes] = pictures.all_pictures(measured, folder)
    notebooks = reference.notebooks(HOME, HOME / "results" if results is None else results)
    code = {f"code/{key}{language.suffix}": language.source(METHODS[key]) for key in METHODS for language in LANGUAGES.values()}
    everything: dict[str, str | bytes] = {**texts, **drawn, **notebooks, **code, **tables_of_sheets(released)}
    for name, content in everything.items():
        put(folder / name, content)
    current = {folder / name for name in everything}
    for path in sorted(folder.rglob("*"), reverse=True):
        # Sphinx writes the pages of modules, and leaves the pages of modules that no longer exist or are not documented.
        documented = path.parent.name == "api" and path.stem.split(".")[0] in PACKAGES and find_spec(path.stem)
        if path.is_file() and path not in current and not documented:
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            shutil.rmtree(path)


def tables_of_sheets(released: Mapping[str, Any]) -> dict[str, str | bytes]:
    """The two files with the numbers of all released sheets."""
    if not released["entries"]:
        return {}
    data = method_tables.table(released)
    with TemporaryDirectory() as folder:
        write_dataset(data, Path(folder, "methods.nc"))
        binary = Path(folder, "methods.nc").read_bytes()
    return {"extra/methods.csv": method_tables.as_csv(data), "extra/methods.nc": binary}


def variables_of_sheets() -> str:
    """The variables of the files with the numbers of all methods."""
    rows = [
        (f"`{name}`", ", ".join(f"`{of}`" for of in variable.dimensions), variable.unit or "text", one_line(variable.meaning))
        for name, variable in method_tables.VARIABLES.items()
    ]
    return table(["variable", "besides `integrator`", "unit", "meaning"], rows)


def kernels_table() -> str:
    """The kernels of the algebra, which a method may call, with their arguments and what they return."""
    rows = []
    for name in ALGEBRA:
        path = Path(str(importlib.import_module(name).__file__))
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and any(ast.unparse(mark) == "kernel" for mark in node.decorator_list):
                said = (ast.get_docstring(node) or "").partition("\n\n")[0]
                arguments = ", ".join(argument.arg for argument in node.args.args)
                said = one_line(said).replace("``", "`").replace("*", r"\*")
                rows.append((f"`{name.rpartition('.')[2]}`", f"`{node.name}({arguments})`", said))
    return table(["module", "kernel", "returns"], rows)


def origin(measured: Measurements) -> str:
    """Where the errors and times of the pages come from."""
    return f"Errors and times come from the released data, `data/released/cost.nc`; steps were timed on {measured.machine}."


# ---- methods ----


def _pages() -> dict[str, str]:
    """The place of the page of each method and problem, by its key."""
    return {
        **{key: f"/_generated/methods/{key}" for key in METHODS},
        **{key: f"/_generated/problems/{key}" for key in PROBLEMS},
    }


def _method_link(key: str) -> str:
    return f"[{one_line(METHODS[key].label)}](/_generated/methods/{key}.md)" if key in METHODS else f"`{key}`"


def method_page(method: Method, measured: Measurements, released: Mapping[str, Any]) -> str:
    """The page of a method; ``released`` are the sheets of all."""
    module = f"polhode.methods.{method.key}"
    one_torque = isinstance(method, OneTorque)
    normalisation = "every step" if method.normalises else "never"
    if method.normalisable:
        normalisation += "; can be switched with `simulate(..., normalise=...)`"
    offset, example = method.stored_offset, PROBLEMS["spiral_cylinder"]
    held = f"half a step {'before' if offset < 0 else 'after'} the whole time" if offset else "at whole times"
    example = example if method.runs(example) else next(iter(PROBLEMS.values()))
    when = {0.0: "at the whole time", 0.5: "at the half step", 1.0: "at the new time"}
    needed = f", needed {when[method.torque_time]}" if isinstance(method, OneTorque) else ""
    time, relative = measured.step_time(method.key)
    rows = [
        ("key", f"`{method.key}`"),
        ("other names", ", ".join(method.other_names)),
        ("source", method.source),
        ("variant of", _method_link(method.variant_of) if method.variant_of else ""),
        ("variants", ", ".join(_method_link(m.key) for m in METHODS.values() if m.variant_of == method.key)),
        ("torques per step", f"{method.torques_per_step}{needed}"),
        ("torques per output", f"{method.torques_per_output}" if method.torques_per_output else ""),
        ("starts", method.starts),
        ("output", method.reads),
        ("holds ω", f"in the {method.momentum_frame} frame, {held}"),
        ("normalises q", normalisation),
        ("engines", ", ".join(method.engines)),
        ("orders of q, ω", "; ".join(f"{name} {q}, {omega}" for name in TORQUE_CLASSES for q, omega in [method.orders(name)])),
        ("order in the source", method.published_order),
        ("reconstruction", method.reconstruction),
        ("caution", f"{method.caution}: not for long conservative runs" if method.caution else ""),
        ("a step", f"{seconds(time)} on {measured.machine}, {relative:.2f} times direct Euler's" if isfinite(time) else ""),
        _libration(method),
    ]
    parts = [
        f"# {method.label}",
        rst(f".. py:module:: {module}"),
        f"*{method.note}*" if method.note else "",
        facts(rows),
        "## The step",
        "The notation is explained in [](/methods.md).",
        rst(docstring(importlib.import_module(module), _pages())),
        "## Errors against work",
        figure(
            f"methods/{method.key}",
            f"Error against the number of torque evaluations for six classes of torque, {method.label} in colour",
            "Error at the end against the number of torques, on the problem that represents each class of torque. In colour:\n"
            f"{method.label}; grey: all other methods.",
        ),
        *_code(
            f"methods/{method.key}.py",
            f'run = polhode.simulate("{example.key}", "{method.key}", dt=1e-3)',
            "The functions that it uses are in {py:mod}`polhode.algebra.quaternion`, {py:mod}`polhode.algebra.vector`,\n"
            "{py:mod}`polhode.algebra.body` and {py:mod}`polhode.methods.states`; the declarations of a method are\n"
            f"documented in {{py:class}}`~polhode.methods.protocol.{'OneTorque' if one_torque else 'SeveralTorques'}`.",
        ),
        *_sheet(method.key, released),
        "## In your own program",
        "One file that needs nothing else, generated from the kernels ([how to use it](/own-code.md)).",
        _own_code(method.key),
    ]
    return f"(method-{method.key})=\n" + "\n\n".join(text for text in parts if text) + "\n"


def _code(path: str, example: str, more: str) -> tuple[str, str]:
    """The section with an example, a file of the package, and what else there is to read."""
    shown = f":::{{dropdown}} `src/polhode/{path}`\n```{{literalinclude}} /../src/polhode/{path}\n:language: python\n```\n:::"
    return "## Code", f"```python\nimport polhode\n\n{example}\n```\n\n{shown}\n\n{more}\n"


def _own_code(key: str) -> str:
    """The generated files of a method, in tabs: the code of the first three, which is read as it is, and the files of all."""
    tabs = []
    for name, title, lexer in (
        ("c", "C, C++, CUDA", "c"),
        ("fortran", "Fortran", "fortran"),
        ("numpy", "NumPy", "python"),
        ("javascript", "JavaScript", ""),
        ("rust", "Rust", ""),
        ("csharp", "C#", ""),
    ):
        path = f"/_generated/code/{key}{LANGUAGES[name].suffix}"
        shown = f"\n\n```{{literalinclude}} {path}\n:language: {lexer}\n:class: own-code no-search\n```" if lexer else ""
        tabs.append(f":::{{tab-item}} {title}\n:sync: {name}\n\n{{download}}`{Path(path).name} <{path}>`{shown}\n:::")
    return "\n".join(["::::{tab-set}", ":sync-group: language", *tabs, "::::"])


def _sheet(key: str, released: Mapping[str, Any]) -> list[str]:
    """The sections of the released sheet of a method."""
    if key not in released["entries"]:
        return [f"`polhode sheet {key}` measures it on one page ([](/sheet.md))."]
    sections = one_page.sections(method_tables.sheet_of(released, key))
    return [f"## {title}\n\n```{{raw}} html\n<div class=sheet>{text}</div>\n```" for title, text in sections.items()]


def _libration(method: Method) -> tuple[str, str]:
    """What the roots of its linearised step say (:mod:`polhode.methods.libration`), as a row of facts."""
    (power, coefficient), (shift_power, shift), limit = libration(method)
    amplitude = f"{'grow' if coefficient > 0 else 'fall'} by {_term(coefficient, power)} of their size a step"
    frequency = f"frequency {'above' if shift > 0 else 'below'} the exact one by {_term(shift, shift_power)} of it"
    stable = "" if limit == 0 else f", stable while x is below {limit:.2f}"
    return "small librations, x = Ω Δt", f"{amplitude if power else 'keep their size'}; {frequency}{stable}"


def _term(coefficient: float, power: int) -> str:
    return f"{abs(coefficient):.4f} x<sup>{power}</sup>"


def methods_table(measured: Measurements) -> str:
    """All methods, in groups, with links."""
    parts = []
    for title, keys in grouped(METHODS):
        rows = []
        for key in keys:
            method = METHODS[key]
            time, relative = measured.step_time(key)
            least = {name: method.orders(name)[0] for name in TORQUE_CLASSES}
            rows.append(
                (
                    f"{_method_link(key)}<br>`{key}`",
                    method.torques_per_step,
                    *(f"{method.orders(name)[0]},\N{NO-BREAK SPACE}{method.orders(name)[1]}" for name in least),
                    f"{relative:.2f}" if isfinite(time) else "–",
                )
            )
        head = ["method", "torques", *TORQUE_CLASSES, "step"]
        parts.append(f"## {title[0].upper()}{title[1:]}\n\n{table(head, rows, 'lc' + 'c' * len(TORQUE_CLASSES) + 'r')}")
    return "\n".join(parts)


# ---- problems ----


def problem_page(problem: Any, measured: Measurements) -> str:
    """The page of a problem of one or several bodies."""
    module = f"polhode.problems.{problem.key}"
    several, step = isinstance(problem, System), float(f"{problem.horizon / 1000:.6g}")
    example = "pcdm2016" if several else "spiral_leapfrog"
    solution = problem.reference if isinstance(problem.reference, str) else "taylor"
    bodies = problem.bodies if isinstance(problem, System) else (problem.body,)
    motion = f"he angular velocity in the body frame{' of the first body' if len(bodies) > 1 else ''}."
    seen, caption = "The angular velocity over time", f"T{motion}"
    if measured.cost(problem.key) is not None:
        seen += ", and the errors of all methods against the number of torques"
        errors = "error at\nthe end against the number of torques; in colour the methods that are fastest at some error."
        caption = f"Left: t{motion} Right: {errors}"
    rows = [
        ("key", f"`{problem.key}`"),
        ("source", problem.source),
        ("torque", f"{problem.torque_class}: {TORQUE_CLASSES[problem.torque_class]}"),
        ("moments of inertia", "; ".join(_vector(body.inertia, "kg m²") for body in bodies)),
        ("momentum of the wheels", "; ".join(_vector(body.wheel_momentum, "N m s") for body in bodies if body.wheels)),
        ("mass", "; ".join(f"{number(body.mass)} kg" for body in bodies) if several else ""),
        ("initial orientation", "; ".join(_vector(q) for q in (problem.q0 if several else (problem.q0,)))),
        ("initial ω", "; ".join(_vector(w, "rad/s") for w in (problem.omega0 if several else (problem.omega0,)))),
        ("initial position", "; ".join(_vector(r, "m") for r in problem.r0) if several else ""),
        ("initial velocity", "; ".join(_vector(v, "m/s") for v in problem.v0) if several else ""),
        ("parameters", ", ".join(f"`{name}` = {number(value, 6)}" for name, value in problem.parameters.items())),
        ("time simulated", f"{number(problem.horizon)} s"),
        ("exact motion conserves", ", ".join(problem.conserves)),
        ("reference", f"{problem.formula or 'Taylor series to many digits'} ({{py:mod}}`polhode.references.{solution}`)"),
    ]
    parts = [
        f"# {problem.label[0].upper()}{problem.label[1:]}",
        rst(f".. py:module:: {module}"),
        facts(rows),
        rst(docstring(importlib.import_module(module), _pages())),
        figure(f"problems/{problem.key}", seen, caption),
        "## Fastest methods",
        _first(problem.key, measured),
        *_code(
            f"problems/{problem.key}.py",
            f'run = polhode.simulate("{problem.key}", "{example}", dt={step!r})\n'
            + ("run.omega.plot.line(x='time', col='body', hue='axis')" if several else "run.omega.plot(hue='axis')"),
            "The declarations of a problem are documented in\n"
            f"{{py:class}}`~polhode.problems.{'system.System' if several else 'problem.Problem'}`.",
        ),
    ]
    return f"(problem-{problem.key})=\n" + "\n\n".join(text for text in parts if text) + "\n"


def _vector(values: Any, unit: str = "") -> str:
    return f"({', '.join(number(float(value), 5) for value in values)}){f' {unit}' if unit else ''}"


def _first(problem: str, measured: Measurements) -> str:
    if measured.cost(problem) is None:
        return "This problem was not part of the measurements."
    rows = []
    for target in TARGETS:
        for one_torque in (True, False):
            best = measured.first(problem, target, USUAL, one_torque)
            what = "one torque per step" if one_torque else "any"
            if best is None:
                rows.append((number(target), what, "none reaches it", "", "", ""))
                continue
            rows.append(
                (
                    number(target),
                    what,
                    _method_link(str(best["method"])),
                    number(float(best["dt"])),
                    f"{best['torque_evaluations']:.0f}",
                    seconds(float(best["seconds"])),
                )
            )
    head = ["error below", "methods", "fastest", "Δt (s)", "torques", "time"]
    priced = f"With a torque that costs {USUAL:g} steps of direct Euler, as `polhode recommend` takes it."
    return f"{table(head, rows, 'lllrrr')}\n{priced} {origin(measured)}"


def problems_table(measured: Measurements) -> str:
    """All problems by class of torque, with links."""
    parts = []
    for name, meaning in TORQUE_CLASSES.items():
        rows = []
        members = [problem for problem in PROBLEMS.values() if problem.torque_class == name]
        for problem in sorted(members, key=lambda problem: (problem.rank, problem.key)):
            link = f"[{one_line(problem.label)}](/_generated/problems/{problem.key}.md)"
            rows.append((link, f"`{problem.key}`", problem.source, problem.formula or "Taylor series"))
        if rows:
            title = f"## {name}: {meaning}"
            parts.append(f"{title}\n\n{table(['problem', 'key', 'source', 'exact solution'], rows)}")
    return "\n".join(parts)


# ---- scenes ----


#: The motion of clumps whose contacts are those of Hertz.
ELASTIC = r"""
Clumps are rigid and elastic, without friction. Two spheres, or a sphere and a wall, that overlap by a depth
:math:`\delta` repel each other along their normal :math:`n` (Hertz):

.. math::

   m \dot v &= \sum F, \qquad I \dot\omega + \omega \times I \omega = \sum r \times R(q)^T F, \\
   F &= \tfrac43 E^* \sqrt{R^*}\, \delta^{3/2}\, n, \qquad
   \frac{1}{E^*} = \frac{1-\nu_1^2}{E_1} + \frac{1-\nu_2^2}{E_2}, \qquad \frac{1}{R^*} = \frac{1}{R_1} + \frac{1}{R_2}

The exact motion conserves the energy; any change is the error of the method.
"""


#: The motion of molecules.
MOLECULES = r"""
Molecules are rigid. Each site acts on each site of every other molecule, at the distance of its nearest image:

.. math::

   m \dot v = \sum F, \qquad I \dot\omega + \omega \times I \omega = \sum r \times R(q)^T F, \qquad
   F = -\frac{V'(r_{ij})}{r_{ij}}\, r_{ij}

The exact motion conserves the energy; any change is the error of the method.
"""


def fluid_page(fluid: Fluid) -> str:
    """The page of a liquid."""
    names, law = fluid.units.names, fluid.force_law
    values = ", ".join(f"{name} {number(x) if isinstance(x, float) else x}" for name, x in law.values.items())
    rows = [
        ("key", f"`{fluid.key}`"),
        ("source", fluid.source),
        ("molecules", f"{len(fluid)}"),
        ("box", f"a periodic cube with an edge of {number(fluid.box)} {names['length']}"),
        ("temperature", f"{number(fluid.temperature)} {names['temperature']}"),
        ("law of force", f"{law.label}, `{law.key}` ([](/forces.md)), {values}"),
        ("time simulated", f"{number(fluid.horizon)} {names['time']}"),
    ]
    kinds = [
        (molecule.label, count, len(molecule.sites), number(molecule.mass), _vector(list(molecule.inertia)), molecule.source)
        for molecule, count in fluid.clumps
    ]
    parts = [
        f"# {fluid.label[0].upper()}{fluid.label[1:]}",
        facts(rows),
        figure(f"scenes/{fluid.key}", "The molecules in their box at the start", "The initial state of seed 0.", 70),
        "## Equations of motion",
        rst(MOLECULES),
        "## Molecules",
        f"Units: length {names['length']}, time {names['time']}, mass {names['mass']}, energy {names['energy']} "
        "(a 1 is a reduced unit).",
        table(["molecule", "number", "sites", "mass", "moments of inertia", "source"], kinds, "lrrrrl"),
        "## Code",
        dedent(f"""\
            ```python
            from polhode import manybody

            run = manybody.simulate("{fluid.key}", "no_squish", dt={fluid.usual_step:g}, t_end={100 * fluid.usual_step:g})
            run.energy_change.plot()
            ```

            {{py:mod}}`polhode.manybody.scenes.{scenes.origin(fluid.key).stem}` defines it.
            """),
    ]
    return f"(scene-{fluid.key})=\n" + "\n\n".join(parts) + "\n"


def scene_page(scene: Scene | Fluid) -> str:
    """The page of a scene of many bodies."""
    if isinstance(scene, Fluid):
        return fluid_page(scene)
    clumps, law = scene.clumps, scene.force_law
    if law.conserves_energy:
        motion, measure = rst(ELASTIC), "energy_error"
    else:
        values = ", ".join(f"{name} {number(x) if isinstance(x, float) else x}" for name, x in law.values.items())
        motion = (
            f"The law of force is {law.label}, `{law.key}` ([](/forces.md)){values and ', with '}{values}. Gravity is\n"
            f"{_vector(list(scene.gravity))} m/s². Contacts dissipate energy; `closure` is the error of the sum of energies."
        )
        measure = "closure"
    rows = [
        ("key", f"`{scene.key}`"),
        ("source", scene.source),
        ("clumps", f"{len(scene)}"),
        ("drum" if scene.drum else "box", f"{_room(scene)}, {100 * scene.solid_fraction:.2g} % filled"),
        ("initial speed", f"{number(scene.speed)} m/s in random directions"),
        ("initial spin", f"{number(scene.spin)} rad/s about random axes"),
        (
            "material",
            f"density {number(scene.material.density)} kg/m³, Young's modulus {number(scene.material.young)} Pa, "
            f"Poisson's ratio {number(scene.material.poisson)}",
        ),
        ("time simulated", f"{number(scene.horizon)} s"),
        ("contact of a clump and a wall", f"at least {seconds(scene.contact_time())}, head on"),
        ("Rayleigh step", seconds(scene.rayleigh_step)),
        ("P-wave step", seconds(scene.p_wave_step)),
    ]
    film = []
    if scene.walls_move:
        caption = f"Frames of the film that `./reproduce animate {scene.key} --time 1.6` makes."
        film = [figure(f"scenes/{scene.key}_film", "The clumps in the moving walls at six times", caption)]
    kinds = [
        (
            clump.label,
            count,
            len(clump.radii),
            number(clump.volume * scene.material.density * 1e3),
            _vector([scene.material.density * moment * 1e7 for moment in clump.inertia]),
        )
        for clump, count in clumps
    ]
    parts = [
        f"# {scene.label[0].upper()}{scene.label[1:]}",
        facts(rows),
        figure(f"scenes/{scene.key}", "The clumps in their box at the start", "The initial state of seed 0.", 70),
        *film,
        "## Equations of motion",
        motion,
        "## Clumps",
        table(["clump", "number", "spheres", "mass (g)", "moments of inertia (g cm²)"], kinds, "lrrrr"),
        "## Code",
        dedent(f"""\
            ```python
            from polhode import manybody

            run = manybody.simulate("{scene.key}", "spiral_leapfrog", dt=1e-5, seed=0, t_end=1e-2)
            run.{measure}.plot()
            ```

            {{py:mod}}`polhode.manybody.scenes.{scenes.origin(scene.key).stem}` defines it.
            How to make your own: [](/many-bodies.md).
            """),
    ]
    return f"(scene-{scene.key})=\n" + "\n\n".join(parts) + "\n"


def _room(scene: Scene) -> str:
    """Box or drum of a scene, and how its walls move."""
    drum, shaking = scene.drum, scene.shaking
    room = f"a cube with an edge of {number(scene.box)} m"
    if drum:
        room = (
            f"{number(scene.box)} m long, {number(drum.radius)} m in radius, about the {drum.axis} axis, turns at "
            f"{number(drum.rate)} rad/s"
        )
    if shaking:
        size, frequency = number(shaking.amplitude), number(shaking.frequency)
        room += f", shaken by {size} m along {_vector(shaking.direction)} at {frequency} Hz"
    if scene.periodic:
        room += f", periodic along {' and '.join(scene.periodic)}"
    return room


def scenes_table() -> str:
    """All scenes, with links."""
    rows = [
        (f"[{one_line(scene.label)}](/_generated/scenes/{key}.md)", f"`{key}`", len(scene), scene.source)
        for key, scene in scenes.items()
    ]
    return table(["scene", "key", "bodies", "source"], rows, "llrl")


# ---- laws of force ----


def forces_page() -> str:
    """All laws of force with their formulas and parameters."""
    sections = []
    for key, law in forces.items():
        rows = [
            ("key", f"`{key}`"),
            ("source", law.source),
            ("conserves energy", "yes" if law.conserves_energy else "no"),
            ("begins as", f"overlap to the power {law.onset:g}"),
        ]
        parameters = [
            (
                f"`{name}`",
                ", ".join(f"`{word}`" for word in parameter.choices) or parameter.unit,
                str(parameter.default),
                parameter.meaning,
            )
            for name, parameter in law.parameters.items()
        ]
        module = importlib.import_module(f"polhode.manybody.forces.{forces.origin(key).stem}")
        sections += [f"## {law.label}", facts(rows), rst(docstring(module))]
        if parameters:
            sections.append(table(["parameter", "unit or choices", "default", "meaning"], parameters, "llll"))
    return "\n\n".join(sections) + "\n"


# ---- molecules ----


def molecules_table() -> str:
    """All molecules, with their sites and moments."""
    rows = [
        (
            f"`{key}`",
            one_line(molecule.label),
            " ".join(molecule.names),
            molecule.units,
            ", ".join(f"{moment:.5g}" for moment in molecule.inertia),
            molecule.source,
        )
        for key, molecule in molecules.items()
    ]
    return table(["key", "molecule", "sites", "units", "moments", "source"], rows, "llllll")


# ---- liquids ----

#: The steps of the table of drifts, fs; the table is ordered by the drifts at the one named.
LIQUID_STEPS, LIQUID_ORDER = (1.0, 2.0, 4.0, 5.0, 6.0), 4.0


def liquids_table(released: Path = HOME / "data/released/liquids.nc") -> str:
    """The drift of the energy of water by method and step, from the released runs."""
    data, period = read_dataset(released, "followed"), 2 * pi / fastest(read_dataset(released, "spectrum_water64"))
    sizes = abs(data["drift"].sel(dt=LIQUID_ORDER).mean("seed"))
    rows = [
        (_known_as(str(key)), *(_drift(outcome(data.sel(integrator=key, dt=dt))) for dt in LIQUID_STEPS))
        for key in data["integrator"].values[np.argsort(sizes.values)]
    ]
    extent = (
        f"{data.attrs['molecules']} molecules of water, {data.sizes['seed']} starts of {data.attrs['duration'] / 1000:g} ps"
    )
    head = [
        "drift in kT per degree of freedom and ns",
        *(f"{dt:g} fs, {period / dt:.2g} steps a period" for dt in LIQUID_STEPS),
    ]
    said = (
        f"{extent}, at constant energy. *Below*: zero is inside the interval of {LEVEL:.0%}, whose further end is given. "
        f"*Lost*: in a run the energy has changed by {LOST_KT:g} kT a molecule."
    )
    return f"{said}\n\n{table(head, rows)}"


def _known_as(key: str) -> str:
    """A link to a method, with the other names under which users of codes know it."""
    others = METHODS[key].other_names
    return f"{_method_link(key)} ({', '.join(others)})" if others else _method_link(key)


def _drift(of_step: MeanDrift | None) -> str:
    """The mean drift of runs, or what it is below."""
    if of_step is None:
        return ""
    if of_step.lost:
        return "lost, heats" if of_step.lost_by > 0 else "lost, cools"
    if not of_step.is_shown:
        return f"below {number(of_step.largest, 2)}"
    return f"{'+' if of_step.drift > 0 else '−'}{number(abs(of_step.drift), 2)}"


#: The columns of the page on heat baths: name in the runs, head.
OF_BATHS = (
    ("rotation", "rotation at the end, K"),
    ("translation", "translation at the end, K"),
    ("middle_rotation", "rotation between the kicks, K"),
    ("middle_translation", "translation between the kicks, K"),
    ("configurational", "rotation by torques, K"),
    ("potential", "potential energy above the truth, kT a molecule"),
)


def baths_table(scene: str = "water64", friction: float = 1.0) -> str:
    """What water samples in a bath with a friction in 1/ps by scheme and step, from the released runs."""
    every = BathRuns(read_dataset(HOME / "data/released" / RELEASED))
    truth, rows = every.truth(scene), []
    for case in _cases(every, scene, friction):
        values: dict[str, Any] = {name: case.reading(name) for name, _ in OF_BATHS[:4]}
        values |= {"configurational": case.configurational, "potential": case.biases(truth)["potential"]}
        cells = (_with_half(values[name], 3 if name == "potential" else 1) for name, _ in OF_BATHS)
        rows.append((f"{case.scheme}, {case.dt:g} fs", *cells))
    return table(["scheme, step", *(head for _, head in OF_BATHS)], rows)


def _cases(every: BathRuns, scene: str, friction: float) -> list[BathRun]:
    """The runs of a box with a friction in 1/ps, and with chains of thermostats."""
    cases = [case for case in every.of(scene) if case.scheme not in METHODS]
    return [case for case in cases if case.friction == friction or case.scheme == CHAINS]


#: Readings of structure: name in the runs, head, decimals.
OF_STRUCTURE = (
    ("peak", "height of the first peak", 3),
    ("cosine", "cosine between neighbouring dipoles", 4),
)


def baths_structure(scene: str = "water64", friction: float = 1.0) -> str:
    """How molecules lie and point in a bath by scheme and step, above the truth, from the released runs."""
    every = BathRuns(read_dataset(HOME / "data/released" / RELEASED))
    truths = {name: every.truth(scene, name) for name, *_ in OF_STRUCTURE}
    rows = [("truth", *(_with_half(truths[name], decimals) for name, _, decimals in OF_STRUCTURE))]
    for case in _cases(every, scene, friction):
        cells = (_with_half(case.above(name, truths[name]), decimals) for name, _, decimals in OF_STRUCTURE)
        rows.append((f"{case.scheme}, {case.dt:g} fs", *cells))
    return table(["scheme, step", *(head for _, head, _ in OF_STRUCTURE)], rows)


def baths_longest(scene: str = "water64") -> str:
    """The longest steps with a small bias by scheme and friction: shown, possible, and by a fit, from the released runs."""
    every, rows = BathRuns(read_dataset(HOME / "data/released" / RELEASED)), []
    ladders = {(case.scheme, case.friction) for case in every.of(scene) if case.scheme in SCHEMES}
    for scheme, friction in sorted(ladders, key=lambda ladder: (list(SCHEMES).index(ladder[0]), ladder[1])):
        longest = every.longest_steps(scene, scheme, friction, BIAS)
        cells = [f"chains of {1e3 / friction:g} fs" if scheme == CHAINS else f"{scheme}, {friction:g}/ps"]
        for name in (*KINDS, "potential"):
            certain, possible = (f"{end:g}" if end else "–" for end in (longest[name].certain, longest[name].possible))
            cells.append(f"{certain} ({possible})")
        cells += [longest[name].range_of_fit for name in (KINDS[1], "potential")]
        rows.append(cells)
    heads = ["scheme, friction", "translation", "rotation", "potential energy"]
    return table([*heads, "rotation, by the square", "potential energy, by the square"], rows)


def baths_of_drifting(scene: str = "water64") -> str:
    """Methods whose energy drifts in a bath: the drift, the temperature that it makes, and what was read, of released runs."""
    every = BathRuns(read_dataset(HOME / "data/released" / RELEASED))
    cases, keys = [case for case in every.of(scene) if case.scheme in METHODS], list(METHODS)
    rows = [
        (
            f"{_method_link(case.scheme)}, {case.dt:g} fs",
            f"{case.friction:g}/ps",
            f"{case.drift.value:+.3g}".replace("-", "−"),
            f"{case.balance - every.temperature:+.3g}".replace("-", "−"),
            _with_half(case.excess, 1),
        )
        for case in sorted(cases, key=lambda case: (-keys.index(case.scheme), case.dt, case.friction))
    ]
    drift = "drift of the same run, kT per degree of freedom and ns"
    return table(["method, step", "friction", drift, "above the bath by this drift, K", "by the velocities, K"], rows)


def _with_half(estimate: Any, decimals: int) -> str:
    """A value with half of its interval."""
    if not isfinite(estimate.value):
        return ""
    return f"{estimate.value:.{decimals}f} ± {(estimate.high - estimate.low) / 2:.{decimals}f}".replace("-", "−")


# ---- the landing page ----


def landing_table(inputs: Inputs) -> str:
    """The method and the steps for each kind of torque, as on the article's second page, of the released random bodies."""
    rows, ens = [], law_frames.ensemble(inputs)
    for key, advice in all_advice(inputs, ens).items():
        cells = []
        for best in (advice.single, advice.several):
            half, _, most = best.steps
            steps = f"{number(half, 2)} for half, {number(most, 2)} for 90 %"
            cells += [_method_link(best.method), steps] if best.method else ["–", "–"]
        cells = [cells[0], "any", "–", "–"] if key == FREE.key else cells
        rows.append((LANDING[key], *cells))
    head = ["torque", "one torque per step", "steps per radian", "several torques per step", "steps per radian"]
    said = (
        f"Error per radian turned: {number(law_frames.TARGET)}, the larger of the errors of the orientation (rad) and the "
        f"angular velocity (relative); {ens.bodies} random bodies. Named are the methods with the fewest torques."
    )
    return f"{table(head, rows)}\n{said}\n"
