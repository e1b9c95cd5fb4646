/* SPDX-License-Identifier: Apache-2.0 */
/* reduction_list.c - see reduction_list.h. */
#include "objects/collective/reduction_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct ski_reduction_partial *ski_reduction_list_insert(struct ski_reduction_partial **at,
                                                        uint32_t number, const void *fresh,
                                                        size_t bytes)
{
    struct ski_reduction_partial *partial = ski_malloc(bytes);

    ski_assert(bytes >= sizeof *partial && (!*at || ski_seqnum_before(number, (*at)->number)));
    memcpy(partial, fresh, bytes);
    partial->number = number;
    partial->next   = *at;
    return *at      = partial;
}

struct ski_reduction_partial *ski_reduction_list_take(struct ski_reduction_partial **list)
{
    struct ski_reduction_partial *first = *list;

    ski_assert(first);
    *list = first->next;
    return first;
}

void ski_reduction_list_free(struct ski_reduction_partial **list)
{
    while (*list)
        ski_reduction_partial_free(ski_reduction_list_take(list));
}

void ski_reduction_partial_free(struct ski_reduction_partial *partial)
{
    free(partial->buffer.data);
    free(partial);
}

void ski_reduction_partial_complete(struct ski_reduction_partial *partial)
{
    skua_complete(partial->buffer.to, partial->buffer.data, partial->buffer.bytes);
    ski_reduction_partial_free(partial);
}

void ski_reduction_partial_add(struct ski_reduction_partial    *partial,
                               const struct ski_reduction_spec *spec, const void *data,
                               size_t bytes, const skua_completion *to, int from)
{
    ski_reduction_buffer_add(&partial->buffer, spec, data, bytes, from);
    if (!partial->buffer.to.kind)
        partial->buffer.to = *to;
}
