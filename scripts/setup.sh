#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Finds the packages that a step needs, and installs those that are missing:
#
#   scripts/setup.sh build|test|bench|docs|package|soak
#   scripts/setup.sh list                            prints the table of README.md
#
# It prints what it will install, and what each package is for, before it installs anything.
#
#   SETUP=yes   installs without a question (default where there is no terminal to ask at)
#   SETUP=ask   asks first (default at a terminal)
#   SETUP=no    installs nothing
#
# Packages are installed by root or through sudo, with apt-get or dnf.  Where that cannot be done, or
# is not wanted, the missing packages and the command for an administrator are printed.  A required
# package that is missing ends the set-up with exit code 1.  An optional one is named together with
# the part of Skua that is left out without it, and the set-up succeeds.
set -eu

# need      the step: required and optional parts of Skua, tests, benchmarks, docs, packages, soak
# command   a command whose presence replaces the package ("-": the packages are checked)
# apt, dnf  packages of Debian and Ubuntu, and of Fedora; several are joined by commas, "-" is none
# purpose   the part that is missing without it
table()
{
  cat <<'END'
required cc         gcc                           gcc                          the C compiler
required -          libc6-dev                     glibc-devel                  headers of the C library
required make       make                          make                         the build
required cmake      cmake                         cmake                        the build
optional -          libhwloc-dev                  hwloc-devel                  cores and caches: PEs are bound to CPUs, hosts are described
optional -          libxxhash-dev                 xxhash-devel                 checkpoints in files: their checksums
optional -          libzstd-dev                   libzstd-devel                compressed checkpoints
optional -          libucx-dev                    ucx-devel                    the driver for UCX: InfiniBand, RoCE, shared memory of UCX
optional -          libfabric-dev                 libfabric-devel              the driver for libfabric: EFA, Slingshot, Omni-Path
optional -          libssl-dev                    openssl-devel                SKUA_SECURITY=auth and encrypt: authentication and encryption
optional -          libscotch-dev                 scotch-devel                 the strategy graph: load balancing by graph partitioning
optional -          libpmix-dev                   pmix-devel                   jobs that mpirun and srun start
optional pkg-config pkg-config                    pkgconf-pkg-config           pkg-config --libs skua, for programs that use Skua
optional gfortran   gfortran                      gcc-gfortran                 the Fortran module
optional python3    python3                       python3                      the Fortran module, tests of the binary interface
test     c++        g++                           gcc-c++                      tests of interface files in C++
test     -          -                             libasan,libubsan,libtsan     tests under the sanitizers
test     valgrind   valgrind                      valgrind                     tests that count instructions
test     ip         iproute2                      iproute                      tests between network namespaces
test     -          libfftw3-dev                  fftw-devel                   the application fft1d, and its tests
test     -          libopenblas-dev               openblas-devel               fast products of matrices in the applications
test     -          openmpi-bin,libopenmpi-dev    openmpi,openmpi-devel        the driver for Open MPI, tests under its mpirun
test     -          mpich,libmpich-dev            mpich,mpich-devel            the driver for MPICH, and its tests
test     -          libglobalarrays-dev,libscalapack-openmpi-dev,libscalapack-mpich-dev - Global Arrays on Skua: tests of compat/armci, the application ga_scf
bench    -          libarmci-mpi-dev              -                            the comparison with ARMCI-MPI
bench    -          libfftw3-mpi-dev              fftw-openmpi-devel           the comparison with FFTW-MPI
bench    -          libscalapack-openmpi-dev      scalapack-openmpi-devel      the comparison with ScaLAPACK
bench    ucx_perftest ucx-utils                   ucx                          the comparison with ucx_perftest
bench    unshare    util-linux                    util-linux                   measurements between network namespaces
docs     doxygen    doxygen                       doxygen                      the HTML reference
package  dpkg-shlibdeps dpkg-dev                  -                            the .deb: without it, make package makes a .tar.gz alone
soak     clang      clang                         clang,compiler-rt            the fuzzer of the translator
END
}

step=${1:-build}
case "$step" in
  build) needs="required optional" ;;
  test)  needs="required optional docs test" ;;
  bench) needs="required optional test bench" ;;
  docs)  needs="required optional docs" ;;
  package) needs="required optional docs package" ;;
  soak)  needs="required optional soak" ;;
  list)  needs="required optional docs test" ;;
  *)     echo "usage: scripts/setup.sh build|test|bench|docs|package|soak|list" >&2; exit 2 ;;
