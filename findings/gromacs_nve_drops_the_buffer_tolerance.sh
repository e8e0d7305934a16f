#!/usr/bin/env bash
# GROMACS: verlet-buffer-tolerance of a run at constant energy that begins with the velocities of another run (grompp -t).
# Guess: the tolerance in the mdp is used, as the manual says that it must be lowered at constant energy.
# What happens: grompp sizes the list by the velocities in the file of -c alone, before it reads -t. Without velocities there, as in
# a structure from elsewhere, the tolerance becomes -1 and the list reaches 10 % beyond the cut-off, whatever was asked for. A
# note of grompp says so ("initial temperature of zero"), though the run begins with the velocities of -t.
# The packages are Debian 12's, unpacked in the temporary folder; apt-get need not install anything.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export GMX_MAXBACKUP=-1
version=2022.5-2
libraries="libfftw3-single3 libhwloc15 libblas3 liblapack3 libmuparser2v5 libgomp1 libgfortran5 libquadmath0"
libraries+=" libx11-6 libxcb1 libxau6 libxdmcp6 libbsd0 libmd0"
apt-get -qq download gromacs=$version gromacs-data=$version libgromacs7=$version $libraries 2> apt.log || { cat apt.log; exit 1; }
for package in *.deb; do dpkg-deb -x "$package" root; done
places=$(find "$folder/root/usr/lib" -name "*.so.*" -printf "%h\n" | sort -u | paste -sd:)
gmx() { LD_LIBRARY_PATH="$places" "$folder/root/usr/bin/gmx" "$@"; }
gmx --version 2> /dev/null | grep -E "GROMACS version|Library|Executable"
cat > topol.top <<'TOP'
#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spce.itp"
[ system ]
water
[ molecules ]
TOP
cat > both.mdp <<'MDP'
integrator = md
dt = 0.002
nsteps = 100
nstxout = 100
nstvout = 100
coulombtype = PME
rcoulomb = 0.8
rvdw = 0.8
MDP
cp both.mdp first.mdp
printf "gen-vel = yes\ngen-temp = 300\n" >> first.mdp
gmx solvate -cs spc216 -box 2 2 2 -o without.gro -p topol.top > solvate.log 2>&1
gmx grompp -f first.mdp -c without.gro -p topol.top -o first.tpr > grompp.log 2>&1
gmx mdrun -s first.tpr -deffnm first -ntmpi 1 -ntomp 1 -pin off > mdrun.log 2>&1
cp first.gro with.gro
for tolerance in 1e-3 1e-5; do
    { cat both.mdp; printf "continuation = yes\nverlet-buffer-tolerance = %s\n" $tolerance; } > second.mdp
    for start in with without; do
        gmx grompp -f second.mdp -c $start.gro -t first.trr -p topol.top -o second.tpr > grompp.log 2>&1
        gmx dump -s second.tpr 2> dump.log > settings.txt
        read -r used list <<< "$(awk '/ verlet-buffer-tolerance /{a=$3} / rlist /{b=$3} END{print a, b}' settings.txt)"
        echo "asked for $tolerance, $start velocities in the file of -c: tolerance $used, list of $list nm"
        echo "$used $list" > "$start$tolerance"
        if [ $start = with ]; then
            awk -v a="$used" -v b=$tolerance 'BEGIN{exit !(a + 0 == b + 0)}' || { echo "the tolerance is lost with velocities, too"; exit 1; }
        else
            [ "$used $list" = "-1 0.88" ] || { echo "the tolerance is used now"; exit 1; }
            grep -A1 "initial temperature of zero" grompp.log
            echo "  velocity of the first atom, from -t: $(grep -m 1 "^ *v\[" settings.txt | cut -d= -f2)"
        fi
    done
done
[ "$(cat with1e-3)" != "$(cat with1e-5)" ] && cmp -s without1e-3 without1e-5
