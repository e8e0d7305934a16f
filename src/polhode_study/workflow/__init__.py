"""Support for the Snakefile and the scripts of its rules: locks, signals, progress, resources, lists of written files."""
