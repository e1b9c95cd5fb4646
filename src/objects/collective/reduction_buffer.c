/* SPDX-License-Identifier: Apache-2.0 */
/* reduction_buffer.c - see reduction_buffer.h. */
#include "objects/collective/reduction_buffer.h"

#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "core/pe/pe.h"

static const char *op_name(uint32_t op)
{
    if (ski_is_list(op))
        return op == SKUA_SET.id ? "set" : "concat";
    return ski_op_name((skua_op){op});
}

void ski_shape_check(const char *call, const struct ski_shape *shape, const char *who, int pe)
{
    skua_type type = (skua_type)shape->type;

    if (!ski_shape_known((skua_op){shape->op}, type))
        ski_misuse("%s: %s on PE %d: there is no %s of type %s", call, who, pe, op_name(shape->op),
                   ski_type_name(type));
}

bool ski_shape_right(const struct ski_shape *shape, size_t bytes)
{
    size_t size = ski_type_size((skua_type)shape->type);

    if (!size || !ski_shape_known((skua_op){shape->op}, (skua_type)shape->type))
        return false;
    return ski_is_list(shape->op) || (shape->count <= bytes && shape->count * size == bytes);
}

void ski_total_differs(const struct ski_total *total, const struct ski_shape *shape,
                       const char *what, const char *who, int pe)
{
    ski_misuse("%s: %s on PE %d contributes %llu x %s for %s, but what came first, from PE %d, is "
               "%llu x %s for %s",
               what, who, pe, (unsigned long long)shape->count,
               ski_type_name((skua_type)shape->type), op_name(shape->op), total->pe,
               (unsigned long long)total->shape.count, ski_type_name((skua_type)total->shape.type),
               op_name(total->shape.op));
}

void ski_total_append(struct ski_total *total, const void *data, size_t bytes)
{
    if (total->bytes + bytes > total->room) {
        total->room = 2 * (total->bytes + bytes);
        total->data = ski_realloc(total->data, total->room);
    }
    if (bytes)
        memcpy(total->data + total->bytes, data, bytes);
    total->bytes += bytes;
}

/* One of a set: its length, itself, up to a multiple of 8. */
static void append_item(struct ski_total *total, const void *data, size_t bytes)
{
    static const char nothing[8];
    uint64_t          length = bytes;

    ski_total_append(total, &length, sizeof length);
    ski_total_append(total, data, bytes);
    ski_total_append(total, nothing, -bytes & 7);
}

void ski_total_contribute(struct ski_total *total, const struct ski_shape *shape, const void *data,
                          size_t bytes, const skua_completion *done)
{
    if (SKI_UNLIKELY(shape->op == SKUA_SET.id)) {
        ski_total_add(total, shape, NULL, 0, ski_self->pe);
        append_item(total, data, bytes);
    } else {
        ski_total_add(total, shape, data, bytes, ski_self->pe);
    }
    if (!total->to.kind)
        total->to = *done;
}

bool skua_set_next(const void *result, size_t bytes, const void **at, size_t *length)
{
    const char *next = result;
    uint64_t    size;
    size_t      left;

    if (*at) {
        memcpy(&size, (const char *)*at - sizeof size, sizeof size);
        next = (const char *)*at + ((size + 7) & ~UINT64_C(7));
    }
    /* Lengths were written by other PEs: one that goes beyond the result ends it. */
    left = (size_t)((const char *)result + bytes - next);
    if (next > (const char *)result + bytes || left < sizeof size)
        return false;
    memcpy(&size, next, sizeof size);
    if (size > left - sizeof size)
        return false;
    *at     = next + sizeof size;
    *length = size;
    return true;
}
