"""Kernels as functions on numbers, for languages in which a structure costs an allocation.

A tuple is held in a variable for each of its numbers, ``q`` in ``q_w``, ``q_x``, ``q_y`` and ``q_z``. A small kernel is written
where it is called. A larger one is a function of its own, which takes numbers, and returns one or leaves several in an array,
from where its caller takes them at once. Only functions that users call take and return structures. The kernels' operations
keep their order.
"""

import ast
import inspect
import itertools
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache
from types import FunctionType
from typing import Any, ClassVar

from polhode.export import values
from polhode.export.language import WIDTH, Language
from polhode.export.translator import Function, Hints, LocalVariable, Translator, outside_names, source_of
from polhode.export.values import TORQUE, VEC3, WHOLE, Argument, Group, Handed, Joined, Scalar, Stored, Struct, Value

#: The largest number of operations of a kernel that is written where it is called; of those that only a run calls.
SMALL, OF_RUN = 200, 1000
#: What may be written twice: a variable, a member of one, a literal.
_SIMPLE = re.compile(r"-?[\w.]+(e-\d+)?")
#: Where a variable for each number is meant, the names of which begin so.
_FLAT = "_"
_MODULE_OF_RUN = "polhode.export.program"


class FlatLanguage(Language):
    """A language in which kernels are functions on numbers.

    Code and lines are text, as in :class:`~polhode.export.language.Language`.
    """

    @abstractmethod
    def left(self, place: int) -> str:
        """The expression for number ``place``, from 0, among the numbers that a function leaves for its caller."""

    @abstractmethod
    def initialised_together(self, firsts: Sequence[tuple[str, str]], constant: bool) -> str:
        """The statement that assigns first values to several variables, given as pairs of name and value.

        ``constant``: they get no other values.
        """

    @abstractmethod
    def heading_on_numbers(self, text: str) -> list[str]:
        """The lines of the comment above a function on numbers, which has this text."""


@dataclass
class FlatTranslator(Translator):
    """A translator into functions on numbers.

    ``results``: what kernels that users call return; ``widest``: the largest number of numbers that a function leaves
    """

    results: dict[FunctionType, Struct] = field(default_factory=dict)
    widest: int = 0

    def _writer(
        self, plain: FunctionType, name: str, arguments: Sequence[Argument], result: Struct | None, hints: Hints
    ) -> Function:
        """What writes a function that users call."""
        if result is not None:
            self.results[plain] = result
        return _Flat(self, plain, name, arguments, result, hints)

    def on_numbers(self, plain: FunctionType, arguments: Sequence[Argument], hints: Hints) -> tuple[str, Argument]:
        """The function on numbers of a kernel: its name, and the structure of the numbers that it leaves, None for a single
        one.

        It is written if it is not there.

        Parameters
        ----------
        plain : the kernel in plain Python
        arguments : the structure of each argument, None for a number, or a type as in :mod:`polhode.export.values`
        hints : the names that its caller gives to what it leaves

        Raises
        ------
        Untranslatable
            If the kernel, or one that it calls, is more than arithmetic, conditions and loops over a fixed number of rounds.
        """
        key = ("on numbers", plain, *arguments)
        if key not in self.functions:
            name = self._unused(plain)
            self.names.add(name)
            body = _OnNumbers(self, plain, name, arguments, self.results.get(plain), hints)
            text = body.translated("")
            self.functions[key] = name, body.result
            self.texts.append(text)
        return self.functions[key]


