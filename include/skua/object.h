/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object.h - message-driven objects: classes, entries, references.
 *
 * A *class* defines how its objects are constructed and which messages they accept: its *entries*.
 * An object lives on one PE and runs one message at a time. Other objects refer to it by a
 * *reference*, a plain value that may be stored and sent. A reference can be used to invoke an
 * entry wherever the object is, and remains valid when it migrates.
 *
 * Objects exist singly (chares, below) or in collections (collection.h): arrays and groups. Every
 * process registers the same classes and entries in the same order, before skua_main(). Libraries
 * that register classes of their own share the PEs independently of each other.
 *
 * All functions are called on a PE. Misuse ends the job with an error that names class, index and
 * PE: an entry of another class, an index of the wrong dimension, a message to a destroyed object.
 * A message to a chare that was destroyed so long ago that its home has dropped its tombstone is
 * dropped, counted (skua_stats.dropped_messages) and, the first few times, logged as a warning.
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
#include <skua/status.h>

SKUA_BEGIN_DECLS

/* ---- classes ---------------------------------------------------------------- */

/** A registered class: a value that is the same in every process. A zeroed value is not a class. */
typedef struct {
    uint32_t id;
} skua_class;

/** A registered entry of a class: a value that is the same in every process. A zeroed value is not
 *  an entry. */
typedef struct {
    uint32_t id;
} skua_entry;

/** Flags of a class, combined by |. */
enum {
    /** The objects of the class and all memory that they own are in the arena: the runtime
     *  allocates the objects there, and the program the rest, by skua_buffer_alloc() or, with the
     *  setting `malloc_arena`, by malloc(). An object that migrates to a PE that shares the arena
     *  keeps its address: neither `pup` nor `destroy` is called, and nothing is copied. Processes
     *  load code and static variables at addresses of their own, so an object may point to neither.
     *  The class has a `pup` as well, for migrations to PEs that do not share memory with the
     *  source. With the setting `checked_pup` the memory that `pup` names must be in the arena. */
    SKUA_CLASS_BY_POINTER = 1,
};

/** The definition of a class. All functions may be NULL. The memory of an object is zeroed and
 *  aligned to 16 bytes before `construct` gets the data that the creator passed.
 *
 *  An object of a class without `destroy` whose `pup` names nothing but fields of the object, in
 *  ascending order, moves with its memory to a PE that shares the arena: nothing is copied, the
 *  bytes that `pup` does not name are zeroed as in a new object, and `pup` runs at the destination
 *  as if it unpacked the rest. */
typedef struct {
    size_t      size; /* sizeof(skua_class_def); 0: its size in version 1.0 */
    const char *name;
    size_t      bytes; /* of an object */
    void (*construct)(void *self, const void *data, size_t bytes);
    void (*destroy)(void *self);
    void (*pup)(skua_pup *p, void *self); /* packs objects that migrate; skua_pup_plain: bytewise */
    unsigned flags;                       /* SKUA_CLASS_..., or 0 */
    void (*moved)(void *self); /* called on the new PE after each migration, before any entry */
} skua_class_def;

/** Registers a class, before skua_main(), under the rules of skua_handler_register(). @p def is
 *  copied; its name must stay valid for the life of the program. Returns the class, for the
 *  functions that register its entries and create its objects. */
SKUA_API skua_class skua_class_register(const skua_class_def *def);

/** An entry that owns its message, as a handler does. */
typedef void (*skua_entry_fn)(void *self, skua_msg *msg);

/** An entry that reads its data, which are valid until it returns. */
typedef void (*skua_method_fn)(void *self, const void *data, size_t bytes);

/** Flags of an entry, combined by |. */
enum {
    SKUA_ENTRY_THREADED  = 1, /* runs in a user thread of its own and may wait */
    SKUA_ENTRY_EXPEDITED = 2, /* its messages bypass the queue */
    SKUA_ENTRY_INLINE    = 4, /* called directly, as a function, if the object is local */
    SKUA_ENTRY_SYNC      = 8, /* returns a result, see skua_invoke_reply(); methods only */

    /** Equivalent to SKUA_ENTRY_EXPEDITED: messages are received only by the PE's own scheduler, so
     *  this is the fastest delivery. */
    SKUA_ENTRY_IMMEDIATE = SKUA_ENTRY_EXPEDITED,

    /** A message to an array element that does not exist creates the element at its home, as every
     *  message does in an array that is SKUA_ARRAY_ON_DEMAND. */
    SKUA_ENTRY_CREATE_HOME = 16,

    /** A message to an array element that does not exist creates the element on the sending PE,
     *  unless other messages wait for the element at its home. */
    SKUA_ENTRY_CREATE_HERE = 32,
};

/** Registers an entry of a class that owns its message, before skua_main(), under the rules of
 *  skua_handler_register(). The name must stay valid for the life of the program. Returns the
 *  entry. */
SKUA_API skua_entry skua_entry_register(skua_class of, const char *name, skua_entry_fn fn,
                                        unsigned flags);

