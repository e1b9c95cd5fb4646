#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs the Debian packages that a step needs and that are missing:
#
#   scripts/setup.sh build|test|bench|soak
#
# Does nothing, quickly, when they are there.  Where it cannot install (not
# root and no sudo, or no apt), it says what is missing and how to get it.
set -eu

build="gcc libc6-dev make cmake pkg-config libhwloc-dev libpmix-dev libucx-dev libfabric-dev libssl-dev"
mpi="openmpi-bin libopenmpi-dev mpich libmpich-dev"
peers="$mpi libarmci-mpi-dev libfftw3-dev libfftw3-mpi-dev libopenblas-dev libscalapack-openmpi-dev ucx-utils iproute2 util-linux"
case "${1:-build}" in
  build) packages="$build" ;;
  test)  packages="$build g++ valgrind iproute2 libfftw3-dev libopenblas-dev $mpi" ;;
  bench) packages="$build valgrind $peers" ;;
  soak)  packages="$build clang" ;;
  *)     echo "usage: scripts/setup.sh build|test|bench|soak" >&2; exit 2 ;;
esac

installed()
{
  dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

# Elsewhere than on Debian: are the tools themselves there?
if ! command -v dpkg-query >/dev/null; then
  missing=""
  for tool in cc cmake make; do
    command -v "$tool" >/dev/null || missing="$missing $tool"
  done
  [ -z "$missing" ] && exit 0
  echo "Skua needs these tools:$missing. Please install them with your system's packages." >&2
  exit 1
fi

missing=""
for package in $packages; do
  installed "$package" || missing="$missing $package"
done
[ -z "$missing" ] && exit 0

if [ "$(id -u)" = 0 ]; then
  root=""
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  root="sudo"
elif command -v sudo >/dev/null && [ -t 0 ]; then
  root="sudo"
else
  echo "Skua needs packages that are not installed:$missing" >&2
  echo "As root: apt-get update && apt-get install --no-install-recommends$missing" >&2
  exit 1
fi

echo "installing:$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # the packages are words
if ! { $root apt-get update && $root apt-get install -y --no-install-recommends $missing; } \
     >"$log" 2>&1; then
  tail -n 5 "$log" >&2
  echo "Could not install:$missing" >&2
  echo "As root: apt-get update && apt-get install --no-install-recommends$missing" >&2
  exit 1
fi