class _Flat(Function):
    """A function with a variable for each number."""

    file: FlatTranslator
    language: FlatLanguage
    #: Between the name of a variable and the number that distinguishes it from another one.
    numbered: ClassVar[str] = ""

    def __init__(self, *arguments: Any) -> None:
        self.bound: dict[str, Value] = {}
        self.at_once: ast.expr | None = None
        self.folded: set[str] = set()
        self.protected: frozenset[str] = frozenset()
        super().__init__(*arguments)
        self.limit = OF_RUN if self.plain.__module__ == _MODULE_OF_RUN else SMALL

    def _outside(self) -> Set[str]:
        return _reached(self.plain)

    def _prepare(self) -> None:
        for name, v in list(self.variables.items()):
            if isinstance(v.type, Struct) and not _together(v.type):
                numbers = self._received(Stored(v.code, v.type), name)
                changes = self.stores[name] > 0
                self.variables[name] = (
                    self._declare(name, numbers, v.type, constant=False) if changes else LocalVariable(numbers.code, v.type)
                )
            elif v.type is None and (code := self.language.rounded(Scalar(v.code)).code) != v.code:
                self._emit(self.language.assigned(v.code, code))

    def _new(self, name: str) -> str:
        name = name.lstrip("_") or "x"
        return self._unused(f"{name}_" if name.casefold() in self.avoided else name, [""])

    def _new_numbers(self, name: str, of: Struct) -> str:
        """The beginning of names for the numbers of a structure, such that no variable has one of these names."""
        return self._unused(name.strip("_") or "x", [f"_{leaf}" for leaf in _leaves(of)]) + _FLAT

    def _unused(self, name: str, ends: Sequence[str]) -> str:
        """The name, with a number behind it if one of the names that end so is taken."""
        numbers = itertools.count(2)
        candidate = name
        while candidate.casefold() in self.protected or any(self._taken(candidate + end) for end in ends):
            candidate = f"{name}{self.numbered}{next(numbers)}"
        self.folded |= {(candidate + end).casefold() for end in ends}
        return candidate

    def _taken(self, name: str) -> bool:
        return name.casefold() in self.folded or name.casefold() in self.avoided

    # Structures and numbers

    def _codes(self, value: Value, of: Argument, node: ast.AST) -> list[str]:
        """The numbers of a value, in the order of a structure."""
        if not isinstance(of, Struct):
            return [value.code if of == WHOLE and isinstance(value, Scalar) else super()._code(value, of, node)]
        pairs = zip(self._members(value, of, node), of.members, strict=True)
        return [code for item, (_, member) in pairs for code in self._codes(item, member, node)]

    def _code(self, value: Value, of: Argument, node: ast.AST, name: str = "") -> str:
        if not isinstance(of, Struct) or isinstance(value, Handed):
            return super()._code(value, of, node)
        if isinstance(value, Stored) and value.struct == of and not value.code.endswith(_FLAT):
            return value.code
        items = zip(self._members(value, of, node), of.members, strict=True)
        self.file.use(of)
        return self.language.constructed(of, [self._code(item, member, node) for item, (_, member) in items])

    def _struct(self, value: Value, name: str, hints: Hints, node: ast.AST) -> Struct | None:
        known = getattr(value, "struct", None)
        return known or super()._struct(value, name, hints, node)

    def _items(self, value: Value, node: ast.AST) -> Sequence[Value]:
        items = super()._items(value, node)
        known = value.struct if isinstance(value, Group) else None
        return [_shaped(i, member) for i, (_, member) in zip(items, known.members, strict=True)] if known else items

    # Variables

    def _declare(self, name: str, value: Value, of: Argument, constant: bool = True, hoisted: bool = False) -> LocalVariable:
        """A new variable with its first value."""
        if not isinstance(of, Struct):
            code = value.code if of == WHOLE and isinstance(value, Scalar) else super()._code(value, of, self.tree)
            return LocalVariable(self._declared(of, code, name, constant, hoisted), of)
        firsts = self._codes(value, of, self.tree)
        base = self._new_numbers(name, of)
        codes = _names(LocalVariable(base, of))
        if hoisted:
            self.pending += self.language.declaration("", ", ".join(codes))
            for code, first in zip(codes, firsts, strict=True):
                self._emit(self.language.assigned(code, first))
            return LocalVariable(base, of)
        pairs = list(zip(codes, firsts, strict=True))
        together = self.language.initialised_together(pairs, constant)
        if len(together) + 4 * self.depth <= WIDTH:
            self._emit(together)
        else:
            for code, first in pairs:
                self._emit(self.language.initialised("", code, first, constant))
        return LocalVariable(base, of)

    def _temporary(self, value: Value, name: str) -> Value:
        if isinstance(value, Scalar):
            return super()._temporary(value, name)
        of = self._struct(value, f"{self.name}_{name}", (), self.tree)
        assert of is not None
        return Stored(self._declare(name, value, of).code, of)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            parts = zip(target.elts, [self._value(of, _hints(to)) for to, of in _pairs(target, value)], strict=True)
            self._put_all([pair for to, of in parts for pair in self._parts(to, of, value)], value)
            return
        self.at_once = value
        self._put_all(list(self._parts(target, self._value(value, _hints(target)), value)), value)

    def _parts(self, target: ast.expr, value: Value, node: ast.expr) -> Iterator[tuple[str, Value]]:
        """The names that are assigned to, each with its value."""
        if isinstance(target, ast.Name):
            yield target.id, value
        elif isinstance(target, ast.Tuple):
            items = self._items(value, node)
            if len(items) != len(target.elts):
                self._refuse(node, f"{len(items)} values for {len(target.elts)} names")
            for to, of in zip(target.elts, items, strict=True):
                yield from self._parts(to, of, node)
        else:
            self._refuse(node, "only names can be assigned to")

    def _put(self, name: str, value: Value, node: ast.AST) -> None:
        self._put_all([(name, value)], node)

    def _put_all(self, pairs: Sequence[tuple[str, Value]], node: ast.AST) -> None:
        """Assign to names at the same time."""
        pairs = [(name, value) for name, value in pairs if self.loads[name]]
        new = [name not in self.variables for name, _ in pairs]
        # New variables first: nothing that is still to be read is overwritten by them.
        for name, value in itertools.compress(pairs, new):
            integer = isinstance(value, Scalar) and value.integer
            of: Argument = WHOLE if integer else self._struct(value, f"{self.name}_{name}", (), node)
            self.variables[name] = self._declare(name, value, of, self.stores[name] == 1, name in self.hoisted)
        changes: list[tuple[str, str]] = []
        for (name, value), is_new in zip(pairs, new, strict=True):
            if is_new:
                continue
            variable = self.variables[name]
            if variable.type in (TORQUE, values.PARAMETERS):
                self._refuse(node, f"{name} is a function or its parameters")
            if variable.integer and not (isinstance(value, Scalar) and value.integer):
                self._refuse(node, f"{name} begins as a whole number and becomes another: begin with 0.0 or the like")
            changes += zip(_names(variable), self._codes(value, variable.type, node), strict=True)
        changes = [(to, code) for to, code in changes if to != code]
        # What a later one reads must not have been overwritten by then.
        for i, (to, code) in enumerate(changes):
            if {written for written, _ in changes[:i]} & set(re.findall(r"[\w.]+", code)):
                changes[i] = to, self._declared(None, code, f"next_{to}")
        for to, code in changes:
            self._emit(self.language.assigned(to, code))

    # Values

    def _named(self, node: ast.Name | ast.Attribute) -> Value:
        if isinstance(node, ast.Name) and node.id in self.bound:
            return self.bound[node.id]
        return super()._named(node)

    def _torque(self, name: str) -> str:
        value = self.bound.get(name)
        return value.code if isinstance(value, Handed) and value.kind == TORQUE else super()._torque(name)

    def _torque_called(self, code: str) -> Value:
        moment = Stored(self._new("moment"), VEC3)
        self._emit(self.language.initialised("", moment.code, code, constant=True))
        return self._received(moment, "moment")

    def _received(self, value: Stored, name: str) -> Stored:
        """A structure from outside, as numbers of the precision of the language."""
        rounded = [self.language.rounded(Scalar(code)).code for code in self._codes(value, value.struct, self.tree)]
        if rounded == self._codes(value, value.struct, self.tree):
            return value
        joined = _tree(value.struct, iter(rounded))
        return Stored(self._declare(name, joined, value.struct).code, value.struct)

    def _choice(self, node: ast.IfExp) -> Value:
        test, yes, no = self._condition(node.test), self._value(node.body), self._value(node.orelse)
        if isinstance(yes, Scalar) and isinstance(no, Scalar):
            first, second = self.language.real(yes), self.language.real(no)
            return self._chosen(test, first.within(values.COMPARISON), second.within(values.CONDITIONAL))
        of = self._struct(yes if isinstance(yes, Stored) else no, f"{self.name}_choice", (), node)
        assert of is not None
        holds = self._declared(None, test, "holds")
        pairs = zip(self._codes(yes, of, node), self._codes(no, of, node), strict=True)
        return _tree(of, iter([self._chosen(holds, *pair).code for pair in pairs]), values.CONDITIONAL)

    def _chosen(self, test: str, yes: str, no: str) -> Scalar:
        return Scalar(self.language.choice(test, yes, no, None), self.language.choice_binds)

    def _short(self, node: ast.expr) -> str:
        limit, self.limit = self.limit, -1
        test = super()._short(node)
        self.limit = limit
        return test

    def _called(self, plain: FunctionType, arguments: Sequence[Value], hints: Hints, node: ast.Call) -> Value:
        at_once = self.at_once is node
        if plain.__code__.co_argcount != len(arguments):
            self._refuse(node, f"{plain.__name__} takes {plain.__code__.co_argcount} arguments, not {len(arguments)}")
        if _operations(plain) <= self.limit and _ends_with_its_result(plain):
            before = len(self.lines)
            value = _Inlined(self, plain, arguments, hints).value
            if len(self.lines) > before:
                text = ast.unparse(node)
                text = text if len(text) + 4 * self.depth < WIDTH - len("/*  */") else f"{ast.unparse(node.func)}(...)"
                self.lines[before:before] = self.language.comment(text, self.depth)
            return value
        names = inspect.signature(plain).parameters
        of = [self._argument(a, f"{self.name}_{p}", node) for a, p in zip(arguments, names, strict=True)]
        name, result = self.file.on_numbers(plain, of, hints)
        codes = [code for a, type_of in zip(arguments, of, strict=True) for code in self._as_arguments(a, type_of, node)]
        call = f"{name}({', '.join(codes)})"
        if not isinstance(result, Struct):
            return Scalar(call)
        self._emit(f"{call};")
        left = _tree(result, (self.language.left(i) for i in itertools.count()))
        return left if at_once else Stored(self._declare(f"{name}_out", left, result).code, result)

    def _as_arguments(self, value: Value, of: Argument, node: ast.AST) -> list[str]:
        """A value as arguments of a function on numbers: the numbers of a body stay together."""
        return [self._code(value, of, node)] if _together(of) else self._codes(value, of, node)


