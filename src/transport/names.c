/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - see names.h. */
#include "transport/names.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "transport/guard.h"
#include "transport/interface.h"

#define NAME_BYTES sizeof(struct sockaddr_in6) /* on the way */

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

const char *ski_names_text(const struct ski_names *names, bool loopback, char *to, size_t size)
{
    char   text[INET6_ADDRSTRLEN];
    size_t n = 0;

    snprintf(to, size, "it");
    for (size_t i = 0; i < names->count && n + sizeof text + 4 < size; i++)
        if (loopback || !ski_address_is_loopback(&names->name[i]))
            n += (size_t)snprintf(to + n, size - n, "%s%s", n ? " or " : "",
                                  ski_address_text(&names->name[i], text, sizeof text));
    return to;
}
