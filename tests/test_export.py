"""Kernels in C and JavaScript: small ones against Python, all methods, and what is refused with its reason."""

import ctypes
import itertools
import json
import math
import re
import shutil
import subprocess
import sys
from math import inf, sqrt
from pathlib import Path

import numpy as np
import pytest
from conftest import FEW, thorough

import polhode
from polhode.cli import main
from polhode.export import LANGUAGES
from polhode.export.c import SHARED, C
from polhode.export.language import WIDTH, in_single
from polhode.export.program import end_of_run
from polhode.export.translator import Translator, Untranslatable
from polhode.export.values import QUAT, VEC3
from polhode.methods.one_body import SOME_Q

STRICT = ("-Wall", "-Wextra", "-pedantic", "-Werror")
SIXTH, MINUS, ROUNDS, PAIR = 1 / 6, -0.25, 3, (0.1, -0.7)


def compiler(*names):
    program = next((name for name in names if shutil.which(name)), None)
    return program or pytest.skip(f"none of {', '.join(names)} is there")


# Kernels of two numbers, each for something that differs between Python and C.


def whole_numbers(x, y):
    return 1 / 3 * x + 7 / 2 - (2 * x) / y - 3


def brackets(x, y):
    x = x - (
        y - x  # a comment in brackets
    )
    return x - (y - x) - (x + (y + 0.1)) * (x / (y / 3)) - (x * (y * 0.3)) + (x + y)


def signs(x, y):
    return -(x * -y) - (-y) * MINUS - (-x) * -(x + y) + -x / y


def exchanged(x, y):
    a, b, c = x, y, x
    a, b, c = b, a + c, a - b
    if x < y:
        a, b = b, a
    return a - 2.0 * b + 3.0 * c


def words_of_c(x, y):
    double, new, int, vec3 = x, y, 2.0, 3.0
    return double * new + int - vec3


def branches(x, y):
    if x > y and x > 1.0:
        a = x
        b = a * y
    elif x == y:
        a, b = y, 1.0
    else:
        a, b = 0.5, x
    if a != 0.5:
        c = a * a
        b += c
    return a - b


def chosen(x, y):
    a, b, c = (x, y, 1.0) if x < y else (y, x, 2.0)
    largest = x if x > y else y
    return a - b * c + (largest + 1.0 if largest > 2.0 else largest)


def rounds(x, y):
    n, change, root = 0, 1.0, 1.0
    while change > 1e-12 and n < ROUNDS:
        last = root
        root = 0.5 * (last + (x * x + y * y) / last)
        change = (root - last) * (root - last)
        n += 1
    for _ in range(2):
        root = root - SIXTH * root
    return root + n


def counted(x, y):
    for i in range(ROUNDS):
        x = x + i * y
    return x


def _taken_apart(v, s):
    x, y, z = v
    return (x, y), (s * z,), (*PAIR, s), x - y


def tuples(x, y):
    (a, b), last, three, c = _taken_apart((x, y, 1.0), y)
    pair = (a, b)
    joined = pair + three[1:] + last
    return joined[0] * joined[4] - joined[3] * c + sqrt(joined[1] * joined[1])


def exchanged_in_parts(x, y):
    a, b = x, y
    (a, b), c = (b, a), a
    return a - 2.0 * b + 3.0 * c


def picked(x, y):
    taken = _taken_apart((x, y, 1.0), y)
    return taken[0][1] * taken[3] + taken[2][2]


def _with_constants(rounds, value):
    def of_a_closure(x, y):
        joined = _taken_apart((x, y, value), rounds(x, y))
        (a, b), _, _, c = joined
        return a - b * value + c

    return of_a_closure


def long_condition(x, y):
    if (
        x * x * x * x * x + y * y * y * y * y > 0.123456789 * x * x * x
        and x * y * x * y * x * y < 1.23456789 * x * x * y * y + 7.0
    ):
        a = x
    else:
        a = y
    return a


def shadowed(x, y):
    x = x + y
    y = x * y
    return x - y


def _product(a, b):
    return a * b + 1.0


def _early(x, y):
    if x > y:
        return x * y
    z = x + y
    return z * z


def _grown(v, y):
    a, b = v
    while a < _product(y, b) and b < 10.0:
        a = a + _product(b, y)
        b += 1.0
    return (a, b)


def written_in_place(x, y):
    """Kernels that call others in conditions, with numbers that change, and from one that returns early."""
    q, r = _grown((x, y), x + y)
    q, r = r, q
    q, r = _grown((q * 0.1, r * 0.1), y)
    return _early(q, r) - _early(r, q * y)


KERNELS = (whole_numbers, brackets, signs, exchanged, words_of_c, branches, chosen, rounds, counted, tuples, shadowed)
KERNELS += (written_in_place, exchanged_in_parts, picked, long_condition, _with_constants(rounds, 0.3))


