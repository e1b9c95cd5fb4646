/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion.c - making completions, and performing them on the PE that they belong to.
 *
 * A completion that another PE performs is sent to its own PE in a message: the completion, then
 * the result.  A future keeps that message as it is (future.c), which is why the result of a future
 * always follows a struct completion_carried.
 *
 * A completion contains addresses of its PE, and may come from another host: in such a message, or
 * in data that the program has received and now passes to skua_complete().  So each completion of a
 * distributed job has a tag (addr_tag.h).  Its PE checks the tag in completion_happen_here(), each
 * time before it uses an address; no other path leads to the addresses.  completion_tags.h caches
 * the tags that a PE has made.
 */
#include <skua/completion.h>

#include <string.h>

#include <skua/pe.h>

#include "core/isomalloc/isomalloc.h"
#include "core/pe/builtin.h"
#include "core/sched/completion.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/message/message.h"
#include "core/pe/pe.h"
#include "core/sched/completion_tags.h"
#include "core/sched/future.h"
#include "core/sched/thread.h"
#include "core/sched/wait.h"

/* The kinds of completions, in the order of skua_done_*(). */
enum completion_kind {
    NOTHING,
    COUNT,                   /* increments a counter */
    CALL,                    /* calls a function */
    SEND,                    /* sends the result to a handler of a PE */
    FUTURE,                  /* sets a future to the result */
    EXIT,                    /* ends the job */
    OBJECT = SKI_DONE_OBJECT /* invokes an entry of an object */
};

/* The part of a completion that a message to its PE carries.  A completion that invokes an object
 * is longer, and is never carried: the PE that performs it sends the message to the object. */
struct completion_carried {
    _Alignas(16) unsigned char done[offsetof(skua_completion, with.own.tag) + sizeof(uint64_t)];
};

/* Returns the completion that a message has brought. */
static skua_completion completion_of(const struct completion_carried *carried)
{
    skua_completion done = {.kind = NOTHING};

    memcpy(&done, carried->done, sizeof carried->done);
    return done;
}

_Static_assert(sizeof(struct completion_carried) == SKI_COMPLETE_MIN, "see builtin.h");

/* ---- making ------------------------------------------------------------------ */

/* Sets the PE of a completion to that of the caller, and its tag. */
static inline void completion_set_owner(const char *call, skua_completion *done)
{
    struct ski_pe *self = ski_pe_of_caller(call);

    done->pe = self->pe;
    if (SKI_UNLIKELY(self->net != NULL))
        done->with.own.tag = ski_completion_tag(self, done);
}

skua_completion skua_done_nothing(void)
{
    return (skua_completion){.kind = NOTHING};
}

skua_completion skua_done_count(skua_counter *counter)
{
    skua_completion done = {.kind = COUNT, .what.counter = counter};

    if (!counter)
        ski_misuse("%s: there is no counter", __func__);
    completion_set_owner(__func__, &done);
    return done;
}

skua_completion skua_done_call(skua_done_fn fn, void *arg)
{
    skua_completion done = {.kind = CALL, .what.fn = fn, .with.arg = arg};

    if (!fn)
        ski_misuse("%s: there is no function", __func__);
    completion_set_owner(__func__, &done);
    return done;
}

skua_completion skua_done_send(int pe, skua_handler handler)
{
    const struct ski_pe *self = ski_self; /* NULL: a thread that is not a PE, which may call this */

    if (handler.id - 1 >= ski_handlers.count - 1)
        ski_handler_misuse(__func__, handler.id);
    if (self && (uint32_t)pe >= (uint32_t)self->pes)
        ski_misuse("%s: PE %d does not exist; this job has PEs 0 to %d", __func__, pe,
                   self->pes - 1);
    return (skua_completion){.kind = SEND, .pe = pe, .what.handler = handler.id};
}

skua_completion skua_done_future(skua_future *future)
{
    skua_completion done = {.kind = FUTURE, .what.future = future};

    if (!future)
        ski_misuse("%s: there is no future", __func__);
    completion_set_owner(__func__, &done);
    return done;
}

