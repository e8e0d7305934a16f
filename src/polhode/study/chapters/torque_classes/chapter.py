"""All methods on all torque classes."""

from polhode.study.chapters.chapter import Chapter

CHAPTER = Chapter(
    title="All classes of torque",
    readers="authors of methods, and people who look up one class of torque",
    place=60,
    job="torques",
    needs=("single_body", "references"),
    figures=("order_map", "error_by_torque"),
    tables=("torque_classes", "orders_by_torque"),
    numbers=("torque_classes", "spread", "splitting"),
)