class _OnNumbers(_Flat):
    """A function that takes numbers, and returns one or leaves several."""

    def _parameter(self, name: str, of: Argument) -> LocalVariable:
        if not isinstance(of, Struct) or _together(of):
            return super()._parameter(name, of)
        return LocalVariable(self._new_numbers(name, of), of)

    def translated(self, comment: str) -> str:
        """The whole function."""
        parameters: list[str] = []
        for v in self.variables.values():
            parameters += [v.code] if _together(v.type) else _names(v)
        for statement in self.tree.body:
            self._statement(statement)
        module = self.plain.__module__.removeprefix("polhode.").replace(".", "/")
        text = f"{module}.py, {self.plain.__name__}. {inspect.getdoc(self.plain) or ''}"
        if isinstance(self.result, Struct):
            text += f"\n\nLeaves in out: {', '.join(_leaves(self.result))}."
        typed = [("", code) for code in parameters]
        return "\n".join(
            [
                *self.language.heading_on_numbers(text),
                *self.language.function(self.name, "", typed, [], self.locals, self.lines, ""),
            ]
        )

    def _return(self, node: ast.expr) -> None:
        value = self._value(node, self.hints)
        if isinstance(value, Scalar):
            self.lines += self.language.returned(self._code(value, None, node), "", self.depth)
            return
        if self.result is None:
            names = [name if isinstance(name, str) else "" for name in _hints(node)]
            self.result = self._struct(value, f"{self.name}_result", tuple(names), node)
        assert self.result is not None
        self.file.widest = max(self.file.widest, self.result.width)
        for i, code in enumerate(self._codes(value, self.result, node)):
            self._emit(self.language.assigned(self.language.left(i), code))
        if node.lineno < self.tree.body[-1].lineno:
            self._emit("return;")


