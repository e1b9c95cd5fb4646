/* SPDX-License-Identifier: Apache-2.0 */
/* iov.c - see iov.h. */
#include "onesided/rma/iov.h"

#include <string.h>

void ski_iov_iter_begin(struct ski_iov_iter *iter, const struct ski_datatype *d)
{
    iter->datatype = d;
    iter->next     = 0;
    switch (d->kind) {
    case SKI_DATATYPE_STRIDED:
        memset(iter->repeated, 0, sizeof iter->repeated);
        iter->at = (struct ski_iov){d->local, 0, d->bytes};
        if (ski_strides_empty(d->bytes, d->strided.levels, d->strided.count))
            iter->next = 1; /* at the end */
        break;
    case SKI_DATATYPE_LIST: iter->lists = (struct ski_iov_lists){.whole = {0, d->bytes}}; break;
    case SKI_DATATYPE_MIXED:
        ski_layout_iter_begin(&iter->split.local, d->layout_local);
        ski_layout_iter_begin(&iter->split.remote, d->layout_remote);
        iter->split.here = iter->split.there = (skua_block){0, 0};
        break;
    case SKI_DATATYPE_CONTIGUOUS:
    case SKI_DATATYPE_INDEXED: break;
    }
}

/* Goes to the next block, as an odometer does. */
static bool iov_iter_next_strided(struct ski_iov_iter *iter, struct ski_iov *iov)
{
    const struct ski_stride_pairs *s     = &iter->datatype->strided;
    int                            level = 0;

    if (iter->next)
        return false;
    *iov = iter->at;
    while (level < s->levels && ++iter->repeated[level] == s->count[level]) {
        iter->at.local -= (ptrdiff_t)(s->count[level] - 1) * s->local[level];
        iter->at.remote -= (ptrdiff_t)(s->count[level] - 1) * s->remote[level];
        iter->repeated[level++] = 0;
    }
    if (level == s->levels) {
        iter->next = 1;
    } else {
        iter->at.local += s->local[level];
        iter->at.remote += s->remote[level];
    }
    return true;
}

static __attribute__((noinline)) bool iov_iter_next_indexed(struct ski_iov_iter *iter,
                                                            struct ski_iov      *iov)
{
    const struct ski_datatype *d = iter->datatype;
    size_t                     i = iter->next++;

    if (i >= d->count || d->bytes == 0)
        return false;
    iov->local  = d->local + (d->indexed.local ? d->indexed.local[i] : (ptrdiff_t)(i * d->bytes));
    iov->remote = d->indexed.remote ? d->indexed.remote[i] : (ptrdiff_t)(i * d->bytes);
    iov->bytes  = d->bytes;
    return true;
}

/* Makes a common block of what is left of the current blocks of both sides, and subtracts it from
 * them. */
static inline void iov_iter_cut(char *local, skua_block *here, skua_block *there,
                                struct ski_iov *iov)
{
    iov->local  = local + here->offset;
    iov->remote = there->offset;
    iov->bytes  = here->bytes < there->bytes ? here->bytes : there->bytes;
    here->offset += (ptrdiff_t)iov->bytes;
    here->bytes -= iov->bytes;
    there->offset += (ptrdiff_t)iov->bytes;
    there->bytes -= iov->bytes;
}

/* Splits the blocks of both sides where either side has a boundary. */
static __attribute__((noinline)) bool iov_iter_next_split(struct ski_iov_iter *iter,
                                                          struct ski_iov      *iov)
{
    struct ski_iov_split *split = &iter->split;

    if (split->here.bytes == 0 && !ski_layout_iter_next(&split->local, &split->here))
        return false;
    if (split->there.bytes == 0 && !ski_layout_iter_next(&split->remote, &split->there))
        return false;
    iov_iter_cut(iter->datatype->local, &split->here, &split->there, iov);
    return true;
}

/* Goes on to the next block of a list that is not empty, unless there is something left of the
 * current one; false at the end. */
static inline bool iov_iter_fill(skua_block *block, const skua_block *list, size_t count,
                                 size_t *next)
{
    while (block->bytes == 0) {
        if (*next == count)
            return false;
        *block = list[(*next)++];
    }
    return true;
}

/* Splits as iov_iter_next_split(), for lists; a contiguous side is a list of one block. */
static __attribute__((noinline)) bool iov_iter_next_list(struct ski_iov_iter *iter,
                                                         struct ski_iov      *iov)
{
    const struct ski_datatype *d     = iter->datatype;
    struct ski_iov_lists      *l     = &iter->lists;
    const skua_block          *local = d->list.local, *remote = d->list.remote;

    if (!iov_iter_fill(&l->here, local ? local : &l->whole, local ? d->count : 1, &l->local) ||
        !iov_iter_fill(&l->there, remote ? remote : &l->whole, remote ? d->count : 1, &l->remote))
        return false;
    iov_iter_cut(d->local, &l->here, &l->there, iov);
    return true;
}

bool ski_iov_iter_next(struct ski_iov_iter *iter, struct ski_iov *iov)
{
    const struct ski_datatype *d = iter->datatype;

    if (d->kind == SKI_DATATYPE_STRIDED)
        return iov_iter_next_strided(iter, iov);
    if (d->kind == SKI_DATATYPE_INDEXED)
        return iov_iter_next_indexed(iter, iov);
    if (d->kind == SKI_DATATYPE_LIST)
        return iov_iter_next_list(iter, iov);
    if (d->kind == SKI_DATATYPE_MIXED)
        return iov_iter_next_split(iter, iov);
    *iov = (struct ski_iov){d->local, 0, d->bytes};
    return iter->next++ < d->count && d->bytes > 0;
}
