/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer_pool.c - memory for buffers: skua_buffer_alloc().
 *
 * It is memory of the arena, from the allocator of messages (base/pool.h).  That is all where no
 * driver pins memory.
 *
 * Where a driver pins memory, a block has a header with its registration, and a PE keeps freed
 * blocks by size, so that they stay pinned.
 */
#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "onesided/buffer/buffer.h"
#include "onesided/buffer/buffer_pe.h"
#include "onesided/region/registration.h"

#define CLASSES   40 /* powers of two */
#define KEPT_MOST 16 /* of each       */

struct buffer_pool_block {
    _Alignas(SKI_CACHE_LINE) struct buffer_pool_block *next;
    skua_completion back; /* runs on the PE that allocated it: frees it, or keeps it */
    skua_gaddr      where;
    uint32_t class;
};

struct ski_buffer_pool {
    struct buffer_pool_block *kept[CLASSES];
    uint32_t                  count[CLASSES];
};

_Static_assert(sizeof(struct buffer_pool_block) % SKI_CACHE_LINE == 0,
               "what follows it is aligned");

static void *buffer_pool_alloc(struct ski_pe *self, size_t bytes)
{
    void *block = ski_pool_alloc(&self->pool, bytes ? bytes : 1);

    if (!block)
        ski_fatal("no memory for a buffer of %zu bytes; raise SKUA_ARENA_SIZE", bytes);
    return block;
}

static struct ski_buffer_pool *buffer_pool_of(struct ski_pe *self)
{
    struct ski_buffer_pe *own = ski_buffer_pe(self);

    if (!own->pool)
        own->pool = ski_calloc(1, sizeof *own->pool);
    return own->pool;
}

static size_t buffer_pool_block_bytes(uint32_t class)
{
    return sizeof(struct buffer_pool_block) + ((size_t)1 << class);
}

/* Takes back a block, on the PE that allocated it. */
static void buffer_pool_on_free(void *arg, const void *data, size_t bytes)
{
    struct ski_pe            *self = ski_self;
    struct ski_buffer_pool   *pool = buffer_pool_of(self);
    struct buffer_pool_block *head = arg;

    (void)data, (void)bytes;
    ski_assert(head->class < CLASSES);
    if (pool->count[head->class] < KEPT_MOST) {
        pool->count[head->class]++;
        head->next              = pool->kept[head->class];
        pool->kept[head->class] = head;
        return;
    }
    ski_registration_release(self, head, buffer_pool_block_bytes(head->class));
    ski_pool_free(&self->pool, head);
}

static struct buffer_pool_block *buffer_pool_new_block(struct ski_pe *self, uint32_t class)
{
    struct buffer_pool_block *head = buffer_pool_alloc(self, buffer_pool_block_bytes(class));
    uint64_t                  room;

    *head = (struct buffer_pool_block){.back  = skua_done_call(buffer_pool_on_free, head),
                                       .class = class};
    if (ski_registration_acquire(self, head, buffer_pool_block_bytes(class), &head->where, &room) !=
        SKUA_OK)
        ski_fatal("a buffer of %zu bytes cannot be registered: all regions are in use; raise "
                  "SKUA_ARENA_SIZE",
                  (size_t)1 << class);
    return head;
}

/* Returns a kept block, or pins a new one. */
static void *buffer_pool_alloc_pinned(struct ski_pe *self, size_t bytes)
{
    struct ski_buffer_pool *pool = buffer_pool_of(self);
    uint32_t class               = bytes <= 64 ? 6 : 64 - (uint32_t)__builtin_clzll(bytes - 1);
    struct buffer_pool_block *head;

    if (class >= CLASSES)
        ski_fatal("a buffer of %zu bytes is larger than any memory", bytes);
    head = pool->kept[class];
    if (head) {
        pool->kept[class] = head->next;
        ski_assert(pool->count[class] > 0);
        pool->count[class]--;
    } else {
        head = buffer_pool_new_block(self, class);
    }
    return head + 1;
}

void *skua_buffer_alloc(size_t bytes)
{
    struct ski_pe *self = SKI_SELF();
    return ski_registration_pins() ? buffer_pool_alloc_pinned(self, bytes)
                                   : buffer_pool_alloc(self, bytes);
}

void skua_buffer_free(void *memory)
{
    struct ski_pe *self = SKI_SELF();

    if (!memory)
        return;
    if (!ski_arena_contains(self->job->arena, memory))
        ski_misuse("skua_buffer_free: %p is not from skua_buffer_alloc()", memory);
    if (ski_registration_pins())
        skua_complete(((struct buffer_pool_block *)memory - 1)->back, NULL, 0);
    else
        ski_pool_free(&self->pool, memory);
}
