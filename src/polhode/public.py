"""Packages whose public names are defined in their modules, which are imported when a name is first asked for."""

import importlib
import sys
from types import ModuleType
from typing import Any


class Public(ModuleType):
    """A package with public names that its modules define.

    They stay what they are when a module of the same name is imported. Python binds an imported module to its name in the
    package: ``import polhode.simulate`` anywhere would turn ``polhode.simulate`` from the function into the module.
    """

    #: The module that defines each public name, and its name there; empty if the module itself is meant.
    defined: dict[str, tuple[str, str]]

    @classmethod
    def of(cls, package: str) -> "Public":
        """Make the package of this name, which is being imported, a :class:`Public` one, and return it."""
        module = sys.modules[package]
        module.__class__ = cls
        assert isinstance(module, cls)
        return module

    def __getattr__(self, name: str) -> Any:
        defined = vars(self).get("defined", {})
        if name not in defined:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        module, attribute = defined[name]
        value: Any = importlib.import_module(module)
        value = getattr(value, attribute) if attribute else value
        vars(self)[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        if not (vars(self).get("defined", {}).get(name, ("", ""))[1] and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *vars(self).get("defined", ())})
