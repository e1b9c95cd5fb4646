#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# skuac.sh - the front end of skuac: ASTs (skuac/*.ci and *.tree), diagnostics (*.err), --format,
# --deps, imported modules, options.
#
# usage: skuac.sh SKUAC [--update]      --update overwrites the expected files
. "$(dirname "$0")/tap.sh"
skuac=$(realpath "$1")
update=${2:-}
cd "$(dirname "$0")/skuac" || exit 1

# Compares the file $1 with the expected file $2.
same()
{
  [ "$update" = --update ] && cp "$1" "$2"
  diff "$2" "$1" >&2
}

# Prints an AST without locations.
shape()
{
  "$skuac" --tree "$1" 2>/dev/null | sed 's/ @[0-9]*:[0-9]*$//'
}

# Every file has either an AST or errors.
for file in *.ci; do
  name=${file%.ci}
  run "$skuac" --tree "$file"
  if [ "$code" = 0 ]; then
    ok "$name: the tree" same "$work/out" "$name.tree"
    ok "$name: no errors" test -z "$err"
    "$skuac" --format "$file" >"$work/once.ci"
    ok "$name: --format" same "$work/once.ci" "$name.formatted"
    shape "$file" >"$work/before"
    shape "$work/once.ci" >"$work/after"
    ok "$name: --format keeps the tree" cmp "$work/before" "$work/after"
    run "$skuac" --format "$work/once.ci"
    ok "$name: --format is idempotent" cmp "$work/out" "$work/once.ci"
  else
    ok "$name: the errors" same "$work/err" "$name.err"
    ok "$name: exit code 1" test "$code" = 1
    run "$skuac" --format "$file"
    ok "$name: is not formatted" test "$code" = 1 -a -z "$out"
  fi
done

# Generated files are compared byte by byte, and generated twice.
for file in written/*.ci; do
  name=$(basename "$file" .ci)
  for time in first second; do
    mkdir -p "$work/$time"
    run "$skuac" -o "$work/$time" "$file"
    ok "$name: is translated" test "$code" = 0 -a -z "$err"
  done
  for suffix in h c; do
    ok "$name: $name.ci.$suffix" same "$work/first/$name.ci.$suffix" "written/$name.$suffix.expected"
    ok "$name: the second time equal" cmp "$work/first/$name.ci.$suffix" "$work/second/$name.ci.$suffix"
  done
  rm -r "$work/first" "$work/second"
done

# Programs that the checker rejects: no file is generated.
mkdir "$work/written"
cd errors || exit 1
for file in *.ci; do
  name=${file%.ci}
  run "$skuac" -o "$work/written" "$file"
  ok "$name: the errors" same "$work/err" "$name.err"
  ok "$name: exit code 1" test "$code" = 1
done
cd ..
ok "no file is generated" test -z "$(ls "$work/written")"

# A file without a module is translated with a warning.
mkdir "$work/none"
run "$skuac" -o "$work/none" nothing.ci
ok "an empty file: a warning" has "$code $err" '^0 nothing.ci:1:1: warning: the file has no module'
ok "and a hint" has "$err" 'write .module NAME'
rm -r "$work/none"

# Imported modules.
run "$skuac" --tree -I modules/folder modules/main.ci
ok "modules are found" test "$code" = 0
ok "modules: the tree" same "$work/out" modules/main.tree
run "$skuac" --tree modules/main.ci
ok "a module outside of the -I folders is unknown" has "$code $err" "^1 .*unknown module .deep'"
ok "and a hint names -I" has "$err" 'in a folder given with -I'
run "$skuac" --tree modules/three.ci
ok "modules: the errors" same "$work/err" modules/three.err
run "$skuac" --tree modules/one.ci
ok "modules: an import cycle" same "$work/err" modules/one.err
run "$skuac" --deps -o "out put" -I modules/folder modules/main.ci
ok "--deps" test "$out" = 'out\ put/main.ci.c: modules/main.ci modules/folder/deep.ci modules/library.ci'
run "$skuac" --deps jacobi.ci
ok "--deps of a file without imports" test "$out" = 'jacobi.ci.c: jacobi.ci'

# --format --in-place.
cp messy.ci "$work/messy.ci"
chmod 640 "$work/messy.ci"
run "$skuac" --format --in-place "$work/messy.ci"
ok "--in-place prints nothing" test "$code" = 0 -a -z "$out$err"
ok "and writes the formatted file" cmp "$work/messy.ci" messy.formatted
ok "with the same permissions" has "$(ls -l "$work/messy.ci")" '^-rw-r-----'
cp brackets.ci "$work/broken.ci"
run "$skuac" --format --in-place "$work/broken.ci"
ok "--in-place leaves a file with errors alone" cmp "$work/broken.ci" brackets.ci
ok "and no temporary file" test "$(find "$work" -name '*.ci.*' | wc -l)" = 0

# Options.
run "$skuac" --help
ok "--help" has "$code $out" '^0 usage: skuac'
run sh -c "'$skuac' --help >/dev/full"
ok "on a full disk fails" has "$code $err" '^2 skuac: cannot write to standard output: No space'
run "$skuac" --version
ok "--version" has "$code $out" '^0 skuac [0-9]'
run "$skuac"
ok "no file" has "$code $err" '^2 skuac: no input file'
run "$skuac" --frobnicate jacobi.ci
ok "an unknown option" test "$code" = 2
mkdir "$work/other" && cp jacobi.ci "$work/other"
run "$skuac" -o "$work/other" jacobi.ci "$work/other/jacobi.ci"
ok "two files of one name" has "$code $err" '^2 skuac: jacobi.ci and .*/jacobi.ci generate the same files'
run "$skuac" -o "" jacobi.ci
ok "a directory without a name is not /" has "$code $err" '^2 skuac: the name of a directory is empty'
run "$skuac" --tree --deps jacobi.ci
ok "two tasks" has "$code $err" '^2 .*at a time'
run "$skuac" --in-place jacobi.ci
ok "--in-place alone" has "$code $err" '^2 .*requires --format'
run "$skuac" --tree nowhere.ci
ok "no such file" has "$code $err" '^2 skuac: nowhere.ci: No such file'
run "$skuac" --tree .
ok "a folder" has "$code $err" '^2 skuac: \.: Is a directory'
run "$skuac" --tree nowhere.ci brackets.ci jacobi.ci
ok "several files: all are read, the highest exit code is returned" has "$code $out" '^2 '
ok "with the errors of one" has "$err" '^brackets.ci:'
ok "and the AST of another" has "$out" '^mainmodule jacobi'

