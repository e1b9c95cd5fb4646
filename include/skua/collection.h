/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collection.h - collections of objects of one class: arrays and groups.
 *
 * One PE creates a collection. The value that names it is valid immediately and may be sent in
 * messages. Messages to elements that are still being created wait for them. Functions that inspect
 * the local part of a collection (skua_object_local(), skua_collection_local_count(),
 * skua_collection_each(), skua_home(), skua_section_create()) wait until the elements that are
 * created with the collection exist. A user thread lets other threads run meanwhile; in an entry or
 * a handler only constructors of collections, timers and channel callbacks run. Collections that
 * `begin` of skua_program() creates exist on each PE before anything else of the program runs
 * there.
 *
 *   group           one member on every PE; its index is the PE
 *   process group   one member in every process; its index is the process. Its entries run on
 *                   the first PE of the process, one at a time. All PEs of the process may
 *                   access its memory (skua_object_local()) and synchronise by C11 atomics.
 *   array           elements with indices of one to six integers, or of byte strings (dims 0),
 *                   dense or sparse, on PEs that a *map* chooses
 *
 * The map gives each index its *home*: the PE on which the element is created and which tracks its
 * location. Elements may migrate (skua_migrate()). A PE caches the locations of the elements that
 * it sends to and stores nothing about others.
 */
#ifndef SKUA_COLLECTION_H
#define SKUA_COLLECTION_H

#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/collective.h>
#include <skua/completion.h>
#include <skua/object.h>
#include <skua/pe.h>

SKUA_BEGIN_DECLS

/* ---- groups ------------------------------------------------------------------- */

/** Creates a group: one member on every PE. The constructor of each member gets @p data. */
SKUA_API skua_collection skua_group_create(skua_class of, const void *data, size_t bytes);

/** Creates a process group: one member in every process. The constructor of each member
 *  gets @p data. */
SKUA_API skua_collection skua_process_group_create(skua_class of, const void *data, size_t bytes);

/** Returns the member of a group that is on the calling PE, or that of a process group in its
 *  process: skua_object_local() for a group, in a quarter of its instructions. Returns NULL in
 *  `begin` of skua_program() if the group does not exist on the PE yet. A call for a collection of
 *  another kind ends the job with an error. Otherwise the call waits for the creation of the
 *  group. The pointer is valid until the group is destroyed. */
SKUA_API void *skua_group_local(skua_collection group);

/* ---- maps --------------------------------------------------------------------- */

/** The bounds of a dense array: lower <= index < upper in each dimension. */
typedef struct {
    int     dims;
    int32_t lower[6], upper[6];
} skua_range;

/** A map: returns the home PE of an index. @p range is empty (dims 0) for an array without
 *  bounds. */
typedef int (*skua_map_fn)(const skua_index *index, const skua_range *range, const int32_t *arg);

/** The predefined kinds of maps. */
enum {
    SKUA_MAP_DEFAULT = 0, /* block for a dense array, else hash */
    SKUA_MAP_BLOCK,  /* consecutive indices in row-major order share a PE, equally many on each */
    SKUA_MAP_CYCLIC, /* blocks of arg[0] (or 1) indices in row-major order, round robin */
    SKUA_MAP_HASH,   /* by a hash of the index, evenly distributed */
    SKUA_MAP_MATRIX, /* 2-D block-cyclic as in ScaLAPACK: arg = rows and columns of the PE grid,
                        rows and columns of a block; 0: chosen by the runtime */
    SKUA_MAP_USER    /* first kind of skua_map_register() */
};

/** A kind of map and its arguments. */
typedef struct {
    uint32_t kind;
    int32_t  arg[4];
} skua_map;

/** Registers a map of the program, before skua_main(). Returns its `kind`. */
SKUA_API uint32_t skua_map_register(const char *name, skua_map_fn fn);

/* ---- arrays ------------------------------------------------------------------- */

/** The flags of an array. */
enum {
    /** Elements may be inserted. Messages to elements that do not exist yet wait for them. */
    SKUA_ARRAY_OPEN = 1,

    /** A message to an element that does not exist creates it. */
    SKUA_ARRAY_ON_DEMAND = 2,
};

/** The definition of an array. */
typedef struct {
    size_t     size;  /* sizeof(skua_array_def); 0: its size in version 1.0 */
    int        dims;  /* 1 to 6; 0: byte strings */
    skua_range range; /* the elements created with the array; dims 0: none */
    skua_map   map;
    unsigned   flags;
} skua_array_def;

/** Creates an array. The constructor of each element gets @p data. */
SKUA_API skua_collection skua_array_create(skua_class of, const skua_array_def *def,
                                           const void *data, size_t bytes);

/** Creates a dense one-dimensional array of @p n elements with the block map. */
SKUA_API skua_collection skua_array_create1(skua_class of, int n, const void *data, size_t bytes);

/** Creates a dense array of @p n x @p m elements with the block map. */
SKUA_API skua_collection skua_array_create2(skua_class of, int n, int m, const void *data,
                                            size_t bytes);

