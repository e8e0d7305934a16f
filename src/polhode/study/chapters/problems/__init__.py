"""The definition of every problem in numbers."""
