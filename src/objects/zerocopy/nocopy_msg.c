/* SPDX-License-Identifier: Apache-2.0 */
/* nocopy_msg.c - see nocopy_msg.h. */
#include "objects/zerocopy/nocopy_msg.h"

#include "base/assert.h"
#include "core/message/msg_alloc.h"
#include "core/pe/pe.h"

/* Returns whether @p count arguments, the first of which is at @p at, fill a message to @p end. */
static bool nocopy_args_fit(const char *data, size_t at, size_t end, uint32_t count)
{
    for (; count > 0; count--) {
        const struct ski_nocopy_arg *arg = (const struct ski_nocopy_arg *)(const void *)(data + at);

        if (at > end || end - at < sizeof *arg || arg->kind > SKI_NOCOPY_BUFFER ||
            (arg->kind == SKI_NOCOPY_DATA && arg->bytes > end - at) ||
            ski_nocopy_extent(arg->kind, arg->bytes) > end - at ||
            (arg->kind == SKI_NOCOPY_BUFFER && ski_nocopy_buffer(arg)->bytes != arg->bytes))
            return false;
        at += ski_nocopy_extent(arg->kind, arg->bytes);
    }
    return at == end;
}

struct ski_nocopy_trailer *ski_nocopy_trailer(const void *data, size_t bytes)
{
    struct ski_nocopy_trailer *trailer = NULL;

    if (bytes >= sizeof *trailer && bytes % SKI_NOCOPY_ALIGN == 0)
        trailer = ski_nocopy_trailer_at(data, bytes);
    if (!trailer || trailer->magic != SKI_NOCOPY_MAGIC ||
        trailer->first > bytes - sizeof *trailer ||
        !nocopy_args_fit(data, ski_nocopy_align(trailer->first), bytes - sizeof *trailer,
                         trailer->count))
        return NULL;
    return trailer;
}

bool ski_nocopy_is_marked(const skua_msg *msg)
{
    const struct ski_nocopy_trailer *trailer = ski_nocopy_trailer(msg + 1, msg->bytes);

    return trailer && trailer->mark == ski_self->job->msg_mark;
}

struct ski_nocopy_trailer *ski_nocopy_trailer_of(const skua_msg *msg)
{
    struct ski_nocopy_trailer *trailer = ski_nocopy_trailer(msg + 1, msg->bytes);

    if (!trailer)
        ski_misuse("a message of %zu bytes from PE %d has no nocopy arguments: was it made with "
                   "skua_nocopy_alloc()?",
                   msg->bytes, msg->source);
    return trailer;
}

struct ski_nocopy_arg *ski_nocopy_arg_at(const skua_msg *msg, unsigned i)
{
    struct ski_nocopy_walk walk = ski_nocopy_walk(msg);

    if (i >= walk.left)
        ski_misuse("nocopy argument %u of a message that has %u", i, walk.left);
    while (i-- > 0)
        ski_nocopy_walk_next(&walk);
    return walk.next;
}

skua_msg *ski_nocopy_new(size_t first, uint32_t count, size_t extent)
{
    skua_msg *msg =
        skua_msg_alloc(ski_nocopy_align(first) + extent + sizeof(struct ski_nocopy_trailer));

    ski_assert(extent % SKI_NOCOPY_ALIGN == 0);
    *ski_nocopy_trailer_at(msg + 1, msg->bytes) = (struct ski_nocopy_trailer){
        .magic = SKI_NOCOPY_MAGIC, .first = first, .count = count, .mark = ski_self->job->msg_mark};
    return msg;
}

unsigned skua_nocopy_count(const skua_msg *msg)
{
    return ski_nocopy_trailer_of(msg)->count;
}

size_t skua_nocopy_head_bytes(const skua_msg *msg)
{
    return ski_nocopy_trailer_of(msg)->first;
}

size_t skua_nocopy_bytes(const skua_msg *msg, unsigned i)
{
    return ski_nocopy_arg_at(msg, i)->bytes;
}
