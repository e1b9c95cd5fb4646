#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# counts.sh - the size and the shape of the code, a row for each layer and each program:
#
#   scripts/counts.sh [FOLDER]      counts the tree in FOLDER (default: this one)
#
# code      lines that are neither empty nor comment, of .c and .h, unit tests left out
# functions their number, their median length from the head to the closing brace, and the numbers of
#           those with more than 40 and more than 70 lines
# asserts   ski_assert() and assert() for a thousand lines of code
# modules   .c files, and the number of those with a unit test (foo_test.c)
set -eu
cd "${1:-$(dirname "$0")/..}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# "code N", "assert N" for each file, "function LINES" for each function.
cat >"$work/count.awk" <<'END'
function strip(line,    at)
{
    if (in_comment) {
        at = index(line, "*/")
        if (!at)
            return ""
        in_comment = 0
        line = substr(line, at + 2)
    }
    gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
    gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", line)
    sub(/\/\/.*/, "", line)
    if ((at = index(line, "/*"))) {
        in_comment = 1
        line = substr(line, 1, at - 1)
    }
    return line
}
FNR == 1 { in_comment = 0; head = 0; begin = 0 }
{
    line = strip($0)
    if (line !~ /^[ \t]*$/)
        code++
    asserts += gsub(/(^|[^_a-zA-Z])(ski_)?assert\(/, "&", line)
    if (line ~ /^[a-z_A-Z].*\(/ && line !~ /;/ && !begin)
        head = FNR
    if (line ~ /^\{/)
        begin = head
    if (line ~ /^\}/ && begin) {
        print "function " FNR - begin + 1
        begin = 0
    }
}
END { print "code " code + 0; print "assert " asserts + 0 }
END

row()
{
  name=$1
  shift
  find "$@" -name '*.[ch]' ! -name '*_test.c' | sort >"$work/files"
  [ -s "$work/files" ] || return 0
  xargs cat <"$work/files" >"$work/all"
  xargs awk -f "$work/count.awk" <"$work/files" >"$work/counted"
  awk '$1 == "function" { print $2 }' "$work/counted" | sort -n >"$work/lengths"
  modules=$(grep -c '\.c$' "$work/files" || true)
  tested=0
  for file in $(grep '\.c$\|\.h$' "$work/files" | sed 's/\.[ch]$//' | sort -u); do
    [ ! -f "${file}_test.c" ] || tested=$((tested + 1))
  done
  awk -v name="$name" -v modules="$modules" -v tested="$tested" '
    FILENAME ~ /lengths$/ { length_of[++n] = $1; over40 += $1 > 40; over70 += $1 > 70; next }
    $1 == "code" { code += $2 }
    $1 == "assert" { asserts += $2 }
    END {
        printf "| %-14s | %6d | %9d | %6d | %4d | %4d | %7.1f | %7d | %6d |\n", name, code, n,
               n ? length_of[int((n + 1) / 2)] : 0, over40, over70, code ? 1000 * asserts / code : 0,
               modules, tested
    }' "$work/lengths" "$work/counted"
}

echo "| folder         |   code | functions | median |  >40 |  >70 | asserts | modules | tested |"
echo "|----------------|-------:|----------:|-------:|-----:|-----:|--------:|--------:|-------:|"
for layer in src/* tools/* translator; do
  [ ! -d "$layer" ] || row "$layer" "$layer"
done
row total src tools translator
