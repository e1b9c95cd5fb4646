/* SPDX-License-Identifier: Apache-2.0 */
/* backpressure.c - see backpressure.h. */
#include "core/message/backpressure.h"

#include <sched.h>

#include <skua/thread.h>
#include <skua/time.h>

#include "core/message/inbox_recv.h"
#include "core/net/net.h"

#define BACKPRESSURE_REST_NS UINT64_C(1000000)
#define BACKPRESSURE_EXPLAIN 1.0 /* seconds after which a waiting sender logs it   */

/* One wait of a sender. */
struct backpressure {
    int      pe;
    uint64_t moved;          /* messages that had left for that PE when one last did */
    double   since, started; /* seconds: of that moment, and of the wait             */
    bool     explained;
};

static void backpressure_explain(struct ski_pe *self, struct backpressure *wait)
{
    const struct ski_arena *arena = self->pool.arena;
    static _Atomic bool     said; /* once in a process is enough */

    wait->explained = true;
    if (!atomic_exchange(&said, true))
        ski_log(SKI_LOG_WARN,
                "memory is short (%zu of %zu MiB of the arena are in use): PE %d waits to send to "
                "PE %d, which lags behind; see SKUA_BACKPRESSURE and SKUA_ARENA_SIZE",
                (arena->bytes - ski_arena_free_bytes(self->pool.arena)) >> 20, arena->bytes >> 20,
                self->pe, wait->pe);
}

/* Returns whether the sender may continue to wait: something has left lately. */
static bool backpressure_patient(struct ski_pe *self, struct backpressure *wait, uint64_t moved)
{
    double now = skua_time();

    if (moved != wait->moved) {
        wait->moved = moved;
        wait->since = now;
    }
    if (!wait->explained && now - wait->started > BACKPRESSURE_EXPLAIN)
        backpressure_explain(self, wait);
    return now - wait->since < SKI_BACKPRESSURE_PATIENCE;
}

void ski_backpressure_attend(struct ski_pe *self)
{
    if (ski_arena_pressed(self->pool.arena))
        ski_reader_publish_sc(&self->reader); /* senders of large messages wait for this */
    else
        self->queue.events &= ~(uint32_t)SKI_EVENT_PRESSED;
}

uint64_t ski_backpressure_before_sleep(struct ski_pe *self, uint64_t ns)
{
    ski_assert(!self->thread); /* on the stack of the scheduler */
    ski_heap_collect(self->pool.heap);
    if (!ski_arena_pressed(self->pool.arena))
        return ns;
    ski_pe_note_pressure(self);
    ski_backpressure_attend(self);
    ski_pool_flush(&self->pool);
    ski_heap_trim(self->pool.heap);
    return ns < BACKPRESSURE_REST_NS ? ns : BACKPRESSURE_REST_NS;
}

/* Makes room for other PEs: receives what they sent, and collects what they freed. */
static void backpressure_turn(struct ski_pe *self)
{
    if (self->thread) {
        self->threads.stays = true; /* the caller continues with what it knows of this PE */
        skua_thread_yield();
        return;
    }
    ski_reader_poll_sc(&self->reader);
    ski_inbox_drain(self, SKI_BACKPRESSURE_TURN);
    ski_reader_publish_sc(&self->reader);
    ski_pe_check_exit(self);
    if (self->net && !ski_net_progressing(self))
        ski_net_progress(self);
    ski_heap_collect(self->pool.heap);
    ski_heap_trim(self->pool.heap);
    sched_yield();
}

bool ski_backpressure_burst(struct ski_pe *self)
{
    if (self->backpressure.burst_popped != self->queue.popped) {
        self->backpressure.burst_popped = self->queue.popped;
        self->backpressure.burst        = 0;
    }
    ski_assert(self->backpressure.burst_popped <= self->queue.popped);
    return ++self->backpressure.burst > SKI_BACKPRESSURE_BURST;
}

void ski_backpressure_wait(struct ski_pe *self, int pe, ski_backpressure_fn *waiting, uint64_t arg)
{
    double              now = skua_time();
    uint64_t            moved;
    bool                more = waiting(self, pe, arg, &moved);
    struct backpressure wait = {pe, moved, now, now, false};

    ski_assert(pe != self->pe && !ski_pe_hidden(self));
    if (self->backpressure.gave_up_on == pe && self->backpressure.gave_up_moved == moved)
        return; /* nothing has moved since patience ended */
    self->backpressure.gave_up_on = -1;
    self->stats.backpressure_waits++;
    while (more && ski_arena_pressed(self->pool.arena) && !ski_pe_exiting(self) &&
           (self->thread || !ski_inbox_doorbell_next(self))) {
        if (!backpressure_patient(self, &wait, moved)) {
            self->backpressure.gave_up_on    = pe;
            self->backpressure.gave_up_moved = moved;
            return;
        }
        backpressure_turn(self);
        more = waiting(self, pe, arg, &moved);
    }
}
