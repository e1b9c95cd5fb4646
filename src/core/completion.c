/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion.c - carrying out completions, on the PE they belong to.
 *
 * A completion that happens elsewhere travels home in a message: itself, then
 * the result.  A future keeps that message as it is, which is why the result
 * of a future always lies behind a struct carried.
 */
#include <skua/completion.h>

#include <string.h>

#include <skua/pe.h>

#include "core/builtin.h"
#include "core/completion.h"
#include "core/handler.h"
#include "core/pe.h"
#include "core/wait.h"

enum kind { NOTHING, COUNT, CALL, SEND, FUTURE, EXIT, OBJECT = SKI_DONE_OBJECT };

/* As much of a completion as one that travels has: those for objects do not. */
struct carried {
    _Alignas(16) unsigned char done[offsetof(skua_completion, with) + sizeof(void *)];
};

static skua_completion done_of(const struct carried *carried)
{
    skua_completion done = {.kind = NOTHING};

    memcpy(&done, carried->done, sizeof carried->done);
    return done;
}

_Static_assert(sizeof(struct carried) == SKI_COMPLETE_LEAST, "see builtin.h");

skua_completion skua_done_nothing(void)
{
    return (skua_completion){.kind = NOTHING};
}

skua_completion skua_done_count(skua_counter *counter)
{
    if (!counter)
        ski_misuse("%s: there is no counter", __func__);
    return (skua_completion){.kind = COUNT, .pe = SKI_SELF()->pe, .what.counter = counter};
}

skua_completion skua_done_call(skua_done_fn fn, void *arg)
{
    if (!fn)
        ski_misuse("%s: there is no function", __func__);
    return (skua_completion){.kind = CALL, .pe = SKI_SELF()->pe, .what.fn = fn, .with.arg = arg};
}

skua_completion skua_done_send(int pe, skua_handler handler)
{
    const struct ski_pe *self = ski_self; /* NULL: a thread that is no PE, which may call this */

    if (handler.id - 1 >= ski_handlers.count - 1)
        ski_handler_misuse(__func__, handler.id);
    if (self && (uint32_t)pe >= (uint32_t)self->pes)
        ski_misuse("%s: PE %d does not exist; this job has PEs 0 to %d", __func__, pe,
                   self->pes - 1);
    return (skua_completion){.kind = SEND, .pe = pe, .what.handler = handler.id};
}

skua_completion skua_done_future(skua_future *future)
{
    if (!future)
        ski_misuse("%s: there is no future", __func__);
    return (skua_completion){.kind = FUTURE, .pe = SKI_SELF()->pe, .what.future = future};
}

skua_completion skua_done_exit(int code)
{
    return (skua_completion){
        .kind = EXIT, .pe = SKI_SELF()->pe, .what.handler = (uint64_t)(unsigned)code};
}

/* A message that carries the completion and its result. */
static struct skua_msg *carry(struct ski_pe *self, const skua_completion *done, const void *data,
                              size_t bytes)
{
    struct skua_msg *msg     = skua_msg_alloc(sizeof(struct carried) + bytes);
    struct carried  *carried = skua_msg_data(msg);

    memcpy(carried->done, done, sizeof carried->done);
    if (bytes)
        memcpy(carried + 1, data, bytes);
    msg->handler = SKI_HANDLER_COMPLETE;
    msg->source  = self->pe;
    return msg;
}

/* To the PE it belongs to; in a cell, if it is small. */
static void send_home(struct ski_pe *self, const skua_completion *done, const void *data,
                      size_t bytes)
{
    struct {
        struct carried carried;
        char           result[SKUA_INLINE_MAX - sizeof(struct carried)];
    } small;

    if (done->kind == COUNT || done->kind == EXIT)
        bytes = 0; /* they make nothing of a result */
    if (bytes > sizeof small.result) {
        ski_msg_post(self, done->pe, SKI_HANDLER_COMPLETE, carry(self, done, data, bytes));
        return;
    }
    memcpy(small.carried.done, done, sizeof small.carried.done);
    if (bytes)
        memcpy(small.result, data, bytes);
    skua_send_copy(done->pe, (skua_handler){SKI_HANDLER_COMPLETE}, &small,
                   sizeof small.carried + bytes);
}

