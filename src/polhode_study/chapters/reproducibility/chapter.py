"""The identity of this run: commit, versions, scope."""

from polhode_study.chapters.chapter import Chapter

CHAPTER = Chapter(
    title="Reproducibility",
    readers="reviewers, and people who repeat the study",
    place=120,
    needs=("single_body", "references", "checkout"),
    released=("full/release.json",),
    numbers=("origin", "reduction", "scope", "long_run", "reference", "release"),
)
