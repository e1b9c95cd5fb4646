/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object.h - objects that are driven by messages: classes, entries, references.
 *
 * A *class* says how its objects are made and what messages they understand: its
 * *entries*.  An object lives on one PE and is never entered by two messages at a time.
 * Others know it by a *reference*, a plain value that may be stored and sent: whoever
 * has one may invoke an entry, wherever the object is and wherever it moves.
 *
 * Objects come singly (chares, below) or in collections (collection.h): arrays, groups.
 * Classes and entries are registered before skua_main(), by every process in the same
 * order.  A program that only adds classes needs nothing else to share PEs with others:
 * libraries do not know of each other.
 *
 * All calls belong on a PE.  Misuse - an entry of another class, an index of the wrong
 * dimension, a message to an object that was deleted - ends the job with a line that
 * names class, index and PE.  A message to a single object that was deleted so long ago that
 * its home has forgotten it is dropped, counted (skua_stats.departed) and, the first few times,
 * warned of.
 */
#ifndef SKUA_OBJECT_H
#define SKUA_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <skua/api.h>
#include <skua/completion.h>
#include <skua/message.h>
#include <skua/pup.h>

SKUA_BEGIN_DECLS

/* ---- classes ---------------------------------------------------------------- */

typedef struct {
    uint32_t id;
} skua_class;

typedef struct {
    uint32_t id;
} skua_entry;

/** What a class is.  All functions may be NULL.  The memory of an object is zeroed, and
 *  aligned to 16 bytes, before `construct` gets the bytes that its creator gave. */
typedef struct {
    const char *name;
    size_t      bytes; /* of an object */
    void (*construct)(void *self, const void *data, size_t bytes);
    void (*destroy)(void *self);
    void (*pup)(skua_pup *p, void *self); /* for objects that move; skua_pup_plain: bytewise */
} skua_class_def;

/** Register a class; @p def is copied, its name must live as long as the program. */
SKUA_API skua_class skua_class_register(const skua_class_def *def);

/** An entry that owns its message, as a handler does. */
typedef void (*skua_entry_fn)(void *self, skua_msg *msg);

/** An entry that looks at the data, which is gone when it returns. */
typedef void (*skua_method_fn)(void *self, const void *data, size_t bytes);

enum {
    SKUA_ENTRY_THREADED  = 1, /* runs in a user thread of its own and may wait            */
    SKUA_ENTRY_EXPEDITED = 2, /* its messages pass the queue                              */
    SKUA_ENTRY_INLINE    = 4, /* called at once, like a function, where the object is here */
    SKUA_ENTRY_SYNC      = 8, /* gives an answer: see skua_invoke_reply(); methods only   */

    /* Nobody but the PE's own scheduler takes messages in, so there is nothing that could be
     * more immediate: the same under another name. */
    SKUA_ENTRY_IMMEDIATE = SKUA_ENTRY_EXPEDITED,

    /* A message to an element of an array that does not exist creates it, as all messages
     * do in an array that is SKUA_ARRAY_ON_DEMAND: at its home; or on the PE that sent the
     * message, unless other messages wait for the element at its home. */
    SKUA_ENTRY_CREATE_HOME = 16,
    SKUA_ENTRY_CREATE_HERE = 32,
};

SKUA_API skua_entry skua_entry_register(skua_class of, const char *name, skua_entry_fn fn,
                                        unsigned flags);
SKUA_API skua_entry skua_method_register(skua_class of, const char *name, skua_method_fn fn,
                                         unsigned flags);

/* ---- references ------------------------------------------------------------- */

/** Most bytes of an index. */
#define SKUA_INDEX_MAX 48

/** Which object of a collection: one to six integers, or a string of bytes. */
typedef struct {
    uint32_t bytes;
    union {
        int32_t       x[6];
        unsigned char raw[SKUA_INDEX_MAX];
    } at;
} skua_index;

static inline skua_index skua_index1(int i)
{
    skua_index index = {4, {{i}}};
    return index;
}

static inline skua_index skua_index2(int i, int j)
{
    skua_index index = {8, {{i, j}}};
    return index;
}

static inline skua_index skua_index3(int i, int j, int k)
{
    skua_index index = {12, {{i, j, k}}};
    return index;
}

static inline skua_index skua_index4(int i, int j, int k, int l)
{
    skua_index index = {16, {{i, j, k, l}}};
    return index;
}

static inline skua_index skua_index5(int i, int j, int k, int l, int m)
{
    skua_index index = {20, {{i, j, k, l, m}}};
    return index;
}

static inline skua_index skua_index6(int i, int j, int k, int l, int m, int n)
{
    skua_index index = {24, {{i, j, k, l, m, n}}};
    return index;
}

/** @p bytes of any kind, at most SKUA_INDEX_MAX: more ends the job where it is used. */
static inline skua_index skua_index_bytes(const void *data, size_t bytes)
{
    skua_index index = {(uint32_t)bytes, {{0}}};

    if (bytes <= SKUA_INDEX_MAX)
        memcpy(index.at.raw, data, bytes);
    return index;
}

/** An array, a group: all its objects. */
typedef struct {
    uint64_t id;
} skua_collection;

/** One object. */
typedef struct {
    skua_collection of;
    skua_index      index;
} skua_ref;

