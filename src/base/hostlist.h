/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostlist.h - lists of names in Slurm's notation: n1,n[2-4,06-09],r[0-1]n[0-3].
 *
 * A range keeps leading zeros: n[08-10] is n08, n09, n10.
 */
#ifndef SKI_HOSTLIST_H
#define SKI_HOSTLIST_H

#include <stdbool.h>
#include <stddef.h>

/** The size of the longest name, with its terminating 0. */
#define SKI_HOSTLIST_NAME 256

/** Calls @p each for every name of @p list of @p bytes bytes, in their order, until it returns
 *  false.  Returns false if @p each did, or if the list is invalid.  *@p why says what is wrong
 * with an invalid list; otherwise it is NULL. */
bool ski_hostlist_expand(const char *list, size_t bytes, bool (*each)(void *arg, const char *name),
                         void *arg, const char **why);

#endif