/** Creates a dense array of @p n x @p m x @p k elements with the block map. */
SKUA_API skua_collection skua_array_create3(skua_class of, int n, int m, int k, const void *data,
                                            size_t bytes);

/**
 * Creates an element of an open array on @p pe, or at its home (SKUA_ANY_PE).
 *
 * The insertion happens before everything that causally follows the call: on this PE, or on any PE
 * that learns of it through messages, reductions or broadcasts. Broadcasts to the array that are
 * started after the insertion reach the element exactly once, wherever it migrates; so do messages
 * and section multicasts. The array may be closed immediately. The element takes part in the
 * reductions of the array from the first one that this PE has not passed on to its parent in the
 * tree: therefore in all to which no element contributed before the call.
 *
 * A broadcast that was started before the insertion may also reach the element, if that broadcast
 * is not known on this PE yet. The PE that created the array always knows it; other PEs do after a
 * reduction to which elements contributed when they had received the broadcast.
 *
 * The index of a destroyed element may be used again when its home has been notified of the
 * destruction, for example after quiescence.
 */
SKUA_API void skua_array_insert(skua_ref element, int pe, const void *data, size_t bytes);

/** Closes an array: no more insertions. From then on a message to an element that does not exist is
 *  an error, and so is one that waits for such an element already. Insertions on any PE that
 *  causally precede the call are carried out first. An insertion on a PE that has been notified of
 *  the closing is an error. */
SKUA_API void skua_array_close(skua_collection array);

/** Returns the home PE of an element. */
SKUA_API int skua_home(skua_ref element);

/** Destroys a collection and all its objects, on all PEs. Any PE may call it; messages to its
 *  objects are then an error. */
SKUA_API void skua_collection_destroy(skua_collection all);

/** Returns the number of objects of a collection that are on the calling PE. */
SKUA_API size_t skua_collection_local_count(skua_collection all);

/** Calls @p fn for each object of a collection that is on the calling PE. */
SKUA_API void skua_collection_each(skua_collection all, void (*fn)(void *self, void *arg),
                                   void           *arg);

/* ---- reductions ---------------------------------------------------------------- */

/**
 * Contributes to a reduction over all objects of @p self's collection. The n-th call of each object
 * belongs to the n-th reduction; several may be in flight. All contributions have the same operator
 * and type and, except with SKUA_CONCAT and SKUA_SET, the same count. The result goes to the
 * completion @p done; if the contributions name different completions, to one of them that is not
 * skua_done_nothing().
 *
 * An element that is inserted takes part from the reduction that is current on the inserting PE;
 * any other new object from the reduction that is current on its own PE. An object that migrates or
 * is destroyed meanwhile is counted at most once.
 *
 * While a collection has no objects, no reduction takes place and no completion happens.
 */
SKUA_HOT_API void skua_contribute_to(void *self, skua_op op, skua_type type, const void *data,
                                     size_t count, const skua_completion *done);

/** Contributes to a reduction over all objects of @p self's collection, as skua_contribute_to()
 *  does, with the completion passed by value. */
static inline void skua_contribute(void *self, skua_op op, skua_type type, const void *data,
                                   size_t count, skua_completion done)
{
    skua_contribute_to(self, op, type, data, count, &done);
}

/** A contribution to a reduction: `count` elements of a type at `data`, and the operator that
 *  combines them. skua_contribution_make() makes it. It is a plain value: it has no `size` member
 *  and will not grow. */
typedef struct {
    skua_op     op;
    skua_type   type;
    const void *data;
    size_t      count;
} skua_contribution;

/** Returns a contribution of @p count elements at @p data. */
static inline skua_contribution skua_contribution_make(skua_op op, skua_type type, const void *data,
                                                       size_t count)
{
    skua_contribution contribution = {op, type, data, count};
    return contribution;
}

/** Contributes no data to a reduction over all objects of @p self's collection: @p done happens
 *  when every object has contributed. */
SKUA_API void skua_contribute_nothing(void *self, skua_completion done);

/** Finds the next contribution in a result of SKUA_SET. *at is NULL before the first call. Sets *at
 *  and *length. Returns false at the end. */
SKUA_API bool skua_set_next(const void *result, size_t bytes, const void **at, size_t *length);

/** Statistics of a set of numbers: a contribution of type SKUA_DOUBLE, count SKUA_STATISTICS_COUNT,
 *  operator SKUA_STATISTICS. */
typedef struct {
    double n, mean, m2; /* m2: sum of squared deviations from the mean */
    double min, max;
} skua_statistics;

/** The number of doubles in a skua_statistics. */
#define SKUA_STATISTICS_COUNT 5

/** Returns the statistics of a single number. */
static inline skua_statistics skua_statistics_of(double value)
{
    skua_statistics statistics = {1, value, 0, value, value};
    return statistics;
}

SKUA_END_DECLS

#endif
