/* SPDX-License-Identifier: Apache-2.0 */
/* export.c - see export.h. */
#include "launcher/export.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"

extern char **environ;

static const char export_defaults[] =
    "SKUA_*,UCX_*,FI_*,OMP_*,PATH,LD_LIBRARY_PATH,LANG,LC_*,TZ,*SAN_OPTIONS";

/* Returns whether @p name matches an element of a comma-separated list of patterns. */
static bool export_matches(const char *name, const char *list)
{
    char pattern[256];

    for (const char *at = list; *at;) {
        size_t n = strcspn(at, ",");

        if (n < sizeof pattern) {
            memcpy(pattern, at, n);
            pattern[n] = '\0';
            if (fnmatch(pattern, name, 0) == 0)
                return true;
        }
        at += n + (at[n] == ',');
    }
    return false;
}

static bool export_selects(const char *setting, const char *more)
{
    size_t n    = strcspn(setting, "=");
    char  *name = ski_malloc(n + 1);
    bool   found;

    memcpy(name, setting, n);
    name[n] = '\0';
    found   = export_matches(name, export_defaults) || export_matches(name, more);
    free(name);
    return found;
}

char **export_variables(const char *more, int *count)
{
    size_t variables = 0;
    char **settings;

    while (environ[variables])
        variables++;
    settings = ski_calloc(variables + 1, sizeof *settings);
    *count   = 0;
    for (size_t i = 0; i < variables; i++)
        if (export_selects(environ[i], more))
            settings[(*count)++] = environ[i];
    return settings;
}
