/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codegen_support.c - see skua/skuac_marshal.h: the functions for generated code that are too rare
 * to be inline.  Most of them report invalid arguments.
 */
#include <skua/buffer.h>
#include <skua/skuac_marshal.h>

#include "base/log.h"
#include "base/memory.h"
#include "core/pe/pe.h"
#include "core/sched/thread.h"
#include "objects/model/objects_pe.h"
#include "objects/model/pup.h"

void skuac_malformed(const char *entry, size_t bytes)
{
    ski_misuse("%s: a message of %zu bytes does not contain the arguments of this entry; are all "
               "parts of the program generated from the same interface file?",
               entry, bytes);
}

void skuac_result_differs(const char *entry, const char *parameters, size_t wanted, bool list,
                          size_t bytes)
{
    ski_misuse(
        "%s takes (%s), %s%zu bytes, but the result of the reduction on PE %d has %zu bytes; do "
        "the contributions have that type and number of elements?",
        entry, parameters, list ? "a multiple of " : "", wanted, SKI_SELF()->pe, bytes);
}

void skuac_bad_length(const char *entry, const char *parameter, long long length)
{
    ski_misuse("%s: the length of argument `%s' is %lld: a length is at least 0, and the array "
               "must fit into memory",
               entry, parameter, length);
}

void skuac_answer_wait(skua_future *answer, const char *entry, void *result, size_t bytes)
{
    size_t      size = 0;
    const void *data;

    if (ski_objects_gated(SKI_SELF()->objects))
        ski_misuse(
            "%s waits for a result before the program has started; no entry runs until the main "
            "chare has been constructed",
            entry);
    data = skua_future_wait(answer, &size);
    if (bytes)
        memset(result, 0, bytes);
    if (data && size == bytes)
        skuac_copy(result, data, bytes);
    skua_future_clear(answer);
}

static void codegen_check_count(const char *field, long long count)
{
    if (count < 0)
        ski_misuse(
            "%s: the length of this array is %lld when the object is constructed; it must not be "
            "negative",
            field, count);
}

static _Noreturn void codegen_no_memory(const char *field, long long count, size_t each)
{
    ski_fatal("%s: out of memory for an array of %lld elements of %zu bytes", field, count, each);
}

void *skuac_state_array(const char *field, long long count, size_t each)
{
    void *memory = NULL;

    codegen_check_count(field, count);
    if (count > 0 && !(memory = calloc((size_t)count, each)))
        codegen_no_memory(field, count, each);
    return memory;
}

char *skuac_state_string(const char *string)
{
    size_t bytes = skuac_string_bytes(string);
    char  *copy  = bytes ? ski_malloc(bytes) : NULL;

    skuac_copy(copy, string, bytes);
    return copy;
}

void *skuac_shared_array(const char *field, long long count, size_t each)
{
    size_t bytes;

    codegen_check_count(field, count);
    if (count == 0)
        return NULL;
    if (__builtin_mul_overflow((size_t)count, each, &bytes))
        codegen_no_memory(field, count, each);
    return memset(skua_buffer_alloc(bytes), 0, bytes);
}

char *skuac_shared_string(const char *string)
{
    size_t bytes = skuac_string_bytes(string);
    char  *copy  = bytes ? skua_buffer_alloc(bytes) : NULL;

    skuac_copy(copy, string, bytes);
    return copy;
}

/* ---- packed arguments ----------------------------------------------------------------------- */

/* Packing does not change the structs. */
static struct ski_pup_argument codegen_argument(const skuac_packed_parameter *of, const void *items,
                                                long long count)
{
    return (struct ski_pup_argument){.pup       = of->of->pup,
                                     .items     = (void *)items,
                                     .count     = (size_t)count,
                                     .each      = of->of->bytes,
                                     .entry     = of->entry,
                                     .parameter = of->name};
}

size_t skuac_packed_bytes(const skuac_packed_parameter *of, const void *items, long long count)
{
    struct ski_pup_argument argument = codegen_argument(of, items, count);

    if (count < 0)
        skuac_bad_length(of->entry, of->name, count);
    if (!items && count > 0)
        ski_misuse("%s: argument `%s' is NULL on PE %d: it is the address of the struct to send",
                   of->entry, of->name, SKI_SELF()->pe);
    return ski_pup_argument_measure(&argument);
}

void skuac_pack(const skuac_packed_parameter *of, const void *items, long long count, void *to,
                size_t bytes)
{
    struct ski_pup_argument argument = codegen_argument(of, items, count);

    ski_pup_argument_pack(&argument, to, bytes);
}

/* The structs are not on the thread's stack, so the thread stays here while it has them. */
skuac_unpacked skuac_unpack(const skuac_packed_parameter *of, skuac_packed from, long long count)
{
    skuac_unpacked          unpacked = {of->of, NULL, (size_t)count};
    struct ski_pup_argument argument;

    if (count < 0 || (unsigned long long)count > PTRDIFF_MAX / of->of->bytes)
        skuac_malformed(of->entry, from.bytes);
    unpacked.items = calloc(count > 0 ? (size_t)count : 1, of->of->bytes);
    if (!unpacked.items)
        codegen_no_memory(of->entry, count, of->of->bytes);
    ski_thread_pin(SKI_SELF());
    argument = codegen_argument(of, unpacked.items, count);
    ski_pup_argument_unpack(&argument, from.data, from.bytes);
    return unpacked;
}

void skuac_unpacked_free(skuac_unpacked *unpacked)
{
    for (size_t i = 0; i < unpacked->count; i++)
        unpacked->of->free((char *)unpacked->items + i * unpacked->of->bytes);
    free(unpacked->items);
    ski_thread_unpin(SKI_SELF());
}