skua_completion skua_done_exit(int code)
{
    return (skua_completion){
        .kind = EXIT, .pe = SKI_SELF()->pe, .what.handler = (uint64_t)(unsigned)code};
}

/* ---- in a checkpoint ------------------------------------------------------------ */

/* Returns whether a completion wakes a user thread of an element, whose addresses a restarted job
 * keeps (isomalloc/isomalloc.h).  Its tag is of the former job, and its PE may not exist: the
 * target is found by its address. */
static bool completion_is_kept(const skua_completion *done)
{
    return (done->kind == COUNT || done->kind == FUTURE) &&
           ski_isomalloc_contains(done->what.counter);
}

bool ski_completion_is_value(const skua_completion *done)
{
    return done->kind == NOTHING || done->kind == SEND || done->kind == EXIT ||
           done->kind == OBJECT || completion_is_kept(done);
}

const char *ski_completion_restore(skua_completion *done)
{
    uint64_t handler = done->kind == SEND ? done->what.handler : done->entry;

    if ((done->kind == COUNT || done->kind == FUTURE) && !ski_isomalloc_restores(ski_self))
        return "a completion names a future or counter of an element with user threads, which "
               "needs "
               "the address range of stacks that the former job had; set stack_size, "
               "thread_migration and the limits of addresses as they were";
    if (!ski_completion_is_value(done) || done->pe < 0 ||
        ((done->kind == SEND || done->kind == OBJECT) &&
         (handler < SKI_HANDLERS || handler >= ski_handlers.count)))
        return "a completion is not valid";
    done->pe %= ski_self->pes;
    return NULL;
}

/* ---- happening --------------------------------------------------------------- */

/* Returns a message that carries the completion and its result. */
static struct skua_msg *completion_carry(struct ski_pe *self, const skua_completion *done,
                                         const void *data, size_t bytes)
{
    struct skua_msg           *msg     = skua_msg_alloc(sizeof(struct completion_carried) + bytes);
    struct completion_carried *carried = skua_msg_data(msg);

    memcpy(carried->done, done, sizeof carried->done);
    if (bytes)
        memcpy(carried + 1, data, bytes);
    msg->handler = SKI_HANDLER_COMPLETE;
    msg->source  = self->pe;
    return msg;
}

/* Sends a completion to the PE that it belongs to; in a cell, if it is small. */
static void completion_send_home(struct ski_pe *self, const skua_completion *done, const void *data,
                                 size_t bytes)
{
    struct {
        struct completion_carried carried;
        char                      result[SKUA_INLINE_MAX - sizeof(struct completion_carried)];
    } small;

    if (done->kind == COUNT || done->kind == EXIT)
        bytes = 0; /* they make nothing of a result */
    if (bytes > sizeof small.result) {
        ski_msg_post(self, done->pe, SKI_HANDLER_COMPLETE,
                     completion_carry(self, done, data, bytes));
        return;
    }
    memcpy(small.carried.done, done, sizeof small.carried.done);
    if (bytes)
        memcpy(small.result, data, bytes);
    skua_send_copy(done->pe, (skua_handler){SKI_HANDLER_COMPLETE}, &small,
                   sizeof small.carried + bytes);
}

/* Returns whether a completion of this PE is one that it made. */
static bool completion_is_ours(struct ski_pe *self, const skua_completion *done)
{
    return done->kind == EXIT || done->with.own.tag == ski_completion_tag(self, done);
}

/* Performs a completion of a kind that does not keep the result, on the PE that made it. */
static void completion_run(struct ski_pe *self, const skua_completion *done, const void *data,
                           size_t bytes)
{
    switch ((enum completion_kind)done->kind) {
    case COUNT:
        done->what.counter->value++;
        ski_wake_all(self, &done->what.counter->waiters);
        break;
    case CALL:
        ski_thread_pin(self); /* callers of completions continue with this PE */
        done->what.fn(done->with.arg, data, bytes);
        ski_thread_unpin(self);
        break;
    case EXIT: skua_exit((int)done->what.handler); break;
    case NOTHING:
    case SEND:
    case FUTURE:
    case OBJECT: break;
    }
}