esac

if [ "$step" = list ]; then # in the form of README.md
  echo "| | Debian, Ubuntu | Fedora |"
  echo "|---|---|---|"
  for need in $needs; do
    table | awk -v need="$need" '$1 == need {
        gsub(/,/, " ", $3); gsub(/,/, " ", $4)
        if ($3 != "-") apt = apt " " $3
        if ($4 != "-") dnf = dnf " " $4
    } END { print "| " (need == "test" ? "for the tests" : need == "docs" ? "for `make docs`" : need) " |" apt " |" dnf " |" }'
  done
  exit 0
fi

# The package manager of the system, its column of the table, and its commands.
if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
  manager=apt-get column=3
  install="apt-get install -y --no-install-recommends"
  command_line="apt-get update && apt-get install --no-install-recommends"
elif command -v rpm >/dev/null && command -v dnf >/dev/null; then
  manager=dnf column=4
  install="dnf install -y --setopt=install_weak_deps=False"
  command_line="dnf install --setopt=install_weak_deps=False"
else
  manager=
  column=3
fi

installed()
{
  case "$manager" in
    apt-get) dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed' ;;
    dnf)     rpm -q --whatprovides "$1" >/dev/null 2>&1 ;;
    *)       false ;;
  esac
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Sets `missing` to the packages that are not installed, and writes a line to $work/NEED for each row
# with such a package.
look()
{
  missing=
  for need in $needs; do
    : >"$work/$need"
    table | grep "^$need " >"$work/rows"
    while read -r _ tool apt dnf purpose; do
      packages=$apt
      [ "$column" = 3 ] || packages=$dnf
      [ "$packages" != - ] || continue
      if [ "$tool" != - ]; then
        ! command -v "$tool" >/dev/null || continue
      elif [ -z "$manager" ]; then
        continue # without a package manager this is not known; CMake finds installed libraries
      fi
      gone=
      for package in $(echo "$packages" | tr , ' '); do
        installed "$package" || gone="$gone $package"
      done
      [ -n "$gone" ] || continue
      missing="$missing$gone"
      printf '  %-32s %s\n' "${gone# }" "$purpose" >>"$work/$need"
    done <"$work/rows"
  done
}

show()
{
  for need in $needs; do
    [ -s "$work/$need" ] || continue
    case "$need" in
      required) echo "required:" ;;
      optional) echo "for optional parts:" ;;
      test)     echo "for the tests:" ;;
      bench)    echo "for the benchmarks:" ;;
      docs)     echo "for the reference:" ;;
      package)  echo "for packages:" ;;
      soak)     echo "for the soak test:" ;;
    esac
    cat "$work/$need"
  done
}

# Ends the set-up without installing packages: with exit code 1 if a required one is missing.
go_without()
{
  {
    echo "Skua: $1"
    if [ -n "$manager" ]; then
      echo "An administrator installs the missing packages with:"
      echo "  $command_line$missing"
    fi
    if [ -s "$work/required" ]; then
      echo "Skua cannot be built without these:"
      cat "$work/required"
      exit 1
    fi
    echo "Skua is built without these parts:"
    for need in $needs; do
      cat "$work/$need"
    done
  } >&2
  exit 0
}

look
[ -n "$missing" ] || exit 0

[ -n "$manager" ] || go_without "packages are missing, and there is neither apt-get nor dnf to install them."
[ "${SETUP:-}" != no ] || go_without "packages are missing, and SETUP=no forbids installing them."
if [ "$(id -u)" = 0 ]; then
  root=
elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
  root=sudo
else
  go_without "packages are missing, and installing them needs root or sudo."
fi

echo "Skua: these packages will be installed with ${root:+$root }$manager (make ... SETUP=no installs nothing):"
show
if [ "${SETUP:-ask}" != yes ] && [ -t 0 ] && [ -t 1 ]; then
  printf 'Install them? [Y/n] '
  read -r answer || answer=n
  case "$answer" in
    '' | [Yy]*) ;;
    *) go_without "nothing was installed." ;;
  esac
fi

export DEBIAN_FRONTEND=noninteractive
[ "$manager" != apt-get ] || $root apt-get update >"$work/log" 2>&1 || true # the existing lists may suffice
# shellcheck disable=SC2086 # the packages are words
if ! $root $install $missing >>"$work/log" 2>&1; then
  tail -n 5 "$work/log" >&2
  look # some may have been installed
  go_without "packages could not be installed."
fi
