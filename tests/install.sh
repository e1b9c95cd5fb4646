#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# install.sh - an installation is complete: a stranger's program builds against
# it with pkg-config, with find_package and statically, and runs.
#
# usage: install.sh BUILD-FOLDER SOURCE-FOLDER
. "$(dirname "$0")/tap.sh"
build=$1
source=$2
prefix=$work/prefix

run cmake --install "$build" --prefix "$prefix"
ok "cmake --install" test "$code" = 0
for file in bin/skua bin/skuac bin/skuarun include/skua/skua.h include/skua/version.h \
  share/man/man1/skua.1 share/man/man1/skuac.1 share/man/man1/skuarun.1 share/man/man7/skua-environment.7 \
  share/doc/skua/LICENSE; do
  ok "$file is there" test -f "$prefix/$file"
done
lib=$(dirname "$(find "$prefix" -name libskua.a)")
ok "the shared library has its version" test -L "$lib/libskua.so" -a -f "$lib/libskua.so.0.1.0"
PKG_CONFIG_PATH=$lib/pkgconfig
LD_LIBRARY_PATH=$lib
export PKG_CONFIG_PATH LD_LIBRARY_PATH SKUA_PIN=none

# shellcheck disable=SC2046
run cc -o "$work/token" "$source/examples/token.c" $(pkg-config --cflags --libs skua)
ok "pkg-config" test "$code" = 0
run "$prefix/bin/skuarun" -n 3 "$work/token"
ok "and it runs" test "$out" = "PE 0 has the token after 300 hops"
# shellcheck disable=SC2046
run cc -o "$work/token-static" "$source/examples/token.c" $(pkg-config --cflags skua) "$lib/libskua.a" \
  $(pkg-config --libs-only-l --static skua | sed 's/-lskua//')
ok "pkg-config --static" test "$code" = 0
run "$work/token-static"
ok "and it runs" test "$out" = "PE 0 has the token after 100 hops"

mkdir "$work/app"
cp "$source/examples/token.c" "$work/app"
cat >"$work/app/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.20)
project(app C)
find_package(skua 0.1 REQUIRED)
add_executable(app token.c)
target_link_libraries(app skua::skua)
add_executable(app_static token.c)
target_link_libraries(app_static skua::skua_static)
EOF
run cmake -S "$work/app" -B "$work/app/build" -DCMAKE_PREFIX_PATH="$prefix"
ok "find_package" test "$code" = 0
run cmake --build "$work/app/build"
ok "builds" test "$code" = 0
run "$prefix/bin/skuarun" -n 2 "$work/app/build/app"
ok "and runs" test "$out" = "PE 0 has the token after 200 hops"
run "$work/app/build/app_static"
ok "also static" test "$out" = "PE 0 has the token after 100 hops"

# Only the interface is exported.
run nm -D --defined-only "$lib/libskua.so"
ok "the library exports nothing but skua_" test -z "$(printf '%s\n' "$out" | awk '{print $3}' | grep -v '^skua_')"
run "$prefix/bin/skua" tour
ok "the tour runs from there" has "$code $out" '^ .*the sum is right'
run man -l --warnings "$prefix/share/man/man1/skuarun.1"
ok "the manual page is well formed" test "$code" = 0 -a -z "$err" -o "$code" = 127
tap_end
