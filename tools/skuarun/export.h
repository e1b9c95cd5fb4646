/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h - which variables of the environment go to the agents.
 *
 * SKUA_*, those of the network libraries (UCX_*, FI_*) and of OpenMP (OMP_*), those
 * that say where programs and libraries are (PATH, LD_LIBRARY_PATH), how they print
 * (LANG, LC_*, TZ), what sanitizers do (*SAN_OPTIONS), and what --export names.
 */
#ifndef SKUARUN_EXPORT_H
#define SKUARUN_EXPORT_H

/** An array of NAME=VALUE, which are the environment's own, and a NULL; to be freed.
 *  @p more are names with commas between them. */
char **export_settings(const char *more, int *count);

#endif
