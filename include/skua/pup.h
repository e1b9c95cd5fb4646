/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pup.h - packing and unpacking of objects: one function describes the state of an object.
 *
 * The function names each field once, and is called for three purposes: to pack the object when it
 * migrates, to unpack it at the destination in zeroed memory, and, where the runtime needs it in
 * advance, to compute the size:
 *
 * @code
 *     static void pup(skua_pup *p, void *self)
 *     {
 *         struct block *b = self;
 *
 *         skua_pup_value(p, &b->n);
 *         skua_pup_memory(p, &b->u, b->n * sizeof *b->u);
 *         skua_pup_string(p, &b->name);
 *     }
 * @endcode
 *
 * A length is processed before the data that it measures. After packing, the class's `destroy`
 * frees the memory of the object at the source, as when it is destroyed. For one migration the
 * function packs once and unpacks once; it may compute the size any number of times.
 *
 * The fields that are unpacked must be those that were packed: in the same order, each with the
 * same size. A difference in the total size ends the job in every build. With the setting
 * `checked_pup` (on in builds with assertions) each field is packed with its name, the text of the
 * macro's argument without a leading `&`, and the first difference ends the job with an error that
 * names the class, the index, the field and both sides. Fields that have different texts where they
 * are packed and where they are unpacked get a common name by skua_pup_bytes_named() and the other
 * `_named` functions.
 *
 * Memory that an object owns comes from malloc(), or from skua_buffer_alloc() if its class is
 * SKUA_CLASS_BY_POINTER (object.h); unpacking allocates it in the same way. All functions are
 * called within a `pup` function, with the @p p that it got.
 */
#ifndef SKUA_PUP_H
#define SKUA_PUP_H

#include <stdbool.h>
#include <stddef.h>

#include <skua/api.h>

SKUA_BEGIN_DECLS

/** The state of a packing, unpacking or size computation. */
typedef struct skua_pup skua_pup;

/** Packs or unpacks one variable, of any type without pointers; @p variable is its address. A
 *  variable that is an array is packed as a whole. */
#define skua_pup_value(p, variable)                                                                \
    skua_pup_bytes_named((p), (variable), sizeof *(variable), #variable)

/** Packs or unpacks @p count consecutive variables of any type without pointers; @p first is the
 *  address of the first one. */
#define skua_pup_values(p, first, count)                                                           \
    skua_pup_bytes_named((p), (first), (size_t)(count) * sizeof *(first), #first)

/** Packs or unpacks @p bytes at @p data, or counts them, depending on the purpose of the call of
 *  the `pup` function. In errors their name is the text of @p data. */
#define skua_pup_bytes(p, data, bytes) skua_pup_bytes_named((p), (data), (bytes), #data)

/** Packs or unpacks memory of @p bytes that the object owns; @p pointer is the address of the
 *  pointer to it. Unpacking allocates the memory, or sets the pointer to NULL if @p bytes is 0. */
#define skua_pup_memory(p, pointer, bytes) skua_pup_memory_named((p), (pointer), (bytes), #pointer)

/** Packs or unpacks an array of @p count items of @p each bytes that the object owns, or no array:
 *  @p pointer is the address of the pointer to it, which may be NULL. Unpacking allocates the
 *  array, or sets the pointer to NULL. */
#define skua_pup_array(p, pointer, count, each)                                                    \
    skua_pup_array_named((p), (pointer), (count), (each), #pointer)

/** Packs or unpacks a string that the object owns, or none; @p string is the address of the pointer
 *  to it, which may be NULL. Unpacking allocates the string, or sets the pointer to NULL. */
#define skua_pup_string(p, string) skua_pup_string_named((p), (string), #string)

/** Packs or unpacks a part of the object by the function @p pup of its type, which gets @p p and
 *  @p part, the address of the part. In errors the text of @p part precedes the names of its
 *  fields. */
#define skua_pup_with(p, pup, part)                                                                \
    (skua_pup_begin((p), #part), (pup)((p), (part)), skua_pup_end(p))

/** Packs or unpacks @p bytes at @p data under a name of the caller's choice, which must outlive the
 *  migration; NULL is a field without a name, which is not compared by name. */
SKUA_API void skua_pup_bytes_named(skua_pup *p, void *data, size_t bytes, const char *name);

/** Packs or unpacks memory that the object owns as skua_pup_memory() does, under a name of the
 *  caller's choice, which must outlive the migration. */
SKUA_API void skua_pup_memory_named(skua_pup *p, void *pointer, size_t bytes, const char *name);

/** Packs or unpacks an array that the object owns as skua_pup_array() does, under a name of the
 *  caller's choice, which must outlive the migration. */
SKUA_API void skua_pup_array_named(skua_pup *p, void *pointer, long long count, size_t each,
                                   const char *name);

/** Packs or unpacks a string that the object owns as skua_pup_string() does, under a name of the
 *  caller's choice, which must outlive the migration. */
SKUA_API void skua_pup_string_named(skua_pup *p, char **string, const char *name);

/** Begins a part of the object: until skua_pup_end(), errors give @p name, which must outlive the
 *  migration, in front of the names of fields. Parts may be nested. */
SKUA_API void skua_pup_begin(skua_pup *p, const char *name);

/** Ends the part of the object that the last skua_pup_begin() began. */
SKUA_API void skua_pup_end(skua_pup *p);

/** Returns true while the size of the object is being computed. */
SKUA_API bool skua_pup_sizing(const skua_pup *p);

/** Returns true while the object is being packed. */
SKUA_API bool skua_pup_packing(const skua_pup *p);

/** Returns true while the object is being unpacked. */
SKUA_API bool skua_pup_unpacking(const skua_pup *p);

/** The `pup` function of a class whose objects can be copied byte by byte: no pointers, nothing
 *  that is valid on one PE only. A class must name this function explicitly; objects of a class
 *  without a `pup` cannot migrate. @p self is the whole object. */
SKUA_API void skua_pup_plain(skua_pup *p, void *self);

SKUA_END_DECLS

#endif
