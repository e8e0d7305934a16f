"""All measures of statements that do not involve times, by name, for use in data/claims.yaml."""

from polhode.study.judge import measures_contacts, measures_liquids, measures_many_body, measures_sources, measures_spiral2024
from polhode.study.judge.measured import Measure

MEASURES: dict[str, Measure] = (
    measures_contacts.MEASURES
    | measures_liquids.MEASURES
    | measures_many_body.MEASURES
    | measures_sources.MEASURES
    | measures_spiral2024.MEASURES
)
