"""Kernels in another language: a function for each, with the same names and the same operations in the same order.

Kernels are Python functions on floats and tuples of floats (:mod:`polhode.compiling.kernel`), straight-line but for conditions
and short loops. Each is read as a syntax tree and written as a function that takes and returns structures by value, so that an
expression has the same form in all languages; how it is spelled is said by a :class:`polhode.export.language.Language`. Which
structure an argument has follows from what a kernel is called with: a kernel that is called with states of two forms becomes
two functions. Constants of modules keep their names. Where a kernel calls another one, that is translated first.

Doubles are added, multiplied, divided and compared as in Python; with a compiler that does not contract
(``-ffp-contract=off``) the results have the same bits.
"""

import ast
import inspect
import io
import itertools
import math
import textwrap
import tokenize
from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from types import FunctionType
from typing import Any, NoReturn, TypeAlias

from polhode.export import values
from polhode.export.language import RESERVED, Language
from polhode.export.values import QUAT, VEC3, Argument, Flat, Group, Joined, Scalar, Stored, Struct, Unknown, Value, unused

#: The names that a caller gives to the values that it takes apart, those of a tuple in a tuple among them.
Hints: TypeAlias = "tuple[str | Hints, ...]"
OPERATORS: dict[type, tuple[str, int]] = {
    ast.Add: ("+", values.SUM),
    ast.Sub: ("-", values.SUM),
    ast.Mult: ("*", values.PRODUCT),
    ast.Div: ("/", values.PRODUCT),
}
#: What a torque is called with.
TORQUE_TYPES: Sequence[Argument] = (None, QUAT, VEC3, values.PARAMETERS)
COMPARISONS: dict[type, str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


class Untranslatable(ValueError):
    """A kernel uses something that is not translated; the message names kernel, line and reason."""


@dataclass
class Translator:
    """What has been translated so far, to stand in one file.

    Parameters
    ----------
    language : the one that is written
    prefix : what stands before the names of functions, structures and constants
    functions : kernel with the structures of its arguments -> name and result of its function
    texts : of the functions, in the order of the file
    structs, defined : by name, the structures that are declared in the file and all that have a name
    constants : name -> value
    names : of the functions
    """

    language: Language
    prefix: str = ""
    functions: dict[tuple[Any, ...], tuple[str, Argument]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    structs: dict[str, Struct] = field(default_factory=dict)
    defined: dict[str, Struct] = field(default_factory=dict)
    constants: dict[str, float | int] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    #: Structures by the structures of their members: functions that return the same share one.
    shapes: dict[tuple[str, ...], Struct] = field(default_factory=dict)
    #: Parts of an unknown state (first number, end) with the names of the variables that they are assigned to; parts that are
    #: handed to kernels, with the names of the arguments; and what states are put together from, with the names of that.
    parts: list[tuple[int, int, str]] = field(default_factory=list)
    uses: list[tuple[int, int, str]] = field(default_factory=list)
    pieces: list[tuple[int, int, str]] = field(default_factory=list)

    def use(self, struct: Struct) -> str:
        """The name of a structure, which is declared in the file from now on, after the structures of its members."""
        if struct.name not in self.structs and not isinstance(struct, Unknown):
            for _, member in struct.members:
                if member:
                    self.use(member)
            self.structs[struct.name] = struct
        return struct.name

    def struct(self, name: str, members: Sequence[tuple[str, Struct | None]], nested: bool = False) -> Struct:
        """A new structure, with a number behind its name if another one has it; an equal one of this name is returned instead.

        ``members`` are pairs of the name and the structure of each, None for a number; ``nested``: a tuple of several values.
        """
        name = name if name.startswith(self.prefix) else f"{self.prefix}{name}"
        taken = {known for known, struct in self.defined.items() if (struct.members, struct.nested) != (tuple(members), nested)}
        struct = Struct(unused(name, taken), tuple(members), nested)
        return self.defined.setdefault(struct.name, struct)

    def type_of(self, argument: Argument) -> str:
        """The type of an argument or a variable, as text in the language; a structure is declared in the file."""
        if isinstance(argument, Struct):
            self.use(argument)
        return self.language.type_of(argument)

    def function(
        self,
        kernel: Callable[..., Any],
        arguments: Sequence[Argument],
        result: Struct | None = None,
        name: str = "",
        comment: str = "",
        hints: Hints = (),
    ) -> tuple[str, Argument]:
        """The name of the function of a kernel for such arguments, and what it returns; it is written if it is not there.

        Parameters
        ----------
        kernel : compiled or plain
        arguments : the structure of each argument, None for a number, :data:`polhode.export.values.WHOLE` for a whole number,
            TORQUE or PARAMETERS for what is only handed on
        result : the structure of the result, if it is to have a certain one
        name, comment : those of the function; by default the kernel's own
        hints : the names that its caller gives to what it returns

        Raises
        ------
        Untranslatable
            If the kernel, or one that it calls, is no function in Python, takes another number of arguments, or is more than
            arithmetic, conditions and loops over a fixed number of rounds.
        """
        plain = getattr(kernel, "py_func", kernel)
        if not isinstance(plain, FunctionType):
            raise Untranslatable(f"{kernel!r} is no function written in Python; kernels call kernels and math.sqrt alone")
        if plain.__code__.co_argcount != len(arguments):
            expected = f"{plain.__module__}.{plain.__qualname__} takes {plain.__code__.co_argcount} arguments"
            raise Untranslatable(f"{expected} and is called with {len(arguments)}")
        key = (plain, *arguments, result)
        if key not in self.functions:
            name = name or self._unused(plain)
            self.names.add(name)
            body = self._writer(plain, name, arguments, result, hints)
            text = body.translated(comment)
            self.functions[key] = name, body.result
            # Who calls a kernel that has a certain result receives that.
            self.functions.setdefault((plain, *arguments, None), self.functions[key])
            self.texts.append(text)
        return self.functions[key]

    def _writer(
        self, plain: FunctionType, name: str, arguments: Sequence[Argument], result: Struct | None, hints: Hints
    ) -> "Function":
        """What writes the function of a kernel."""
        return Function(self, plain, name, arguments, result, hints)

    def _unused(self, plain: FunctionType) -> str:
        """A name that the file does not have yet: that of the kernel, with that of its module before it if need be."""
        name = plain.__name__.lstrip("_")
        taken = self.language.reserved | self.language.functions | self.names | set(self.constants)
        if f"{self.prefix}{name}" in taken:
            name = f"{plain.__module__.rpartition('.')[2]}_{name}"
        return unused(f"{self.prefix}{name}", taken)

    def constant(self, name: str, value: float | int, module: str) -> str:
        """The name of a constant of a module, declared in the file; ``module`` distinguishes two of one name.

        Raises
        ------
        Untranslatable
            If the value is not finite, or two modules of one name have such a constant.
        """
        if not math.isfinite(value):
            raise Untranslatable(f"{module}.{name} is {value}, for which there is no literal")
        for candidate in (name, f"{module.rpartition('.')[2]}_{name}"):
            candidate = f"{self.prefix}{candidate}".upper()
            if candidate not in self.names and repr(self.constants.setdefault(candidate, value)) == repr(value):
                return candidate
        raise Untranslatable(f"two constants {name} of modules named {module.rpartition('.')[2]}")

    def lines_of_constants(self) -> list[str]:
        """The statements that declare all constants."""
        return [self.language.constant(name, value) for name, value in self.constants.items()]


@dataclass
class LocalVariable:
    """A variable of a function: its name there, and what it holds: a structure, None for a number, or a whole number or
    function.
    """

    code: str
    type: Argument

    @property
    def integer(self) -> bool:
        """Whether it is a whole number."""
        return self.type == values.WHOLE


class Function:
    """One function, written statement by statement.

    ``file`` is the translator, ``plain`` the kernel in plain Python; ``name``, ``arguments``, ``result`` and ``hints`` are as
    in :meth:`Translator.function`.
    """

    def __init__(
        self,
        file: Translator,
        plain: FunctionType,
        name: str,
        arguments: Sequence[Argument],
        result: Struct | None,
        hints: Hints,
    ) -> None:
        self.file, self.plain, self.name, self.result, self.hints = file, plain, name, result, hints
        self.language = file.language
        source = source_of(plain)
        self.tree = source.tree
        self.comments, self.finished = source.comments, 0
        self.source = source.lines
        self.globals, self.loads, self.stores = source.globals, source.loads, source.stores
        # A variable must not hide what the function calls or reads.
        self.avoided = self.language.reserved | {word.casefold() for word in (*self._outside(), name)}
        self.taken: set[str] = set()
        self.lines: list[str] = []
        self.depth = 1
        self.branches = 0
        self.hoisted: set[str] = set()
        self.pending: list[str] = []
        self.locals: list[tuple[str, str]] = []
        parameters = [argument.arg for argument in self.tree.args.args]
        self.variables = {}
        for parameter, argument in zip(parameters, arguments, strict=True):
            self.variables[parameter] = self._parameter(parameter, argument)

    def _outside(self) -> Set[str]:
        """Names outside the function that its variables do not hide."""
        return outside_names(self.plain)

    def _prepare(self) -> None:
        """What stands at the head of the function: variables in the place of arguments that cannot change."""
        if not self.language.arguments_change:
            for name, v in list(self.variables.items()):
                if self.stores[name]:
                    self.variables[name] = LocalVariable(self._declared(v.type, v.code, name, constant=False), v.type)

    def _parameter(self, name: str, of: Argument) -> LocalVariable:
        """A parameter of the function."""
        return LocalVariable(self._new(name), of)

    def translated(self, comment: str) -> str:
        """The text of the whole function, below a comment: this text, or if it is empty the docstring of the kernel.

        Raises
        ------
        Untranslatable
            If the kernel, or one that it calls, is more than arithmetic, conditions and loops over a fixed number of rounds.
        """
        parameters = list(self.variables.items())
        if not self.language.hands_parameters:
            parameters = [(name, v) for name, v in parameters if v.type != values.PARAMETERS]
        typed = [(self.file.type_of(v.type), v.code) for _, v in parameters]
        idle = [v.code for name, v in parameters if not self.loads[name]]
        self._prepare()
        self.result_code = self._new("value") if self.language.names_results else ""
        for statement in self.tree.body:
            self._statement(statement)
        of = self.file.type_of(self.result)
        module = self.plain.__module__.removeprefix("polhode.").replace(".", "/")
        text = comment or inspect.getdoc(self.plain) or ""
        text = text if module == "export/program" else f"{module}.py, {self.plain.__name__}. {text}"
        return "\n".join(
            [
                *self.language.heading(text, typed, of),
                *self.language.function(self.name, of, typed, idle, self.locals, self.lines, self.result_code),
            ]
        )

    # Statements

    def _statement(self, node: ast.stmt) -> None:
        for line in range(self.finished + 1, node.lineno):
            if line in self.comments.alone:
                self.lines += self.language.comment(self.comments.alone[line], self.depth)
        simple = not isinstance(node, ast.If | ast.While | ast.For)
        self.finished = (node.end_lineno if simple else node.lineno) or node.lineno
        before = len(self.lines)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            self._assign(node.targets[0], node.value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            self._increment(node, node.target)
        elif isinstance(node, ast.Return) and node.value is not None:
            self._return(node.value)
        elif isinstance(node, ast.If):
            self._if(node)
        elif isinstance(node, ast.While | ast.For):
            self._loop(node)
        else:
            self._refuse(node, f"a statement {type(node).__name__} is not translated")
        lines = range(node.lineno, self.finished + 1)
        comments = [self.comments.trailing[line] for line in lines if line in self.comments.trailing]
        if comments and len(self.lines) > before and simple:
            self.lines[before:before] = self.language.comment("; ".join(comments), self.depth)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._put(target.id, self._value(value), value)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            pairs = list(zip(target.elts, value.elts, strict=True))
            # What a later value reads must not have been overwritten by then.
            if any(_stores(to) & set(_all_loads(of)) & set(self.variables) for (to, _), (_, of) in combinations(pairs, 2)):
                labels = [f"next_{_name(to)}".rstrip("_") for to, _ in pairs]
                copies = [self._temporary(self._value(of), label) for label, (_, of) in zip(labels, pairs, strict=True)]
                for (to, of), copy in zip(pairs, copies, strict=True):
                    self._unpack(to, copy, of)
            else:
                for to, of in pairs:
                    self._assign(to, of)
        else:
            self._unpack(target, self._value(value, _names(target)), value)

    def _unpack(self, target: ast.expr, value: Value, node: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._put(target.id, value, node)
        elif isinstance(target, ast.Tuple):
            items = self._items(value, node)
            if len(items) != len(target.elts):
                self._refuse(node, f"{len(items)} values for {len(target.elts)} names")
            for to, of in zip(target.elts, items, strict=True):
                self._unpack(to, of, node)
        else:
            self._refuse(node, "only names can be assigned to")

    def _put(self, name: str, value: Value, node: ast.AST) -> None:
        """Assign to a name of the kernel."""
        if not self.loads[name]:
            return
        self._record(value, name, assigned=True)
        variable, integer = self.variables.get(name), isinstance(value, Scalar) and value.integer
        if variable:
            if variable.type in (values.TORQUE, values.PARAMETERS):
                self._refuse(node, f"{name} is a function or its parameters")
            if variable.integer and not integer:
                self._refuse(node, f"{name} begins as a whole number and becomes another: begin with 0.0 or the like")
            code = value.code if variable.integer and isinstance(value, Scalar) else self._code(value, variable.type, node)
            if self.branches:
                # Both branches are computed: what they assign to has names of its own until one is chosen.
                self.variables[name] = variable = LocalVariable(self._new(variable.code.rstrip("0123456789_")), variable.type)
            self._emit(self.language.assigned(variable.code, code))
            return
        of: Argument = values.WHOLE if integer else self._struct(value, f"{self.name}_{name}", (), node)
        hoisted = name in self.hoisted
        if integer and isinstance(value, Scalar):
            first = value.code
        elif hoisted or not isinstance(of, Struct):
            first = self._code(value, of, node)
        else:
            first = self._initialiser(value, of, node)
        self.variables[name] = LocalVariable(self._declared(of, first, name, self.stores[name] == 1, hoisted), of)

    def _declared(self, of: Argument, first: str, name: str, constant: bool = True, hoisted: bool = False) -> str:
        """The name of a new variable of the function with its first value; a hoisted one is declared before the branches."""
        code, typed = self._new(name), self.file.type_of(of)
        self.locals.append((typed, code))
        if hoisted:
            self.pending += self.language.declaration(typed, code)
            self._emit(self.language.assigned(code, first))
        else:
            self._emit(self.language.initialised(typed, code, first, constant))
        return code

    def _increment(self, node: ast.AugAssign, target: ast.Name) -> None:
        variable, sign = self.variables[target.id], OPERATORS.get(type(node.op))
        by = self._value(node.value)
        whole = variable.integer and isinstance(by, Scalar) and by.integer and not isinstance(node.op, ast.Div)
        number = isinstance(by, Scalar) and (whole or variable.type is None)
        if sign is None or not isinstance(by, Scalar) or not number:
            self._refuse(node, "such an assignment is for numbers, with +, -, * and /, and keeps whole numbers whole")
        other = by if whole else self.language.real(by)
        result = Scalar(f"{variable.code} {sign[0]} {other.within(sign[1] + 1)}", sign[1], integer=whole)
        self._put(target.id, result if whole else self.language.rounded(result), node)

    def _return(self, node: ast.expr) -> None:
        value = self._value(node, self.hints)
        if self.result is None:
            names = [_name(element) for element in node.elts] if isinstance(node, ast.Tuple) else []
            hints = self.hints if len(self.hints) == len(names) else ("",) * len(names)
            four = isinstance(value, Joined) and value.width == 4 and hints is not self.hints
            hints = tuple(name or hint for name, hint in zip(names, hints, strict=True))
            self.result = QUAT if four else self._struct(value, f"{self.name}_result", hints, node)
        if isinstance(value, Group):
            assert self.result is not None
            for item, (name, _) in zip(value.items, self.result.members, strict=True):
                self._record(item, name)
        self.lines += self.language.returned(self._code(value, self.result, node, "result"), self.result_code, self.depth)

    def _if(self, node: ast.If) -> None:
        if self.language.masks and not self._counts(node.test):
            self._masked(node.test, node.body, node.orelse)
            return
        outside = self.loads - _all_loads(node)
        stored = _stores(node) - set(self.variables)
        self.hoisted |= {name for name in stored if outside[name]}
        pending, self.pending = self.pending, []
        test = self._condition(node.test)
        head = len(self.lines)
        self._emit(self.language.branch % test)
        self._block(node.body)
        while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            node = node.orelse[0]
            self._emit(self.language.further_branch % self._short(node.test))
            self._block(node.body)
        if node.orelse:
            self._emit(self.language.otherwise)
            self._block(node.orelse)
        self._emit(self.language.end_if)
        self.lines[head:head] = ["    " * self.depth + line for line in self.pending]
        self.pending = pending

    def _counts(self, node: ast.expr) -> bool:
        """Whether a condition compares whole numbers, which are the same for all bodies."""
        return isinstance(node, ast.Compare) and all(
            isinstance(value, Scalar) and value.integer for value in map(self._value, (node.left, *node.comparators))
        )

    def _masked(self, condition: ast.expr, *blocks: Sequence[ast.stmt]) -> None:
        """Both branches of a condition, and then for each variable the numbers of the one that holds for a body."""
        test = self._declared(None, self._condition(condition), "holds")
        before, ends = dict(self.variables), []
        self.branches += 1
        for block in blocks:
            self.variables = dict(before)
            for statement in block:
                self._statement(statement)
            ends.append(self.variables)
        self.branches -= 1
        self.variables = before
        yes, no = ends
        changed = [name for name in yes if name in no and not yes[name] == no[name] == before.get(name)]
        for name in changed:
            v = yes[name]
            code = self.language.choice(test, yes[name].code, no[name].code, v.type if isinstance(v.type, Struct) else None)
            old = before.get(name)
            to = old.code if old and not self.branches else self._new(name)
            self.variables[name] = LocalVariable(to, v.type)
            self._emit(self.language.assigned(to, code))

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        known = set(self.variables)
        self.depth += 1
        for statement in statements:
            self._statement(statement)
        self.depth -= 1
        for name in set(self.variables) - known - self.hoisted:
            del self.variables[name]

    def _loop(self, node: ast.While | ast.For) -> None:
        outside = self.loads - _all_loads(node)
        lost = {name for name in _stores(node) - set(self.variables) if outside[name]}
        if lost or node.orelse or self.branches:
            self._refuse(node, f"a loop leaves behind {', '.join(sorted(lost)) or 'an else'}: assign before it")
        if isinstance(node, ast.For):
            self._emit(self._for(node))
            self._block(node.body)
        else:
            self._emit(self.language.loop % self._short(node.test))
            if self.language.masks:
                self.depth += 1
                self._masked(node.test, node.body, [])
                self.depth -= 1
            else:
                self._block(node.body)
        self._emit(self.language.end_loop)

    def _for(self, node: ast.For) -> str:
        rounds = node.iter
        if not (isinstance(rounds, ast.Call) and _name(rounds.func) == "range" and len(rounds.args) == 1):
            self._refuse(node, "only range(number) can be looped over")
        number = self._number(rounds.args[0])
        if not isinstance(node.target, ast.Name) or not number.integer:
            self._refuse(node, "a loop counts whole numbers in one variable")
        code = self._new(node.target.id.strip("_") or "i")
        self.locals.append((self.file.type_of(values.WHOLE), code))
        self.variables[node.target.id] = LocalVariable(code, values.WHOLE)
        return self.language.count % {"name": code, "rounds": number.within(values.SUM)}

    # Values

    def _value(self, node: ast.expr, hints: Hints = ()) -> Value:
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            if not math.isfinite(node.value):
                self._refuse(node, f"there is no literal for {node.value}")
            return Scalar(self.language.literal(node.value), integer=isinstance(node.value, int))
        if isinstance(node, ast.Name | ast.Attribute):
            return self._named(node)
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            number = self._number(node.operand)
            return Scalar(f"-{number.within(values.ATOM)}", self.language.sign_binds, number.integer)
        if isinstance(node, ast.IfExp):
            return self._choice(node)
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, ast.Tuple):
            return self._tuple(node)
        if isinstance(node, ast.Call):
            return self._call(node, hints)
        self._refuse(node, f"{ast.unparse(node)} is not translated")

    def _object(self, node: ast.expr) -> Any:
        """What a name outside the kernel stands for: a constant, a function, a module."""
        if isinstance(node, ast.Attribute):
            return getattr(self._object(node.value), node.attr)
        name = _name(node)
        if name not in self.globals:
            self._refuse(node, f"{name} is neither a variable that has a value nor a constant or kernel of the module")
        return self.globals[name]

    def _named(self, node: ast.Name | ast.Attribute) -> Value:
        name = node.id if isinstance(node, ast.Name) else node.attr
        if isinstance(node, ast.Name) and name in self.variables:
            variable = self.variables[name]
            if isinstance(variable.type, Struct):
                return Stored(variable.code, variable.type)
            if variable.type in (None, values.WHOLE):
                return Scalar(variable.code, integer=variable.integer)
            return values.Handed(variable.code, variable.type)
        value = self._object(node)
        if isinstance(value, float) or type(value) is int:
            return Scalar(self.file.constant(name, value, self.plain.__module__), integer=type(value) is int)
        if isinstance(value, tuple) and all(isinstance(x, float) and math.isfinite(x) for x in value):
            return Joined(tuple(values.literal(x, self.language) for x in value))
        self._refuse(node, f"{name} is neither a number nor a tuple of numbers")

    def _operation(self, node: ast.BinOp) -> Value:
        left, right = self._value(node.left), self._value(node.right)
        sign = OPERATORS.get(type(node.op))
        if isinstance(left, Scalar) and isinstance(right, Scalar) and sign:
            symbol, binds = sign
            left, right = self.language.real(left), self.language.real(right)
            first = left.within(values.ATOM if self._bracketed(node.left) else binds)
            other = right.within(values.ATOM if self._bracketed(node.right) else binds + 1)
            return self.language.rounded(Scalar(f"{first} {symbol} {other}", binds))
        if isinstance(node.op, ast.Add) and not isinstance(left, Scalar) and not isinstance(right, Scalar):
            return values.row(self._flat(left, node), self._flat(right, node))
        self._refuse(node, f"{ast.unparse(node)} is not translated")

    def _bracketed(self, node: ast.expr) -> bool:
        """Whether an operand stands in brackets in the kernel, necessary or not: they say what is added first."""
        if not isinstance(node, ast.BinOp) or node.end_lineno is None:
            return False
        before = "".join([*self.source[: node.lineno - 1], self.source[node.lineno - 1][: node.col_offset]]).rstrip()
        behind = "".join([self.source[node.end_lineno - 1][node.end_col_offset :], *self.source[node.end_lineno :]]).lstrip()
        return before.endswith("(") and behind.startswith(")")

    def _choice(self, node: ast.IfExp) -> Value:
        test, yes, no = self._condition(node.test), self._value(node.body), self._value(node.orelse)
        if isinstance(yes, Scalar) and isinstance(no, Scalar):
            first, other = self.language.real(yes), self.language.real(no)
            codes = first.within(values.COMPARISON), other.within(values.CONDITIONAL)
            return Scalar(self.language.choice(test, *codes, None), self.language.choice_binds)
        of = self._struct(yes if isinstance(yes, Stored) else no, f"{self.name}_choice", (), node)
        assert of is not None
        return Stored(self.language.choice(test, self._code(yes, of, node), self._code(no, of, node), of), of)

    def _subscript(self, node: ast.Subscript) -> Value:
        at, several = node.slice, self._value(node.value)
        if not isinstance(at, ast.Slice) and (isinstance(several, Group) or (getattr(several, "struct", None) or VEC3).nested):
            return self._items(several, node)[self._index(at)]
        value = self._flat(several, node)
        if isinstance(at, ast.Slice):
            first = self._index(at.lower) if at.lower else 0
            end = self._index(at.upper) if at.upper else value.width
        else:
            first = self._index(at)
            end = first + 1
        if not 0 <= first < end <= value.width or (isinstance(at, ast.Slice) and at.step):
            self._refuse(node, f"no numbers {first} to {end} among {value.width}")
        (piece,) = self._cut(value, [(first, end)])
        if isinstance(piece, Scalar):
            self._record(piece, "")
            return Joined((piece,)) if isinstance(at, ast.Slice) else piece
        return piece

    def _tuple(self, node: ast.Tuple) -> Value:
        if any(isinstance(element, ast.Starred) for element in node.elts):
            parts = [
                self._flat(self._value(element.value), node)
                if isinstance(element, ast.Starred)
                else self.language.real(self._number(element))
                for element in node.elts
            ]
            return values.row(*parts)
        items = tuple(self._value(element) for element in node.elts)
        if all(isinstance(item, Scalar) for item in items):
            return Joined(tuple(self.language.real(item) for item in items if isinstance(item, Scalar)))
        return Group(items)

    def _call(self, node: ast.Call, hints: Hints) -> Value:
        if node.keywords:
            self._refuse(node, "kernels are called without keywords")
        name = _name(node.func)
        arguments = [self._value(argument) for argument in node.args]
        torque = self._torque(name)
        if torque:
            if len(arguments) != len(TORQUE_TYPES):
                self._refuse(node, "a torque takes t, q, omega and its parameters")
            return self._torque_called(f"{torque}({self._passed(arguments, TORQUE_TYPES, node)})")
        function = self._object(node.func)
        if function is math.sqrt:
            number = self.language.real(self._number(node.args[0]))
            return self.language.rounded(Scalar(f"{self.language.root}({number.code})"))
        plain = getattr(function, "py_func", function)
        if not isinstance(plain, FunctionType):
            self._refuse(node, f"{name} is neither a kernel nor math.sqrt")
        return self._called(plain, arguments, hints, node)

    def _torque(self, name: str) -> str:
        """The function of the torque that a name stands for, or nothing."""
        variable = self.variables.get(name)
        return variable.code if variable and variable.type == values.TORQUE else ""

    def _torque_called(self, code: str) -> Value:
        """What the torque returns."""
        return Stored(code, VEC3)

    def _called(self, plain: FunctionType, arguments: Sequence[Value], hints: Hints, node: ast.Call) -> Value:
        """What a kernel returns."""
        inside = [*inspect.signature(plain).parameters, *[""] * len(arguments)]
        speaks = plain.__module__ not in ("polhode.algebra.vector", "polhode.algebra.quaternion")
        for argument, parameter in zip(arguments, inside, strict=False):
            self._record(argument, parameter if speaks else "")
        of = [self._argument(a, f"{self.name}_{p}", node) for a, p in zip(arguments, inside, strict=False)]
        called, result = self.file.function(plain, of, hints=hints)
        code = f"{called}({self._passed(arguments, of, node)})"
        if isinstance(result, str):
            self._refuse(node, f"{_name(node.func)} returns a function")
        return Stored(code, result) if result else Scalar(code)

    def _passed(self, arguments: Sequence[Value], types: Sequence[Argument], node: ast.AST) -> str:
        """The arguments of a call."""
        return ", ".join(
            self._code(argument, of, node)
            for argument, of in zip(arguments, types, strict=True)
            if of != values.PARAMETERS or self.language.hands_parameters
        )

    def _condition(self, node: ast.expr) -> str:
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            return self.language.both([self._condition(value) for value in node.values])
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
            left, right = self._number(node.left), self._number(node.comparators[0])
            if not (left.integer and right.integer):
                left, right = self.language.real(left), self.language.real(right)
            sign = self.language.comparisons.get(type(node.ops[0])) or COMPARISONS[type(node.ops[0])]
            return f"{left.within(values.SUM)} {sign} {right.within(values.SUM)}"
        self._refuse(node, f"a condition compares two numbers or joins such with and: {ast.unparse(node)}")

    def _short(self, node: ast.expr) -> str:
        """A condition for which nothing must be computed beforehand."""
        before, test = len(self.lines), self._condition(node)
        if len(self.lines) > before:
            self._refuse(node, f"give parts of {ast.unparse(node)} names")
        return test

    def _number(self, node: ast.expr) -> Scalar:
        value = self._value(node)
        if not isinstance(value, Scalar):
            self._refuse(node, f"{ast.unparse(node)} is no number")
        return value

    def _index(self, node: ast.expr) -> int:
        """A whole number that is known now."""
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, ast.Name) and type(self.globals.get(node.id)) is int:
            return int(self.globals[node.id])
        self._refuse(node, f"{ast.unparse(node)} is no whole number that is known beforehand")

    # From values to code

    def _argument(self, value: Value, name: str, node: ast.AST) -> Argument:
        return value.kind if isinstance(value, values.Handed) else self._struct(value, name, (), node)

    def _struct(self, value: Value, name: str, hints: Hints, node: ast.AST) -> Struct | None:
        """The structure that holds a value; None for a number."""
        if isinstance(value, Scalar):
            return None
        if isinstance(value, Stored):
            return value.struct
        if isinstance(value, values.Handed):
            self._refuse(node, "a function can only be called and handed on")
        if len(hints) != len(value.items):
            hints = ("",) * len(value.items)
        unnamed = not any(hints)
        if isinstance(value, Joined) and value.width in (3, 4) and (unnamed or value.width == 3):
            return QUAT if value.width == 4 else VEC3
        members: list[tuple[str, Struct | None]] = []
        for i, item in enumerate(value.items):
            taken = {member for member, _ in members}
            default = "x" if isinstance(item, Scalar) else "q" if isinstance(item, Stored) and item.struct == QUAT else "v"
            hint = hints[i]
            inner: Hints = () if isinstance(hint, str) else hint
            label = unused(_safe(hint if isinstance(hint, str) and hint else default), taken)
            members.append((label, self._struct(item, f"{self.name}_{label}", inner, node)))
        if isinstance(value, Joined) and any(member for _, member in members):
            shape = values.shape(members)
            if shape not in self.file.shapes:
                self.file.shapes[shape] = self.file.struct(name, members)
            return self.file.shapes[shape]
        return self.file.struct(name, members, nested=isinstance(value, Group))

    def _code(self, value: Value, of: Argument, node: ast.AST, name: str = "") -> str:
        """The value as an expression that has this structure."""
        if isinstance(value, values.Handed):
            if value.kind != of:
                self._refuse(node, "a function stands where a number is expected")
            return value.code
        if of is None:
            if not isinstance(value, Scalar):
                self._refuse(node, "a tuple stands where a number is expected")
            return self.language.real(value).code
        assert isinstance(of, Struct)
        if isinstance(of, Unknown):
            self._put_together(value)
            return getattr(value, "code", "state")
        if isinstance(value, Stored) and value.struct == of:
            return value.code
        if of in (VEC3, QUAT) and isinstance(value, Stored | Joined) and value.width == of.width:
            return self.language.constructed(of, [self._code(number, None, node) for number in self._numbers(value)])
        if self.language.constructs:
            return self._initialiser(value, of, node)
        return self._temporary_of(value, of, name or "value", node)

    def _initialiser(self, value: Value, of: Struct | None, node: ast.AST) -> str:
        """The value as what a variable of this structure can be initialised with."""
        held = isinstance(value, Stored) and value.struct == of
        if held or of in (None, VEC3, QUAT) or isinstance(of, Unknown):
            return self._code(value, of, node)
        assert of is not None and not isinstance(value, values.Handed)
        items = self._members(value, of, node)
        self.file.use(of)
        return self.language.initialiser(
            of, [self._initialiser(i, member, node) for i, (_, member) in zip(items, of.members, strict=True)]
        )

    def _members(self, value: Value, of: Struct, node: ast.AST) -> Sequence[Value]:
        if of.nested:
            return self._items(value, node)
        value = Joined((value,)) if isinstance(value, Scalar) else value
        if not isinstance(value, Stored | Joined) or value.width != of.width:
            self._refuse(node, f"a tuple of {of.width} numbers is expected")
        ends = list(itertools.accumulate(member.width if member else 1 for _, member in of.members))
        return self._cut(value, list(itertools.pairwise([0, *ends])))

    def _items(self, value: Value, node: ast.AST) -> Sequence[Value]:
        """The values of a tuple one by one."""
        if isinstance(value, Group):
            return value.items
        if isinstance(value, Stored) and not value.repeatable:
            value = self._temporary(value, self._label(value))
        if isinstance(value, Stored) and value.struct.nested:
            return [values.member_of(value, i, self.language) for i in range(len(value.struct.members))]
        if isinstance(value, Stored | Joined):
            return self._numbers(value)
        self._refuse(node, "one value stands where several are expected")

    def _flat(self, value: Value, node: ast.AST) -> Stored | Joined:
        """The value if it is a tuple of numbers."""
        if isinstance(value, Joined) or (isinstance(value, Stored) and not value.struct.nested):
            return value
        self._refuse(node, "a tuple of numbers is expected")

    def _numbers(self, value: Stored | Joined) -> Sequence[Flat]:
        return self._cut(value, [(i, i + 1) for i in range(value.width)])

    def _cut(self, value: Stored | Joined, parts: Sequence[tuple[int, int]]) -> list[Flat]:
        """Parts of a tuple, by first number and end. What is cut into pieces is computed once, into a variable."""
        items: list[Scalar | Stored] = []
        at = 0
        for item in value.items if isinstance(value, Joined) else (value,):
            first, end = at, at + item.width
            cut = (first, end) not in parts and any(a < end and first < b for a, b in parts)
            if cut and isinstance(item, Stored) and not item.repeatable and not isinstance(item.struct, Unknown):
                items.append(Stored(self._declared(item.struct, item.code, self._label(item)), item.struct))
            else:
                items.append(item)
            at = end
        whole = Joined(tuple(items)) if isinstance(value, Joined) else items[0]
        return [values.cut(whole, first, end, self.language) for first, end in parts]

    def _temporary(self, value: Value, name: str) -> Value:
        """A variable of the translation alone that holds the value."""
        if isinstance(value, Scalar):
            return Scalar(self._declared(values.WHOLE if value.integer else None, value.code, name), integer=value.integer)
        of = self._struct(value, f"{self.name}_{name}", (), self.tree)
        assert of is not None
        return Stored(self._temporary_of(value, of, name, self.tree), of)

    def _temporary_of(self, value: Value, of: Struct, name: str, node: ast.AST) -> str:
        return self._declared(of, self._initialiser(value, of, node), name)

    def _label(self, value: Stored) -> str:
        """The name of a variable that holds what a call returns."""
        called = value.code.partition("(")[0]
        return f"{called.removeprefix(self.file.prefix)}_out" if called.isidentifier() else "value"

    def _record(self, value: Value, name: str, assigned: bool = False) -> None:
        """Remember a part of an unknown state and the name it gets; those of variables come before those of arguments."""
        origin = getattr(value, "origin", None)
        if origin:
            (self.file.parts if assigned else self.file.uses).append((*origin, name))

    def _put_together(self, value: Value) -> None:
        """Remember what an unknown state is put together from, by the names of variables."""
        at = 0
        for item in value.items if isinstance(value, Joined) else ():
            name = item.code.strip("_") if item.code.isidentifier() and item.origin is None else ""
            self.file.pieces.append((at, at + item.width, name))
            at += item.width

    def _new(self, name: str) -> str:
        """A name for a variable that no other has."""
        name = name.lstrip("_") or "x"
        code = unused(f"{name}_" if name.casefold() in self.avoided else name, self.taken)
        self.taken.add(code)
        return code

    def _emit(self, line: str) -> None:
        if line:
            self.lines += self.language.broken(line, self.depth)

    def _refuse(self, node: ast.AST, reason: str) -> NoReturn:
        line = self.plain.__code__.co_firstlineno + getattr(node, "lineno", 1) - 1
        raise Untranslatable(f"{self.plain.__module__}.{self.plain.__qualname__}, line {line}: {reason}")


@dataclass(frozen=True)
class _Comments:
    alone: dict[int, str]
    trailing: dict[int, str]


@dataclass(frozen=True)
class _Source:
    """What is read of a kernel before it is translated."""

    tree: ast.FunctionDef
    lines: list[str]
    comments: _Comments
    globals: dict[str, Any]
    loads: Counter[str]
    stores: Counter[str]


@cache
def source_of(plain: FunctionType) -> _Source:
    """The source of a kernel and what its names stand for.

    The syntax tree of the function (``tree``), its ``lines``, the ``comments`` by line, the objects outside it by name
    (``globals``), and how often it reads (``loads``) and assigns to (``stores``) each name.
    """
    source = textwrap.dedent(inspect.getsource(plain))
    tree = next(node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    closed = inspect.getclosurevars(plain)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return _Source(
        tree,
        source.splitlines(keepends=True),
        _comments(source),
        {**closed.globals, **closed.nonlocals},
        Counter(n.id for n in names if isinstance(n.ctx, ast.Load)),
        Counter(n.id for n in names if isinstance(n.ctx, ast.Store)),
    )


def outside_names(plain: FunctionType) -> set[str]:
    """The names outside a kernel that it calls or reads, and the names that these objects have themselves."""
    known = source_of(plain).globals
    return {*known, *(getattr(value, "__name__", name).lstrip("_") for name, value in known.items())}


def _comments(source: str) -> _Comments:
    """The comments of a source by line: those that stand alone and those behind code."""
    alone: dict[int, str] = {}
    trailing: dict[int, str] = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            text = token.string.lstrip("# ")
            if not text.startswith(("type: ignore", "noqa")):
                (trailing if token.line[: token.start[1]].strip() else alone)[token.start[0]] = text
    return _Comments(alone, trailing)


def _name(node: ast.AST) -> str:
    """The name that a node is, or nothing."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _names(target: ast.expr) -> Hints:
    if not isinstance(target, ast.Tuple):
        return ()
    return tuple(_names(element) if isinstance(element, ast.Tuple) else _name(element) for element in target.elts)


def _all_loads(node: ast.AST) -> Counter[str]:
    return Counter(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))


def _stores(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _safe(name: str) -> str:
    name = name.lstrip("_") or "x"
    return f"{name}_" if name in RESERVED else name
