#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# lines.sh - counts the lines of programs with and without interface files, for docs/guide/lines.md.
#
# Counted by SLOCCount, or by cloc where there is none: lines that are neither empty nor comment.
# Neither knows interface files, so they are counted as C, under another name.
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

if command -v sloccount >/dev/null; then
  counter="sloccount"
elif command -v cloc >/dev/null; then
  counter="cloc"
else
  echo "lines.sh: neither sloccount nor cloc is installed" >&2
  exit 1
fi

# Lines of code in files.
lines()
{
  rm -rf "$work/count"
  mkdir -p "$work/count/data"
  for file in "$@"; do
    cp "$file" "$work/count/$(echo "$file" | tr '/.' '__').c"
  done
  if [ $# = 0 ]; then
    echo 0
  elif [ $counter = cloc ]; then
    cloc --quiet --csv "$work/count" | awk -F, '$2 == "C" { print $5 }'
  else
    sloccount --datadir "$work/count/data" "$work/count" 2>/dev/null |
      awk '/^Total Physical Source Lines of Code/ { gsub(",", "", $NF); print $NF }'
  fi
}

# Lines with a word in them, without comments, spaces and order.
words()
{
  for file in "$@"; do
    cc -x c -fpreprocessed -dD -E -P "$file"
  done 2>/dev/null | tr -d ' \t' | grep '[a-z]' | sort
}

# row NAME INTERFACE-FILES C-FILES FILES: prints the lines of a program with interface files, and of the
# same program without the translator.  The last two columns are lines that only one of the two has.
row()
{
  ci=$(lines $2)
  c=$(lines $3)
  plain=-
  ours=-
  theirs=-
  if [ -n "$4" ]; then
    plain=$(lines $4)
    words $2 $3 >"$work/ours"
    words $4 >"$work/theirs"
    ours=$(comm -23 "$work/ours" "$work/theirs" | wc -l)
    theirs=$(comm -13 "$work/ours" "$work/theirs" | wc -l)
  fi
  printf '| %-14s | %5s | %5s | %5s | %5s | %5s | %7s |\n' "$1" "$ci" "$c" $((ci + c)) "$plain" \
    "$ours" "$theirs"
}

echo "Counted by $counter."
echo
echo "| program        |    CI |     C | total | plain |  ours | plain's |"
echo "|----------------|------:|------:|------:|------:|------:|--------:|"
row ring examples/ring.ci "" examples/plain/ring.c
row fib examples/fib.ci "" examples/plain/fib.c
row sort examples/sort.ci "examples/sort.c examples/sort.h" examples/plain/sort.c
row jacobi examples/jacobi.ci "examples/jacobi.c examples/jacobi.h"
ra=apps/randomaccess
files="$ra/options.c $ra/options.h $ra/sequence.c $ra/sequence.h $ra/table.h $ra/report.h"
row randomaccess $ra/randomaccess.ci "$ra/randomaccess.c $ra/randomaccess.h $files" "$ra/plain.c $files"
fft=apps/fft1d
if [ -f $fft/fft1d.ci ]; then
  row fft1d $fft/fft1d.ci "$(ls $fft/*.c $fft/*.h | tr '\n' ' ')"
fi
md=apps/leanmd
files=$(ls $md/atoms.* $md/force.* $md/options.* $md/start.* $md/tally.* | tr '\n' ' ')
row leanmd $md/leanmd.ci "$md/leanmd.c $md/leanmd.h $md/meter.c $md/meter.h $files" "$md/plain.c $files"
bh=apps/barneshut
lu=apps/lu
row lu $lu/lu.ci "$(ls $lu/*.c $lu/*.h | tr '\n' ' ')"
row barneshut $bh/barneshut.ci "$(ls $bh/*.c $bh/*.h | grep -v plain | tr '\n' ' ')"
for app in matmul3d pairs pingpong stencil3d; do
  row $app apps/$app/$app.ci "$(ls apps/$app/*.c apps/$app/*.h | tr '\n' ' ')"
done
for app in fillboundary fmm ga_scf gtcshift; do
  row $app "" "$(ls apps/$app/*.c apps/$app/*.h | tr '\n' ' ')"
done

# What applications share: lines, and how many of them use it.
helper()
{
  users=$(grep -lE "common/($3)\.h" apps/*/*.[ch] | cut -d/ -f2 | grep -v common | sort -u | wc -l)
  printf '| %-42s | %5s | %12s |\n' "$1" "$(lines $2)" "$users"
}

common=apps/common
echo
echo "| apps/common                                | lines | applications |"
echo "|--------------------------------------------|------:|-------------:|"
helper "command lines" "$common/arguments.c $common/arguments.h" arguments
helper "results, progress, clocks" "$common/series.h $common/stopwatch.h $common/allreduce.h" \
  "series|stopwatch|allreduce"
helper "variants of the communication" "$common/variant.c $common/variant.h" variant
helper "grids of parts" $common/grid.h grid
helper "numbers, keys on the Morton curve" "$common/numbers.h $common/morton.h" "numbers|morton"
helper "huge pages" $common/huge_pages.h huge_pages
helper "matrix products" "$(ls $common/gemm* | tr '\n' ' ')" gemm
helper "Fourier transforms of a matrix in bands" "$common/band_fft.c $common/band_fft.h $common/transpose.h \
  $common/roots.c $common/roots.h" band_fft
helper "input and check of a Fourier transform" "$common/fft_check.c $common/fft_check.h" fft_check
