/* SPDX-License-Identifier: Apache-2.0 */
/*
 * skuac_marshal.h - marshalling of entry arguments, as skuac's generated code uses it.
 *
 * The arguments of an entry are sent as a struct of the fixed-size arguments, followed by arrays
 * and strings in the order of the parameters, each aligned as its type requires. Array lengths are
 * not sent: both ends compute them from the other arguments. The receiver checks the arguments
 * before it uses them.
 *
 * Only generated code calls these functions.
 */
#ifndef SKUA_SKUAC_MARSHAL_H
#define SKUA_SKUAC_MARSHAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <skua/api.h>
#include <skua/completion.h>
#include <skua/inplace.h>
#include <skua/message.h>
#include <skua/nocopy.h>
#include <skua/pe.h>
#include <skua/pup.h>
#include <skua/skuac_flow.h>

SKUA_BEGIN_DECLS

/** Arguments of up to this many bytes are marshalled on the stack. */
#define SKUAC_SMALL_ARGUMENTS 256

/** Asserts in C++ that an argument can be copied byte by byte. */
#ifdef __cplusplus
#define SKUAC_BYTEWISE(type, entry, parameter)                                                     \
    static_assert(__is_trivially_copyable(type),                                                   \
                  entry ": argument `" parameter "' cannot be copied byte by byte; declare its "   \
                        "type as a struct with a pup function: `struct name;'")
#else
#define SKUAC_BYTEWISE(type, entry, parameter)                                                     \
    _Static_assert(sizeof(type) > 0, entry ": argument `" parameter "' has no size")
#endif

/** Ends the job with the error that @p bytes of received data are not arguments of @p entry, such
 *  as "Block.ghost". */
SKUA_API void skuac_malformed(const char *entry, size_t bytes) __attribute__((noreturn));

/** Ends the job with the error that the result of a reduction, of @p bytes, does not fit the
 *  @p parameters of @p entry, which take @p wanted bytes or, if @p list, a multiple of that. */
SKUA_API void skuac_result_differs(const char *entry, const char *parameters, size_t wanted,
                                   bool list, size_t bytes) __attribute__((noreturn));

/** Ends the job with the error that @p length is not a valid array length. */
SKUA_API void skuac_bad_length(const char *entry, const char *parameter, long long length)
    __attribute__((noreturn));

/** Advances *end to a multiple of @p align, a power of two. Returns @p end. */
static inline size_t *skuac_align(size_t *end, size_t align)
{
    *end = (*end + align - 1) & ~(align - 1);
    return end;
}

/** Reserves space for @p count items of @p each bytes after *end, which advances.  Returns the
 *  offset of the space. */
static inline size_t skuac_reserve(size_t *end, long long count, size_t each, size_t align,
                                   const char *entry, const char *parameter)
{
    size_t at = *skuac_align(end, align);

    if (__builtin_expect(count < 0 || (unsigned long long)count > (SIZE_MAX / 4 - at) / each, 0))
        skuac_bad_length(entry, parameter, count);
    *end = at + (size_t)count * each;
    return at;
}

/** Returns the size of @p count items of @p each bytes. */
static inline size_t skuac_span(long long count, size_t each, const char *entry,
                                const char *parameter)
{
    size_t end = 0;

    skuac_reserve(&end, count, each, 1, entry, parameter);
    return end;
}

/** Finds @p count items of @p each bytes after *end, which is aligned for them, in the @p bytes of
 *  received data; *end advances.  Returns their address. */
static inline const void *skuac_found(const void *data, size_t bytes, size_t *end, long long count,
                                      size_t each, const char *entry)
{
    size_t at = *end;

    if (__builtin_expect(at > bytes || count < 0 || (unsigned long long)count > (bytes - at) / each,
                         0))
        skuac_malformed(entry, bytes);
    *end = at + (size_t)count * each;
    return (const char *)data + at;
}

/** Returns the size of a marshalled string, including the terminating 0. A NULL string has size 0
 *  and arrives as NULL. */
static inline size_t skuac_string_bytes(const char *string)
{
    return string ? strlen(string) + 1 : 0;
}

/** Finds a string of @p length bytes after *end in the @p bytes of received data; *end advances. */
static inline const char *skuac_found_string(const void *data, size_t bytes, size_t *end,
                                             uint64_t length, const char *entry)
{
    const char *string = (const char *)skuac_found(data, bytes, end, (long long)length, 1, entry);

    if (__builtin_expect(length > 0 && string[length - 1] != 0, 0))
        skuac_malformed(entry, bytes);
    return length > 0 ? string : NULL;
}

/** Copies @p bytes, which may be 0 with NULL pointers. */
static inline void skuac_copy(void *to, const void *from, size_t bytes)
{
    if (bytes)
        memcpy(to, from, bytes);
}

/** Returns an arrival that owns @p msg. */
static inline skuac_arrival skuac_arrival_of(skua_msg *msg)
{
    skuac_arrival arrival = {skua_msg_data(msg), skua_msg_size(msg), msg};
    return arrival;
}

/** Returns an arrival without data. */
static inline skuac_arrival skuac_arrival_none(void)
{
    skuac_arrival arrival = {NULL, 0, NULL};
    return arrival;
}

/** Returns an arrival that refers to data of the caller. A function that keeps the arrival copies
 *  the data. */
