/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h - selects the environment variables that agents pass on to their processes.
 *
 * Selected are SKUA_*, the variables of the network libraries (UCX_*, FI_*) and of OpenMP (OMP_*),
 * search paths (PATH, LD_LIBRARY_PATH), locale and time zone (LANG, LC_*, TZ), options of the
 * sanitizers (*SAN_OPTIONS), and the names given with --export.
 */
#ifndef SKUARUN_EXPORT_H
#define SKUARUN_EXPORT_H

/** Returns the selected variables as an array of NAME=VALUE ended by NULL, and their number in
 *  *@p count.  @p more is a comma-separated list of names or patterns.  The caller frees the array;
 *  the strings belong to the environment. */
char **export_variables(const char *more, int *count);

#endif
