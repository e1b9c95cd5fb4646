/* SPDX-License-Identifier: Apache-2.0 */
/* object.c - see object.h. */
#include "objects/model/object.h"

#include <stdlib.h>

#include "base/memory.h"

static void *object_alloc_shared(struct ski_pool *pool, size_t bytes)
{
    void *memory = ski_pool_try(pool, bytes);

    if (!memory)
        ski_fatal("no memory for an object of %zu bytes: the arena is full; raise SKUA_ARENA_SIZE",
                  bytes);
    return memory;
}

/* Where a long index of a new object goes: in the arena, behind the object. */
static unsigned char *object_long_index(struct ski_object *object, struct ski_pool *pool,
                                        size_t bytes, const skua_index *index)
{
    return pool ? (unsigned char *)object + bytes : ski_malloc(index->bytes);
}

struct ski_object *ski_object_alloc(struct ski_pool *pool, size_t bytes, const skua_index *index)
{
    struct ski_object *object;
    unsigned char     *to;

    ski_assert(index->bytes <= SKUA_INDEX_MAX);
    bytes += sizeof *object;
    object = pool ? object_alloc_shared(pool, bytes + SKUA_INDEX_MAX) : ski_malloc(bytes);
    memset(object, 0, bytes);
    object->index_bytes = (uint8_t)index->bytes;
    to                  = object->index.raw;
    if (index->bytes > sizeof object->index.raw)
        to = object->index.long_one = object_long_index(object, pool, bytes, index);
    memcpy(to, &index->at, index->bytes);
    return object;
}

struct ski_object *ski_object_stub(const struct ski_object *object, struct ski_pool *pool)
{
    skua_index         index = ski_object_index_get(object);
    struct ski_object *stub  = ski_object_alloc(pool, 0, &index);

    memcpy(stub, object, offsetof(struct ski_object, index));
    return stub;
}

void ski_object_free(struct ski_object *object, struct ski_pool *pool)
{
    if (pool) {
        ski_pool_give(pool, object);
        return;
    }
    if (object->index_bytes > sizeof object->index.raw)
        free(object->index.long_one);
    free(object);
}
