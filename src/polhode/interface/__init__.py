"""Between users and the library: arguments and data files are checked, arrays named, progress is shown. It computes nothing."""
