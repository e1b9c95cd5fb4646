/* SPDX-License-Identifier: Apache-2.0 */
/* environment.c - see environment.h. */
#include "base/environment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

extern char **environ;

static bool environment_matches(const char *variable, const char *const *prefix)
{
    for (; *prefix; prefix++)
        if (strncmp(variable, *prefix, strlen(*prefix)) == 0)
            return true;
    return false;
}

void ski_environment_save(struct ski_environment *saved, const char *const *prefix)
{
    size_t n = 0, total = 0;

    while (environ[total])
        total++;
    *saved = (struct ski_environment){prefix, ski_calloc(total + 1, sizeof(char *))};
    for (size_t i = 0; i < total; i++)
        if (environment_matches(environ[i], prefix))
            saved->variable[n++] = ski_memory_checked(strdup(environ[i]), strlen(environ[i]) + 1);
}

/* Returns the first variable with one of the prefixes that was not saved, as a name; NULL: none. */
static char *environment_added(const struct ski_environment *saved)
{
    for (char **entry = environ; *entry; entry++) {
        char **known = saved->variable;

        if (!environment_matches(*entry, saved->prefix))
            continue;
        while (*known && strncmp(*known, *entry, strcspn(*entry, "=") + 1) != 0)
            known++;
        if (!*known)
            return strndup(*entry, strcspn(*entry, "="));
    }
    return NULL;
}

void ski_environment_restore(struct ski_environment *saved)
{
    char *name;

    while ((name = environment_added(saved))) {
        unsetenv(name); /* which moves the others */
        free(name);
    }
    for (char **variable = saved->variable; *variable; variable++) {
        char *value = strchr(*variable, '=');

        if (value) {
            *value++ = '\0';
            setenv(*variable, value, 1);
        }
        free(*variable);
    }
    free(saved->variable);
}
