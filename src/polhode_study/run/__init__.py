"""The computations: cells, searches for step sizes, experiments on single methods, many-body scenes, times of a step."""
