#!/bin/sh
# properties = {properties}
# The job, followed by a note of its exit code for status.sh, in a file that is written completely or not at all.
cd "${{PBS_O_WORKDIR:-$SGE_O_WORKDIR}}" || exit 1
( {exec_job} )
code=$?
note=.snakemake/queue/${{PBS_JOBID:-$JOB_ID}}.end
echo $code >"$note.part" && mv "$note.part" "$note"
exit $code
