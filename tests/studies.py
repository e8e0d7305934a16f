"""Configurations for tests: the configuration of the checkout, changed or with most of it left out."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

from polhode_study import configuration

HOME = Path(__file__).parents[1]
_DEFAULT = yaml.safe_load((HOME / "config.yaml").read_text(encoding="utf-8"))


def default(**changes: Any) -> dict[str, Any]:
    """The default configuration, with other values for some of its keys."""
    return deepcopy(_DEFAULT) | changes


def merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Two configurations as Snakemake merges them."""
    return old | {k: merged(old[k], v) if isinstance(v, dict) and isinstance(old.get(k), dict) else v for k, v in new.items()}


def reduced(problems: dict[str, Any], scenes: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """These problems and scenes alone: no experiments, notebooks, random bodies and times either."""
    nothing = {"checks": [], "notebooks": [], "ensembles": None, "cost": None}
    sections = {"problems": problems, "many_body": scenes or {}}
    sections = {name: dict.fromkeys(_DEFAULT[name]) | section for name, section in sections.items()}
    return default(**nothing, **sections) | changes


def study(**changes: Any) -> configuration.Study:
    """The default study, with other values for some keys of its configuration."""
    return configuration.resolve(default(**changes), HOME)
