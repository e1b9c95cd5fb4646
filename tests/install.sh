#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# install.sh - an installation is complete: a program outside of the source tree builds against it with
# pkg-config, with find_package and statically, and runs.
#
# usage: install.sh BUILD-FOLDER SOURCE-FOLDER
. "$(dirname "$0")/tap.sh"
build=$1
source=$2
prefix=$work/prefix
if ! command -v pkg-config >/dev/null; then
  echo "1..0 # SKIP pkg-config is not installed"
  exit 0
fi

run cmake --install "$build" --prefix "$prefix"
ok "cmake --install" test "$code" = 0
for file in bin/skua bin/skuac bin/skuarun include/skua/skua.h include/skua/version.h \
  share/man/man1/skua.1 share/man/man1/skuac.1 share/man/man1/skuarun.1 share/man/man7/skua-environment.7 \
  share/man/man3/skua_put.3 share/man/man3/skua_status.3 share/man/man3/SKUA_OK.3 share/man/man7/skua-onesided.7 \
  share/man/man7/skua.7 share/doc/skua/LICENSE; do
  ok "$file is installed" test -f "$prefix/$file"
done
lib=$(dirname "$(find "$prefix" -name libskua.a)")
ok "the shared library has its version" test -L "$lib/libskua.so" -a -f "$lib/libskua.so.1.0.0"
PKG_CONFIG_PATH=$lib/pkgconfig
export PKG_CONFIG_PATH SKUA_PIN=none # and no LD_LIBRARY_PATH: programs find the library

# shellcheck disable=SC2046
run cc -o "$work/token" "$source/examples/token.c" $(pkg-config --cflags --libs skua)
ok "pkg-config" test "$code" = 0
run "$prefix/bin/skuarun" -n 3 "$work/token"
ok "and it runs" test "$out" = "PE 0 has the token after 300 hops"
if [ -f "$build/drivers/skua-malloc.so" ]; then
  run "$prefix/bin/skuarun" -n 3 -s malloc_arena=1 "$work/token"
  ok "also with malloc() from the arena" test "$code$out$err" = "0PE 0 has the token after 300 hops"
fi
# shellcheck disable=SC2046
run cc -o "$work/token-static" "$source/examples/token.c" $(pkg-config --cflags skua) "$lib/libskua.a" \
  $(pkg-config --libs-only-l --static skua | sed 's/-lskua//')
ok "pkg-config --static" test "$code" = 0
run "$work/token-static"
ok "and it runs" test "$out" = "PE 0 has the token after 100 hops"

# OpenSHMEM, with the program of its page.
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$source/docs/guide/openshmem.md" >"$work/ring.c"
# shellcheck disable=SC2046
run cc -o "$work/ring" "$work/ring.c" $(pkg-config --cflags --libs skua-shmem)
ok "pkg-config skua-shmem" test "$code" = 0
run "$prefix/bin/skuarun" -n 4 "$work/ring"
ok "and it runs" test "$out" = "4 PEs, sum 6, left neighbour 3"

# ARMCI with the MPI of mpicc, as its page says.
if command -v mpicc >/dev/null && ls "$lib"/pkgconfig/skua-armci-*.pc >/dev/null 2>&1; then
  cat >"$work/counter.c" <<'EOF'
#include <armci.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *counters[8];
    int   old = -1;

    MPI_Init(&argc, &argv);
    ARMCI_Init();
    ARMCI_Malloc(counters, sizeof old);
    ARMCI_PutValueInt(5, counters[0], 0);
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &old, counters[0], 1, 0);
    printf("%d\n", old);
    ARMCI_Finalize();
    MPI_Finalize();
    return 0;
}
EOF
  # shellcheck disable=SC2046
  run mpicc -o "$work/counter" "$work/counter.c" $(pkg-config --cflags --libs skua-armci)
  ok "pkg-config skua-armci" test "$code" = 0
  run env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpiexec -n 1 "$work/counter"
  ok "and it runs" test "$out" = 5
fi

# Configures and builds the project in a folder, with find_package.
project_builds()
{
  run cmake -S "$1" -B "$1/build" -DCMAKE_PREFIX_PATH="$prefix"
  ok "$(basename "$1"): find_package" test "$code" = 0
  run cmake --build "$1/build"
  ok "$(basename "$1"): builds" test "$code" = 0
}
mkdir "$work/app"
cp "$source/examples/token.c" "$work/app"
cat >"$work/app/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.20)
project(app C)
find_package(skua 1.0 REQUIRED)
add_executable(app token.c)
target_link_libraries(app skua::skua)
add_executable(app_static token.c)
target_link_libraries(app_static skua::skua_static)
EOF
project_builds "$work/app"
run "$prefix/bin/skuarun" -n 2 "$work/app/build/app"
ok "and runs" test "$out" = "PE 0 has the token after 200 hops"
run "$work/app/build/app_static"
ok "also static" test "$out" = "PE 0 has the token after 100 hops"

# As a part of a project, whose targets have names of Skua's examples.
mkdir "$work/around"
cp "$source/examples/token.c" "$source/examples/ring.ci" "$work/around"
cat >"$work/around/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.20)
project(around C)
enable_testing()
add_subdirectory($source skua)
add_executable(token token.c)
target_link_libraries(token skua::skua_static)
add_executable(ring)
skua_add_interface(ring ring.ci)
target_link_libraries(ring skua::skua)
add_custom_target(programs)
EOF
run cmake -S "$work/around" -B "$work/around/build"
ok "add_subdirectory" test "$code" = 0
run grep CMAKE_BUILD_TYPE "$work/around/build/CMakeCache.txt"
ok "leaves the build type to the project" test "$out" = "CMAKE_BUILD_TYPE:STRING="
run ctest --test-dir "$work/around/build" -N
ok "and adds no tests" has "$out" '^Total Tests: 0'