# Large inputs terminate: an algorithm that is not linear would take hours.
large()
{
  awk -v n="$2" "BEGIN { $3 }" >"$work/large.ci"
  run timeout 100 "$skuac" --tree "$work/large.ci"
  ok "$1 ($seconds s)" test "$code" -le 1
}
large "many classes" 3000 'print "module m {"; for (i = 0; i < n; i++)
  printf "chare C%d {\n entry void a(int n, double x[n]);\n entry void run() {\n when a(int n, double x[n]) serial { f(); }\n }\n};\n", i; print "}"'
large "one long line" 300000 'printf "module m { "; for (i = 0; i < n; i++) printf "chare C%d { }; ", i; print "}"'
large "many errors" 200000 'print "module m {"; for (i = 0; i < n; i++) print "chrae ( [ x;"; print "}"'
large "many words" 500000 'for (i = 0; i < n; i++) printf "a "'
large "many unclosed brackets" 500000 'for (i = 0; i < n; i++) printf "module m { ( ["'
large "many statements" 200000 'print "module m { chare M { entry void r() {"; for (i = 0; i < n; i++) print "a b (c"; print "} } }"'
large "many comments" 300000 'for (i = 0; i < n; i++) print "/* a */ // b"'
large "many # lines" 300000 'for (i = 0; i < n; i++) print "# define A"'
# So do 10 000 lines without errors.
awk 'BEGIN { print "module m {"; for (i = 0; i < 1500; i++)
  printf "chare C%d {\n state { int n; double x[n]; }\n entry void a(int n, double x[n]);\n entry void run() {\n when a(int n, double x[n]) serial { }\n }\n};\n", i; print "}" }' >"$work/large.ci"
run timeout 100 "$skuac" -o "$work" "$work/large.ci"
ok "10 000 lines are translated ($seconds s)" test "$code" = 0
run timeout 20 "$skuac" --tree "$skuac"
ok "a binary is not an interface file" test "$code" = 1
tap_end
