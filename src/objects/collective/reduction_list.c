/* SPDX-License-Identifier: Apache-2.0 */
/* reduction_list.c - see reduction_list.h. */
#include "objects/collective/reduction_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "objects/model/msg_target.h"

void ski_reduction_list_insert(struct ski_reduction_partial **at, uint32_t number,
                               const void *fresh, size_t bytes)
{
    struct ski_reduction_partial *partial = ski_malloc(bytes);

    ski_assert(bytes >= sizeof *partial && (!*at || ski_seqnum_before(number, (*at)->number)));
    memcpy(partial, fresh, bytes);
    partial->number = number;
    partial->next   = *at;
    *at             = partial;
}

static struct ski_reduction_partial *reduction_list_take(struct ski_reduction_partial **list)
{
    struct ski_reduction_partial *first = *list;

    ski_assert(first);
    *list = first->next;
    return first;
}

static void reduction_list_free_partial(struct ski_reduction_partial *partial)
{
    free(partial->buffer.data);
    free(partial);
}

void ski_reduction_list_complete(struct ski_reduction_partial **list)
{
    struct ski_reduction_partial *first = reduction_list_take(list);

    skua_complete(first->buffer.to, first->buffer.data, first->buffer.bytes);
    reduction_list_free_partial(first);
}

void ski_reduction_list_report(struct ski_reduction_partial **list, int pe, uint32_t handler,
                               const void *header, size_t bytes)
{
    struct ski_reduction_partial *first = reduction_list_take(list);

    skua_send(pe, (skua_handler){handler},
              ski_msg_with_header(header, bytes, first->buffer.data, first->buffer.bytes));
    reduction_list_free_partial(first);
}

void ski_reduction_list_drop(struct ski_reduction_partial **list)
{
    reduction_list_free_partial(reduction_list_take(list));
}

void ski_reduction_list_free(struct ski_reduction_partial **list)
{
    while (*list)
        reduction_list_free_partial(reduction_list_take(list));
}

void ski_reduction_partial_add(struct ski_reduction_partial    *partial,
                               const struct ski_reduction_spec *spec, const void *data,
                               size_t bytes, const skua_completion *to, int from)
{
    ski_reduction_buffer_add(&partial->buffer, spec, data, bytes, from);
    if (!partial->buffer.to.kind)
        partial->buffer.to = *to;
}
