"""The identity of this run: commit, versions, scope."""
