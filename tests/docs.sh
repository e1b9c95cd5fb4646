#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# docs.sh - the complete programs in README.md and docs/guide/ build and run, and
# links between pages lead somewhere.
#
# usage: docs.sh SOURCE BUILD CC
source=$1
build=$2
cc=$3
. "$(dirname "$0")/tap.sh"

# Writes the C blocks of a page that have a main() to $work/NAME-1.c, -2.c ...
programs()
{
  awk -v base="$work/$2" '
    /^```c$/            { inside = 1; text = ""; next }
    /^```$/ && inside   { inside = 0; if (text ~ /int main\(/) { print text > (base "-" ++n ".c") }; next }
    inside              { text = text $0 "\n" }' "$1"
}

# Likewise the interface files: those with a mainmodule, by its name.
interfaces()
{
  awk -v base="$work" '
    /^```ci$/           { inside = 1; text = ""; next }
    /^```$/ && inside   { inside = 0; if (name) { print text > (base "/" name ".ci"); close(base "/" name ".ci") }
                          name = ""; next }
    inside && /^mainmodule / { name = $2 }
    inside              { text = text $0 "\n" }' "$1"
}

# Files of C++, which say their names in the first line: // NAME
files()
{
  awk -v base="$work" '
    /^```cpp$/          { inside = 1; name = ""; next }
    /^```$/ && inside   { inside = 0; if (name) close(base "/" name); next }
    inside && !name && /^\/\/ / { name = $2 }
    inside && name      { print > (base "/" name) }' "$1"
}

for page in "$source"/README.md "$source"/docs/guide/*.md; do
  name=$(basename "$page" .md)
  [ "$page" = "$source/README.md" ] && name=front
  programs "$page" "$name"
  interfaces "$page"
  files "$page"
done
for interface in "$work"/*.ci; do
  run "$build/translator/skuac" -o "$work" "$interface"
  ok "$(basename "$interface"): is translated" test "$code" = 0
done

count_programs=0
for program in "$work"/*.c; do
  name=$(basename "$program" .c)
  count_programs=$((count_programs + 1))
  compile="$cc -std=gnu17"
  more=
  if [ -e "${program%.ci.c}.cc" ]; then # its functions are in C++
    command -v c++ >/dev/null || continue
    compile="c++ -std=c++17 -x c++"
    more=${program%.ci.c}.cc
  fi
  run $compile -Wall -Werror -I"$source/include" -I"$build/include" -I"$work" "$program" $more \
    -L"$build/src" -lskua -Wl,-rpath,"$build/src" -o "$work/$name"
  ok "$name: builds" test "$code" = 0
  run "$build/tools/skuarun" -n 3 --pin=none "$work/$name"
  ok "$name: runs" test "$code" = 0
  ok "$name: says something" test -n "$out"
done
ok "there are some" test "$count_programs" -ge 3

# Links to files, relative to the page.
for page in "$source"/*.md "$source"/docs/*/*.md; do
  for link in $(sed '/^```/,/^```/d; s/`[^`]*`//g' "$page" | grep -oE '\]\([^)#:]+\)' | sed 's/](\(.*\))/\1/'); do
    ok "$(basename "$page") -> $link" test -e "$(dirname "$page")/$link"
  done
done

tap_end
