/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaling_apps.h - the applications in `skua bench scaling`: each with a problem that does not grow
 * with the PEs (strong scaling) and, where it can, with one that does (weak scaling).
 *
 * Within that benchmark an application is a kernel, so that results of two applications, or of
 * both problems of one, differ: the metric is rate-APP-Ppe or us-APP-Ppe, with APP-weak for the
 * problem that grows.
 */
#ifndef SKUA_SCALING_APPS_H
#define SKUA_SCALING_APPS_H

#include "scaling.h"

#define SCALING_APPS 22 /* problems of applications, at most */

/** Returns whether there is an application of that name. */
bool scaling_apps_find(const char *name);

/** Writes the problems that host->only selects, as kernels.  Returns their number. */
size_t scaling_apps_list(const struct bench_host *host, struct scaling list[SCALING_APPS]);

/** Measures the problems that host->only selects on each number of PEs; in the last round, adds the
 * efficiencies. */
void scaling_apps_run(struct results *results);

/** Prints the tables and goals of the problems. */
void scaling_apps_print(const struct results *results);

#endif
