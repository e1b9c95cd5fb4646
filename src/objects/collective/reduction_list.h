/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduction_list.h - the partial results of reductions in progress, on one PE.
 *
 * The reductions of an array and those of a section are numbered, and several may be in progress at
 * a time.  Each has a partial result, in which the contributions that have arrived are combined.
 * The partial results form a list in the order of their numbers without repetition; the link to the
 * first, NULL if there is none, is the list.  A module whose reductions need more than
 * `struct ski_reduction_partial` begins its own record with one.
 */
#ifndef SKI_REDUCTION_LIST_H
#define SKI_REDUCTION_LIST_H

#include "objects/collective/reduction_buffer.h"
#include "objects/model/seqnum.h"

/* The partial result of a reduction in progress. */
struct ski_reduction_partial {
    struct ski_reduction_partial *next;
    uint32_t                      number;
    uint64_t                      contributions; /* as the owner of the list counts them */
    struct ski_reduction_buffer   buffer;
};

/** Inserts a partial result of reduction @p number at the link @p at.  It begins as a copy of the
 * @p bytes at @p fresh. */
void ski_reduction_list_insert(struct ski_reduction_partial **at, uint32_t number,
                               const void *fresh, size_t bytes);

/** Removes the first partial result of @p list, which is complete, and performs its completion,
 * which may run the program. */
void ski_reduction_list_complete(struct ski_reduction_partial **list);

/** Removes the first partial result of @p list, and sends it to handler @p handler of PE @p pe
 * after the header of @p bytes at @p header. */
void ski_reduction_list_report(struct ski_reduction_partial **list, int pe, uint32_t handler,
                               const void *header, size_t bytes);

/** Removes and frees the first partial result of @p list. */
void ski_reduction_list_drop(struct ski_reduction_partial **list);

/** Frees all partial results of @p list. */
void ski_reduction_list_free(struct ski_reduction_partial **list);

/** Combines @p bytes at @p data, whose @p spec fits and which PE @p from sent, with @p partial.
 * The result goes to @p to unless an earlier contribution named a completion. */
void ski_reduction_partial_add(struct ski_reduction_partial    *partial,
                               const struct ski_reduction_spec *spec, const void *data,
                               size_t bytes, const skua_completion *to, int from);

/** Returns the link, from @p at on, to the first partial result whose number is not before @p
 * number. */
static inline struct ski_reduction_partial **ski_reduction_list_link(
    struct ski_reduction_partial **at, uint32_t number)
{
    while (*at && ski_seqnum_before((*at)->number, number))
        at = &(*at)->next;
    return at;
}

/** Returns the partial result of reduction @p number in @p list, or NULL. */
static inline struct ski_reduction_partial *ski_reduction_list_find(
    struct ski_reduction_partial *list, uint32_t number)
{
    struct ski_reduction_partial *found = *ski_reduction_list_link(&list, number);

    return found && found->number == number ? found : NULL;
}

/** Returns the link, from @p at on, to the partial result of reduction @p number.  A new one begins
 * as a copy of the @p bytes at @p fresh. */
static inline struct ski_reduction_partial **ski_reduction_list_seek(
    struct ski_reduction_partial **at, uint32_t number, const void *fresh, size_t bytes)
{
    at = ski_reduction_list_link(at, number);
    if (!*at || (*at)->number != number)
        ski_reduction_list_insert(at, number, fresh, bytes);
    return at;
}

#endif