class _Inlined(_Flat):
    """A kernel written where it is called."""

    numbered = "_"

    def __init__(self, caller: _Flat, plain: FunctionType, arguments: Sequence[Value], hints: Hints) -> None:
        super().__init__(caller.file, plain, caller.name, [None] * len(arguments), None, hints)
        self.lines, self.depth, self.locals = caller.lines, caller.depth, caller.locals
        self.folded, self.avoided, self.limit = caller.folded, caller.avoided, min(caller.limit, SMALL)
        self.protected = caller.protected or frozenset(
            {name.casefold() for name in (*caller.stores, *caller.variables)} - {name.casefold() for name in caller.folded}
        )
        parameters, self.variables = list(self.variables), {}
        for name, value in zip(parameters, arguments, strict=True):
            if self.stores[name] and not isinstance(value, Handed):
                integer = isinstance(value, Scalar) and value.integer
                of: Argument = WHOLE if integer else self._struct(value, name, (), self.tree)
                self.variables[name] = self._declare(name, value, of, constant=False)
            else:
                self.bound[name] = self._bind(name, value)
        self.value: Value = Joined(())
        for statement in self.tree.body:
            self._statement(statement)

    def _bind(self, name: str, value: Value) -> Value:
        """The value of a parameter, with a variable for each of its numbers that is read more than once."""
        whole, single = _uses(self.plain)
        if isinstance(value, Scalar):
            return value if _SIMPLE.fullmatch(value.code) or whole[name] <= 1 else self._temporary(value, name)
        if isinstance(value, Joined):
            items: list[Scalar | Stored] = []
            labels = _leaves({3: VEC3, 4: values.QUAT}.get(value.width, VEC3)) if value.width in (3, 4) else []
            for i, item in enumerate(value.items):
                uses = whole[name] + (single[name, i] if len(value.items) == value.width else whole[name] and 1)
                again = isinstance(item, Scalar) and not _SIMPLE.fullmatch(item.code) and uses > 1
                label = f"{name}_{labels[i] if len(value.items) == len(labels) else i}"
                items.append(self._temporary(item, label) if again else item)  # type: ignore[arg-type]
            return replace(value, items=tuple(items))
        if isinstance(value, Group):
            return replace(value, items=tuple(self._bind(name, item) for item in value.items))
        return value

    def _return(self, node: ast.expr) -> None:
        value = self._value(node, self.hints)
        self.value = _shaped(value, self.file.results.get(self.plain))


