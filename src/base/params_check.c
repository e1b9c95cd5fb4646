/* SPDX-License-Identifier: Apache-2.0 */
/* params_check.c - see params_check.h. */
#include "base/params_check.h"

#include <stdio.h>

#include "base/log.h"

#define PARAMS_SIZE_MAX 4096 /* bytes that no version of a struct has */
#define PARAMS_TEXT     200

/* Returns whether a version of a struct may have @p size bytes. */
static bool params_is_possible(size_t size)
{
    return size <= PARAMS_SIZE_MAX && size % sizeof size == 0;
}

/* Writes why a struct of @p size bytes in the program is refused. */
static void params_explain(char text[PARAMS_TEXT], const char *type, size_t size, size_t now)
{
    if (!params_is_possible(size))
        snprintf(text, PARAMS_TEXT,
                 "`size` of the %s is not initialised (%zu bytes); initialise the struct with {0}, "
                 "or set it to sizeof",
                 type, size);
    else
        snprintf(text, PARAMS_TEXT,
                 "the %s of the program has %zu bytes and that of this library %zu; the program "
                 "was compiled against a newer Skua: update the library",
                 type, size, now);
}

skua_status ski_params_refuse(const char *call, const char *type, size_t size, size_t now)
{
    char text[PARAMS_TEXT];

    params_explain(text, type, size, now);
    return ski_refuse(params_is_possible(size) ? SKUA_ERR_UNSUPPORTED : SKUA_ERR_INVAL, "%s: %s",
                      call, text);
}

void ski_params_misuse(const char *call, const char *type, size_t size, size_t now)
{
    char text[PARAMS_TEXT];

    params_explain(text, type, size, now);
    ski_misuse("%s: %s", call, text);
}
