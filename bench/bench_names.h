/* SPDX-License-Identifier: Apache-2.0 */
/* bench_names.h - lists of names, for the programs of a benchmark and for the tool that runs
 * them. */
#ifndef BENCH_NAMES_H
#define BENCH_NAMES_H

#include <stdbool.h>
#include <string.h>

/* Returns whether @p names, separated by commas, contain @p name. */
static inline bool bench_names_have(const char *names, const char *name)
{
    size_t bytes = strlen(name);

    for (; names; names = strchr(names, ',')) {
        names += *names == ',';
        if (strncmp(names, name, bytes) == 0 && (names[bytes] == 0 || names[bytes] == ','))
            return true;
    }
    return false;
}

#endif
