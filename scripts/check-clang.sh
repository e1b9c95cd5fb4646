#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Checks every C and C++ file of a build by gcc with clang, with warnings as errors:
#
#   scripts/check-clang.sh BUILD-FOLDER [JOBS [FOLDER]]
#
# The commands are those of the build (compile_commands.json), so that generated files exist.  Most
# files are only parsed; the library is compiled, because inline assembly is checked only then.  FOLDER: a
# build by clang, with warnings as errors; the files of its objects are not checked again.
set -eu
cd "$(dirname "$0")/.."
build=$1
jobs=${2:-$(nproc 2>/dev/null || echo 2)}
compiled=${3:-}
if ! command -v clang >/dev/null; then
  echo "clang is not installed: its warnings were not checked"
  exit 0
fi
commands=$build/compile_commands.json
[ -f "$commands" ] || cmake -B "$build" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null

# One line for each file: its options, without the compiler, optimisation (-mmemcpy-strategy, which
# only gcc has, is one), output and debug information.  Strings in definitions are quoted for JSON
# and for the shell: \\\" becomes \".
#
# The path of an object from the folder of its build is in the lines "directory" and "command".
objects=/dev/null
if [ -n "$compiled" ]; then
  objects=$build/clang_objects
  (cd "$compiled" && find . -name '*.o') | sed "s|^\.|$PWD/$build|" >"$objects"
fi
awk -v objects="$objects" '
  BEGIN { while ((getline line < objects) > 0) compiled[line] = 1 }
  /^ *"directory": / { split($0, part, "\""); folder = part[4] }
  /^ *"command": / {
    object = $0
    sub(/.* -o /, "", object)
    sub(/ .*/, "", object)
    if ((folder "/" object) in compiled) next
    sub(/^ *"command": "/, "")
    sub(/",?$/, "")
    print
  }' "$commands" | grep -v '\.f90 ' |
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
