/* SPDX-License-Identifier: Apache-2.0 */
/* object.c - see object.h. */
#include "objects/model/object.h"

#include <stdlib.h>

#include "base/memory.h"
#include "core/isomalloc/isomalloc.h"
#include "core/pe/pe.h"

static struct ski_object *object_init(struct ski_object *object, size_t bytes,
                                      const skua_index *index)
{
    unsigned char *to = object->index.raw;

    ski_assert(index->bytes <= SKUA_INDEX_MAX);
    memset(object, 0, sizeof *object + bytes);
    object->index_bytes = (uint8_t)index->bytes;
    if (index->bytes > sizeof object->index.raw)
        to = object->index.long_one = ski_malloc(index->bytes);
    memcpy(to, &index->at, index->bytes);
    return object;
}

struct ski_object *ski_object_alloc(size_t bytes, const skua_index *index)
{
    return object_init(ski_malloc(sizeof(struct ski_object) + bytes), bytes, index);
}

void ski_object_free(struct ski_object *object)
{
    struct ski_object_threads *block = ski_object_block(object);

    if (object->index_bytes > sizeof object->index.raw)
        free(object->index.long_one);
    if (!block)
        free(object);
    else if (!ski_pe_exiting(ski_self)) /* else its owner, perhaps another PE, may have ended */
        ski_isomalloc_free(ski_self, block);
}

/* ---- objects that keep their addresses ------------------------------------------------------ */

struct ski_object_threads *ski_object_block(const struct ski_object *object)
{
    return ski_isomalloc_contains(object) ? (struct ski_object_threads *)(uintptr_t)object - 1
                                          : NULL;
}

struct ski_object *ski_object_place(struct ski_object_threads *block, size_t bytes,
                                    const skua_index *index)
{
    block->first = NULL;
    return object_init((struct ski_object *)(block + 1), bytes, index);
}
