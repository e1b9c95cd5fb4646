#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# covered.sh - every public function has a test: a program that the tests run, or a unit test, calls each
# name of the symbol map.  Programs call it if it is an undefined symbol of theirs, so calls by inline
# functions, macros and generated code count.  Inline functions, macros with parameters and initialisers
# leave no symbol: the text of a test names them.  Programs of misuse do not count: a function that is only
# refused is not tested.  Each function that returns a status has a row in misuse_table.c.
#
# usage: covered.sh SOURCE-FOLDER BUILD-FOLDER
source=$1
build=$2
. "$(dirname "$0")/tap.sh"
code=0 out='' err=''

# Names that no program calls, one on each line, each with its reason.
exceptions=

names="$work/names" called="$work/called"
sed -nE 's/^ *(skuac?_[a-z0-9_]+);$/\1/p' "$source/src/skua.map" | sort -u >"$names"
ok "the symbol map has names" test "$(wc -l <"$names")" -gt 300

for folder in tests tests/skuac/flow examples apps; do
  for program in "$build/$folder"/*; do
    case ${program##*/} in *misuse* | test_refused | *misbehave* | *stranger* | *forger*) continue ;; esac
    [ -f "$program" ] && [ -x "$program" ] && nm -D --undefined-only "$program" 2>/dev/null
  done
done | awk '{ sub(/@.*/, "", $2); print $2 }' >"$work/symbols"
grep -rhoE 'skuac?_[a-z0-9_]+ *\(' --include='*_test.c' "$source/src" "$source/translator" |
  tr -d ' (' >>"$work/symbols"
sort -u "$work/symbols" >"$called"

for name in $(comm -23 "$names" "$called"); do
  ok "$name is called by a test" has "$exceptions" "^$name\$"
done
for name in $exceptions; do
  ok "$name, an exception, is public and not called" \
    test "$(grep -cx "$name" "$names") $(grep -cx "$name" "$called")" = "1 0"
done

# A macro of a test may make the name of a width: skua_add##bits.
headers=$(ls "$source"/include/skua/*.h "$source"/include/skua/compat/*.h | grep -v '/skuac_')
# shellcheck disable=SC2086 # paths of the tree are words
cat $headers | awk '/^static inline/ { joined = $0; while (joined !~ /\(/ && (getline line) > 0) joined = joined " " line
                      sub(/\(.*/, "", joined); sub(/.*[ *]/, "", joined); print joined }
                    /^#define skua_[a-z_0-9]+\(/ { name = $2; sub(/\(.*/, "", name); print name }
                    /^#define SKUA_[A-Z_0-9]+_INIT / { print $2 }' | sort -u >"$names"
{
  find "$source/tests" "$source/examples" "$source/apps" -type f -regex '.*\.\(c\|h\|cc\|ci\)'
  find "$source/src" "$source/translator" -name '*_test.c'
} | grep -vE 'misuse|refused|misbehave|stranger|forger' |
  xargs grep -ohE '\b(skua|SKUA|CkDirect)_[A-Za-z0-9_]+(##)?' | sort -u >"$work/named"
ok "the headers have inline functions and initialisers" test "$(wc -l <"$names")" -gt 50
inline_exceptions=skua_stream_here # skua_stream_put() and others call it
while read -r name; do
  case " $inline_exceptions " in *" $name "*) continue ;; esac
  ok "$name is in a test" grep -qxE "$name|${name%[36][24]}##" "$work/named"
done <"$names"
for name in $inline_exceptions; do
  ok "$name, an exception, is public and in no test" \
    test "$(grep -cx "$name" "$names") $(grep -cx "$name" "$work/named")" = "1 0"
done

rows=$(sed -nE 's/.*CALL\((skua_[a-z0-9_]+),.*/\1/p' "$source/tests/misuse_table.c" | sort -u)
for name in $(cat "$source"/include/skua/*.h |
              sed -nE 's/^SKUA_(HOT_)?API skua_status (skua_[a-z0-9_]+)\(.*/\2/p' | sort -u); do
  ok "$name, which returns a status, has a row in misuse_table.c" has "$rows" "^$name\$"
done
tap_end
