#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# layers.sh - includes point down: no file of src/ includes a file of a higher layer, the modules of
# a folder and the sub-folders of a layer form no cycle, and examples include only installed headers.
#
# usage: layers.sh SOURCE-FOLDER
tests=$(cd "$(dirname "$0")" && pwd) || exit 1
. "$tests/tap.sh"
cd "$1" || exit 1
code=0 out= err=

# Includes of @layers by files of a folder.
reaches()
{
  folder=$1
  shift
  found=
  for above in "$@"; do
    found="$found$(grep -rnE "#include \"$above/" "$folder" --include='*.[chS]' | grep -v _test.c)"
  done
  out=$found
  [ -z "$found" ]
}
ok "base includes nothing above it" reaches src/base strategy boot transport core onesided objects balance flow checkpoint
ok "strategy uses base alone" reaches src/strategy boot transport core onesided objects balance flow checkpoint
ok "boot neither" reaches src/boot transport core onesided objects balance flow checkpoint
ok "transport neither" reaches src/transport core onesided objects balance flow checkpoint
ok "core neither" reaches src/core onesided objects balance flow checkpoint
ok "onesided neither" reaches src/onesided objects balance flow checkpoint
ok "objects neither" reaches src/objects balance flow checkpoint
ok "balance neither" reaches src/balance flow checkpoint
ok "flow neither" reaches src/flow checkpoint
ok "examples see include/skua alone" reaches examples base strategy boot transport core onesided objects balance flow checkpoint
ok "benchmarks too" reaches bench base strategy boot transport core onesided objects balance flow checkpoint
ok "applications too" reaches apps base strategy boot transport core onesided objects balance flow checkpoint

# The passes of the translator: support < ast < syntax < check, emit, print.
translator_layers()
{
  ok "translator/support includes no other pass" reaches translator/support ast syntax check emit print
  ok "translator/ast only support" reaches translator/ast syntax check emit print
  ok "translator/syntax only those two" reaches translator/syntax check emit print
  ok "translator/check not emit, print" reaches translator/check emit print
  ok "translator/emit not check, print" reaches translator/emit check print
  ok "translator/print not check, emit" reaches translator/print check emit
}
translator_layers

ok "the translator uses nothing of the runtime" reaches translator base strategy boot transport core onesided objects balance flow checkpoint
public=$(grep -rn '^#include <skua/' translator || true)
out=$public
ok "not even its headers" test -z "$public"

# Includes that close a cycle and stay: "FROM TO", one a line, each with its reason.  (None.)
excepted=""
find src translator tools -name '*.[chS]' ! -name '*_test.c' | sort >"$work/files"
xargs grep -n '#include "' <"$work/files" |
  awk -v files="$work/files" -v excepted="$excepted" -f "$tests/cycles.awk" >"$work/cycles"
out=$(cat "$work/cycles")
ok "modules of a folder and sub-folders of a layer form no cycle" test ! -s "$work/cycles"

# Public names begin with skua_ or SKUA_, internal ones with ski_ or SKI_.
public=$(grep -rnE '\bski_' include || true)
out=$public
ok "no internal name in a public header" test -z "$public"
shy=$(grep -rLE 'SPDX-License-Identifier: Apache-2.0' --include='*.[chS]' --include='*.sh' \
  --include='CMakeLists.txt' --include='*.cmake' src include tools translator tests bench examples apps cmake scripts)
out=$shy
ok "every file names its licence" test -z "$shy"

# Modules of skuarun.
ok "skuarun: processes uses no other folder" reaches tools/skuarun/processes protocol launcher agent
ok "skuarun: protocol uses neither side" reaches tools/skuarun/protocol launcher agent
ok "skuarun: the launcher does not use the agent" reaches tools/skuarun/launcher agent
ok "skuarun: the agent does not use the launcher" reaches tools/skuarun/agent launcher
tap_end