/* Performs a completion that invokes an object: queues a message for the object on this PE, which
 * forwards it (objects/chare/invoke.c). */
static void completion_invoke(struct ski_pe *self, const skua_completion *done, const void *data,
                              size_t bytes)
{
    struct skua_msg *msg = ski_msg_copy(self, done->entry, data, bytes);

    msg->flags  = SKI_MSG_OBJECT;
    msg->target = done->what.target;
    memcpy(msg->index, done->with.index, sizeof msg->index);
    ski_msg_post(self, self->pe, done->entry, msg);
}

/* Returns what the completion will touch, if its owner may have moved: a counter, a future, an
 * argument. */
static const void *completion_address(const skua_completion *done)
{
    return done->kind == CALL                            ? done->with.arg
           : done->kind == COUNT || done->kind == FUTURE ? done->what.counter
                                                         : NULL;
}

/* Returns the PE to which the target of a completion of this PE has moved (isomalloc.h), or this
 * PE. */
static int completion_target_pe(struct ski_pe *self, const skua_completion *done)
{
    const void *at = completion_address(done);

    if (!ski_isomalloc_contains(at) || ski_isomalloc_here(self, at))
        return self->pe;
    return ski_isomalloc_lookup(self, at);
}

/* Sends a completion after its target, which is not here. */
static void completion_follow(struct ski_pe *self, int pe, struct skua_msg *msg)
{
    if (pe == SKI_ISO_FREE) {
        ski_net_drop(self, msg); /* the thread or the object is no more */
        return;
    }
    msg->handler = SKI_HANDLER_COMPLETE_MOVED;
    msg->source  = self->pe;
    ski_msg_post(self, pe, SKI_HANDLER_COMPLETE_MOVED, msg);
}

/* Performs a completion whose target is here. @p carrier is a message that brought the completion
 * and its result, or NULL. */
static inline void completion_perform(struct ski_pe *self, const skua_completion *done,
                                      const void *data, size_t bytes, skua_msg *carrier)
{
    if (done->kind != FUTURE)
        completion_run(self, done, bytes ? data : NULL, bytes);
    else if (carrier)
        ski_future_set(self, done->what.future, carrier), carrier = NULL;
    else
        ski_future_set(self, done->what.future, completion_carry(self, done, data, bytes));
    if (carrier)
        skua_msg_free(carrier);
}

/* Performs a completion of this PE, in a job with objects that move with their threads, where its
 * target is. */
static SKI_COLD void completion_happen_somewhere(struct ski_pe *self, const skua_completion *done,
                                                 const void *data, size_t bytes, skua_msg *carrier)
{
    int pe = completion_target_pe(self, done);

    if (pe == self->pe)
        completion_perform(self, done, data, bytes, carrier);
    else
        completion_follow(self, pe, carrier ? carrier : completion_carry(self, done, data, bytes));
}

/* Performs a completion on the PE that made it.  @p carrier is a message that brought the
 * completion and its result, or NULL. */
static void completion_happen_here(struct ski_pe *self, const skua_completion *done,
                                   const void *data, size_t bytes, skua_msg *carrier)
{
    if (SKI_UNLIKELY(self->net && !completion_is_ours(self, done) && !completion_is_kept(done)))
        ski_net_reject(self, "a completion that came from PE %d was dropped: this PE never made it",
                       carrier ? carrier->source : self->pe);
    else if (SKI_UNLIKELY(self->iso != NULL)) {
        completion_happen_somewhere(self, done, data, bytes, carrier);
        return;
    } else {
        completion_perform(self, done, data, bytes, carrier);
        return;
    }
    if (carrier)
        skua_msg_free(carrier);
}

/* Returns whether the PE and the handler that a completion names exist.  A program cannot name
 * handlers of the runtime. */
static bool completion_is_possible(const struct ski_pe *self, const skua_completion *done)
{
    uint64_t handler = done->kind == SEND ? done->what.handler : done->entry;

    if (done->kind > OBJECT)
        return false;
    if ((done->kind == SEND || done->kind == OBJECT) &&
        (handler < SKI_HANDLERS || !ski_pe_has_handler(self, (uint32_t)handler) ||
         handler > UINT32_MAX))
        return false;
    return done->kind == OBJECT || (uint32_t)done->pe < (uint32_t)self->pes || done->pe == self->pe;
}

