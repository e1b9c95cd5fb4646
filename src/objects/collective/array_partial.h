/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array_partial.h - the partial results of the reductions of an array, for the files of
 * array_reduction.h: contributions and reports (array_reduction.c), and elements that come and go
 * (array_reduction_lifecycle.c).
 */
#ifndef SKI_ARRAY_PARTIAL_H
#define SKI_ARRAY_PARTIAL_H

#include "base/assert.h"
#include "base/config.h"
#include "core/collective/pe_tree.h"
#include "objects/collective/reduction_list.h"
#include "objects/model/collection.h"

/* The reductions of a collection, as one PE sees them. */
struct ski_array_reduction {
    uint32_t first;    /* the first reduction that this PE has not reported */
    int64_t  expected; /* elements created less destroyed here, before `first` */
    struct ski_reduction_partial *partials; /* from `first` on, as far as known, by number; at the
                                           root also older ones that wait for late reports */
    uint64_t active;                        /* children, by bit, that report without a start */
    bool     told_active;                   /* the parent counts this PE as active */
};

/* Children of a PE at most: `active` has a bit for each. */
#define SKI_ARRAY_PARTIAL_CHILDREN 31 /* in each of two levels: see pe_tree.h */

/* The partial result of a reduction of an array in progress. */
struct ski_array_partial {
    struct ski_reduction_partial result; /* its `contributions`: in the reports that have arrived */
    bool                         started;  /* some element has contributed, on any PE */
    bool                         reported; /* at the root: only late reports are missing */
    uint64_t                     in;       /* children, by bit, that have reported */
    int64_t adjust;   /* deletions that concern this and later reductions, negative */
    int64_t expected; /* by the reports that have arrived */
    union {
        struct {
            uint32_t done;  /* elements here that have contributed */
            uint32_t given; /* contributions made here */
        };
        uint64_t both; /* counts one of each with one addition */
    };
    uint64_t like_double; /* `like`, if this sums one double */
    uint64_t like; /* the signature of contributions that need no check, only to be combined ... */
    skua_op_fn fn; /* ... with this function */
};

/* A report to the parent or, late, to the root; the data follows. */
struct ski_array_report {
    _Alignas(32) uint64_t id;
    uint32_t                  number;
    uint8_t                   late, active, filled, zero;
    struct ski_reduction_spec spec;
    int64_t                   contributions, expected;
    skua_completion           to;
    uint32_t                  heard; /* broadcasts that the sender knows of */
};

/* A reduction has started; or, with no number, the sender is no longer active. */
struct ski_array_start {
    uint64_t id;
    uint32_t number;
    uint32_t heard; /* broadcasts that the sender knows of */
};

#define SKI_ARRAY_PARTIAL_NOT_LIKE UINT64_MAX /* is no signature */

/** Returns the position of this PE in the tree of a collection. */
static inline struct ski_pe_tree ski_array_reduction_tree(const struct ski_collection *all)
{
    int arity;

    ski_assert(ski_config.tree_arity > 0);
    arity = (int)(ski_config.tree_arity < SKI_ARRAY_PARTIAL_CHILDREN ? ski_config.tree_arity
                                                                     : SKI_ARRAY_PARTIAL_CHILDREN);

    return ski_pe_tree_at(all->self->job, all->self->pe, all->root, arity);
}

/* A partial result to which no element has contributed. */
static const struct ski_array_partial ski_array_partial_fresh = {
    .like_double = SKI_ARRAY_PARTIAL_NOT_LIKE, .like = SKI_ARRAY_PARTIAL_NOT_LIKE};

_Static_assert(offsetof(struct ski_array_partial, result) == 0,
               "an entry of the list of partial results is the record that begins with it");

/** Returns the record of an entry of the list of partial results; NULL for NULL. */
static inline struct ski_array_partial *ski_array_partial_of(struct ski_reduction_partial *result)
{
    return (struct ski_array_partial *)result;
}

/** Returns the link to the partial result of reduction @p number, at or after @p at; it is added if
 * it is new. */
static inline struct ski_reduction_partial **ski_array_partial_seek(
    struct ski_reduction_partial **at, uint32_t number)
{
    return ski_reduction_list_seek(at, number, &ski_array_partial_fresh,
                                   sizeof ski_array_partial_fresh);
}

/** Returns the partial result of reduction @p number, which is added if it is new. */
static inline struct ski_array_partial *ski_array_partial_get(struct ski_array_reduction *r,
                                                              uint32_t                    number)
{
    return ski_array_partial_of(*ski_array_partial_seek(&r->partials, number));
}

/** Marks a reduction as started, and notifies the children that are not active. */
void ski_array_reduction_start(struct ski_collection *all, struct ski_array_partial *partial);

/** Reports all reductions that are complete on this PE. */
void ski_array_reduction_advance(struct ski_collection *all);

/** Reports to the root what a migrated element adds to a reduction that this PE has reported. */
void ski_array_reduction_send_late(struct ski_collection *all, uint32_t number,
                                   const struct ski_array_report *report, const void *data,
                                   size_t bytes);

/** Advances after an element has gone: a reduction may have waited for it alone. */
void ski_array_reduction_removed(struct ski_collection *all);

#endif
