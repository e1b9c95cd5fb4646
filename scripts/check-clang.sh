#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Has clang look at every file in C and C++ of a build that gcc made, with warnings as errors:
#
#   scripts/check-clang.sh BUILD-FOLDER [JOBS]
#
# The commands are those of the build (compile_commands.json), so that files that the build has made
# are there.  The warnings need no code to be made; but the library is compiled, since inline assembly
# is looked at only then.
set -eu
cd "$(dirname "$0")/.."
build=$1
jobs=${2:-$(nproc 2>/dev/null || echo 2)}
if ! command -v clang >/dev/null; then
  echo "clang is not installed: its warnings were not looked at"
  exit 0
fi
commands=$build/compile_commands.json
[ -f "$commands" ] || cmake -B "$build" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null

# One line for each file: its options, without the compiler, optimization, output and debug
# information.  Strings in definitions are quoted for JSON and for the shell: \\\" becomes \".
sed -nE 's/^ *"command": "(.*)",?$/\1/p' "$commands" | grep -v '\.f90 ' |
  sed -E 's/^([^ ]*ccache )?[^ ]+ //; s/ -o [^ ]+/ /; s/ -(O[0-9s]|g[0-9]?)( |$)/ /g; s/ -(O[0-9s]|g[0-9]?)( |$)/ /g
          s/\\\\\\"/\\"/g' | sort -u >"$build/clang_commands"
echo "clang looks at $(wc -l <"$build/clang_commands") files"
folder=$PWD
cat >"$build/clang_one.sh" <<END
cd "$folder/$build"
case "\$1" in
  *" -c $folder/src/"*) how="-c -O0 -o /dev/null" ;;
  *)                    how=-fsyntax-only ;;
esac
eval "clang -Werror \$how \$1" || { echo "clang: \$1" >&2; exit 255; } # 255 ends xargs
END
tr '\n' '\0' <"$build/clang_commands" | xargs -0 -n 1 -P "$jobs" sh "$build/clang_one.sh"
