/* SPDX-License-Identifier: Apache-2.0 */
/*
 * future.c - see future.h.
 *
 * The links of a future form a ring; the future points to the last one, so that continuations
 * happen in the order in which they were added.  When the future is set, its ring is moved to a
 * link on the stack: continuations run code of the program, which may chain more, clear the future
 * or free it. The result stays until all have happened: clearing the future meanwhile only marks
 * it.
 */
#include "core/sched/future.h"

#include <stdlib.h>

#include <skua/scheduler.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/isomalloc/isomalloc.h"
#include "core/pe/builtin.h"
#include "core/pe/pe.h"
#include "core/sched/thread.h"
#include "core/sched/wait.h"

/* A continuation in the list of one of its futures. */
struct future_link {
    struct future_link      *previous, *next;
    skua_future             *future; /* NULL: in no list, or in one that has been moved */
    struct ski_continuation *continuation;
    size_t                   index;
};

enum continuation_kind { CONTINUATION_THEN, CONTINUATION_ALL, CONTINUATION_ANY };

struct ski_continuation {
    struct ski_continuation *previous, *next; /* of the PE */
    enum continuation_kind   kind;
    skua_completion          done;
    size_t                   count, pending; /* links; those of futures that are not set */
    struct future_link       link[];
};

/* A result that continuations use; on the stack of what performs them. */
struct ski_future_use {
    struct ski_future_use *next;
    skua_msg              *result;
    bool                   cleared; /* the result is freed at the end of the use */
};

/* ---- links --------------------------------------------------------------------------------- */

static void future_link_add(struct future_link *link, skua_future *future)
{
    struct future_link *last = future->chained;

    link->future         = future;
    link->previous       = last ? last : link;
    link->next           = last ? last->next : link;
    link->previous->next = link->next->previous = link;
    future->chained                             = link;
}

static void future_link_remove(struct future_link *link)
{
    if (!link->next)
        return; /* of a future that was set, or is no more */
    if (link->future && link->future->chained == link)
        link->future->chained = link->previous == link ? NULL : link->previous;
    link->previous->next = link->next;
    link->next->previous = link->previous;
    link->previous = link->next = NULL;
    link->future                = NULL;
}

/* Moves the ring of a future to the list of @p head. */
static void future_links_move(skua_future *future, struct future_link *head)
{
    struct future_link *last = future->chained;

    *head = (struct future_link){.previous = head, .next = head};
    if (!last)
        return;
    head->next           = last->next;
    head->previous       = last;
    head->next->previous = head;
    last->next           = head;
    future->chained      = NULL;
    for (struct future_link *link = head->next; link != head; link = link->next)
        link->future = NULL;
}

/* ---- continuations --------------------------------------------------------------------------- */

static struct ski_continuation *continuation_new(struct ski_pe *self, enum continuation_kind kind,
                                                 size_t count, skua_completion done)
{
    struct ski_continuation *c;

    if (count > (SIZE_MAX - sizeof *c) / sizeof *c->link)
        ski_misuse("%zu futures are more than there can be", count);
    c        = ski_calloc(1, sizeof *c + count * sizeof *c->link);
    c->kind  = kind;
    c->done  = done;
    c->count = count;
    c->next  = self->continuations;
    if (c->next)
        c->next->previous = c;
    self->continuations = c;
    return c;
}

static void continuation_add_link(struct ski_continuation *c, size_t i, skua_future *future)
{
    c->link[i].continuation = c;
    c->link[i].index        = i;
    c->pending++;
    future_link_add(&c->link[i], future);
}

/* Removes a continuation from its futures and from the PE. */
static void continuation_free(struct ski_pe *self, struct ski_continuation *c)
{
    for (size_t i = 0; i < c->count; i++)
        future_link_remove(&c->link[i]);
    if (c->previous)
        c->previous->next = c->next;
    else
        self->continuations = c->next;
    if (c->next)
        c->next->previous = c->previous;
    free(c);
}

/* A future of a continuation, @p index, has been set: performs what is due now. */
static void continuation_advance(struct ski_pe *self, struct ski_continuation *c, size_t index,
                                 const void *data, size_t bytes)
{
    enum continuation_kind kind = c->kind;
    skua_completion        done = c->done;

    if (--c->pending > 0 && kind == CONTINUATION_ALL)
        return;
    continuation_free(self, c);
    if (kind == CONTINUATION_THEN)
        skua_complete(done, data, bytes);
    else if (kind == CONTINUATION_ALL)
        skua_complete(done, NULL, 0);
    else
        skua_complete(done, &index, sizeof index);
}

/* Handles a future of a continuation that is cleared before it was set. */
static void continuation_lose(struct ski_pe *self, struct future_link *link)
{
    struct ski_continuation *c = link->continuation;

    future_link_remove(link);
    if (c->kind != CONTINUATION_ANY || --c->pending == 0)
        continuation_free(self, c);
}

bool ski_futures_chained(const struct ski_pe *self, bool (*moves)(const void *at, void *arg),
                         void                *arg)
{
    for (const struct ski_continuation *c = self->continuations; c; c = c->next)
        for (size_t i = 0; i < c->count; i++)
            if (c->link[i].future && moves(c->link[i].future, arg))
                return true;
    return false;
}

void ski_futures_destroy(struct ski_pe *self)
{
    while (self->continuations) { /* their futures may no longer exist */
        struct ski_continuation *c = self->continuations;

        self->continuations = c->next;
        free(c);
    }
}

/* ---- results --------------------------------------------------------------------------------- */

