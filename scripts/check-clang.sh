#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Checks every C and C++ file of a build by gcc with clang, with warnings as errors:
#
#   scripts/check-clang.sh BUILD-FOLDER [JOBS]
#
# The commands are those of the build (compile_commands.json), so that generated files exist.  Most
# files are only parsed; the library is compiled, because inline assembly is checked only then.
set -eu
cd "$(dirname "$0")/.."
build=$1
jobs=${2:-$(nproc 2>/dev/null || echo 2)}
if ! command -v clang >/dev/null; then
  echo "clang is not installed: its warnings were not checked"
  exit 0
fi
commands=$build/compile_commands.json
[ -f "$commands" ] || cmake -B "$build" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null

# One line for each file: its options, without the compiler, optimisation (-mmemcpy-strategy, which
# only gcc has, is one), output and debug information.  Strings in definitions are quoted for JSON
# and for the shell: \\\" becomes \".
sed -nE 's/^ *"command": "(.*)",?$/\1/p' "$commands" | grep -v '\.f90 ' |
  sed -E 's/^([^ ]*ccache )?[^ ]+ //; s/ -o [^ ]+/ /; s/ -mmemcpy-strategy=[^ ]+//; s/ -(O[0-9s]|g[0-9]?)( |$)/ /g; s/ -(O[0-9s]|g[0-9]?)( |$)/ /g
          s/\\\\\\"/\\"/g' | sort -u >"$build/clang_commands"
echo "clang checks $(wc -l <"$build/clang_commands") files"
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