# The Fortran module, where it was built: by pkg-config, by find_package, and from its source.
if [ -f "$lib/skua/fortran/skua.mod" ] && command -v gfortran >/dev/null; then
  # shellcheck disable=SC2046
  run gfortran -std=f2018 -J "$work" -o "$work/hello" "$source/examples/hello.f90" \
    $(pkg-config --cflags --libs skua-fortran)
  ok "Fortran: pkg-config" test "$code" = 0
  run "$prefix/bin/skuarun" -n 2 "$work/hello"
  ok "Fortran: and it runs" test "$(printf '%s\n' "$out" | grep -c 'of 2 says hello')" = 2
  mkdir "$work/fortran"
  cp "$source/examples/hello.f90" "$work/fortran"
  cat >"$work/fortran/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.20)
project(hello C Fortran)
find_package(skua 1.0 REQUIRED)
add_executable(hello hello.f90)
target_link_libraries(hello skua::fortran)
EOF
  project_builds "$work/fortran"
  run "$prefix/bin/skuarun" -n 2 "$work/fortran/build/hello"
  ok "Fortran: and runs" test "$code" = 0
  run gfortran -std=f2018 -J "$work" -c -o "$work/skua.o" "$prefix/share/skua/fortran/skua.f90"
  ok "Fortran: the source of the module compiles" test "$code" = 0
fi

# The recipes of the guide for interface files: a second make does nothing.
mkdir "$work/rod"
guide=$source/docs/guide/interfaces.md
awk '/^mainmodule rod /, /^}/' "$guide" >"$work/rod/rod.ci"
awk '/^    SKUAC/, /^    .PRECIOUS/' "$guide" | sed 's/^    //; s/^        /\t/' >"$work/rod/Makefile"
echo '#include "rod.ci.h"' >"$work/rod/rod.c"
run make -C "$work/rod" -j2
ok "make: the recipe of the guide" test "$code" = 0
run "$prefix/bin/skuarun" -n 2 "$work/rod/rod"
ok "and it runs" test "$out" = "after 100 steps the heat is 1000.000"
run make -C "$work/rod"
ok "a second make does nothing" has "$out" "is up to date"
sleep 1
echo >>"$work/rod/rod.ci"
run make -C "$work/rod"
ok "a change is compiled" has "$out" 'rod.ci.o'
ok "but not a file that includes an unchanged header" test -z "$(printf '%s\n' "$out" | grep 'rod\.c$')"
run make -C "$work/rod"
ok "a second make does nothing" has "$out" "is up to date"

cat >"$work/rod/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.20)
project(rod C)
find_package(skua 1.0 REQUIRED)
add_executable(rod rod.c)
skua_add_interface(rod rod.ci)
target_link_libraries(rod skua::skua)
EOF
run cmake -S "$work/rod" -B "$work/rod/build" -DCMAKE_PREFIX_PATH="$prefix"
run cmake --build "$work/rod/build"
ok "skua_add_interface" test "$code" = 0
run "$prefix/bin/skuarun" -n 2 "$work/rod/build/rod"
ok "and it runs" test "$out" = "after 100 steps the heat is 1000.000"
touch "$work/rod/rod.ci"
run cmake --build "$work/rod/build"
ok "a change is translated" has "$out" 'Translating rod.ci'
run cmake --build "$work/rod/build"
ok "a second build translates nothing" test -z "$(printf '%s\n' "$out" | grep Translating)"

# The README and the guide are installed, and their links stay within them.
doc=$prefix/share/doc/skua
for page in "$doc"/*.md "$doc"/docs/*.md "$doc"/docs/*/*.md; do
  for link in $(links_of "$page"); do
    [ -e "$(dirname "$page")/$link" ] || echo "$page -> $link"
  done
done >"$work/dead"
out=$(cat "$work/dead")
ok "no link of the installed pages is dead" test -z "$out"

# The example of the guide in C++.
if command -v c++ >/dev/null; then
  mkdir "$work/words"
  awk '/^mainmodule words /, /^}/' "$guide" >"$work/words/words.ci"
  awk '/^\/\/ words/ { name = $2 } /^```$/ { name = "" } name { print > ("'"$work/words/"'" name) }' "$guide"
  cat >"$work/words/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.20)
project(words CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(skua 1.0 REQUIRED)
add_executable(words words.cc)
skua_add_interface(words words.ci LANGUAGE CXX)
target_link_libraries(words skua::skua)
EOF
  run cmake -S "$work/words" -B "$work/words/build" -DCMAKE_PREFIX_PATH="$prefix"
  run cmake --build "$work/words/build"
  ok "skua_add_interface in C++" test "$code" = 0
  run "$prefix/bin/skuarun" -n 2 "$work/words/build/words"
  ok "and it runs" test "$out" = "6 words"
fi
run "$prefix/bin/skua" tour
ok "the installed tour runs" has "$code $out" '^ .*the sum is right'
run man -l --warnings "$prefix/share/man/man1/skuarun.1"
ok "the manual page is well formed" test "$code" = 0 -a -z "$err" -o "$code" = 127
run env MANPAGER=cat MANPATH="$prefix/share/man" man skua_put
ok "man skua_put shows its page" has "$code $out" '^127|system has been minimized|skua_status skua_put\('
tap_end
