"""The definition of every problem in numbers."""

from polhode.study.chapters.chapter import Chapter

CHAPTER = Chapter(
    title="The problems in numbers",
    readers="people who run a problem of this study in another program",
    place=910,
    job="overview",
    needs=("single_body",),
    tables=("problems",),
)
