/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer_pool.c - memory for buffers: skua_buffer_alloc().
 *
 * It is memory of the arena, from the allocator of messages (base/pool.h).  That is all where no
 * driver pins memory: blocks are registered in whole units (registration.h), and found again.
 *
 * Where one does, a block has a head that holds its registration, and a PE keeps blocks that were
 * given back, by size, so that they stay pinned.
 */
#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "onesided/buffer/buffer.h"
#include "onesided/rma/rma_pe.h"
#include "onesided/region/registration.h"

#define CLASSES   40 /* powers of two */
#define KEPT_MOST 16 /* of each       */

struct head {
    _Alignas(SKI_CACHE_LINE) struct head *next;
    skua_completion back; /* to be kept, by the PE that made it */
    skua_gaddr      where;
    uint32_t class;
};

struct ski_buffer_pool {
    struct head *kept[CLASSES];
    uint32_t     count[CLASSES];
};

_Static_assert(sizeof(struct head) % SKI_CACHE_LINE == 0, "what follows it is aligned");

static void *take(struct ski_pe *self, size_t bytes)
{
    void *block = ski_pool_alloc(&self->pool, bytes ? bytes : 1);

    if (!block)
        ski_fatal("no memory for a buffer of %zu bytes; raise SKUA_ARENA_SIZE", bytes);
    return block;
}

static struct ski_buffer_pool *pool_of(struct ski_pe *self)
{
    struct ski_origin *origin = ski_origin_of(self);

    if (!origin->pool)
        origin->pool = ski_calloc(1, sizeof *origin->pool);
    return origin->pool;
}

static size_t block_bytes(uint32_t class)
{
    return sizeof(struct head) + ((size_t)1 << class);
}

/* A block comes back to the PE that made it. */
static void come_back(void *arg, const void *data, size_t bytes)
{
    struct ski_pe          *self = ski_self;
    struct ski_buffer_pool *pool = pool_of(self);
    struct head            *head = arg;

    (void)data, (void)bytes;
    if (pool->count[head->class] < KEPT_MOST) {
        pool->count[head->class]++;
        head->next              = pool->kept[head->class];
        pool->kept[head->class] = head;
        return;
    }
    ski_registration_release(self, head, block_bytes(head->class));
    ski_pool_free(&self->pool, head);
}

static struct head *make(struct ski_pe *self, uint32_t class)
{
    struct head *head = take(self, block_bytes(class));
    uint64_t     room;

    *head = (struct head){.back = skua_done_call(come_back, head), .class = class};
    if (ski_registration_hold(self, head, block_bytes(class), &head->where, &room) != SKUA_OK)
        ski_fatal("no room to register a buffer of %zu bytes", (size_t)1 << class);
    return head;
}

/* The blocks that a PE keeps are pinned. */
static void *alloc_pinned(struct ski_pe *self, size_t bytes)
{
    struct ski_buffer_pool *pool = pool_of(self);
    uint32_t class               = bytes <= 64 ? 6 : 64 - (uint32_t)__builtin_clzll(bytes - 1);
    struct head *head;

    if (class >= CLASSES)
        ski_fatal("no memory for a buffer of %zu bytes", bytes);
    head = pool->kept[class];
    if (head) {
        pool->kept[class] = head->next;
        pool->count[class]--;
    } else {
        head = make(self, class);
    }
    return head + 1;
}

void *skua_buffer_alloc(size_t bytes)
{
    struct ski_pe *self = SKI_SELF();
    return ski_registration_pins() ? alloc_pinned(self, bytes) : take(self, bytes);
}

void skua_buffer_free(void *memory)
{
    struct ski_pe *self = SKI_SELF();

    if (!memory)
        return;
    if (!ski_arena_contains(self->job->arena, memory))
        ski_misuse("skua_buffer_free: %p is not from skua_buffer_alloc()", memory);
    if (ski_registration_pins())
        skua_complete(((struct head *)memory - 1)->back, NULL, 0);
    else
        ski_pool_free(&self->pool, memory);
}
