/* SPDX-License-Identifier: Apache-2.0 */
/* interface.c - see skua/interface.h: what is rare enough not to be inline. */
#include <skua/interface.h>

#include "base/log.h"
#include "base/memory.h"
#include "core/pe/pe.h"
#include "objects/objects.h"

void skua_malformed(const char *entry, size_t bytes)
{
    ski_misuse("%s: a message of %zu bytes does not hold its arguments; were all parts of the "
               "program translated and compiled from the same interface file?",
               entry, bytes);
}

void skua_result_differs(const char *entry, const char *parameters, size_t wanted, bool list,
                         size_t bytes)
{
    ski_misuse(
        "%s: takes (%s), which is %s%zu bytes, but the result that arrived on PE %d has %zu; "
        "do the contributions have that type and number of elements?",
        entry, parameters, list ? "a multiple of " : "", wanted, SKI_SELF()->pe, bytes);
}

void skua_bad_length(const char *entry, const char *parameter, long long length)
{
    ski_misuse("%s: the length of `%s' is %lld", entry, parameter, length);
}

void skua_answer_wait(skua_future *answer, const char *entry, void *result, size_t bytes)
{
    size_t      size = 0;
    const void *data;

    if (SKI_SELF()->objects->gate)
        ski_misuse(
            "%s waits for an answer before the program has begun; nothing runs until the main "
            "chare has been made",
            entry);
    data = skua_future_wait(answer, &size);
    if (bytes)
        memset(result, 0, bytes);
    if (data && size == bytes)
        skua_copy(result, data, bytes);
    skua_future_clear(answer);
}

void *skua_state_array(const char *field, long long count, size_t each)
{
    void *memory = NULL;

    if (count < 0)
        ski_misuse("%s: its length is %lld when the object is made", field, count);
    if (count > 0 && !(memory = calloc((size_t)count, each)))
        ski_fatal("%s: no memory for %lld times %zu bytes", field, count, each);
    return memory;
}

char *skua_state_string(const char *string)
{
    size_t bytes = string ? strlen(string) + 1 : 0;
    char  *copy  = bytes ? ski_malloc(bytes) : NULL;

    skua_copy(copy, string, bytes);
    return copy;
}

void skua_pup_array(skua_pup *p, void *pointer, long long count, size_t each)
{
    void    *memory;
    uint64_t bytes;

    memcpy(&memory, pointer, sizeof memory); /* it may be a pointer to anything */
    bytes = memory && count > 0 ? (uint64_t)count * each : 0;
    skua_pup_value(p, &bytes);
    if (skua_pup_unpacking(p) && bytes != 0 &&
        (count <= 0 || bytes / each != (uint64_t)count || bytes % each != 0))
        ski_misuse("an array of %lld times %zu bytes came as %llu bytes", count, each,
                   (unsigned long long)bytes);
    skua_pup_memory(p, pointer, bytes);
}

void skua_pup_string(skua_pup *p, char **string)
{
    uint64_t bytes = 0;

    if (!skua_pup_unpacking(p) && *string)
        bytes = strlen(*string) + 1;
    skua_pup_value(p, &bytes);
    skua_pup_memory(p, string, bytes);
    if (bytes > 0 && (*string)[bytes - 1] != 0)
        ski_misuse("a string of %llu bytes came without its end", (unsigned long long)bytes);
}