static void set_future(struct ski_pe *self, skua_future *future, struct skua_msg *result)
{
    if (future->ready)
        ski_misuse("a future was set twice; skua_future_clear() makes it ready for another use");
    future->ready  = true;
    future->result = result;
    ski_wake_all(self, &future->waiters);
}

/* On its own PE; the kinds that do not keep the result. */
static void happen(struct ski_pe *self, const skua_completion *done, const void *data, size_t bytes)
{
    switch ((enum kind)done->kind) {
    case COUNT:
        done->what.counter->value++;
        ski_wake_all(self, &done->what.counter->waiters);
        break;
    case CALL: done->what.fn(done->with.arg, data, bytes); break;
    case EXIT: skua_exit((int)done->what.handler); break;
    case NOTHING:
    case SEND:
    case FUTURE:
    case OBJECT: break;
    }
}

/* An object: a message for it on this PE, which knows the way to it (objects/invoke.c). */
static void invoke(struct ski_pe *self, const skua_completion *done, const void *data, size_t bytes)
{
    struct skua_msg *msg = ski_msg_copy(self, done->entry, data, bytes);

    msg->flags  = SKI_MSG_OBJECT;
    msg->target = done->what.target;
    memcpy(msg->index, done->with.index, sizeof msg->index);
    ski_msg_post(self, self->pe, done->entry, msg);
}

void skua_complete(skua_completion done, const void *data, size_t bytes)
{
    struct ski_pe *self = SKI_SELF();

    if (done.kind == NOTHING)
        return;
    if (done.kind == OBJECT)
        invoke(self, &done, data, bytes);
    else if (done.kind == SEND)
        skua_send_copy(done.pe, (skua_handler){(uint32_t)done.what.handler}, data, bytes);
    else if (done.pe != self->pe)
        send_home(self, &done, data, bytes);
    else if (done.kind == FUTURE)
        set_future(self, done.what.future, carry(self, &done, data, bytes));
    else
        happen(self, &done, bytes ? data : NULL, bytes);
}

void ski_complete_with(skua_completion done, skua_msg *msg)
{
    struct ski_pe *self = SKI_SELF();

    if (done.kind == FUTURE && done.pe == self->pe) {
        set_future(self, done.what.future, msg);
        return;
    }
    skua_complete(done, (struct carried *)skua_msg_data(msg) + 1,
                  msg->bytes - sizeof(struct carried));
    skua_msg_free(msg);
}

void ski_on_complete(skua_msg *msg)
{
    struct carried *carried = skua_msg_data(msg);
    skua_completion done    = done_of(carried);
    size_t          bytes   = msg->bytes - sizeof *carried;

    if (done.kind == FUTURE) {
        set_future(ski_self, done.what.future, msg);
        return;
    }
    happen(ski_self, &done, bytes ? carried + 1 : NULL, bytes);
    skua_msg_free(msg);
}

/* ---- waiting ------------------------------------------------------------- */

bool skua_counter_wait(skua_counter *counter, int64_t target)
{
    while (counter->value < target)
        if (!ski_wait_on(SKI_SELF(), &counter->waiters, SKI_CALL))
            return false;
    return true;
}

const void *skua_future_wait(skua_future *future, size_t *bytes)
{
    struct carried *carried;
    size_t          size;

    while (!future->ready)
        if (!ski_wait_on(SKI_SELF(), &future->waiters, SKI_CALL))
            return NULL;
    carried = skua_msg_data(future->result);
    size    = future->result->bytes - sizeof *carried;
    if (bytes)
        *bytes = size;
    return size ? (const void *)(carried + 1) : "";
}

void skua_future_set(skua_future *future, const void *data, size_t bytes)
{
    skua_complete(skua_done_future(future), data, bytes);
}

void skua_future_clear(skua_future *future)
{
    if (future->result)
        skua_msg_free(future->result);
    *future = (skua_future)SKUA_FUTURE_INIT;
}
