/* SPDX-License-Identifier: Apache-2.0 */
/* object.c - see object.h. */
#include "objects/model/object.h"

#include <stdlib.h>

#include "base/memory.h"
#include "core/isomalloc/isomalloc.h"
#include "core/pe/pe.h"

static void *object_alloc_shared(struct ski_pool *pool, size_t bytes)
{
    void *memory = ski_pool_try(pool, bytes);

    if (!memory)
        ski_fatal("no memory for an object of %zu bytes: the arena is full; raise SKUA_ARENA_SIZE",
                  bytes);
    return memory;
}

/* Zeroes the @p bytes of a new object and gives it its index.  A long one goes to @p long_index;
 * NULL: to memory of malloc(). */
static struct ski_object *object_init(struct ski_object *object, size_t bytes,
                                      const skua_index *index, unsigned char *long_index)
{
    unsigned char *to = object->index.raw;

    ski_assert(index->bytes <= SKUA_INDEX_MAX);
    memset(object, 0, bytes);
    object->index_bytes = (uint8_t)index->bytes;
    if (index->bytes > sizeof object->index.raw)
        to = object->index.long_one = long_index ? long_index : ski_malloc(index->bytes);
    memcpy(to, &index->at, index->bytes);
    return object;
}

struct ski_object *ski_object_alloc(struct ski_pool *pool, size_t bytes, const skua_index *index)
{
    struct ski_object *object;

    bytes += sizeof *object;
    if (!pool)
        return object_init(ski_malloc(bytes), bytes, index, NULL);
    object = object_alloc_shared(pool, bytes + SKUA_INDEX_MAX);
    return object_init(object, bytes, index, (unsigned char *)object + bytes);
}

/* Makes @p stub a copy of what precedes the program's memory in @p object.  A long index goes to
 * @p long_index; NULL: to memory of malloc(). */
static struct ski_object *object_copy_head(struct ski_object *stub, const struct ski_object *object,
                                           unsigned char *long_index)
{
    *stub = *object;
    if (SKI_UNLIKELY(ski_object_long_index(object) != NULL)) {
        stub->index.long_one = long_index ? long_index : ski_malloc(object->index_bytes);
        memcpy(stub->index.long_one, object->index.long_one, object->index_bytes);
    }
    return stub;
}

struct ski_object *ski_object_stub(const struct ski_object *object, struct ski_pool *pool)
{
    struct ski_object *stub;

    if (!pool)
        return object_copy_head(ski_malloc(sizeof *stub), object, NULL);
    stub = object_alloc_shared(pool, sizeof *stub + SKUA_INDEX_MAX);
    return object_copy_head(stub, object, (unsigned char *)(stub + 1));
}

struct ski_object *ski_object_stub_in(struct ski_stub *room, const struct ski_object *object)
{
    return object_copy_head(&room->object, object, room->index);
}

void ski_object_free(struct ski_object *object, struct ski_pool *pool)
{
    struct ski_object_threads *block = ski_object_block(object);

    if (pool && !block) {
        if (!ski_pool_put(pool, object))
            ski_pool_give(pool, object);
        return;
    }
    free(ski_object_long_index(object));
    if (!block)
        free(object);
    else if (!ski_pe_exiting(ski_self)) /* else its owner, perhaps another PE, may have ended */
        ski_isomalloc_free(ski_self, block);
}

/* ---- objects that keep their addresses ------------------------------------------------------ */

struct ski_object *ski_object_place(struct ski_object_threads *block, size_t bytes,
                                    const skua_index *index)
{
    struct ski_object *object = (struct ski_object *)(block + 1);

    block->first = NULL;
    return object_init(object, sizeof *object + bytes, index, NULL);
}
