#!/bin/sh
# status.sh QUESTION NUMBER prints whether a job is running (or waiting), success or failed; `QUESTION NUMBER` asks the
# scheduler. How it ended the job itself has noted (jobscript.sh), because a scheduler soon forgets it, or is set not to tell.
number=$2
record=.snakemake/queue/$number

judge() {
    echo "$1"
    [ -z "$2" ] || echo "cluster: job $number $2; its output: $(ls "$record.OU" "$record.log" 2>/dev/null)" >&2
    [ "$1" = running ] || rm -f "$record.end" "$record.gone"
    [ "$1" != success ] || rm -f "$record".*
    exit
}
look() {
    [ -f "$record.end" ] || return
    code=$(cat "$record.end")
    [ "$code" != 0 ] || judge success
    judge failed "failed with exit code $code"
}

look
answer=$($1 "$number" 2>&1) && known=yes || known=no
says() { echo "$answer" | grep -Eqi "$1"; }
if says "^error reason"; then
    qdel "$number" >/dev/null 2>&1
    judge failed "will never run, as the scheduler has it: $(echo "$answer" | grep "^error reason")"
elif ! says "unknown job|has finished|do not exist"; then
    rm -f "$record.gone"
    [ $known = yes ] || judge running "is asked about again: the scheduler gave no answer ($answer)"
    judge running
fi
# It has left the queue. On a shared file system its note may appear late.
look
[ -f "$record.gone" ] || date +%s >"$record.gone"
[ $(($(date +%s) - $(cat "$record.gone"))) -ge "${POLHODE_PATIENCE:-120}" ] || judge running
judge failed "was killed: it left the queue without an end (time, memory, a node?)"