def _tree(of: Struct, codes: Iterator[str], binds: int = values.ATOM) -> Joined | Group:
    """Numbers as a value of a structure."""
    if of.nested:
        members = [_tree(member, codes, binds) if member else Scalar(next(codes), binds) for _, member in of.members]
        return Group(tuple(members), struct=of)
    return Joined(tuple(Scalar(next(codes), binds) for _ in _leaves(of)), struct=of)


def _shaped(value: Value, of: Struct | None) -> Value:
    """The value as one that is known to be of a structure."""
    if of is None or not isinstance(value, Joined | Group):
        return value
    if isinstance(value, Group) and of.nested and len(value.items) == len(of.members):
        items = tuple(_shaped(item, member) for item, (_, member) in zip(value.items, of.members, strict=True))
        return Group(items, struct=of)
    return replace(value, struct=of) if isinstance(value, Joined) and value.width == of.width else value


def _together(of: Argument) -> bool:
    """Whether functions pass a structure on as it is: a body, which no kernel makes."""
    return isinstance(of, Struct) and of.name == "inertia"


def _names(variable: LocalVariable) -> list[str]:
    """The variables of all numbers of one of a kernel."""
    of = variable.type
    return [f"{variable.code}{leaf}" for leaf in _leaves(of)] if isinstance(of, Struct) else [variable.code]


