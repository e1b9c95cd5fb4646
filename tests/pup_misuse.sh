#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# pup_misuse.sh - a pup function that does not unpack what it packs, or pack what it measures, ends the
# job with a line that names class, index, field and both sides; without checks a difference in size
# does.
#
# usage: pup_misuse.sh SKUARUN PUP_MISUSE
skuarun=$1
. "$(dirname "$0")/tap.sh"
name_program "$2"
export SKUA_PIN=none
[ "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS=detect_leaks=0

# misuse WORD LINE
misuse()
{
  run timeout 60 "$skuarun" -n 2 "$program" "$1"
  ok "$1: ends the job" test "$code" = 134
  ok "$1: reported" has "$err" "skuarun: PE [01] .*aborted: $2"
  ok "$1: in one line" one_line "$err"
}
right()
{
  run timeout 60 "$skuarun" -n 2 $2 "$program" "$1"
  ok "$1$2: arrives" test "$code$err" = 0
}

export SKUA_CHECKED_PUP=1
thing='pup of thing .3.:'
right right ''
right right ' -s shared_memory=0'
misuse order "$thing unpacks .t->m. .4 bytes. where PE 0 packed .t->n. .4 bytes.; a pup function"
misuse size "$thing unpacks .t->wide. .4 bytes. where PE 0 packed .t->wide. .8 bytes.; a pup function"
misuse missing "$thing unpacks .t->u. .40 bytes. where PE 0 packed .t->wide. .8 bytes."
misuse extra "$thing unpacks .t->fill. .4 bytes. after the last field that PE 0 packed"
misuse less "$thing unpacks nothing where PE 0 packed .t->fill. .4 bytes."
misuse length "$thing unpacks .t->u. .48 bytes. where PE 0 packed .t->u. .40 bytes."
misuse array "$thing an array of 0 elements of 8 bytes was packed as .t->u. .40 bytes."
misuse part "$thing unpacks .t->at: at->x. .8 bytes. where PE 0 packed .t->at: at->y. .4 bytes."
misuse measure-order "$thing packs .t->n. .4 bytes. where it measured .t->m. .4 bytes."
misuse measure-less "$thing packs .t->fill. .4 bytes. after the last field that it measured"
misuse measure-more "$thing packs nothing where it measured .t->fill. .4 bytes."
misuse negative "$thing packing goes beyond what was possible, at .t->u. .18446744073709551608 bytes."
misuse begin "$thing a part that skua_pup_begin.. began has no skua_pup_end"
misuse end 'skua_pup_end: pup of thing .3. ends a part that it did not begin'
misuse memory 'skua_migrate: shared .3. is of a class that is SKUA_CLASS_BY_POINTER, but the memory of .t->u. .40 bytes. is not from skua_buffer_alloc'

export SKUA_CHECKED_PUP=0
right right ''
right begin ''
right measure-order ''
right measure-more ''
misuse size "$thing unpacking goes beyond what was packed, at .t->name. .*; does it process the same fields"
misuse missing 'pup of thing .3. unpacks less than PE 0 packed: [0-9]+ bytes are left'
misuse extra "$thing unpacking goes beyond what was packed, at .t->fill. .4 bytes."
misuse less 'pup of thing .3. unpacks less than PE 0 packed: 4 bytes are left'
misuse length "$thing unpacking goes beyond what was packed, at .t->name. "
misuse negative "$thing packing goes beyond what was possible, at .t->u. .18446744073709551608 bytes."
tap_end
