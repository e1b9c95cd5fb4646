/* SPDX-License-Identifier: Apache-2.0 */
/* object.c - see object.h. */
#include "objects/model/object.h"

#include <stdlib.h>

#include "base/memory.h"
#include "objects/model/collection.h"

static bool object_is_shared(const struct ski_collection *of)
{
    return ski_class_shared(of->class);
}

/* Memory that all processes of the host reach. */
static void *object_alloc_shared(struct ski_pe *self, size_t bytes)
{
    void *memory = ski_pool_try(&self->pool, bytes);

    if (!memory)
        ski_fatal("no memory for an object of %zu bytes: the arena is full; raise SKUA_ARENA_SIZE",
                  bytes);
    return memory;
}

struct ski_object *ski_object_alloc(struct ski_collection *of, size_t bytes,
                                    const skua_index *index)
{
    size_t             all      = sizeof(struct ski_object) + bytes;
    bool               long_one = index->bytes > sizeof(((struct ski_object *)0)->index.raw);
    bool               shared   = object_is_shared(of);
    struct ski_object *object =
        shared ? object_alloc_shared(of->self, all + SKUA_INDEX_MAX) : ski_malloc(all);
    unsigned char *to = object->index.raw;

    ski_assert(index->bytes <= SKUA_INDEX_MAX);
    memset(object, 0, all);
    object->of          = of;
    object->index_bytes = (uint8_t)index->bytes;
    if (long_one)
        to = object->index.long_one =
            shared ? (unsigned char *)object + all : ski_malloc(index->bytes);
    memcpy(to, &index->at, index->bytes);
    return object;
}

struct ski_object *ski_object_stub(const struct ski_object *object)
{
    skua_index         index = ski_object_index_get(object);
    struct ski_object *stub  = ski_object_alloc(object->of, 0, &index);

    memcpy(stub, object, offsetof(struct ski_object, index));
    return stub;
}

void ski_object_free(struct ski_object *object)
{
    if (object_is_shared(object->of)) {
        ski_pool_give(&object->of->self->pool, object);
        return;
    }
    if (object->index_bytes > sizeof object->index.raw)
        free(object->index.long_one);
    free(object);
}
