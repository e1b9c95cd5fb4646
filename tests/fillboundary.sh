#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# fillboundary.sh - the lists of boxes of fillboundary: their counts, and errors with line numbers.
#
# usage: fillboundary.sh SKUARUN FILLBOUNDARY
#
# With BOXES, a folder that has the list of the paper (ba.max), its published counts are also tested.
. "$(dirname "$0")/tap.sh"
skuarun=$1
fillboundary=$2
export ASAN_OPTIONS=detect_leaks=0 SKUA_PIN=none
list=$work/boxes

# matches PATTERN: a line of the output, or of the errors, matches
matches()
{
  ok "$1" has "$out $err" "$1"
}

# refuses WHY: the list on standard input is refused with "boxes:WHY"
refuses()
{
  cat >"$list"
  run timeout 60 "$fillboundary" --boxes="$list" --describe
  ok "refused: $1" test "$code" = 2
  matches "fillboundary: .*/boxes:$1"
}

# Three cubes of 8 cells: two pairs share a face of 64 cells, the third pair an edge of 8.
cat >"$list" <<END
(3 0
((0,0,0) (7,7,7) (0,0,0))
((8,0,0) (15,7,7) (0,0,0))
((8,8,0) (15,15,7) (0,0,0))
)
END
run timeout 60 "$fillboundary" --boxes="$list" --describe
matches "level 0: 3 boxes, 1536 cells, 272 ghost cells in 6 copies"
matches "level 3: 3 boxes, 3 cells, 6 ghost cells in 6 copies"
run timeout 60 "$fillboundary" --boxes="$list" --refine=2 --chop=8 --levels=1 --describe
matches "level 0: 24 boxes, 12288 cells"
run timeout 60 "$skuarun" -n 2 "$fillboundary" --boxes="$list" --rounds=2 --exchanges=2 --repeat=1
ok "exchanged" test "$code" = 0
matches "result fillboundary: 3 boxes, 4 levels, 370 ghost cells filled, 0 wrong: passed"

# A box of odd length, and negative coordinates: one level, and pieces of unequal length.
cat >"$list" <<END
(2 0
((-5,-3,0) (7,7,7) (0,0,0))
((8,0,0) (9,0,40) (0,0,0))
END
run timeout 60 "$skuarun" -n 2 "$fillboundary" --boxes="$list" --chop=5 --rounds=1 --exchanges=1 --repeat=1
ok "unaligned boxes, no last line" test "$code" = 0
matches "result fillboundary: .* 1 levels, .* 0 wrong: passed"

refuses "1: expected .\(COUNT 0." <<END
3 boxes
END
refuses "1: expected 1 to" <<END
(0 0
)
END
refuses "3: expected a box" <<END
(2 0
((0,0,0) (7,7,7) (0,0,0))
((8,0,0) (15,7) (0,0,0))
)
END
refuses "2: the last cell is before the first" <<END
(1 0
((0,0,8) (7,7,7) (0,0,0))
)
END
refuses "3: the file ends before the list does" <<END
(2 0
((0,0,0) (7,7,7) (0,0,0))
END
refuses "3: expected .\). after the last box" <<END
(1 0
((0,0,0) (7,7,7) (0,0,0))
((8,0,0) (15,7,7) (0,0,0))
)
END
refuses "4: expected nothing after the list" <<END
(1 0
((0,0,0) (7,7,7) (0,0,0))
)
(1 0
((0,0,0) (3,3,3) (0,0,0))
)
END
refuses "2: boxes of nodes or faces" <<END
(1 0
((0,0,0) (7,7,7) (1,0,0))
)
END
refuses "2: a coordinate exceeds" <<END
(1 0
((0,0,0) (7,7,99999999) (0,0,0))
)
END
refuses "2: a coordinate exceeds" <<END
(1 0
((-2147483648,0,0) (7,7,7) (0,0,0))
)
END
refuses "4: the box overlaps that of line 2" <<END
(3 0
((0,0,0) (7,7,7) (0,0,0))
((8,0,0) (15,7,7) (0,0,0))
((7,7,7) (9,9,9) (0,0,0))
)
END
run timeout 60 "$fillboundary" --boxes="$work/none" --describe
matches "fillboundary: .*/none: cannot be read"
run timeout 60 "$fillboundary" --boxes="$work" --describe
ok "a folder" test "$code" = 2

# counts REFINE TEXT: the finest level of the list of the paper, in boxes of up to 32^3 cells
counts()
{
  run timeout 60 "$fillboundary" --boxes="$BOXES/ba.max" --refine="$1" --chop=32 --describe
  matches "^level 0: $2"
  ok "refined by $1: five levels" has "$code $out" '^level 4:'
}
if [ -r "${BOXES:-}/ba.max" ]; then
  counts 4 "25680 boxes, 841482240 cells, 160740184 ghost cells"
  counts 2 "3210 boxes, 105185280 cells, 19231400 ghost cells"
else
  echo "# the list of the paper is not tested: BOXES names no folder with ba.max"
fi
tap_end
