"""The cost of a step: operations, and times measured on this machine."""
