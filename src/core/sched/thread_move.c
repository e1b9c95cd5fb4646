/* SPDX-License-Identifier: Apache-2.0 */
/* thread_move.c - see thread_move.h. */
#include "core/sched/thread_move.h"

#include "base/config.h"
#include "base/sanitizer.h"
#include "core/data/wait_list.h"
#include "core/pe/handler.h"

#define SLOT_MIN ((size_t)8192)

/* A thread is at the top of its slot, aligned to a cache line. */
static size_t thread_move_bytes(void)
{
    return (sizeof(struct skua_thread) + SKI_CACHE_LINE - 1) & ~(size_t)(SKI_CACHE_LINE - 1);
}

size_t ski_thread_slot_bytes(void)
{
    size_t stack = ski_config.stack_size < SLOT_MIN ? SLOT_MIN : ski_config.stack_size;

    return stack + thread_move_bytes();
}

struct skua_thread *ski_thread_in_slot(char *slot)
{
    char *end = slot + ski_isomalloc_guard() + ski_isomalloc_slot_bytes();

    return (struct skua_thread *)(void *)(end - thread_move_bytes());
}

/* Shadow memory belongs to a process: it has what an earlier user of the slot left in this one. */
static void thread_move_unpoison(char *slot)
{
    ski_unpoison(slot + ski_isomalloc_guard(), ski_isomalloc_slot_bytes());
}

/* Describes the stack in a slot; @p fresh: this process has not made its guard. */
static struct ski_stack thread_move_stack(char *slot, bool fresh)
{
    size_t guard = ski_isomalloc_guard();

    return (struct ski_stack){slot, guard, ski_isomalloc_slot_bytes() - thread_move_bytes(),
                              fresh ? ski_stack_guard(slot, guard, true) : ski_stack_guarded(true)};
}

struct skua_thread *ski_thread_create_owned(struct ski_pe *self, void (*fn)(void *arg), void *arg,
                                            void *object, struct skua_thread **list)
{
    bool                fresh;
    char               *slot = ski_isomalloc_slot(self, &fresh);
    struct skua_thread *thread;

    if (!slot)
        return NULL;
    thread_move_unpoison(slot);
    thread  = ski_thread_in_slot(slot);
    *thread = (struct skua_thread){
        .ready    = {.handler = SKI_HANDLER_THREAD, .source = self->pe},
        .stack    = thread_move_stack(slot, fresh),
        .fn       = fn,
        .arg      = arg,
        .pe       = self->pe,
        .flags    = SKI_THREAD_OWNED,
        .detached = true,
        .object   = object,
        .siblings = list,
        .sibling  = *list,
    };
    *list = thread;
    ski_thread_prepare(thread);
    self->stats.threads++;
    ski_thread_link(self, thread);
    ski_thread_unblock(self, thread);
    return thread;
}

void ski_thread_free_owned(struct ski_pe *self, struct skua_thread *thread)
{
    struct skua_thread **at = thread->siblings;

    while (*at != thread)
        at = &(*at)->sibling;
    *at            = thread->sibling;
    thread->object = NULL;
    ski_isomalloc_free(self, thread->stack.low);
}

int ski_thread_find_owned(struct ski_pe *self, const struct skua_thread *thread, int pe)
{
    const struct ski_iso_block *block = ski_isomalloc_here(self, thread);
    int                         found;

    if (block)
        return thread == ski_thread_in_slot((char *)block->at) && thread->object ? self->pe
                                                                                 : SKI_ISO_FREE;
    found = ski_isomalloc_lookup(self, thread);
    return found == SKI_ISO_FREE || pe == self->pe || (unsigned)pe >= (unsigned)self->pes ? found
                                                                                          : pe;
}

bool ski_thread_can_move(const struct skua_thread *thread)
{
    return thread->wait != SKI_THREAD_STAYS && thread->pins == 0;
}

bool ski_thread_is_queued(const struct skua_thread *thread)
{
    switch ((enum ski_thread_wait)thread->wait) {
    case SKI_THREAD_YIELDS: return true;
    case SKI_THREAD_SUSPENDED: return thread->resumed;
    case SKI_THREAD_WAITS: return thread->waiter->woken;
    case SKI_THREAD_STAYS:
    case SKI_THREAD_MIGRATES: break;
    }
    return false;
}

void ski_thread_depart(struct ski_pe *self, struct skua_thread *thread, int to)
{
    ski_assert(ski_thread_can_move(thread) && thread != self->thread);
    thread->queued = ski_thread_is_queued(thread);
    if (thread->queued) {
        bool removed = ski_queue_remove(&self->queue, &thread->ready);

        ski_assert(removed);
        (void)removed;
        self->queue.popped++;   /* it counts as delivered here ... */
        self->stats.switches++; /* and as no message to this PE (skua_stats) */
    }
    if (thread->wait == SKI_THREAD_WAITS)
        thread->last = *thread->list;
    ski_thread_unlink(self, thread);
    thread->pe = to;
}

void ski_thread_arrive(struct ski_pe *self, const struct ski_iso_move *move)
{
    char               *slot   = (char *)(uintptr_t)move->at;
    struct skua_thread *thread = ski_thread_in_slot(slot);

    ski_isomalloc_arrive(self, move);
    thread_move_unpoison(slot);
    thread->stack = thread_move_stack(slot, true);
    ski_thread_set_canary(thread);
    thread->pe       = self->pe;
    thread->migrated = SKUA_OK;
    if (thread->wait == SKI_THREAD_MIGRATES) {
        thread->wait   = SKI_THREAD_YIELDS; /* ready: it may be moved again before it runs */
        thread->queued = true;
    }
    ski_thread_link(self, thread);
}

void ski_thread_wait_to_migrate(struct ski_pe *self, struct ski_call call)
{
    struct skua_thread *thread = self->thread;

    thread->blocked = call;
    thread->wait    = SKI_THREAD_MIGRATES;
    ski_thread_block(self);
    thread->wait         = SKI_THREAD_STAYS;
    thread->blocked.name = NULL;
}

void ski_thread_answer_migrate(struct ski_pe *self, struct skua_thread *thread, skua_status status)
{
    ski_assert(thread->wait == SKI_THREAD_MIGRATES);
    thread->wait     = SKI_THREAD_STAYS;
    thread->migrated = status;
    ski_thread_unblock(self, thread);
}
