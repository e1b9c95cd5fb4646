#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# abi.sh - the binary interface: the library exports the functions that the public headers declare
# and nothing else, at the version of its symbol map; parameters, structs and constants are those
# that were recorded (`make abi` records an intended change); no function has more than six
# parameters; each is in the table of misuse.
#
# usage: abi.sh SOURCE-FOLDER GENERATED-INCLUDE-FOLDER LIBRARY STATIC-LIBRARY
source=$1
generated=$2
library=$3
static=$4
. "$(dirname "$0")/tap.sh"
export LC_ALL=C # the order of names
if ! command -v python3 >/dev/null; then
  echo "1..0 # SKIP python3 is not installed"
  exit 0
fi

same()
{
  diff -u "$1" "$2" >"$work/diff"
  different=$?
  [ $different = 0 ] || sed 's/^/# /' "$work/diff" | head -60
  return $different
}

for what in names map list; do
  run python3 "$source/scripts/abi.py" $what "$source/include" "$generated"
  cp "$work/out" "$work/$what"
  ok "the headers are understood, and no function has more than six parameters: $what" test "$code" = 0
done
ok "src/skua.map is that of the headers (make abi)" same "$source/src/skua.map" "$work/map"
ok "tests/abi/skua.txt is that of the headers (make abi)" same "$source/tests/abi/skua.txt" "$work/list"

# Structs of several members begin with their size, or interface.md says why they do not.  Those of one
# member are handles.
awk '/^struct skuac_/ { name = ""; next }
     /^struct / { name = $2; sub(/:$/, "", name); next }
     !/^    / { name = ""; next }
     name != "" { members[name]++; if (members[name] == 1) sized[name] = $NF == "size" }
     END { for (name in members) if (members[name] > 1 && !sized[name]) print name }' "$work/list" | sort >"$work/unsized"
sed -n '/^## Parameter structs/,/^## Versions/p' "$source/docs/guide/interface.md" |
  grep -oE '`[A-Za-z_0-9]+`' | tr -d '`' | sort -u >"$work/declared"
out=$(comm -23 "$work/unsized" "$work/declared" | tr '\n' ' ')
ok "structs without a size are found" test "$(grep -c . "$work/unsized")" -gt 30
ok "docs/guide/interface.md names each struct without a size: ${out:-all}" test -z "$out"

# Symbols with their versions: NAME@@SKUA_1.0; the name of the version is a symbol too.
nm -D --with-symbol-versions --defined-only "$library" | awk '{ print $NF }' | sort >"$work/exported"
sed 's/$/@@SKUA_1.0/; $a SKUA_1.0' "$work/names" | sort >"$work/wanted"
ok "the shared library exports the names of the headers" same "$work/wanted" "$work/exported"
major=$(sed -n 's/.*VERSION_MAJOR *//p' "$generated/skua/version.h")
run readelf -d "$library"
ok "its name has the major version" has "$out" "SONAME.*\\[libskua.so.$major\\]"

nm -g --defined-only "$static" | awk 'NF == 3 { print $3 }' | sort >"$work/global"
ok "the static library has no other global names" same "$work/names" "$work/global"

# Each function that programs call has rows of misuse, or a reason why it has none.
grep -ow 'skua_[a-z0-9_]*' "$source/tests/misuse_table.c" | sort -u >"$work/rows"
grep -v '^skuac_' "$work/names" | comm -23 - "$work/rows" >"$work/without" # skuac_: called by generated code only
sed 's/^/# no row: /' "$work/without"
ok "tests/misuse_table.c names every function" test ! -s "$work/without"
tap_end
