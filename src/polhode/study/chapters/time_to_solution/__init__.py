"""The time a method takes to a given error, for one body and for many."""
