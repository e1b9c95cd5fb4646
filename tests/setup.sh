#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# setup.sh - scripts/setup.sh on simulated systems: its output, what it installs, and that
# it never installs anything that it has not named before.
#
# usage: setup.sh SOURCE-FOLDER
. "$(dirname "$0")/tap.sh"
source=$1
unset SETUP # of the command that runs the tests
fake=$work/fake
real=$work/real
mkdir "$fake" "$real"

# The commands of a system are stubs; those that the script itself needs are real.
for tool in awk cat grep mktemp printf rm sh tail tr env; do
  ln -s "$(command -v $tool)" "$real/$tool"
done
stub()
{
  printf '#!/bin/sh\n%s\n' "$2" >"$fake/$1"
  chmod +x "$fake/$1"
}

# system USER MANAGER PACKAGES...: a user (root, sudo or plain) of a system with these packages
system()
{
  rm -f "$fake"/* "$work/called"
  user=$1
  manager=$2
  shift 2
  echo " $* " >"$work/packages"
  stub id "echo $([ "$user" = root ] && echo 0 || echo 1000)"
  [ "$user" != sudo ] || stub sudo 'case "$1" in -n) exit 0 ;; esac; exec "$@"'
  case $manager in
    apt)
      stub dpkg-query "for p; do :; done; grep -q \" \$p \" $work/packages && echo install ok installed"
      stub apt-get "echo apt-get \"\$@\" >>$work/called"
      ;;
    dnf)
      stub rpm "for p; do :; done; grep -q \" \$p \" $work/packages"
      stub dnf "echo dnf \"\$@\" >>$work/called"
      ;;
  esac
  for tool in cc make cmake pkg-config gfortran python3 c++ valgrind ip; do
    case $tool in cc) package=gcc ;; c++) package=g++ ;; ip) package=iproute2 ;; *) package=$tool ;; esac
    ! grep -q " $package " "$work/packages" || stub $tool :
  done
}

setup()
{
  run env -i "PATH=$fake:$real" TMPDIR="$work" ${SETUP:+SETUP=$SETUP} "$source/scripts/setup.sh" "$@" </dev/null
  called=$(cat "$work/called" 2>/dev/null)
}

required="gcc libc6-dev make cmake"
optional="libhwloc-dev libxxhash-dev libzstd-dev libucx-dev libfabric-dev libssl-dev libscotch-dev libpmix-dev pkg-config gfortran python3"

# shellcheck disable=SC2086
system plain apt $required $optional
setup build
ok "nothing is said where all is there" test "$code$out$err$called" = 0

# shellcheck disable=SC2086
system root apt $required libhwloc-dev pkg-config gfortran python3
setup build
ok "root: what is missing is installed" test "$code" = 0
ok "by one command" has "$called" '^apt-get install -y --no-install-recommends libxxhash-dev libzstd-dev libucx-dev libfabric-dev libssl-dev libscotch-dev libpmix-dev$'
ok "and named before, with its purpose" has "$out" '^  libucx-dev  *the driver for UCX'
ok "also how to keep it from that" has "$out" 'SETUP=no'
ok "installed packages are not named" test -z "$(echo "$out" | grep hwloc)"

SETUP=no
setup build
ok "SETUP=no continues" test "$code" = 0
ok "and installs nothing new" test "$(cat "$work/called")" = "$called"
rm "$work/called"
setup build
ok "and installs nothing" test ! -e "$work/called"
ok "it says what is left out" has "$err" '^  libssl-dev  *SKUA_SECURITY=auth and encrypt'
SETUP=

# shellcheck disable=SC2086
system sudo apt $required
setup build
ok "sudo: what is missing is installed" has "$called" '^apt-get install .*libhwloc-dev'
ok "and sudo is named" has "$out" 'installed with sudo apt-get'

# shellcheck disable=SC2086
system plain apt $required libhwloc-dev
setup build
ok "without root: the build continues" test "$code" = 0
ok "nothing is installed" test -z "$called"
ok "the command for an administrator is printed" has "$err" \
  '^  apt-get update && apt-get install --no-install-recommends libxxhash-dev libzstd-dev libucx-dev libfabric-dev libssl-dev libscotch-dev libpmix-dev pkg-config gfortran python3$'
for part in "libucx-dev .*driver for UCX" "libfabric-dev .*driver for libfabric" \
  "libssl-dev .*authentication" "libpmix-dev .*mpirun and srun" "pkg-config .*programs that use" \
  "gfortran .*Fortran module"; do
  ok "a part is named as left out: ${part%% *}" has "$err" "^  $part"
done
setup test
ok "for the tests also what these need" has "$err" '^  valgrind  *tests that count instructions'
ok "without root they go on" test "$code$called" = 0

system plain apt gcc make libhwloc-dev
setup build
ok "what is required is: the set-up fails" test "$code" = 1
ok "and says for what" has "$err" '^  cmake  *the build'
ok "and how it is installed" has "$err" 'apt-get install .*libc6-dev cmake'

# A failed installation is not an error if no required package is missing.
# shellcheck disable=SC2086
system root apt $required libhwloc-dev libucx-dev libfabric-dev libssl-dev
stub apt-get 'echo E: no network; exit 100'
setup build
ok "packages that cannot be had are left out" test "$code" = 0
ok "with what apt-get said" has "$err" 'E: no network'
ok "and are named" has "$err" '^  libpmix-dev '
system root apt gcc
stub apt-get 'exit 100'
setup build
ok "not if they are required" test "$code" = 1

system root dnf gcc glibc-devel make cmake hwloc-devel pkgconf-pkg-config
setup build
ok "dnf: the names of Fedora" has "$called" '^dnf install -y .*ucx-devel libfabric-devel openssl-devel scotch-devel pmix-devel gcc-gfortran python3$'
system plain dnf gcc glibc-devel make cmake
setup test
ok "without root they are printed" has "$err" '^  dnf install .*gcc-c\+\+ libasan libubsan libtsan'

system plain none
stub cc :
stub make :
setup build
ok "no package manager: what is required is named" has "$code $err" 'cmake'
stub cmake :
stub pkg-config :
stub gfortran :
stub python3 :
setup build
ok "what cannot be looked for is not named" test "$code$out$err" = 0

# README has the table.
run "$source/scripts/setup.sh" list
printf '%s\n' "$out" >"$work/table"
out=$(grep -vxFf "$source/README.md" "$work/table")
ok "README has the table of packages" test -z "$out"
tap_end
