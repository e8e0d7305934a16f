"""What measured errors say: orders, largest steps, laws, rankings and statistics over initial states.

Functions of arrays and datasets, which know no registry, no folder and no figure.
"""


class NotInRun(LookupError):
    """Error for data that a question needs but the files of a run do not contain; the message says which."""