/* Handles a completion that names a PE or a handler that does not exist.  One of a former job that
 * had more PEs is performed if a restarted job keeps its address.  Any other is an error of the
 * program in a job on one host; in a distributed job it may have come from another host in data of
 * the program, so it is dropped. */
static SKI_COLD void completion_refuse(struct ski_pe *self, const skua_completion *done,
                                       const void *data, size_t bytes)
{
    if (done->kind <= OBJECT && completion_is_kept(done)) {
        completion_happen_here(self, done, data, bytes, NULL);
        return;
    }
    if (!self->net)
        ski_misuse("skua_complete: there is no completion of kind %u of PE %d", done->kind,
                   done->pe);
    ski_net_reject(self, "a completion was dropped: its kind, PE or handler does not exist");
}

void skua_complete(skua_completion done, const void *data, size_t bytes)
{
    struct ski_pe *self = SKI_SELF();

    if (done.kind == NOTHING)
        return;
    if (SKI_LIKELY(done.pe == self->pe && done.kind <= CALL))
        completion_happen_here(self, &done, data, bytes, NULL);
    else if (SKI_UNLIKELY(!completion_is_possible(self, &done)))
        completion_refuse(self, &done, data, bytes);
    else if (done.kind == OBJECT)
        completion_invoke(self, &done, data, bytes);
    else if (done.kind == SEND)
        skua_send_copy(done.pe, (skua_handler){(uint32_t)done.what.handler}, data, bytes);
    else if (done.pe != self->pe)
        completion_send_home(self, &done, data, bytes);
    else
        completion_happen_here(self, &done, data, bytes, NULL);
}

void ski_complete_with(skua_completion done, skua_msg *msg)
{
    struct ski_pe *self  = SKI_SELF();
    const void    *data  = (struct completion_carried *)skua_msg_data(msg) + 1;
    size_t         bytes = msg->bytes - sizeof(struct completion_carried);

    if (done.kind == FUTURE && done.pe == self->pe) {
        completion_happen_here(self, &done, data, bytes, msg);
        return;
    }
    skua_complete(done, data, bytes);
    skua_msg_free(msg);
}

void ski_on_complete(skua_msg *msg)
{
    struct completion_carried *carried = skua_msg_data(msg);
    skua_completion            done    = completion_of(carried);

    if (SKI_UNLIKELY(done.pe != ski_self->pe || (done.kind != COUNT && done.kind != CALL &&
                                                 done.kind != FUTURE && done.kind != EXIT))) {
        ski_net_drop(ski_self, msg);
        return;
    }
    completion_happen_here(ski_self, &done, carried + 1, msg->bytes - sizeof *carried, msg);
}

/* Handles a completion that another PE made and that has followed its target here.  Its tag is not
 * checked, since the PE that made the completion has checked it.  Its target is in memory that
 * another PE has moved here.  A program whose threads migrate trusts all processes that know the
 * secret of the job, since it executes their stacks (docs/decisions/0048-threads-that-migrate.md).
 */
void ski_on_complete_moved(skua_msg *msg)
{
    struct ski_pe             *self    = ski_self;
    struct completion_carried *carried = skua_msg_data(msg);
    skua_completion            done    = completion_of(carried);
    const void                *at      = completion_address(&done);

    if (!self->iso || !at || !ski_isomalloc_block(at)) {
        ski_net_drop(self, msg);
        return;
    }
    if (ski_isomalloc_here(self, at))
        completion_perform(self, &done, carried + 1, msg->bytes - sizeof *carried, msg);
    else
        completion_follow(self, ski_isomalloc_lookup(self, at), msg);
}

/* ---- waiting ------------------------------------------------------------- */

bool skua_counter_wait(skua_counter *counter, int64_t target)
{
    while (counter->value < target)
        if (!ski_wait_on_movable(&counter->waiters, SKI_CALL))
            return false;
    ski_thread_send_packets(false);
    return true;
}
