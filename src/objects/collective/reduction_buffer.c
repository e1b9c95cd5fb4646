/* SPDX-License-Identifier: Apache-2.0 */
/* reduction_buffer.c - see reduction_buffer.h. */
#include "objects/collective/reduction_buffer.h"

#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "core/pe/pe.h"

static const char *reduction_buffer_op_name(uint32_t op)
{
    if (ski_op_is_list(op))
        return op == SKUA_SET ? "set" : "concat";
    return ski_op_name((skua_op)op);
}

void ski_reduction_spec_check(const char *call, const struct ski_reduction_spec *spec,
                              const char *contributor, int pe)
{
    skua_type type = (skua_type)spec->type;

    if (!ski_reduction_spec_known((skua_op)spec->op, type))
        ski_misuse("%s: %s on PE %d: there is no %s of type %s", call, contributor, pe,
                   reduction_buffer_op_name(spec->op), ski_type_name(type));
}

bool ski_reduction_spec_valid(const struct ski_reduction_spec *spec, size_t bytes)
{
    size_t size = ski_type_size((skua_type)spec->type);

    if (!size || !ski_reduction_spec_known((skua_op)spec->op, (skua_type)spec->type))
        return false;
    return ski_op_is_list(spec->op) || (spec->count <= bytes && spec->count * size == bytes);
}

void ski_reduction_buffer_mismatch(const struct ski_reduction_buffer *buffer,
                                   const struct ski_reduction_spec *spec, uint32_t number,
                                   const char *of, const char *contributor, int pe)
{
    ski_misuse("reduction %u of %s: %s on PE %d contributes %llu x %s for %s, but what came first, "
               "from PE %d, is "
               "%llu x %s for %s",
               number, of, contributor, pe, (unsigned long long)spec->count,
               ski_type_name((skua_type)spec->type), reduction_buffer_op_name(spec->op), buffer->pe,
               (unsigned long long)buffer->spec.count, ski_type_name((skua_type)buffer->spec.type),
               reduction_buffer_op_name(buffer->spec.op));
}

void ski_reduction_buffer_append(struct ski_reduction_buffer *buffer, const void *data,
                                 size_t bytes)
{
    ski_assert(buffer->bytes <= buffer->room);
    if (buffer->bytes + bytes > buffer->room) {
        buffer->room = 2 * (buffer->bytes + bytes);
        buffer->data = ski_realloc(buffer->data, buffer->room);
    }
    if (bytes)
        memcpy(buffer->data + buffer->bytes, data, bytes);
    buffer->bytes += bytes;
}

/* Appends an item of a set: its length, its bytes, and padding to a multiple of 8. */
static void reduction_buffer_append_item(struct ski_reduction_buffer *buffer, const void *data,
                                         size_t bytes)
{
    static const char nothing[8];
    uint64_t          length = bytes;

    ski_reduction_buffer_append(buffer, &length, sizeof length);
    ski_reduction_buffer_append(buffer, data, bytes);
    ski_reduction_buffer_append(buffer, nothing, -bytes & 7);
    ski_assert(buffer->bytes % 8 == 0);
}

void ski_reduction_buffer_contribute(struct ski_reduction_buffer     *buffer,
                                     const struct ski_reduction_spec *spec, const void *data,
                                     size_t bytes, const skua_completion *done)
{
    if (SKI_UNLIKELY(spec->op == SKUA_SET)) {
        ski_reduction_buffer_add(buffer, spec, NULL, 0, ski_self->pe);
        reduction_buffer_append_item(buffer, data, bytes);
    } else {
        ski_reduction_buffer_add(buffer, spec, data, bytes, ski_self->pe);
    }
    if (!buffer->to.kind)
        buffer->to = *done;
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
    /* Other PEs wrote the lengths: one that goes beyond the result ends the iteration. */
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
