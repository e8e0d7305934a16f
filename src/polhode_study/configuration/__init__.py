"""The configuration of a study: its keys (models), its errors in words, and the study that it describes."""

from polhode.interface.reading import ConfigurationError
from polhode_study.checks import CHECKS
from polhode_study.configuration.study import (
    NOTEBOOKS,
    EnsembleStudy,
    LongRun,
    ProblemStudy,
    SceneStudy,
    StepSize,
    Study,
    method,
    resolve,
    step_name,
)

__all__ = [
    "CHECKS",
    "NOTEBOOKS",
    "ConfigurationError",
    "EnsembleStudy",
    "LongRun",
    "ProblemStudy",
    "SceneStudy",
    "StepSize",
    "Study",
    "method",
    "resolve",
    "step_name",
]
