#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# package.sh - the packages of `make package` are complete: the .deb installs into a root of its own
# and is removed without a trace, the .tar.gz is unpacked anywhere, and programs are built against
# either and run.
#
# usage: package.sh BUILD-FOLDER SOURCE-FOLDER
. "$(dirname "$0")/tap.sh"
build=$1
source=$2
if ! command -v pkg-config >/dev/null; then
  echo "1..0 # SKIP pkg-config is not installed"
  exit 0
fi
export SKUA_PIN=none

# Builds programs against an installation prefix, by pkg-config and by find_package.
usable()
{
  prefix=$1
  lib=$(dirname "$(find "$prefix" -name libskua.so)")
  for file in bin/skua bin/skuac bin/skuarun include/skua/skua.h include/skua/version.h \
    share/man/man1/skua.1 share/man/man1/skuac.1 share/man/man1/skuarun.1 \
    share/man/man7/skua-environment.7 share/man/man3/skua_put.3 share/man/man7/skua-onesided.7 share/doc/skua/LICENSE share/doc/skua/copyright \
    share/doc/skua/README.md share/doc/skua/docs/guide/README.md share/doc/skua/examples/token.c \
    libexec/skua/tour libexec/skua/bench-messages; do
    ok "$file is there" test -f "$prefix/$file"
  done
  for driver in "$build"/drivers/*.so; do
    ok "$(basename "$driver") is there" test -f "$lib/skua/$(basename "$driver")"
  done
  out=$(find "$prefix" -name 'peer-*')
  ok "programs of other libraries are not" test -z "$out"

  flags=$(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --cflags --libs skua)
  # shellcheck disable=SC2086
  run cc -o "$prefix/token" "$source/examples/token.c" $flags
  ok "a program is built with pkg-config" test "$code" = 0
  run "$prefix/bin/skuarun" -n 3 "$prefix/token"
  ok "and runs" test "$code$out" = "0PE 0 has the token after 300 hops"
  run env SKUA_SHARED_MEMORY=0 SKUA_DRIVER=tcp "$prefix/bin/skuarun" -n 2 "$prefix/token"
  ok "also over the package's driver" test "$code$out" = "0PE 0 has the token after 200 hops"

  mkdir "$prefix/app"
  cp "$source/examples/ring.ci" "$prefix/app"
  cat >"$prefix/app/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.20)
project(app C)
find_package(skua 1.0 REQUIRED)
add_executable(app)
skua_add_interface(app ring.ci)
target_link_libraries(app skua::skua)
END
  run cmake -S "$prefix/app" -B "$prefix/app/build" -DCMAKE_PREFIX_PATH="$prefix"
  ok "find_package finds it" test "$code" = 0
  run cmake --build "$prefix/app/build"
  ok "an interface file is translated and built" test "$code" = 0
  run "$prefix/bin/skuarun" -n 2 "$prefix/app/build/app" 10
  ok "and runs" test "$code" = 0
  ok "with the library of the package" has "$(ldd "$prefix/app/build/app")" "libskua.so.1 => $prefix/"
  run "$prefix/bin/skua" tour
  ok "the tour runs" has "$(echo $code $out)" '^0 .*the sum is right'
  rm -rf "$prefix/app" "$prefix/token"
}

run cpack --config "$build/CPackConfig.cmake" -G TGZ -B "$work/tgz"
ok "cpack makes a .tar.gz" test "$code" = 0
archive=$(find "$work/tgz" -maxdepth 1 -name '*.tar.gz')
mkdir "$work/unpacked"
tar -xzf "$archive" -C "$work/unpacked" --strip-components=1
usable "$work/unpacked"

if ! command -v dpkg-shlibdeps >/dev/null || ! command -v dpkg >/dev/null; then
  echo "# dpkg-shlibdeps (dpkg-dev) is not installed: a .deb is not tested"
  tap_end
fi
run cpack --config "$build/CPackConfig.cmake" -G DEB -B "$work/deb"
ok "cpack makes a .deb" test "$code" = 0
deb=$(find "$work/deb" -maxdepth 1 -name '*.deb')
ok "its name is Debian's" test "$(basename "$deb")" = "skua_$("$build/tools/skua" --version | awk '{ print $2 }')_$(dpkg --print-architecture).deb"
field()
{
  dpkg-deb -f "$deb" "$1"
}
out=$(dpkg-deb -f "$deb")
ok "it names the package" test "$(field Package) $(field Section) $(field Maintainer)" = "skua devel Skua authors"
ok "it depends on what the library is linked with" has "$(field Depends)" '^libc6 \(>= [0-9.]+\)'
ok "and on no MPI" test -z "$(field Depends | grep mpi)"
ok "it describes itself" test "$(field Description | wc -l)" -gt 5
out=$(dpkg-deb -c "$deb" | awk '$2 != "root/root" || $6 !~ /^\.\/(usr\/.*)?$/')
ok "all of it is in /usr and owned by root" test -z "$out"

# A root with only dpkg's own files; the packages it depends on are those of this system.
root=$work/root
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/triggers"
: >"$root/var/lib/dpkg/status"
: >"$root/var/lib/dpkg/available"
in_root()
{
  run env PATH="$PATH:/usr/sbin:/sbin" dpkg --root="$root" --log="$work/dpkg.log" --force-not-root \
    --force-depends --path-include='/usr/share/*' "$@" # which a minimised system excludes
}
in_root --install "$deb"
ok "dpkg installs it" test "$code" = 0
usable "$root/usr"
run dpkg-query --admindir="$root/var/lib/dpkg" -W -f '${Status}' skua
ok "dpkg knows it as installed" test "$out" = "install ok installed"
in_root --purge skua
ok "dpkg removes it" test "$code" = 0
out=$(find "$root" -path "$root/var" -prune -o -type f -print)
ok "and no file is left" test -z "$out"
tap_end
