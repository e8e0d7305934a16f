"""One file for each engine; it imports nothing of polhode, since the Python of the engine executes it (see ``worker.py``)."""