static const void *future_result(const skua_msg *result, size_t *bytes)
{
    ski_assert(result && result->bytes >= SKI_COMPLETE_MIN);
    *bytes = result->bytes - SKI_COMPLETE_MIN;
    return (const char *)skua_msg_data((skua_msg *)(uintptr_t)result) + SKI_COMPLETE_MIN;
}

static void future_use_begin(struct ski_pe *self, struct ski_future_use *use, skua_msg *result)
{
    *use              = (struct ski_future_use){self->future_uses, result, false};
    self->future_uses = use;
}

/* Frees a result, or leaves that to what uses it. */
static void future_free_result(struct ski_pe *self, skua_msg *result)
{
    struct ski_future_use *use = self ? self->future_uses : NULL;

    while (use && use->result != result)
        use = use->next;
    if (use)
        use->cleared = true;
    else
        skua_msg_free(result);
}

/* Uses end in any order: a continuation may block its thread. */
static void future_use_end(struct ski_pe *self, struct ski_future_use *use)
{
    struct ski_future_use **at = &self->future_uses;

    while (*at != use)
        at = &(*at)->next;
    *at = use->next;
    if (use->cleared)
        future_free_result(self, use->result); /* another use of it may continue */
}

/* Performs what was chained to a future that has been set to @p result. */
static void future_continue(struct ski_pe *self, skua_future *future, skua_msg *result)
{
    struct future_link    head, *link;
    struct ski_future_use use;
    size_t                bytes;
    const void           *data = future_result(result, &bytes);

    ski_thread_pin(self); /* the head and the use are known to this PE */
    future_use_begin(self, &use, result);
    future_links_move(future, &head);
    while ((link = head.next) != &head) {
        future_link_remove(link);
        continuation_advance(self, link->continuation, link->index, data, bytes);
    }
    future_use_end(self, &use);
    ski_thread_unpin(self);
}

/* A result is a message in the arena of this host: a block with one stays on the host. */
static void future_count_result(struct ski_pe *self, const skua_future *future, uint32_t by)
{
    struct ski_iso_block *block = self && self->iso ? ski_isomalloc_here(self, future) : NULL;

    if (block)
        block->results += by;
}

void ski_future_set(struct ski_pe *self, skua_future *future, skua_msg *result)
{
    if (future->ready)
        ski_misuse("a future was set twice; skua_future_clear() makes it ready for another use");
    ski_assert(!future->result && result);
    future->ready  = true;
    future->result = result;
    if (SKI_UNLIKELY(self->iso != NULL))
        future_count_result(self, future, 1);
    ski_wake_all(self, &future->waiters);
    if (SKI_UNLIKELY(future->chained != NULL))
        future_continue(self, future, result);
}

/* ---- calls ---------------------------------------------------------------------------------- */

const void *skua_future_wait(skua_future *future, size_t *bytes)
{
    const void *data;
    size_t      size;

    while (!future->ready)
        if (!ski_wait_on_movable(&future->waiters, SKI_CALL))
            return NULL;
    data = future_result(future->result, &size);
    if (bytes)
        *bytes = size;
    return size ? data : "";
}

void skua_future_set(skua_future *future, const void *data, size_t bytes)
{
    (void)SKI_SELF();
    skua_complete(skua_done_future(future), data, bytes);
}

bool skua_future_test(skua_future *future)
{
    if (!future->ready && ski_self && !ski_self->thread)
        skua_poll(1);
    return future->ready;
}

void skua_future_clear(skua_future *future)
{
    struct future_link *last;

    if (future->result) {
        future_count_result(ski_self, future, UINT32_MAX);
        future_free_result(ski_self, future->result);
    }
    while ((last = future->chained))
        continuation_lose(SKI_SELF(), last);
    *future = (skua_future)SKUA_FUTURE_INIT;
}

void skua_future_then(skua_future *future, skua_completion done)
{
    struct ski_pe        *self = SKI_SELF();
    struct ski_future_use use;
    const void           *data;
    size_t                bytes;

    if (!future)
        ski_misuse("%s: there is no future", __func__);
    if (!future->ready) {
        continuation_add_link(continuation_new(self, CONTINUATION_THEN, 1, done), 0, future);
        return;
    }
    data = future_result(future->result, &bytes);
    ski_thread_pin(self);
    future_use_begin(self, &use, future->result);
    skua_complete(done, data, bytes);
    future_use_end(self, &use);
    ski_thread_unpin(self);
}

static void future_check_array(const char *call, skua_future *const *futures, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!futures[i])
            ski_misuse("%s: there is no future at index %zu", call, i);
}

void skua_future_all(skua_future *const *futures, size_t count, skua_completion done)
{
    struct ski_continuation *c;
    size_t                   set = 0;

    future_check_array(__func__, futures, count);
    while (set < count && futures[set]->ready)
        set++;
    if (set == count) {
        skua_complete(done, NULL, 0);
        return;
    }
    c = continuation_new(SKI_SELF(), CONTINUATION_ALL, count, done);
    for (size_t i = set; i < count; i++)
        if (!futures[i]->ready)
            continuation_add_link(c, i, futures[i]);
}

void skua_future_any(skua_future *const *futures, size_t count, skua_completion done)
{
    struct ski_continuation *c;

    future_check_array(__func__, futures, count);
    if (count == 0)
        ski_misuse("%s: there are no futures, so none of them will be set", __func__);
    for (size_t i = 0; i < count; i++)
        if (futures[i]->ready) {
            skua_complete(done, &i, sizeof i);
            return;
        }
    c = continuation_new(SKI_SELF(), CONTINUATION_ANY, count, done);
    for (size_t i = 0; i < count; i++)
        continuation_add_link(c, i, futures[i]);
}
