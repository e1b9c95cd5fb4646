#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# profiling.sh - the profiling interface of OpenSHMEM: gives every routine shmem_NAME of an object a
# second name pshmem_NAME and makes the first one weak, so that a profiler may define it; declares the
# second names in a header.
#
# usage: profiling.sh NM OBJCOPY OBJECT HEADER
set -eu
nm=$1
objcopy=$2
object=$3
header=$4

# Lines "NAME ADDRESS SECTION" of the routines.
"$nm" --format=sysv --defined-only "$object" |
  awk -F'|' '{ gsub(/ /, ""); if ($1 ~ /^shmem_/ && ($3 == "T" || $3 == "W")) print $1, $2, $7 }' >"$object.names"
awk '{ print "--add-symbol p" $1 "=" $3 ":0x" $2 ",function,global"; print "--weaken-symbol=" $1 }' \
  "$object.names" >"$object.options"
"$objcopy" "@$object.options" "$object"
{
  cat <<END
/* SPDX-License-Identifier: Apache-2.0 */
/* pshmem.h - the profiling interface of OpenSHMEM: every routine by a second name, which a profiler
 * that defines the first one calls. */
#ifndef SKUA_PSHMEM_H
#define SKUA_PSHMEM_H

#include <shmem.h>

#ifdef __cplusplus
extern "C" {
#endif

END
  # In C++ two of the names are overloaded, so their types are written out.
  awk '$1 != "shmem_sync" && $1 != "shmem_wait_until" { print "extern __typeof__(" $1 ") p" $1 ";" }' \
    "$object.names" | LC_ALL=C sort
  echo 'void pshmem_sync(int PE_start, int logPE_stride, int PE_size, long *pSync);'
  echo 'void pshmem_wait_until(long *ivar, int cmp, long cmp_value);'
  cat <<END

#ifdef __cplusplus
}
#endif

#endif
END
} >"$header"
rm -f "$object.names" "$object.options"
