"""The methods, the accuracy of the references, all methods on all classes of torque, and the problems in numbers."""

from polhode_study.chapters.chapter import Chapter

CHAPTER = Chapter(
    title="Methods, references and classes of torque",
    readers="authors of methods, people who look up a class of torque, and reviewers",
    place=10,
    job="overview",
    needs=("single_body", "references"),
    figures=("reference_solution", "order_map"),
    tables=("methods", "reconstructions", "reference", "torque_classes", "orders_by_torque", "problems"),
    numbers=("torque_classes", "spread"),
)
