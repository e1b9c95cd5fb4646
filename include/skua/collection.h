/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collection.h - many objects of one class under one name: arrays and groups.
 *
 * A collection is created by one PE; the value that names it is good at once, and may be
 * sent.  Messages to objects that are still being made wait for them.  A call that looks at a
 * collection on its own PE (skua_object_here(), skua_collection_here(), skua_collection_each(),
 * skua_home(), skua_section_create()) waits until the objects that are created with it are
 * there.  In a user thread others run meanwhile; in an entry or a handler nothing of the program
 * runs but the constructors of collections, timers and the callbacks of channels.  What `begin`
 * of skua_program() creates is there on each PE before anything else of the program runs there.
 *
 *   group           one member on every PE, of index PE
 *   process group   one member in every process, of index process: its entries run on the
 *                   first PE of the process, one at a time; all PEs of the process may look
 *                   at its memory (skua_object_here()) and then agree with it by C's atomics
 *   array           objects under indices of one to six integers, or strings of bytes
 *                   (dims 0), dense or sparse, on PEs that a *map* chooses
 *
 * The map gives each index its *home*, where an element is created and where those ask
 * who do not know where it is.  Elements may move away (skua_migrate()); a PE remembers
 * where those are that it talks to, nothing of others.
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

SKUA_API skua_collection skua_group_create(skua_class of, const void *data, size_t bytes);
SKUA_API skua_collection skua_process_group_create(skua_class of, const void *data, size_t bytes);

/* ---- maps --------------------------------------------------------------------- */

/** The bounds of a dense array: lower <= index < upper in each dimension. */
typedef struct {
    int     dims;
    int32_t lower[6], upper[6];
} skua_range;

/** The home of an index.  @p range is empty (dims 0) in an array without one. */
typedef int (*skua_map_fn)(const skua_index *index, const skua_range *range, const int32_t *arg);

enum {
    SKUA_MAP_DEFAULT = 0, /* block for a dense array, else hash                           */
    SKUA_MAP_BLOCK,       /* neighbours in row-major order together, as many on each PE   */
    SKUA_MAP_CYCLIC,      /* in row-major order, arg[0] (or 1) at a time, PE by PE        */
    SKUA_MAP_HASH,        /* anywhere, evenly                                             */
    SKUA_MAP_MATRIX,      /* 2-D block-cyclic: arg = rows, columns of PEs; rows, columns of
                             a block.  As ScaLAPACK's; 0: chosen                          */
    SKUA_MAP_USER         /* and beyond: skua_map_register()                              */
};

/** A map and what it is given. */
typedef struct {
    uint32_t kind;
    int32_t  arg[4];
} skua_map;

/** Register a map of one's own, before skua_main(); the value is its `kind`. */
SKUA_API uint32_t skua_map_register(const char *name, skua_map_fn fn);

/* ---- arrays ------------------------------------------------------------------- */

enum {
    SKUA_ARRAY_OPEN = 1,      /* elements may be inserted: messages wait for those that do
                                 not exist yet                                            */
    SKUA_ARRAY_ON_DEMAND = 2, /* a message to an element that does not exist creates it   */
};

typedef struct {
    int        dims;  /* 1 to 6; 0: strings of bytes                      */
    skua_range range; /* all of it is created; dims 0: nothing is at first */
    skua_map   map;
    unsigned   flags;
} skua_array_def;

/** Create an array; each element's constructor gets @p data. */
SKUA_API skua_collection skua_array_create(skua_class of, const skua_array_def *def,
                                           const void *data, size_t bytes);

/** The usual ones: n, n x m, n x m x k elements in blocks. */
SKUA_API skua_collection skua_array1(skua_class of, int n, const void *data, size_t bytes);
SKUA_API skua_collection skua_array2(skua_class of, int n, int m, const void *data, size_t bytes);
SKUA_API skua_collection skua_array3(skua_class of, int n, int m, int k, const void *data,
                                     size_t bytes);

