"""The commands of the study, one file each: ``polhode COMMAND`` in a checkout."""

#: What each command does.
COMMANDS: dict[str, str] = {
    "animate": "animate many bodies in a box (GIF)",
    "archive": "a finished run as one zip for a data repository: data, report, source, checksums, metadata",
    "bench": "measure the time of a step of each method on this machine",
    "docs": "the documentation as HTML pages",
    "html": "figures, tables and rules of a finished run as one page for a browser",
    "init": "a commented configuration of a small study, to change",
    "release": "the many-body results of a full run as a small file distributed with the code",
    "run": "run a study of your own from any folder, with its results beside its configuration",
    "sheet": "one page on a method, your own or a built-in one: orders, cost, errors, drift, beside three others",
    "verify": "compare a folder of results or an archive with a released run, value by value",
}
