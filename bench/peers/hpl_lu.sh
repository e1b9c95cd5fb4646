#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# hpl_lu.sh - the solution of dense systems by HPL, as a part of the HPC Challenge suite: the problem
# of apps/lu.
#
# The suite runs all its other benchmarks first, with the memory of the largest matrix of its input file;
# these would take minutes.  HPL, which is the last, reads the input file anew.  So the suite begins with
# the input of a small matrix, and once it has read this, the input of HPL takes its place.
#
# usage: mpirun -n N hpl_lu.sh SERIES SIZES:BLOCKS:ROWS
#
# SIZES and BLOCKS are lists, separated by commas; ROWS is the number of rows of the process grid.  Of
# each size the fastest block and depth of look-ahead count.
series=$1
sizes=$(echo "$2" | cut -d: -f1 | tr , ' ')
blocks=$(echo "$2" | cut -d: -f2 | tr , ' ')
rows=$(echo "$2" | cut -d: -f3)
rank=${OMPI_COMM_WORLD_RANK:-0}
ranks=${OMPI_COMM_WORLD_SIZE:-1}
work=${TMPDIR:-/tmp}/skua-hpl.$PPID # the processes have the same parent
export OPENBLAS_NUM_THREADS=1

count()
{
  echo $#
}

# input SIZES
input()
{
  cat <<EOF
HPLinpack benchmark input file
Skua
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
$(count $1)            # of problems sizes (N)
$1 Ns
$(count $blocks)            # of NBs
$blocks NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
$rows Ps
$((ranks / rows)) Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
2            # of lookahead depth
0 1          DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
EOF
}

mkdir -p "$work" && cd "$work" || exit 1
if [ "$rank" != 0 ]; then
  exec hpcc
fi
trap 'rm -rf "$work"' EXIT
first=100
[ "$ranks" -gt 1 ] || first=1000 # on one rank the other benchmarks would end before the input is replaced
input $first >hpccinf.txt
input "$sizes" >hpl.txt
hpcc &
suite=$!
until grep -qs '^Begin of ' hpccoutf.txt; do # the first benchmark has begun: the input has been read
  kill -0 $suite 2>/dev/null || break
  sleep 0.01
done
mv hpl.txt hpccinf.txt
wait $suite
code=$?
awk -v series="$series" -v ranks="$ranks" -v sizes=" $sizes " '
$1 ~ /^WR/ && NF == 7 { size = index(sizes, " " $2 " ") ? $2 : 0; rate = $7 }
/PASSED/ && size { # the residual of the last line of results
  printf "{\"bench\":\"lu\",\"series\":\"%s\",\"bytes\":%d,\"metric\":\"rate-%dpe\",\"value\":%.6g}\n",
    series, size, ranks, rate * 1e9
  size = 0 }' hpccoutf.txt
exit $code