/** Registers an entry of a class that reads its data, before skua_main(), under the rules of
 *  skua_handler_register(). The name must stay valid for the life of the program. Returns the
 *  entry. */
SKUA_API skua_entry skua_method_register(skua_class of, const char *name, skua_method_fn fn,
                                         unsigned flags);

/* ---- references ------------------------------------------------------------- */

/** The largest size of an index in bytes. */
#define SKUA_INDEX_MAX 48

/** An index identifies an object of a collection: one to six integers, or a byte string. */
typedef struct {
    uint32_t bytes;
    union {
        int32_t       x[6];
        unsigned char raw[SKUA_INDEX_MAX];
    } at;
} skua_index;

/** Returns a one-dimensional index. */
static inline skua_index skua_index1(int i)
{
    skua_index index = {4, {{i}}};
    return index;
}

/** Returns a two-dimensional index. */
static inline skua_index skua_index2(int i, int j)
{
    skua_index index = {8, {{i, j}}};
    return index;
}

/** Returns a three-dimensional index. */
static inline skua_index skua_index3(int i, int j, int k)
{
    skua_index index = {12, {{i, j, k}}};
    return index;
}

/** Returns a four-dimensional index. */
static inline skua_index skua_index4(int i, int j, int k, int l)
{
    skua_index index = {16, {{i, j, k, l}}};
    return index;
}

/** Returns a five-dimensional index. */
static inline skua_index skua_index5(int i, int j, int k, int l, int m)
{
    skua_index index = {20, {{i, j, k, l, m}}};
    return index;
}

/** Returns a six-dimensional index. */
static inline skua_index skua_index6(int i, int j, int k, int l, int m, int n)
{
    skua_index index = {24, {{i, j, k, l, m, n}}};
    return index;
}

/** Returns an index of @p bytes at @p data. The use of an index of more than SKUA_INDEX_MAX bytes
 *  ends the job. */
static inline skua_index skua_index_bytes(const void *data, size_t bytes)
{
    skua_index index = {(uint32_t)bytes, {{0}}};

    if (bytes <= SKUA_INDEX_MAX)
        memcpy(index.at.raw, data, bytes);
    return index;
}

/** A collection: an array or a group. The value is valid on every PE and may be sent in messages; a
 *  zeroed value names no collection. */
typedef struct {
    uint64_t id;
} skua_collection;

/** A reference to one object: its collection and its index. It is a plain value, valid on every PE,
 *  and may be stored and sent in messages; it stays valid while the object migrates. */
typedef struct {
    skua_collection of;
    skua_index      index;
} skua_ref;

/** Returns the reference to the element of @p array with this index. */
static inline skua_ref skua_element(skua_collection array, skua_index index)
{
    skua_ref ref = {array, index};
    return ref;
}

/** Returns the reference to element @p i of a one-dimensional array. */
static inline skua_ref skua_element1(skua_collection array, int i)
{
    skua_ref ref = {array, {4, {{i}}}};
    return ref;
}

/** Returns the reference to element (@p i, @p j) of a two-dimensional array. */
static inline skua_ref skua_element2(skua_collection array, int i, int j)
{
    skua_ref ref = {array, {8, {{i, j}}}};
    return ref;
}

/** Returns the reference to element (@p i, @p j, @p k) of a three-dimensional array. */
static inline skua_ref skua_element3(skua_collection array, int i, int j, int k)
{
    skua_ref ref = {array, {12, {{i, j, k}}}};
    return ref;
}

/** Returns the reference to the member of a group on @p pe, or of a process group in process
 *  @p pe. */
static inline skua_ref skua_member(skua_collection group, int pe)
{
    skua_ref ref = {group, {4, {{pe}}}};
    return ref;
}

/** Returns the collection of the object @p self, the pointer that its entries get. */
SKUA_API skua_collection skua_collection_of(const void *self);

/** Returns the index of the object @p self, the pointer that its entries get. */
SKUA_API skua_index skua_index_of(const void *self);

/** Returns the reference to the object @p self, the pointer that its entries get. */
SKUA_API skua_ref skua_ref_of(const void *self);

/** Returns the object if it is on the calling PE (a member of a process group: in the process),
 *  else NULL. The pointer is valid until the caller returns to the scheduler: the object may then
 *  migrate or be destroyed. The call waits for the creation of a collection that is not known on
 *  this PE yet (collection.h). */
SKUA_API void *skua_object_local(skua_ref ref);

/** Returns the PE that a message to an object would be sent to: its last known location. Returns
 *  the calling PE while the collection is not known there. */
SKUA_API int skua_location(skua_ref ref);

/* ---- invocation -------------------------------------------------------------- */

/** Invokes @p entry of an object with @p msg and transfers its ownership. The message may have a
 *  priority. Waits as skua_send() does. Messages from one PE to one object at one priority run in
 *  the order in which they were sent, even if the object migrates; docs/guide/objects.md lists the
 *  exceptions. */
SKUA_API void skua_invoke(skua_ref ref, skua_entry entry, skua_msg *msg);

/** Invokes @p entry of an object with a copy of @p bytes at @p data. */
SKUA_HOT_API void skua_invoke_copy_to(const skua_ref *ref, skua_entry entry, const void *data,
                                      size_t bytes);

