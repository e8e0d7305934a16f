"""The experiments on single methods, ``checks/NAME.nc``, of all chapters."""

from collections.abc import Mapping
from dataclasses import replace

from polhode_study.chapters import all_chapters
from polhode_study.chapters.chapter import WITNESSES as WITNESSES
from polhode_study.chapters.chapter import Check

#: Time of a witness on one core, s.
WITNESS = 3.0

CHECKS: Mapping[str, Check] = {
    name: replace(check, function=f"{key}.{check.function}")
    for key, chapter in all_chapters().items()
    for name, check in chapter.checks.items()
}