@cache
def _leaves(of: Struct) -> list[str]:
    """The names of all numbers of a structure."""
    return [f"{name}_{leaf}" if leaf else name for name, member in of.members for leaf in (_leaves(member) if member else [""])]


def _pairs(target: ast.Tuple, value: ast.Tuple) -> Iterator[tuple[ast.expr, ast.expr]]:
    return zip(target.elts, value.elts, strict=True)


def _hints(target: ast.expr) -> Hints:
    if not isinstance(target, ast.Tuple):
        return ()
    return tuple(_hints(name) if isinstance(name, ast.Tuple) else getattr(name, "id", "") for name in target.elts)


@cache
def _ends_with_its_result(plain: FunctionType) -> bool:
    """Whether a kernel returns at its end and nowhere else."""
    tree = source_of(plain).tree
    returns = [node for node in ast.walk(tree) if isinstance(node, ast.Return)]
    return returns == tree.body[-1:]


def _outside(node: ast.expr, known: Mapping[str, Any]) -> Any:
    """What a name outside a kernel stands for; None for a variable."""
    if isinstance(node, ast.Attribute):
        return getattr(_outside(node.value, known), node.attr, None)
    return known.get(node.id) if isinstance(node, ast.Name) else None


@cache
def _callees(plain: FunctionType) -> tuple[FunctionType, ...]:
    """The kernels that a kernel calls, one for each call."""
    source = source_of(plain)
    called = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call):
            function = _outside(node.func, source.globals)
            function = getattr(function, "py_func", function)
            called += [function] if isinstance(function, FunctionType) else []
    return tuple(called)


@cache
def _operations(plain: FunctionType) -> int:
    """The number of operations of a kernel with all that would be written into it."""
    alone = sum(isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare) for node in ast.walk(source_of(plain).tree))
    return alone + sum(n if (n := _operations(kernel)) <= SMALL else 1 for kernel in _callees(plain))


@cache
def _reached(plain: FunctionType) -> frozenset[str]:
    """The names outside a kernel and all that it calls, which no variable may hide."""
    return frozenset(outside_names(plain)).union(*(_reached(kernel) for kernel in set(_callees(plain)) - {plain}))


@cache
def _uses(plain: FunctionType) -> tuple[Counter[str], Counter[tuple[str, int]]]:
    """How often a kernel reads a name as a whole, and a number of it; in a loop it does so more than once."""
    whole: Counter[str] = Counter()
    single: Counter[tuple[str, int]] = Counter()

    def visit(node: ast.AST, times: int) -> None:
        if isinstance(node, ast.While | ast.For):
            times = 2
        index = node.slice if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) else None
        if isinstance(index, ast.Constant) and isinstance(index.value, int):
            single[node.value.id, index.value] += times  # type: ignore[attr-defined]
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            whole[node.id] += times
        for child in ast.iter_child_nodes(node):
            visit(child, times)

    visit(source_of(plain).tree, 1)
    return whole, single