/** Invokes @p entry of an object with a copy of @p bytes at @p data; the reference is passed by
 *  value. */
static inline void skua_invoke_copy(skua_ref ref, skua_entry entry, const void *data, size_t bytes)
{
    skua_invoke_copy_to(&ref, entry, data, bytes);
}

/** Invokes @p entry of an object with a copy of @p bytes at @p data and an integer priority. */
SKUA_API void skua_invoke_copy_prio(skua_ref ref, skua_entry entry, const void *data, size_t bytes,
                                    int32_t priority);

/** Calls a method directly, as a function, if the object is on the calling PE; the call
 *  overtakes queued messages, and the data remain the caller's. Otherwise equivalent to
 *  skua_invoke_copy(). */
SKUA_API void skua_invoke_now(skua_ref ref, skua_entry entry, const void *data, size_t bytes);

/** Invokes @p entry of every object of a collection, each with a message of its own that holds the
 *  data. All objects of an array receive its broadcasts in the same order. */
SKUA_API void skua_invoke_all(skua_collection all, skua_entry entry, const void *data,
                              size_t bytes);

/**
 * Invokes an entry that is SKUA_ENTRY_SYNC. The completion @p reply gets its result. To wait, in a
 * user thread or on the PE's own stack, use a future:
 *
 * @code
 *     skua_future answer = SKUA_FUTURE_INIT;
 *     const int  *n;
 *
 *     skua_invoke_reply(ref, entry, data, bytes, skua_done_future(&answer));
 *     n = skua_future_wait(&answer, NULL);
 * @endcode
 */
SKUA_API void skua_invoke_reply(skua_ref ref, skua_entry entry, const void *data, size_t bytes,
                                skua_completion reply);

/** Sets the result of the running SKUA_ENTRY_SYNC entry. An entry that returns without a result
 *  replies with 0 bytes. */
SKUA_API void skua_reply(const void *data, size_t bytes);

/** Defers the result of the running SKUA_ENTRY_SYNC entry. Returns the completion that delivers it,
 *  for a later skua_complete(). */
SKUA_API skua_completion skua_reply_later(void);

/** Returns a completion that invokes an entry of an object with the result. */
SKUA_API skua_completion skua_done_invoke(skua_ref ref, skua_entry entry);

/** Returns a completion that invokes an entry of all objects of a collection with the result. */
SKUA_API skua_completion skua_done_invoke_all(skua_collection all, skua_entry entry);

/* ---- life cycle ---------------------------------------------------------------- */

/** In place of a PE: the runtime chooses. */
#define SKUA_ANY_PE (-1)

/** Creates a chare (a single object) on @p pe, or on a PE with little load (SKUA_ANY_PE). The
 *  reference is valid immediately, on every PE. */
SKUA_API skua_ref skua_chare_create(skua_class of, int pe, const void *data, size_t bytes);

/** Creates a chare on the calling PE, whose constructor runs within the call, also in `begin` of
 *  skua_program(). Messages that the constructor sends are delivered as usual. */
SKUA_API skua_ref skua_chare_create_local(skua_class of, const void *data, size_t bytes);

/** Destroys the calling object at the end of the running entry. A member of a group can only be
 *  destroyed with its group. */
SKUA_API void skua_object_destroy(void *self);

/** Destroys an object when a message with this request reaches it. A member of a group can only be
 *  destroyed with its group. For an element of an on-demand array that does not exist, the request
 *  has no effect. */
SKUA_API void skua_object_destroy_ref(skua_ref ref);

/** Migrates an object to @p pe at the end of the running entry: the class's `pup` packs it, and
 *  unpacks it at the destination, unless the class is SKUA_CLASS_BY_POINTER and both PEs share
 *  memory; then `moved` of the class is called there. References stay valid. An object that data
 *  are being transferred to or from (a nocopy argument into memory that the object named, a put on
 *  an object channel) migrates when they have arrived; its entries may run meanwhile. Threaded
 *  entries that have not returned move with the object, which then keeps its address, as soon as
 *  all of them wait in something that moves (thread.h). If the program or a library is at another
 *  address in the process of @p pe, such an object stays where it is, and an error is logged once
 *  (SKUA_ERR_MISMATCH). An object of a class without `pup` cannot migrate, unless it has no bytes:
 *  the call ends the job with an error that names the class, on any number of PEs. */
SKUA_API void skua_migrate(void *self, int pe);

/** Migrates the object @p self from within one of its threaded entries, with the calling thread, to
 *  @p pe. Returns SKUA_OK on @p pe. Returns SKUA_PENDING on the calling PE if another entry of the
 *  object runs, or waits in something that does not move: the object migrates later, as with
 *  skua_migrate(). Returns SKUA_ERR_MISMATCH on the calling PE if the object stays, because the
 *  code of the program is at another address in the process of @p pe. A call outside of a threaded
 *  entry of the object ends the job with an error. */
SKUA_API skua_status skua_migrate_now(void *self, int pe);

SKUA_END_DECLS

#endif