static inline skua_ref skua_element(skua_collection array, skua_index index)
{
    skua_ref ref = {array, index};
    return ref;
}

static inline skua_ref skua_element1(skua_collection array, int i)
{
    skua_ref ref = {array, {4, {{i}}}};
    return ref;
}

static inline skua_ref skua_element2(skua_collection array, int i, int j)
{
    skua_ref ref = {array, {8, {{i, j}}}};
    return ref;
}

static inline skua_ref skua_element3(skua_collection array, int i, int j, int k)
{
    skua_ref ref = {array, {12, {{i, j, k}}}};
    return ref;
}

/** The member of a group on a PE; of a process group: in a process. */
static inline skua_ref skua_member(skua_collection group, int pe)
{
    skua_ref ref = {group, {4, {{pe}}}};
    return ref;
}

/** What an object is in: its collection, its index, both.  @p self is what its entries
 *  get. */
SKUA_API skua_collection skua_collection_of(const void *self);
SKUA_API skua_index      skua_index_of(const void *self);
SKUA_API skua_ref        skua_ref_of(const void *self);

/** The object itself if it is on this PE (a member of a process group: in this process),
 *  else NULL.  It may be gone, or elsewhere, once the caller returns to the scheduler.  The call
 *  waits for the creation of a collection which this PE has not heard of (collection.h). */
SKUA_API void *skua_object_here(skua_ref ref);

/** The PE that a message to an object would be sent to: where this PE believes it to be.  Its
 *  own number while the object's collection is not known here. */
SKUA_API int skua_where(skua_ref ref);

/* ---- invocation -------------------------------------------------------------- */

/**
 * Let @p entry of an object run with @p msg, which is given away; waits as skua_send() does.  The
 * message may have a priority.  Messages from one PE to one object at one priority run in
 * the order of sending as long as the object does not move.
 */
SKUA_API void skua_invoke(skua_ref ref, skua_entry entry, skua_msg *msg);

/** The same with a copy of @p bytes at @p data. */
SKUA_HOT_API void skua_invoke_copy_to(const skua_ref *ref, skua_entry entry, const void *data,
                                      size_t bytes);

static inline void skua_invoke_copy(skua_ref ref, skua_entry entry, const void *data, size_t bytes)
{
    skua_invoke_copy_to(&ref, entry, data, bytes);
}

SKUA_API void skua_invoke_copy_prio(skua_ref ref, skua_entry entry, const void *data, size_t bytes,
                                    int32_t priority);

/** Call a method at once, like a function, with data that stay the caller's, if the object is
 *  here: it passes what is queued for the object.  Else as skua_invoke_copy(). */
SKUA_API void skua_invoke_now(skua_ref ref, skua_entry entry, const void *data, size_t bytes);

/** Every object of a collection, each with a message of its own that holds the data.
 *  Objects see the broadcasts of an array in one order, the same for all. */
SKUA_API void skua_invoke_all(skua_collection all, skua_entry entry, const void *data,
                              size_t bytes);

/**
 * Ask an entry that is SKUA_ENTRY_SYNC: @p reply happens with what it answers.  To wait,
 * in a user thread or on the PE's own stack, let the reply be a future:
 *
 *     skua_future answer = SKUA_FUTURE_INIT;
 *     skua_invoke_reply(ref, entry, data, bytes, skua_done_future(&answer));
 *     const int *n = skua_future_wait(&answer, NULL);
 */
SKUA_API void skua_invoke_reply(skua_ref ref, skua_entry entry, const void *data, size_t bytes,
                                skua_completion reply);

/** In such an entry: the answer.  One that returns without has answered nothing, 0 bytes. */
SKUA_API void skua_reply(const void *data, size_t bytes);

/** In such an entry: take the answer over, to be given later with skua_complete(). */
SKUA_API skua_completion skua_reply_later(void);

/** Completions (completion.h) that invoke an entry with the result: of one object, or of
 *  all objects of a collection.  And one that ends the job. */
SKUA_API skua_completion skua_done_invoke(skua_ref ref, skua_entry entry);
SKUA_API skua_completion skua_done_invoke_all(skua_collection all, skua_entry entry);

/* ---- life --------------------------------------------------------------------- */

#define SKUA_ANY_PE (-1)

/** Create an object of its own on @p pe, or on a PE that has little to do.  It may be
 *  invoked at once, also by others. */
SKUA_API skua_ref skua_chare_create(skua_class of, int pe, const void *data, size_t bytes);

/** The same on this PE and at once: its constructor runs inside of the call, also in `begin`
 *  of skua_program().  What that sends is delivered as always. */
SKUA_API skua_ref skua_chare_create_here(skua_class of, const void *data, size_t bytes);

/** Delete an object: oneself, at the end of the running entry; or any, when a message
 *  reaches it.  A member of a group is deleted with its group only. */
SKUA_API void skua_delete(void *self);
SKUA_API void skua_delete_ref(skua_ref ref);

/** Move to another PE at the end of the running entry: packed by the class's `pup`,
 *  unpacked there, and found by whoever sends to it.  Not with user threads inside.  An object
 *  of a class without `pup`, unless it has no bytes at all, does not move: the call ends the job
 *  with the name of its class, on any number of PEs. */
SKUA_API void skua_migrate(void *self, int pe);

SKUA_END_DECLS

#endif
