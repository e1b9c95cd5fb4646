#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# docs.sh - the complete programs in README.md and docs/guide/ build and run, links between pages
# are valid, the names that pages use exist, the names of files and settings consist of words of
# the glossary, the declarations of public headers have comments, sentences have things as subjects, and the
# line counts of applications are true.
#
# Programs that use channels also run between processes that share no memory, over each driver, where
# data is read after the put has returned.
#
# usage: docs.sh SOURCE BUILD CC DRIVERS...
source=$1
build=$2
cc=$3
shift 3
drivers=$*
. "$(dirname "$0")/tap.sh"

# Writes the C blocks of a page that have a main() to $work/NAME-1.c, -2.c ...
programs()
{
  awk -v base="$work/$2" '
    /^```c$/            { inside = 1; text = ""; next }
    /^```$/ && inside   { inside = 0; if (text ~ /int main\(/) { print text > (base "-" ++n ".c") }; next }
    inside              { text = text $0 "\n" }' "$1"
}

# Writes the interface files of a page that have a mainmodule to $work/MODULE.ci.
interfaces()
{
  awk -v base="$work" '
    /^```ci$/           { inside = 1; text = ""; next }
    /^```$/ && inside   { inside = 0; if (name) { print text > (base "/" name ".ci"); close(base "/" name ".ci") }
                          name = ""; next }
    inside && /^mainmodule / { name = $2 }
    inside              { text = text $0 "\n" }' "$1"
}

# Writes the C++ files of a page; the first line of each is // NAME.
files()
{
  awk -v base="$work" '
    /^```cpp$/          { inside = 1; name = ""; next }
    /^```$/ && inside   { inside = 0; if (name) close(base "/" name); next }
    inside && !name && /^\/\/ / { name = $2 }
    inside && name      { print > (base "/" name) }' "$1"
}

# Writes the Fortran programs of a page to $work/NAME.f90.
fortran()
{
  awk -v file="$work/$2.f90" '
    /^```fortran$/      { inside = 1; next }
    /^```$/             { inside = 0; next }
    inside              { print > file }' "$1"
}

for page in "$source"/README.md "$source"/docs/guide/*.md; do
  name=$(basename "$page" .md)
  [ "$page" = "$source/README.md" ] && name=front
  programs "$page" "$name"
  interfaces "$page"
  fortran "$page" "$name"
  files "$page"
done
for interface in "$work"/*.ci; do
  run "$build/translator/skuac" -o "$work" "$interface"
  ok "$(basename "$interface"): is translated" test "$code" = 0
done

# run_apart PROGRAM DRIVER: run it over a driver with the launcher of that driver; code 127: the
# launcher is not installed.
run_apart()
{
  case $2 in
  mpi-openmpi) set -- "$1" "$2" mpirun.openmpi --oversubscribe --bind-to none -n 3 ;;
  mpi-mpich) set -- "$1" "$2" mpiexec.mpich -n 3 ;;
  *) set -- "$1" "$2" "$build/tools/skuarun" -n 3 --pin=none ;;
  esac
  program_apart=$1
  driver_apart=$2
  shift 2
  run env SKUA_SHARED_MEMORY=0 "SKUA_DRIVER=$driver_apart" SKUA_DRIVER_PATH="$build/drivers" UCX_TLS=tcp \
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$@" "$program_apart"
}

count_programs=0
for program in "$work"/*.c; do
  name=$(basename "$program" .c)
  count_programs=$((count_programs + 1))
  compile="$cc -std=gnu17"
  more=
  if [ -e "${program%.ci.c}.cc" ]; then # with methods in C++
    command -v c++ >/dev/null || continue
    compile="c++ -std=c++17 -x c++"
    more=${program%.ci.c}.cc
  fi
  if grep -q '<shmem.h>' "$program"; then
    shmem=$build/compat/openshmem
    more="$more -I$source/compat/openshmem/include -L$shmem -lskua-shmem -Wl,-rpath,$shmem"
  fi
  run $compile -Wall -Werror -I"$source/include" -I"$build/include" -I"$work" "$program" $more \
    -L"$build/src" -lskua -Wl,-rpath,"$build/src" -o "$work/$name"
  ok "$name: builds" test "$code" = 0
  run "$build/tools/skuarun" -n 3 --pin=none "$work/$name"
  ok "$name: runs" test "$code" = 0
  ok "$name: prints something" test -n "$out"
  run timeout 60 "$work/$name"
  ok "$name: runs on one PE" test "$code" = 0
  if ! grep -q '<shmem.h>' "$program"; then # whose PEs are processes
    run "$build/tools/skuarun" -n 2 -t 2 --pin=none "$work/$name"
    ok "$name: runs on two threads" test "$code" = 0
  fi
  grep -q skua_channel_ "$program" || continue
  for driver in $drivers; do
    run_apart "$work/$name" "$driver"
    ok "$name: runs over $driver" test "$code" = 0 -o "$code" = 127
  done
  case " $drivers " in
  *" tcp "*)
    export SKUA_CHECKED_CHANNELS=1
    run_apart "$work/$name" tcp
    ok "$name: runs over tcp, checked" test "$code" = 0
    unset SKUA_CHECKED_CHANNELS
    ;;
  esac
done
for program in "$work"/*.f90; do
  [ -e "$build/fortran/module/skua.mod" ] || continue
  name=$(basename "$program" .f90)
  run gfortran -std=f2018 -Wall -Werror -frecursive -J "$work" -I"$build/fortran/module" "$program" \
    "$build/fortran/libskua_fortran.a" -L"$build/src" -lskua -Wl,-rpath,"$build/src" -o "$work/$name-fortran"
  ok "$name.f90: builds" test "$code" = 0
  run "$build/tools/skuarun" -n 3 --pin=none "$work/$name-fortran"
  ok "$name.f90: runs" test "$code" = 0
  ok "$name.f90: prints something" test -n "$out"
done
ok "there are at least three programs" test "$count_programs" -ge 3

# Links to files exist.
for page in "$source"/*.md "$source"/docs/*.md "$source"/docs/*/*.md; do
  for link in $(links_of "$page"); do
    ok "$(basename "$page") -> $link" test -e "$(dirname "$page")/$link"
  done
done

# Links to headings: the file exists and has a heading with this anchor.
anchors_of()
{
  sed '/^```/,/^```/d' "$1" | sed -n 's/^##* //p' | tr '[:upper:]' '[:lower:]' |
    sed 's/]([^)]*)//g; s/[^a-z0-9 _-]//g; s/ /-/g'
}
for page in "$source"/*.md "$source"/docs/*.md "$source"/docs/*/*.md; do
  for link in $(anchor_links_of "$page"); do
    file=${link%%#*}
    [ -z "$file" ] && file=$(basename "$page")
    ok "$(basename "$page") -> $link" \
      sh -c 'printf "%s\n" "$1" | grep -qx -- "$2"' sh "$(anchors_of "$(dirname "$page")/$file")" "${link#*#}"
  done
done

# Words of the glossary: those of a term, which ends at the colon, and of its abbreviations.
sed -n 's/^- \(\*\*[^:]*\):.*/\1/p' "$source"/docs/glossary.md | tr '[:upper:]' '[:lower:]' |
  grep -oE '[a-z0-9]+' | sort -u >"$work/glossary"

# Prints the words of the standard input, one name a line, that the glossary does not contain, in singular
# or plural.
unknown_words()
{
  tr '_-' '\n\n' | grep . | sort -u | awk -v glossary="$work/glossary" '
    BEGIN { while ((getline word <glossary) > 0) known[word] = 1 }
    {
      singular = $0
      if (!sub(/ies$/, "y", singular) && !(singular ~ /(ss|ch|x)es$/ && sub(/es$/, "", singular)))
        sub(/s$/, "", singular)
      if (!($0 in known) && !(singular in known))
        printf "%s ", $0
    }'
}

for folder in src translator tools; do
  out=$(find "$source/$folder" -name '*.[chS]' | sed 's|.*/||; s|\..*||' | unknown_words)
  ok "docs/glossary.md has the words of file names in $folder: ${out:-all}" test -z "$out"
done
out=$(sed -n 's/^CONFIG(\([a-z_0-9]*\),.*/\1/p' "$source"/src/base/config_defs.h | unknown_words)
ok "docs/glossary.md has the words of settings: ${out:-all}" test -z "$out"
out=$(sed -n 's/^} skua_\([a-z_0-9]*\);.*/\1/p; s/^typedef struct skua_\([a-z_]*\) .*/\1/p
              s/^typedef .*(\*skua_\([a-z_]*\))(.*/\1/p' "$source"/include/skua/*.h | sed 's/_t$//' | unknown_words)
ok "docs/glossary.md has the words of public types: ${out:-all}" test -z "$out"

# Every declaration of a public header has a comment of its own, complete in an editor's hover.
out=$(awk 'last !~ /\*\/$/ && /^(SKUA_API|SKUA_HOT_API|static inline|typedef) / { print FILENAME ":" FNR }
           { last = $0 }' "$source"/include/skua/*.h "$source"/include/skua/*/*.h)
ok "declarations of public headers have a comment of their own" test -z "$out"
out=$(grep -nE '/\*\*? *The same' "$source"/include/skua/*.h || true)
ok "no comment of a public header begins with 'The same'" test -z "$out"

# Names of the interface and of settings in pages exist; old names stand in tables "was | is" only.
# Placeholders of the naming rules, and the example of docs/internals/how-to.md, are not names.
placeholders='SKUA_NOUN|SKUA_X|skua_noun|skua_noun_verb|skua_verb|skua_census|SKUA_CENSUS_LOG'
cat "$source"/README.md "$source"/docs/glossary.md "$source"/docs/guide/*.md "$source"/docs/internals/*.md |
  sed '/^| was | is |/,/^$/d' | grep -oE '(^|[^A-Za-z0-9_.])(skua|SKUA)_[A-Za-z0-9_]+' |
  grep -oE '(skua|SKUA)_[A-Za-z0-9_]+' | grep -vE "_$|^($placeholders)$" | sort -u >"$work/used"
{
  find "$source"/include "$source"/src "$source"/cmake "$source"/tools "$source"/translator "$source"/scripts \
    "$source"/fortran "$source"/CMakeLists.txt "$build"/include -type f -exec cat {} + | grep -oE '(skua|SKUA)_[A-Za-z0-9_]+'
  sed -n 's/^CONFIG(\([a-z_0-9]*\),.*/SKUA_\1/p' "$source"/src/base/config_defs.h | tr '[:lower:]' '[:upper:]'
  cat "$source"/tests/docs_announced.txt 2>/dev/null
} | sort -u >"$work/existing"
out=$(comm -23 "$work/used" "$work/existing" | tr '\n' ' ')
ok "names in pages exist: ${out:-all}" test -z "$out"

# Functions that the walk-through and the recipes name exist.
out=$(grep -ohE '`[a-z]+_[a-z_0-9]+\(\)`' "$source"/docs/internals/walkthrough.md "$source"/docs/internals/how-to.md |
  tr -d '`()' | sort -u | grep -vxE "$placeholders" | while read -r name; do
    grep -rqE "(^|[ *])$name\(" "$source"/src "$source"/include --include='*.[ch]' || echo "$name"
  done)
ok "functions of the walk-through exist: ${out:-all}" test -z "$out"

# Files that pages of internals name exist.
out=$(grep -ohE '(^|[ (`])(base|boot|core|objects|onesided|transport|flow)/[a-z_/]+\.[ch]' "$source"/docs/internals/walkthrough.md \
  "$source"/docs/internals/how-to.md "$source"/docs/internals/README.md | sed 's/^[ (`]//' | sort -u |
  while read -r file; do [ -e "$source/src/$file" ] || echo "$file"; done)
ok "files of the walk-through exist: ${out:-all}" test -z "$out"

# Every page is in the index of its folder.
out=$(for page in "$source"/docs/guide/*.md "$source"/docs/internals/*.md "$source"/docs/decisions/*.md; do
    [ "$(basename "$page")" = README.md ] || grep -qF "$(basename "$page")" "$(dirname "$page")/README.md" || echo "$page"
  done)
ok "every page is in the index of its folder: ${out:-all}" test -z "$out"

# Numbers of docs/guide/limits.md are those of the sources.
while read -r name value; do
  ok "limits.md: $name is $value" sh -c 'grep -rqE "#define $1 +\(?([A-Z0-9_]+\()?$2" "$3/src" "$3/include" "$3/tools" &&
    grep -q "[^0-9]$2[^0-9]" "$3/docs/guide/limits.md"' sh "$name" "$value" "$source"
done <<'END'
SKI_JOB_PES_MAX 65535
SKI_PORT_ADDRESS_MAX 2048
SKI_SOCKADDRS_MAX 8
SKUA_INLINE_MAX 48
SKUA_INDEX_MAX 48
SKUA_MESH_DIMS 3
SKI_REDUCTIONS_AHEAD 10000
SKI_LEARNED_MAX 16384
SLOTS_SPREAD 65536
SKI_REGION_INDEX_BITS 20
RKEYS_MAX 1024
END

# The subject of a sentence is a thing.
out=$(cat "$source"/README.md "$source"/docs/*.md "$source"/docs/guide/*.md "$source"/docs/internals/*.md |
  grep -nE '(^|[^A-Za-z`_-])(somebody|someone|nobody|everybody|anybody|he|his|him|she|her)([^A-Za-z`_]|$)' || true)
ok "no page calls a thing somebody, nobody or he: ${out:-none}" test -z "$out"

# Every option in the help of a tool is in its manual page.
for tool in skuarun "skua info" "skua bench" "skua balance" skuac; do
  page=${tool%% *}
  path=$build/tools/$page
  [ "$page" = skuac ] && path=$build/translator/skuac
  # shellcheck disable=SC2086 # the second word is an argument
  run "$path" ${tool#"$page"} --help
  for option in $(printf '%s\n' "$out" | grep -oE -- '^ +(-[a-zA-Z], )?--[a-z][-a-z]*' |
                 sed 's/.*--/--/' | grep -v -e '^--help$' -e '^--version$'); do
    ok "$tool $option is in its manual page" \
      sh -c 'sed "s/\\\\//g" "$1" | grep -qF -- "$2"' sh "$source/docs/man/$page.1" "$option"
  done
done

# Commands name programs by a path, since the examples are not in PATH.
out=$(grep -nE 'skuarun( -[a-z]+ [^ ]+)* (hello|token|ring|fib|sort|jacobi|pi|halo|app)( |$)' "$source"/README.md "$source"/docs/guide/*.md || true)
ok "programs in commands have a path" test -z "$out"

# Counts lines that are neither empty nor comment.
code_lines()
{
  cat /dev/null "$@" | awk '{
    text = $0
    code = ""
    while (text != "") {
      at = index(text, inside ? "*/" : "/*")
      if (!inside)
        code = code (at ? substr(text, 1, at - 1) : text)
      text = at ? substr(text, at + 2) : ""
      if (at)
        inside = !inside
    }
    if (code ~ /[^ \t]/)
      count++
  } END { print count }'
}

# The totals of docs/guide/lines.md are true within 3 %: scripts/lines.sh counts them exactly.
for app in fft1d leanmd lu barneshut pingpong stencil3d matmul3d pairs gtcshift fillboundary fmm ga_scf; do
  told=$(awk -F'|' -v row="apps/$app/" 'index($2, row) { print $5 + 0 }' "$source/docs/guide/lines.md")
  counted=$(code_lines $(ls "$source/apps/$app"/*.[ch] "$source/apps/$app"/*.ci 2>/dev/null | grep -v '/plain\.c$'))
  out="lines.md: $told, counted: $counted"
  ok "lines of $app" test $((told * 100)) -ge $((counted * 97)) -a $((told * 97)) -le $((counted * 100))
done

tap_end