static inline skuac_arrival skuac_arrival_from(const void *data, size_t bytes)
{
    skuac_arrival arrival = {data, bytes, NULL};
    return arrival;
}

/** Returns a new message that holds a copy of @p bytes at @p data. */
static inline skua_msg *skuac_msg_copy_of(const void *data, size_t bytes)
{
    skua_msg *msg = skua_msg_alloc(bytes);

    skuac_copy(skua_msg_data(msg), data, bytes);
    return msg;
}

/** Waits for the result of a [sync] entry, copies it to @p result and clears the future. @p result
 *  is zeroed if the answer does not have @p bytes. */
SKUA_API void skuac_answer_wait(skua_future *answer, const char *entry, void *result, size_t bytes);

/** Allocates zeroed memory for an array of @p count items in the initial state of an object. */
SKUA_API void *skuac_state_array(const char *field, long long count, size_t each);

/** Returns a copy of @p string for the initial state of an object. */
SKUA_API char *skuac_state_string(const char *string);

/** Allocates zeroed memory of skua_buffer_alloc() for an array of @p count items in the initial
 *  state of an object that is by pointer. */
SKUA_API void *skuac_shared_array(const char *field, long long count, size_t each);

/** Returns a copy of @p string in memory of skua_buffer_alloc() for the initial state of an object
 *  that is by pointer. */
SKUA_API char *skuac_shared_string(const char *string);

/* ---- packed arguments (pup.h) --------------------------------------------------------------- */

/** How structs of a type are packed and freed. */
typedef struct skuac_packable {
    size_t bytes; /* of one struct */
    void (*pup)(skua_pup *p, void *it);
    void (*free)(void *it);
} skuac_packable;

/** A parameter that is packed, of "Block.ghost" for example. */
typedef struct {
    const skuac_packable *of;
    const char           *entry, *name;
} skuac_packed_parameter;

/** A packed argument in received data. */
typedef struct {
    const void *data;
    size_t      bytes;
} skuac_packed;

/** An unpacked argument. */
typedef struct {
    const skuac_packable *of;
    void                 *items;
    size_t                count;
} skuac_unpacked;

/** The attribute of a skuac_unpacked variable that is freed at the end of its scope. */
#define SKUAC_FREED __attribute__((cleanup(skuac_unpacked_free)))

/** Returns the size of @p count structs at @p items when they are packed. Ends the job if @p items
 *  is NULL, or @p count is negative. */
SKUA_API size_t skuac_packed_bytes(const skuac_packed_parameter *of, const void *items,
                                   long long count);

/** Packs @p count structs at @p items to the @p bytes at @p to, which skuac_packed_bytes() has
 *  returned. Ends the job if they do not take exactly these. */
SKUA_API void skuac_pack(const skuac_packed_parameter *of, const void *items, long long count,
                         void *to, size_t bytes);

/** Finds a packed argument of @p length bytes after *end in the @p bytes of received data; *end
 *  advances. */
static inline skuac_packed skuac_found_packed(const void *data, size_t bytes, size_t *end,
                                              uint64_t length, const char *entry)
{
    skuac_packed packed = {NULL, (size_t)length};

    packed.data = skuac_found(data, bytes, end, (long long)length, 1, entry);
    return packed;
}

/** Unpacks @p count structs into new memory, zeroed before. Ends the job if they are not all that
 *  was packed. A thread that holds them does not migrate. */
SKUA_API skuac_unpacked skuac_unpack(const skuac_packed_parameter *of, skuac_packed from,
                                     long long count);

/** Frees what skuac_unpack() has returned, except for what the program has taken from it. */
SKUA_API void skuac_unpacked_free(skuac_unpacked *unpacked);

/** Moves a struct of @p bytes to @p to: @p from is zeroed and owns nothing afterwards. */
static inline void skuac_take(void *to, void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    memset(from, 0, bytes);
}

/* ---- nocopy arguments (nocopy.h) ------------------------------------------------------------ */

/** Finds the nocopy argument at *end in received data, @p count items of @p each bytes; *end
 *  advances. Returns its data. */
SKUA_API const void *skuac_found_nocopy(const void *data, size_t bytes, size_t *end,
                                        long long count, size_t each, const char *entry);

/** Advances *end past the descriptions of the nocopy arguments. */
SKUA_API void skuac_found_nocopy_end(const void *data, size_t bytes, size_t *end,
                                     const char *entry);

/** Frees the message with nocopy arguments of an arrival, if it has one. */
static inline void skuac_nocopy_drop(skuac_arrival *arrival)
{
    if (arrival->msg) {
        skua_nocopy_free(arrival->msg);
        arrival->msg = NULL;
    }
}

/* ---- inplace arguments (inplace.h) ---------------------------------------------------------- */

/** Returns the head of a received message and its reference number. Ends the job if the head does
 *  not have @p head bytes. */
SKUA_API const void *skuac_found_head(const void *data, size_t bytes, size_t head,
                                      int64_t *reference, const char *entry);

/** Returns the data of a received message. Ends the job if they are not @p count items of @p each
 *  bytes. */
SKUA_API const skua_layout *skuac_found_inplace(const void *data, size_t bytes, long long count,
                                                size_t each, const char *entry);

/** Ends the job if @p from does not have @p count items of @p each bytes. */
SKUA_API void skuac_check_inplace(const skua_layout *from, long long count, size_t each,
                                  const char *entry, const char *parameter);

SKUA_END_DECLS

#endif
