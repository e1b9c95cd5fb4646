/* SPDX-License-Identifier: Apache-2.0 */
/* object.c - see object.h. */
#include "objects/model/object.h"

#include <stdlib.h>

#include "base/memory.h"

struct ski_object *ski_object_alloc(size_t bytes, const skua_index *index)
{
    struct ski_object *object = ski_malloc(sizeof *object + bytes);
    unsigned char     *to     = object->index.raw;

    ski_assert(index->bytes <= SKUA_INDEX_MAX);
    memset(object, 0, sizeof *object + bytes);
    object->index_bytes = (uint8_t)index->bytes;
    if (index->bytes > sizeof object->index.raw)
        to = object->index.long_one = ski_malloc(index->bytes);
    memcpy(to, &index->at, index->bytes);
    return object;
}

void ski_object_free(struct ski_object *object)
{
    if (object->index_bytes > sizeof object->index.raw)
        free(object->index.long_one);
    free(object);
}
