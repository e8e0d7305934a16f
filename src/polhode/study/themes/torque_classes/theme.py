"""All methods on all torque classes."""

from polhode.study.themes.theme import Theme

THEME = Theme(
    title="All classes of torque",
    place=60,
    chapter="torques",
    needs=("single_body", "references"),
    figures=("order_map", "error_by_torque"),
    tables=("torque_classes", "orders_by_torque"),
    numbers=("torque_classes", "spread", "splitting"),
)
