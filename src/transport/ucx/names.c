/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - the names that ports listen at: see ucx.h. */
#include <string.h>

#include "transport/guard.h"
#include "transport/ucx/ucx.h"

#define NAME_BYTES sizeof(struct sockaddr_in6) /* on the way */

/* The names that the process listens at now and has not before. */
void ski_names_find(struct ski_names *names, const struct sockaddr_storage *before, int count)
{
    struct sockaddr_storage after[SKI_LISTENERS];
    int                     n = ski_guard_listeners(after, SKI_LISTENERS), j;

    for (int i = 0; i < n && names->count < SKI_NAMES; i++) {
        for (j = 0; j < count && !ski_guard_same(&after[i], &before[j]); j++)
            ;
        if (j == count)
            names->name[names->count++] = after[i];
    }
}

size_t ski_names_pack(const struct ski_names *names, char *to)
{
    memcpy(to, &names->count, sizeof names->count);
    for (size_t i = 0; i < names->count; i++)
        memcpy(to + sizeof names->count + i * NAME_BYTES, &names->name[i], NAME_BYTES);
    return sizeof names->count + names->count * NAME_BYTES;
}

/* Takes them from an address; the bytes that they were, 0 if that makes no sense. */
size_t ski_names_unpack(struct ski_names *names, const char *from, size_t bytes)
{
    memset(names, 0, sizeof *names);
    if (bytes < sizeof names->count)
        return 0;
    memcpy(&names->count, from, sizeof names->count);
    if (names->count > SKI_NAMES || bytes - sizeof names->count < names->count * NAME_BYTES)
        return 0;
    for (size_t i = 0; i < names->count; i++)
        memcpy(&names->name[i], from + sizeof names->count + i * NAME_BYTES, NAME_BYTES);
    return sizeof names->count + names->count * NAME_BYTES;
}

bool ski_names_have(const struct ski_names *names, const struct sockaddr_storage *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (ski_guard_same(&names->name[i], name))
            return true;
    return false;
}
