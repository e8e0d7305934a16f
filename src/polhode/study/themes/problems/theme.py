"""The definition of every problem in numbers."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="The problems in numbers", place=910, chapter="overview", needs=("single_body",), tables=("problems",), appendix=True
)
