"""The numbers of the text that are times of a step, or made from them; their macros begin with ``cost``."""

from collections.abc import Callable

from polhode.study.inputs import Inputs

GROUPS: tuple[Callable[[Inputs], dict[str, str]], ...] = ()