/**
 * Create an element of an open array on @p pe, or at its home (SKUA_ANY_PE).
 *
 * The insertion comes before all that follows the call: on this PE, or on any PE that hears of it
 * by a chain of messages, a reduction or a broadcast.  Broadcasts to the array that are called
 * for after it reach the element, each once, wherever it migrates; so do messages and multicasts
 * of sections; the array may be closed at once.  The element takes part in the reductions of
 * the array from the first on that this PE has not passed on to its parent in the tree, so in all
 * to which no object has contributed before the call.
 *
 * A broadcast that was called for before may reach the element too, if this PE does not know of
 * it yet.  It does on the PE that created the array, and after a reduction to which elements
 * contributed when they had that broadcast.
 *
 * Under an index whose element was deleted another may be inserted when its home knows of the
 * deletion: after quiescence, say.
 */
SKUA_API void skua_array_insert(skua_ref element, int pe, const void *data, size_t bytes);

/** No more insertions: a message to an element that does not exist is an error from now
 *  on, also one that waits for it.  Insertions that the call follows, on any PE, are carried out
 *  before.  An insertion on a PE that has heard of the closing is an error. */
SKUA_API void skua_array_close(skua_collection array);

/** The PE that is the home of an element. */
SKUA_API int skua_home(skua_ref element);

/** Delete a collection and all its objects. */
SKUA_API void skua_collection_delete(skua_collection all);

/** How many objects of a collection are on this PE; and what @p fn makes of each. */
SKUA_API size_t skua_collection_here(skua_collection all);
SKUA_API void   skua_collection_each(skua_collection all, void (*fn)(void *self, void *arg),
                                     void           *arg);

/* ---- reductions ---------------------------------------------------------------- */

/**
 * Contribute to a reduction over all objects of @p self's collection.  Each object
 * contributes once to each reduction, in its own order: its n-th call belongs to the n-th
 * reduction, and several may be in flight.  All give the same operator, type and, but for
 * SKUA_CONCAT and SKUA_SET, count.  The result goes to the `done` that was given; where
 * contributions differ in it, to one that is not nothing.
 *
 * Objects that are inserted meanwhile take part from the reduction that is current on the PE
 * that inserts them, and others that are created from the one that is current on theirs; those
 * that move or are deleted meanwhile are counted once or not at all.
 *
 * Contributions make a reduction: while a collection has no object, none takes place, and no
 * completion happens.
 */
SKUA_HOT_API void skua_contribute_to(void *self, skua_op op, skua_type type, const void *data,
                                     size_t count, const skua_completion *done);

static inline void skua_contribute(void *self, skua_op op, skua_type type, const void *data,
                                   size_t count, skua_completion done)
{
    skua_contribute_to(self, op, type, data, count, &done);
}

/** With nothing: `done` happens when all have come here. */
SKUA_API void skua_contribute_nothing(void *self, skua_completion done);

/** One contribution after the other, in any order; type SKUA_BYTE. */
static const skua_op SKUA_CONCAT = {UINT32_C(0x80000000)};

/** The same, each preceded by its length: see skua_set_next(). */
static const skua_op SKUA_SET = {UINT32_C(0x80000001)};

/** The contributions in the result of SKUA_SET: *at is NULL at first; false at the end. */
SKUA_API bool skua_set_next(const void *result, size_t bytes, const void **at, size_t *length);

/** Statistics of numbers: contribute one of these, type SKUA_DOUBLE, count
 *  SKUA_STATISTICS_COUNT, operator SKUA_STATISTICS. */
typedef struct {
    double n, mean, m2; /* m2: sum of squared distances to the mean */
    double min, max;
} skua_statistics;

#define SKUA_STATISTICS_COUNT 5
static const skua_op SKUA_STATISTICS = {10};

static inline skua_statistics skua_statistics_of(double value)
{
    skua_statistics statistics = {1, value, 0, value, value};
    return statistics;
}

SKUA_END_DECLS

#endif
