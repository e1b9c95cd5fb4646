/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interface.h - arguments of entries as they travel: what skuac's output stands on.
 *
 * The arguments of an entry travel as a struct of those of fixed size, followed by arrays
 * and strings in the order of the parameters, each aligned as its type asks for.  Lengths
 * are not sent twice: they are computed from the other arguments at either end, and what
 * arrives is checked before it is used.
 *
 * Generated code calls this; people need not.
 */
#ifndef SKUA_INTERFACE_H
#define SKUA_INTERFACE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <skua/api.h>
#include <skua/completion.h>
#include <skua/flow.h>
#include <skua/message.h>
#include <skua/pe.h>
#include <skua/pup.h>

SKUA_BEGIN_DECLS

/** Arguments of up to so many bytes are put together on the stack. */
#define SKUA_SMALL_ARGUMENTS 256

/** What arrived cannot be arguments of @p entry, "Block.ghost": ends the job. */
SKUA_API void skua_malformed(const char *entry, size_t bytes) __attribute__((noreturn));

/** The result of a reduction, of @p bytes, is not what @p entry takes, "double heat": that has
 *  @p wanted bytes, or a multiple of them if @p list.  Ends the job. */
SKUA_API void skua_result_differs(const char *entry, const char *parameters, size_t wanted,
                                  bool list, size_t bytes) __attribute__((noreturn));

/** A length that cannot be: ends the job. */
SKUA_API void skua_bad_length(const char *entry, const char *parameter, long long length)
    __attribute__((noreturn));

/** Room for @p count items of @p each bytes behind *end, which grows: where they begin. */
static inline size_t skua_room(size_t *end, long long count, size_t each, size_t align,
                               const char *entry, const char *parameter)
{
    size_t at = (*end + align - 1) & ~(align - 1);

    if (__builtin_expect(count < 0 || (unsigned long long)count > (SIZE_MAX / 4 - at) / each, 0))
        skua_bad_length(entry, parameter, count);
    *end = at + (size_t)count * each;
    return at;
}

/** Bytes of @p count items of @p each. */
static inline size_t skua_span(long long count, size_t each, const char *entry,
                               const char *parameter)
{
    size_t end = 0;

    skua_room(&end, count, each, 1, entry, parameter);
    return end;
}

/** The same in what arrived, of @p bytes. */
static inline const void *skua_found(const void *data, size_t bytes, size_t *end, long long count,
                                     size_t each, size_t align, const char *entry)
{
    size_t at = (*end + align - 1) & ~(align - 1);

    if (__builtin_expect(at > bytes || count < 0 || (unsigned long long)count > (bytes - at) / each,
                         0))
        skua_malformed(entry, bytes);
    *end = at + (size_t)count * each;
    return (const char *)data + at;
}

/** Bytes of a string as it travels, with the 0 at its end; none of NULL, which travels, too. */
static inline size_t skua_string_bytes(const char *string)
{
    return string ? strlen(string) + 1 : 0;
}

/** A string in what arrived. */
static inline const char *skua_found_string(const void *data, size_t bytes, size_t *end,
                                            uint64_t length, const char *entry)
{
    const char *string = (const char *)skua_found(data, bytes, end, (long long)length, 1, 1, entry);

    if (__builtin_expect(length > 0 && string[length - 1] != 0, 0))
        skua_malformed(entry, bytes);
    return length > 0 ? string : NULL;
}

static inline void skua_copy(void *to, const void *from, size_t bytes)
{
    if (bytes)
        memcpy(to, from, bytes);
}

/** What came with a message. */
static inline skua_arrival skua_arrival_of(skua_msg *msg)
{
    skua_arrival arrival = {skua_msg_data(msg), skua_msg_size(msg), msg};
    return arrival;
}

/** An arrival without data. */
static inline skua_arrival skua_arrival_none(void)
{
    skua_arrival arrival = {NULL, 0, NULL};
    return arrival;
}

/** Data of the caller's as an arrival, which are copied by the function that wants to keep them. */
static inline skua_arrival skua_arrival_from(const void *data, size_t bytes)
{
    skua_arrival arrival = {data, bytes, NULL};
    return arrival;
}

/** A new message with a copy of @p bytes at @p data. */
static inline skua_msg *skua_msg_copy_of(const void *data, size_t bytes)
{
    skua_msg *msg = skua_msg_alloc(bytes);

    skua_copy(skua_msg_data(msg), data, bytes);
    return msg;
}

/** Wait for the answer of a [sync] entry: of @p bytes, else @p result is zero.  Clears it. */
SKUA_API void skua_answer_wait(skua_future *answer, const char *entry, void *result, size_t bytes);

/** Memory for @p count items, zeroed, that a state begins with. */
SKUA_API void *skua_state_array(const char *field, long long count, size_t each);
SKUA_API char *skua_state_string(const char *string);

/** Pack, unpack memory of malloc() that may be missing. */
SKUA_API void skua_pup_array(skua_pup *p, void *pointer, long long count, size_t each);
SKUA_API void skua_pup_string(skua_pup *p, char **string);

SKUA_END_DECLS

#endif