def test_small_kernels_have_the_bits_of_python(tmp_path):
    file = Translator(C())
    names = {kernel: file.function(kernel, [None, None])[0] for kernel in KERNELS}
    called = [f"double call_{name}(double x, double y) {{ return {name}(x, y); }}" for name in names.values()]
    structs = [file.language.structure(struct) for struct in file.structs.values() if struct != VEC3]
    code = [SHARED % "", *structs, *file.lines_of_constants(), *file.texts, *called]
    (tmp_path / "small.c").write_text("\n".join(code) + "\n")
    command = [compiler("cc", "gcc", "clang"), "-std=c99", *STRICT, "-Wno-missing-prototypes", "-ffp-contract=off", "-O2"]
    subprocess.run([*command, "-shared", "-fPIC", "small.c", "-o", "small.so", "-lm"], cwd=tmp_path, check=True)
    loaded = ctypes.CDLL(str(tmp_path / "small.so"))
    for kernel, name in names.items():
        function = getattr(loaded, f"call_{name}")
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * 2
        for x, y in ((0.3, 0.7), (2.1, -1.3), (5.5, 3.1), (1.7, 1.7), (-0.4, 1e-3)):
            assert function(x, y) == kernel(x, y), (kernel.__name__, x, y)


def test_small_kernels_have_the_bits_of_python_in_javascript(tmp_path):
    file = LANGUAGES["javascript"].translator()
    names = {kernel: file.function(kernel, [None, None])[0] for kernel in KERNELS}
    pairs = [(0.3, 0.7), (2.1, -1.3), (5.5, 3.1), (1.7, 1.7), (-0.4, 1e-3)]
    called = [f"{json.dumps(pairs)}.map(([x, y]) => {name}(x, y))" for name in names.values()]
    code = [*file.lines_of_constants(), *file.texts, f"console.log(JSON.stringify([{', '.join(called)}]));"]
    (tmp_path / "small.mjs").write_text("\n".join(code) + "\n", encoding="utf-8")
    run = subprocess.run([compiler("node"), "small.mjs"], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    for kernel, numbers in zip(names, json.loads(run.stdout), strict=True):
        assert numbers == [kernel(x, y) for x, y in pairs], kernel.__name__


# What has no C here: the word that the message must contain.


def power(x, y):
    return x**2 + y


def sine(x, y):
    return math.sin(x) + y


def either(x, y):
    return x if x < 1.0 or y < 1.0 else y


def comprehension(x, y):
    return sum(z for z in (x, y))


def unbounded(x, y):
    return x + inf * y


def left_behind(x, y):
    while x < 1.0:
        z = x + y
        x = x + 1.0
    return z


def turned_real(x, y):
    n = 0
    n = n + 0.5
    return x * y + n


def increased(x, y):
    n = 0
    n += x
    return n * y


def true(x, y):
    z = True
    return x * z + y


def several(x, y):
    pair, _ = ((x, y), (y, x, y))
    both = (pair, pair)
    return (both + pair)[0]


def keyword(x, y):
    return shadowed(x, y=y)


def of_a_vector(x, y):
    return x + y


REFUSED = {
    power: r"x \*\* 2",
    sine: "sin",
    either: "joins such with and",
    comprehension: "for z in",
    unbounded: "inf",
    left_behind: "z: assign before",
    keyword: "keywords",
    turned_real: "n begins as a whole number",
    increased: "keeps whole numbers whole",
    true: "True",
    several: "a tuple of numbers is expected",
}


@pytest.mark.parametrize(("kernel", "reason"), REFUSED.items(), ids=lambda of: getattr(of, "__name__", None))
def test_what_has_no_c_is_named(kernel, reason):
    with pytest.raises(Untranslatable, match=reason) as raised:
        Translator(C()).function(kernel, [None, None])
    if kernel is not unbounded:
        first = kernel.__code__.co_firstlineno
        at = re.search(rf"{kernel.__module__}.{kernel.__name__}, line (\d+): ", str(raised.value))
        assert first < int(at[1]) <= first + 5
    with pytest.raises(Untranslatable, match="of_a_vector"):
        Translator(C()).function(of_a_vector, [VEC3, None])


@pytest.fixture(scope="module")
def sources():
    """Every method of the registry in C: none is left out."""
    return written("c")


def written(language):
    return {key: LANGUAGES[language].source(method) for key, method in polhode.methods.items()}


@pytest.mark.thorough
@pytest.mark.parametrize(("names", "standard"), [(("cc", "gcc", "clang"), "c99"), (("c++", "g++", "clang++"), "c++11")])
def test_every_method_compiles_alone_and_with_all_others(sources, names, standard, tmp_path):
    assert sorted(sources) == sorted(polhode.methods)
    suffix = "c" if standard == "c99" else "cpp"
    for key, text in sources.items():
        (tmp_path / f"{key}.{suffix}").write_text(text, encoding="utf-8")
    files = sorted(path.name for path in tmp_path.iterdir())
    (tmp_path / f"all.{suffix}").write_text(LANGUAGES["c"].library(files)["polhode.h"], encoding="utf-8")
    command = [compiler(*names), f"-std={standard}", *STRICT, "-fsyntax-only", *files, f"all.{suffix}"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stderr == ""


#: Moments, omega, step and number of steps: an asymmetric body, one step of more than a quarter turn, a coarse run of a
#: symmetric body, a sphere.
CASES = (
    ((1.0, 1.7, 2.3), (0.9, -0.7, 1.1), 0.0625, 8),
    ((0.8, 1.9, 1.3), (0.2, -0.3, 2.0), 1.3, 1),
    ((1.6, 1.0, 1.0), (2.0, 0.3, -0.2), 0.4, 8),
    ((1.2, 1.2, 1.2), (0.0, 1.0, 0.0), 0.1, 3),
)
TESTED = (
    "euler",
    *thorough("exact_rotor_corrected", "magnus_adams4", "rk4"),
)
COMMANDS = {
    "csharp": lambda key: [compiler("mcs"), "-define:POLHODE_MAIN", f"{key}.cs", f"-out:{key}"],
    "c": lambda key: [compiler("cc", "gcc", "clang"), "-x", "c", f"-D{key.upper()}_MAIN", f"{key}.h", "-o", key, "-lm"],
    "fortran": lambda key: [compiler("gfortran"), f"-D{key.upper()}_MAIN", f"{key}.F90", "-o", key],
    "javascript": lambda key: [],
    "numpy": lambda key: [],
    "rust": lambda key: [compiler("rustc"), "--edition", "2021", "--test", f"{key}.rs", "-o", key],
}
#: What runs the files that are no programs.
INTERPRETED = {
    "csharp": lambda key: [compiler("mono"), key],
    "javascript": lambda key: [compiler("node"), "-e", f"import('./{key}.mjs').then((method) => method.test())"],
    "numpy": lambda key: [sys.executable, f"{key}.py"],
}


@pytest.mark.parametrize("key", TESTED)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_file_tests_itself(language, key, tmp_path):
    """As its head says how, without a compiler's options; with another number in its test it does not say ok."""
    text = LANGUAGES[language].source(polhode.methods[key])
    number = repr(end_of_run(polhode.methods[key])[6])[:14]
    assert text.count(number) == 1
    for expected, changed in (("ok", text), ("differs", text.replace(number, "7.7"))):
        file = tmp_path / f"{key}{LANGUAGES[language].suffix}"
        file.write_text(changed, encoding="utf-8")
        command = COMMANDS[language](key)
        if command:
            subprocess.run(command, cwd=tmp_path, check=True)
        words = INTERPRETED[language](key) if language in INTERPRETED else [f"./{key}"]
        run = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        said = f"{run.stdout}\n{run.stderr}"
        assert (expected in said, run.returncode == 0) == (True, expected == "ok"), said


@pytest.mark.thorough
def test_fortran_has_the_numbers_of_the_kernels(tmp_path):
    """All methods in one program, compiled with every warning an error but that of arguments that are not read."""
    program = compiler("gfortran")
    fortran, files = LANGUAGES["fortran"], written("fortran")

    def literals(numbers):
        return f"[{', '.join(map(fortran.literal, numbers))}]"

    runs = []
    for key in files:
        for moments, omega, dt, steps in CASES:
            body, numbers = f"{key}_inertia_of({literals(moments)})", f"[0.0_real64], {dt}_real64, {steps}_int64"
            call = fortran.broken(f"last = {key}_run({literals(SOME_Q)}, {literals(omega)}, {body}, torque, {numbers})", 0)
            runs += ["block", f"type({key}_reading) :: last", *call, "print '(7es25.16e3)', last%q, last%omega", "end block"]
    torque = files["euler"].partition("contains\n\n! A torque")[2].partition("end program")[0].replace("test_torque", "torque")
    uses = ["use, intrinsic :: iso_fortran_env, only: int64, real64", *(f"use polhode_{key}" for key in files)]
    main = ["program all_methods", *uses, "implicit none", *runs, "contains", f"! A torque{torque}", "end program"]
    (tmp_path / "all.F90").write_text("\n".join([*files.values(), *main]) + "\n", encoding="utf-8")
    command = [program, "-std=f2008", "-Wall", "-Wno-unused-dummy-argument", "-Werror", "-ffp-contract=off", "all.F90"]
    subprocess.run([*command, "-o", "all"], cwd=tmp_path, check=True)
    lines = iter(subprocess.run(["./all"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines())
    for key in files:
        for case in CASES:
            expected = np.array(end_of_run(polhode.methods[key], *case))
            off = np.abs(np.array(next(lines).split(), float) - expected)
            for numbers in (slice(4), slice(4, 7)):
                assert off[numbers].max() <= 1e-15 * np.abs(expected[numbers]).max(), (key, case)


@pytest.mark.thorough
def test_numpy_has_the_bits_of_the_kernels():
    moments, omega = (np.array([case[i] for case in CASES]) for i in (0, 1))
    for key, text in written("numpy").items():
        module = {"__name__": key}
        exec(compile(text, f"{key}.py", "exec"), module)
        vec3_of, array_of = module["vec3_of"], module["array_of"]
        body = module["inertia_of"](vec3_of(moments))
        for dt, steps in {case[2:] for case in CASES}:
            q = module["quat_of"]([SOME_Q] * len(CASES))
            end = module["run"](q, vec3_of(omega), body, module["test_torque"], None, dt, steps)
            numbers = np.hstack([array_of(end.q), array_of(end.omega)])
            expected = [end_of_run(polhode.methods[key], *case[:2], dt, steps) for case in CASES]
            assert np.isfinite(expected).all() and (numbers == expected).all(), (key, dt)


@pytest.mark.thorough
def test_javascript_of_every_method_is_well_formed(tmp_path):
    """All in one file, each in a block of its own, which cannot export."""
    files = written("javascript")
    assert sorted(files) == sorted(polhode.methods)
    for key, text in files.items():
        for name in ("inertia_of", "start", "read", "stored", "run", "test"):
            assert text.count(f"\nexport function {name}(") == 1, (key, name)
        assert not re.search(r"^(let|var) ", text, re.MULTILINE), f"{key} has a state of its own"
        assert "import" not in re.sub(r"//.*|/\*.*?\*/", "", text, flags=re.DOTALL), f"{key} needs another module"
    blocks = ["{\n" + text.replace("\nexport function", "\nfunction") + "}\n" for text in files.values()]
    (tmp_path / "all.mjs").write_text("".join(blocks), encoding="utf-8")
    check = subprocess.run([compiler("node"), "--check", "all.mjs"], cwd=tmp_path, capture_output=True, text=True)
    assert check.returncode == 0, check.stderr


#: The torque of the damped top, with its parameters k.
FRICTION = """{
    x: k[4] * v.z - k[5] * v.y - k[0] * v.x, y: k[5] * v.x - k[3] * v.z - k[1] * v.y, z: k[3] * v.y - k[4] * v.x - k[2] * v.z
}"""


def test_javascript_has_the_bits_of_the_kernels(tmp_path):
    """Compiled kernels under friction, and plain ones under a torque that depends on everything."""
    node, steps, dt = compiler("node"), 200, 0.01
    top, expected = polhode.problems["damped_top"], {}
    vectors = [dict(zip("xyz", v, strict=True)) for v in (top.body.inertia, top.omega0)]
    lines = ["const ends = {};", f"const [moments, omega] = {json.dumps(vectors)};"]
    lines += [f"const [q, some] = {json.dumps([dict(zip('wxyz', q, strict=True)) for q in (top.q0, SOME_Q)])};"]
    for key in ("exact_rotor", *FEW, "flipped"):
        text = LANGUAGES["javascript"].source(polhode.methods["exact_rotor" if key == "flipped" else key])
        text = text.replace("\nfunction test_torque", "\nexport function test_torque")
        if key == "flipped":
            assert text.count("drop3 = product23 * (w1 * w1)") == 1
            text = text.replace("drop3 = product23 * (w1 * w1)", "drop3 = -product23 * (w1 * w1)")
        (tmp_path / f"{key}.mjs").write_text(text, encoding="utf-8")
        lines += [f'import * as {key} from "./{key}.mjs";']
        friction = f"(t, q, v, k) => ({FRICTION})"
        runs = [f"{key}.run(q, omega, {key}.inertia_of(moments), {friction}, {top.parameter_array.tolist()}, {dt}, {steps})"]
        key_of = "exact_rotor" if key == "flipped" else key
        run = polhode.simulate("damped_top", key_of, dt, steps * dt, samples=1)
        expected[key] = [[*run["q"].values[-1], *run["omega"].values[-1]]]
        for moments, omega, step, count in CASES:
            three = [json.dumps(dict(zip("xyz", v, strict=True))) for v in (omega, moments)]
            runs += [f"{key}.run(some, {three[0]}, {key}.inertia_of({three[1]}), {key}.test_torque, null, {step}, {count})"]
            expected[key] += [list(end_of_run(polhode.methods[key_of], moments, omega, step, count))]
        lines += [f"ends.{key} = [{', '.join(runs)}].map((end) => [...Object.values(end.q), ...Object.values(end.omega)]);"]
    (tmp_path / "runs.mjs").write_text("\n".join([*lines, "console.log(JSON.stringify(ends));"]), encoding="utf-8")
    said = subprocess.run([node, "runs.mjs"], cwd=tmp_path, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    ends = json.loads(said.stdout)
    assert ends.pop("flipped") != expected["flipped"], "one sign is enough"
    for key in ends:
        for end, numbers in zip(ends[key], expected[key], strict=True):
            assert np.isfinite(numbers).all() and end == numbers, key


def test_javascript_makes_no_objects_inside_a_run():
    """But the objects with which the torque is called, and the one at the end."""
    for key in ("exact_rotor", "rk4", "magnus_adams4"):
        text = LANGUAGES["javascript"].source(polhode.methods[key])
        text = re.sub(r"\btorque\((.|\n)*?parameters\s*\)", "", text.partition("\nexport function test(")[0])
        functions = dict(re.findall(r"\n(?:export )?function (\w+)\([^)]*\) \{\n((?:    .*\n|\n)*)\}", text))
        run = functions["run"].rpartition("return {")[0]
        inner = [functions[name] for name in re.findall(r"\nfunction (\w+)\(", text) if name != "test_torque"]
        assert "for (let n" in run
        for body in (run, *inner):
            assert not re.search(r"\{ \w+[:,]|return \{", body), key


def rust_ends(folder, language, keys):
    """The ends of runs of all cases, by a program of Rust."""
    calls = []
    for key in keys:
        (folder / f"{key}.rs").write_text(
            language.source(polhode.methods[key])
            .replace("#[cfg(test)]\nmod tests", "pub mod tests")
            .replace("    fn test_torque", "    pub fn test_torque"),
            encoding="utf-8",
        )
        for moments, omega, dt, steps in CASES:
            m, w, q = (
                f"{key}::{language.constructed(of, list(map(language.literal, v)))}"
                for of, v in ((VEC3, moments), (VEC3, omega), (QUAT, SOME_Q))
            )
            run = f"{key}::run({q}, {w}, {key}::inertia_of({m}), &{key}::tests::test_torque, {dt}, {steps})"
            calls.append(f"    let e = {run};")
            numbers = [f"e.q.{x} as f64" for x in "wxyz"] + [f"e.omega.{x} as f64" for x in "xyz"]
            calls.append(f'    println!("{{:?}}", [{", ".join(numbers)}]);')
    main = [*(f"pub mod {key};" for key in keys), "fn main() {", *calls, "}"]
    (folder / "main.rs").write_text("\n".join(main) + "\n", encoding="utf-8")
    command = [compiler("rustc"), "--edition", "2021", "-D", "warnings", "main.rs", "-o", "ends"]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    said = subprocess.run(["./ends"], cwd=folder, capture_output=True, text=True, check=True).stdout
    return {
        (key, i): json.loads(line) for (key, i), line in zip(itertools.product(keys, range(4)), said.splitlines(), strict=True)
    }


def test_rust_has_the_bits_of_the_kernels(tmp_path):
    keys = ("exact_rotor", "euler", "rk4", "magnus_adams4")
    for (key, i), end in rust_ends(tmp_path, LANGUAGES["rust"], keys).items():
        assert end == list(end_of_run(polhode.methods[key], *CASES[i])), (key, i)


def csharp_ends(folder, language, keys):
    """The ends of runs of all cases, by a program of C#."""
    calls = []
    for key in keys:
        text = language.source(polhode.methods[key])
        name = re.search(r"public static class (\w+)", text)[1]
        text = text.replace("    static Vec3 test_torque", "    public static Vec3 test_torque")
        (folder / f"{key}.cs").write_text(text, encoding="utf-8")
        for moments, omega, dt, steps in CASES:
            m, w, q = (
                language.constructed(of, list(map(language.literal, v))).replace("new ", f"new {name}.")
                for of, v in ((VEC3, moments), (VEC3, omega), (QUAT, SOME_Q))
            )
            step = language.literal(dt)
            calls.append(f"{{ var e = {name}.run({q}, {w}, {name}.inertia_of({m}), {name}.test_torque, {step}, {steps});")
            calls.append("print(e.q.w, e.q.x, e.q.y, e.q.z, e.omega.x, e.omega.y, e.omega.z); }")
    with_digits = 'x => x.ToString("R", System.Globalization.CultureInfo.InvariantCulture)'
    printed = f'System.Console.WriteLine("[" + string.Join(", ", System.Array.ConvertAll(numbers, {with_digits})) + "]");'
    main = [
        "static class Ends {",
        f"static void print(params double[] numbers) {{ {printed} }}",
        "static void Main() {",
        *calls,
    ]
    (folder / "Ends.cs").write_text("\n".join([*main, "} }"]), encoding="utf-8")
    command = [compiler("mcs"), "-warnaserror", "-out:ends.exe", "Ends.cs", *(f"{key}.cs" for key in keys)]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    said = subprocess.run([compiler("mono"), "ends.exe"], cwd=folder, capture_output=True, text=True, check=True).stdout
    cases = itertools.product(keys, range(len(CASES)))
    return dict(zip(cases, map(json.loads, said.splitlines()), strict=True))


def test_csharp_has_the_bits_of_the_kernels(tmp_path):
    keys = ("exact_rotor", "euler", "rk4", "magnus_adams4")
    for (key, i), end in csharp_ends(tmp_path, LANGUAGES["csharp"], keys).items():
        assert end == list(end_of_run(polhode.methods[key], *CASES[i])), (key, i)


ROOTS_IN_RUST = """
fn main() {
    let numbers: [f64; 9] = [0.0, -0.0, 2.0, 1.0 - 1.1e-16, 5e-324, 1.7e308, 3e-310, 0.3, 1e16];
    for x in numbers {
        assert!(sqrt(x).to_bits() == x.sqrt().to_bits(), "{}", x);
    }
    let mut state: u64 = 1;
    for _ in 0..20000 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let x = f64::from_bits(state >> 1);
        assert!(!x.is_finite() || sqrt(x).to_bits() == x.sqrt().to_bits(), "{:e}", x);
    }
    assert!(sqrt(-1.0).is_nan() && sqrt(f64::NAN).is_nan() && sqrt(f64::INFINITY) == f64::INFINITY);
}
"""


def test_rust_without_its_standard_library_has_the_same_root(tmp_path):
    text = LANGUAGES["rust"].source(polhode.methods["euler"])
    (tmp_path / "euler.rs").write_text(text, encoding="utf-8")
    (tmp_path / "roots.rs").write_text(text + ROOTS_IN_RUST, encoding="utf-8")
    (tmp_path / "core.rs").write_text("#![no_std]\npub mod euler;\n", encoding="utf-8")
    rust = [compiler("rustc"), "--edition", "2021", "--cfg", 'feature="no_std"']
    for words in (["--crate-type", "lib", "--emit", "metadata", "core.rs"], ["-O", "roots.rs", "-o", "roots"], None):
        run = subprocess.run([*rust, *words] if words else ["./roots"], cwd=tmp_path, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr


#: Runs of all cases in C with floats.
ENDS_IN_C = """
#define RUN(key, a, b, c, wx, wy, wz, dt, steps) {{ \\
    const key##_single_reading e = key##_single_run(polhode_single_quat_of({q}), polhode_single_vec3_of(wx, wy, wz), \\
        polhode_single_inertia_of(polhode_single_vec3_of(a, b, c)), key##_single_test_torque, 0, dt, steps); \\
    printf("[%.17g, %.17g, %.17g, %.17g, ", e.q.w, e.q.x, e.q.y, e.q.z); \\
    printf("%.17g, %.17g, %.17g]\\n", e.omega.x, e.omega.y, e.omega.z); }}
#include <stdio.h>
int main(void) {{ {runs} return 0; }}
"""


def test_single_precision_has_the_same_bits_in_all_languages(tmp_path):
    """And the numbers of double precision but for the rounding."""
    keys = ("exact_rotor", "euler", "rk4", "magnus_adams4")
    c, javascript = LANGUAGES["c"].in_single(), LANGUAGES["javascript"].in_single()
    runs, texts, lines = [], [], ["const ends = [];"]
    for key in keys:
        text = c.source(polhode.methods[key])
        torque = text.partition("#include <stdio.h>\n")[2].partition("\nint main")[0]
        texts.append(f"{text}\n{torque}")
        text = javascript.source(polhode.methods[key])
        text = text.replace("\nfunction test_torque", "\nexport function test_torque")
        (tmp_path / f"{key}.mjs").write_text(text, encoding="utf-8")
        lines.insert(0, f'import * as {key} from "./{key}.mjs";')
        for moments, omega, dt, steps in CASES:
            numbers = [f"{x!r}f" for x in (*moments, *omega, dt)]
            runs.append(f"RUN({key}, {', '.join(numbers)}, {steps})")
            given = ("wxyz", SOME_Q), ("xyz", omega), ("xyz", moments)
            q, w, m = (json.dumps(dict(zip(names, v, strict=True))) for names, v in given)
            lines += [f"ends.push({key}.run({q}, {w}, {key}.inertia_of({m}), {key}.test_torque, null, {dt}, {steps}));"]
    lines.append("console.log(JSON.stringify(ends.map((e) => [...Object.values(e.q), ...Object.values(e.omega)])));")
    (tmp_path / "ends.mjs").write_text("\n".join(lines), encoding="utf-8")
    said = subprocess.run([compiler("node"), "ends.mjs"], cwd=tmp_path, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    ends = dict(zip(itertools.product(keys, range(len(CASES))), json.loads(said.stdout), strict=True))
    for (key, i), end in ends.items():
        assert end == np.float32(end).astype(float).tolist()
        of_double = end_of_run(polhode.methods[key], *CASES[i])
        assert 0 < np.abs(np.array(end) - of_double).max() < 2e-5, (key, i)
    main = ENDS_IN_C.format(q=", ".join(f"{x!r}f" for x in SOME_Q), runs="\n    ".join(runs))
    (tmp_path / "ends.c").write_text("\n".join([*texts, main]), encoding="utf-8")
    command = [compiler("cc", "gcc", "clang"), "-std=c99", *STRICT, "-ffp-contract=off", "-O2", "ends.c", "-o", "ends_in_c"]
    built = subprocess.run([*command, "-lm"], cwd=tmp_path, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    rows = subprocess.run(["./ends_in_c"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [json.loads(row) for row in rows] == list(ends.values())
    assert rust_ends(tmp_path, LANGUAGES["rust"].in_single(), keys) == ends
    assert csharp_ends(tmp_path, LANGUAGES["csharp"].in_single(), keys) == ends


@pytest.mark.thorough
def test_every_method_in_rust_csharp_and_single_precision(tmp_path):
    """Rust without its standard library, C and C# compile without a warning; JavaScript and C# repeat their runs."""
    single = [LANGUAGES[name].in_single() for name in ("rust", "csharp", "c", "javascript")]
    for method in polhode.methods.values():
        for language in (LANGUAGES["rust"], LANGUAGES["csharp"], *single):
            file = tmp_path / f"{language.key(method)}{language.suffix}"
            file.write_text(language.source(method), encoding="utf-8")
    tests = re.findall(r"public static class (\w+)", "".join(path.read_text() for path in tmp_path.glob("*.cs")))
    (tmp_path / "All.cs").write_text(
        f"static class All {{ static void Main() {{ {' '.join(f'{name}.test();' for name in tests)} }} }}\n", encoding="utf-8"
    )
    modules = "".join(f"pub mod {path.stem};\n" for path in sorted(tmp_path.glob("*.rs")))
    (tmp_path / "all.rs").write_text(f"#![no_std]\n{modules}", encoding="utf-8")
    script = [f'await import("./{path.name}").then((method) => method.test());' for path in sorted(tmp_path.glob("*.mjs"))]
    (tmp_path / "all.mjs").write_text("\n".join(script), encoding="utf-8")
    includes = [f'#include "{path.name}"\n' for path in sorted(tmp_path.glob("*.h"))]
    (tmp_path / "all.c").write_text("".join(includes), encoding="utf-8")
    library = ["--edition", "2021", "-D", "warnings", "--crate-type", "lib", "--emit", "metadata"]
    for command in (
        [compiler("cc", "gcc", "clang"), "-std=c99", *STRICT, "-fsyntax-only", "all.c"],
        [compiler("node"), "all.mjs"],
        [compiler("rustc"), *library, "--cfg", 'feature="no_std"', "all.rs"],
        [compiler("mcs"), "-warnaserror", "-out:all.exe", *(path.name for path in sorted(tmp_path.glob("*.cs")))],
        [compiler("mono"), "all.exe"],
    ):
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert (run.returncode, run.stderr) == (0, ""), run.stderr
    assert len(includes) == len(script) == len(tests) / 2 == len(polhode.methods)


#: Ends of a free body after 100 s and 1000 s, in both precisions.
LOSSES = """
const moments = { x: 1, y: 2, z: 3 }, q = { w: 1, x: 0, y: 0, z: 0 }, omega = { x: 0.3, y: 0.4, z: 1.0 };
const none = () => ({ x: 0, y: 0, z: 0 }), ends = {};
for (const key of KEYS) {
    const method = await import(`./${key}.mjs`), body = method.inertia_of(moments);
    ends[key] = [6000, 60000].map((steps) => {
        const end = method.run(q, omega, body, none, null, 1 / 60, steps);
        return [..."wxyz"].map((x) => end.q[x]).concat([..."xyz"].map((x) => end.omega[x]));
    });
}
console.log(JSON.stringify(ends));
"""


def test_the_loss_of_single_precision_is_what_the_page_says(tmp_path):
    keys, javascript, names = ("exact_rotor", "spiral_leapfrog", "rk4", "no_squish"), LANGUAGES["javascript"], []
    for language in (javascript, javascript.in_single()):
        for key in keys:
            names.append(language.key(polhode.methods[key]))
            (tmp_path / f"{names[-1]}.mjs").write_text(language.source(polhode.methods[key]), encoding="utf-8")
    (tmp_path / "losses.mjs").write_text(LOSSES.replace("KEYS", json.dumps(names)), encoding="utf-8")
    said = subprocess.run([compiler("node"), "losses.mjs"], cwd=tmp_path, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    ends = {name: np.array(rows) for name, rows in json.loads(said.stdout).items()}
    moments, omega0 = np.array([1.0, 2.0, 3.0]), np.array([0.3, 0.4, 1.0])

    def drifts(end):
        length, energy = (np.linalg.norm(moments * w) for w in (end[4:], omega0)), (moments @ w**2 for w in (end[4:], omega0))
        return [a / b - 1 for a, b in (length, energy)]

    rows = []
    for key in keys:
        double, single = ends[key], ends[f"{key}_single"]
        angles = []
        for a, b in zip(double[:, :4], single[:, :4], strict=True):
            turn = np.append(b[0] * a[1:] - a[0] * b[1:] + np.cross(a[1:], b[1:]), 0) / np.linalg.norm(b)
            angles.append(2 * np.arcsin(np.linalg.norm(turn)))
        numbers = [*angles, *drifts(single[1]), *drifts(double[1])]
        # What is round-off in double precision depends on its last digits.
        said = [f"{x:.1e}" if abs(x) > 1e-12 else "round-off" for x in numbers]
        rows.append(f"| {polhode.methods[key].label} | {' | '.join(said)} |")
        assert abs(np.linalg.norm(single[1, :4]) - 1) < 3e-4
    page = (Path(__file__).parents[1] / "docs" / "own-code.md").read_text(encoding="utf-8")
    assert "\n".join(rows) in page, "\n".join(rows)


@pytest.mark.parametrize("language", LANGUAGES)
def test_constants_of_double_precision_do_not_vanish_in_single(language):
    assert [in_single(x) for x in (0.0, -0.5, 1e20)] == [0.0, -0.5, float(np.float32(1e20))]
    assert in_single(-1e-300) == pytest.approx(-(10**-37.5)) and in_single(1e300) == pytest.approx(10**37.5)
    single = LANGUAGES[language].in_single()
    if not single.has_single:
        assert main(["code", "euler", "--language", language, "--precision", "single"]) == 2
        return
    text = single.source(polhode.methods["exact_rotor"])
    assert re.search(r"TINY[^\n]* 3\.16\d*e-38", text) and re.search(r"ROUND[^\n]* 12582912\.0", text)


def test_the_free_body_of_the_documentation_flips_as_it_should(tmp_path):
    """As often as the closed form says."""
    text = (Path(__file__).parents[1] / "docs" / "own-code.md").read_text(encoding="utf-8")
    handle = re.search(r"```javascript\n(.*?)```", text, re.DOTALL)[1]
    (tmp_path / "exact_rotor.mjs").write_text(LANGUAGES["javascript"].source(polhode.methods["exact_rotor"]), encoding="utf-8")
    (tmp_path / "handle.mjs").write_text(handle, encoding="utf-8")
    run = subprocess.run([compiler("node"), "handle.mjs"], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    flips = run.stdout.strip()
    # omega_y is a multiple of sn(p t + K, m) but for the small part of omega about x, so that a flip takes 2 K/p.
    (a, b, c), (x, y) = (float(number) for number in re.findall(r"[xyz]: ([\d.e-]+)", handle)[:3]), (0.1, 10.0)
    energy, square = a * x * x + b * y * y, (a * x) ** 2 + (b * y) ** 2
    m = (c - b) * (square - energy * a) / ((b - a) * (energy * c - square))
    rate = math.sqrt((b - a) * (energy * c - square) / (a * b * c))
    mean, other = 1.0, math.sqrt(1.0 - m)
    for _ in range(12):
        mean, other = (mean + other) / 2, math.sqrt(mean * other)
    assert int(flips.removesuffix(" flips")) == int(60.0 * rate * mean / math.pi + 0.5)


def test_the_code_reads_like_the_kernels(sources):
    text = sources["spiral_leapfrog"]
    assert "Source: del Valle et al. (2024), Eqs. 7-10." in text
    assert "methods/spiral_leapfrog.py, kick. The angular velocity after an SSPRK3 step" in text
    assert "    /* Eq. 7: the exact rotation by omega(t + dt/2) */\n" in text
    assert "const polhode_vec3 k1 = spiral_leapfrog_euler_equations(omega, torque, body);\n" in text
    rounded = "(a * SPIRAL_LEAPFROG_ONE_OVER_PI + SPIRAL_LEAPFROG_ROUND) - SPIRAL_LEAPFROG_ROUND"
    assert f"    const double k = {rounded};\n" in text, "brackets say what is added first"
    state = "polhode_quat q;", "polhode_vec3 omega, torque, last;", "double rate;", "polhode_vec3 predicted;"
    assert "".join(["typedef struct {", *(f"\n    {line}" for line in state), "\n} spiral_kdk_state;"]) in sources["spiral_kdk"]
    for key, text in sources.items():
        assert max(map(len, text.splitlines())) <= WIDTH, key
        for name in ("start", "read", "stored", "run"):
            assert len(re.findall(rf"^POLHODE_FUNCTION \w+ {key}_{name}\(", text, re.MULTILINE)) == 1, (key, name)
        assert "``" not in text and ":math:" not in text
        assert not re.search(r"\)\.[wxyzqv]\b", text), "what is cut into pieces is computed once"
        # No state of its own: what stands outside functions is constant.
        assert not re.search("^(static|double|long)", text, re.MULTILINE), key


def test_the_same_method_gives_the_same_text(sources):
    for key in ("exact_rotor", "magnus_adams4"):
        assert LANGUAGES["c"].source(polhode.methods[key]) == sources[key]
