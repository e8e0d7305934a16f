"""The commands on engines and codes of one's own, one file each."""

#: What each command does.
COMMANDS: dict[str, str] = {
    "atlas": "find out which integrators physics engines run",
    "identify": "which method your own code runs, from the rows that it writes",
}
