/* SPDX-License-Identifier: Apache-2.0 */
/* entry.c - see entry.h. */
#include "objects/chare/entry.h"

#include "base/assert.h"
#include "base/memory.h"
#include "core/sched/thread.h"
#include "core/sched/thread_move.h"
#include "objects/measure/measure.h"
#include "objects/model/msg_target.h"

#define ENTRY_COPY_MAX ((size_t)4096) /* data that a thread which moves has on its stack */

/* A reply that a running entry still has to send, on the stack where it runs.  The entry that runs
 * is the newest of its stack. */
struct ski_reply {
    skua_completion   done;
    bool              given;
    struct ski_reply *next;
};

/* Returns the list of the calling thread, which moves with it, or of the scheduler's stack. */
static struct ski_reply **entry_replies(struct ski_pe *self)
{
    return self->thread ? (struct ski_reply **)&self->thread->replies : &self->objects->replies;
}

/* Runs an entry that returns a reply, and sends an empty reply if the entry has sent none. */
static void entry_answer(struct ski_object *object, const struct ski_entry *entry, const void *data,
                         size_t bytes)
{
    const struct ski_reply_request *asked   = data;
    struct ski_reply              **replies = entry_replies(ski_self);
    struct ski_reply                reply   = {asked->reply, false, *replies};

    *replies = &reply;
    entry->method(object + 1, asked + 1, bytes - sizeof *asked);
    ski_assert(*replies == &reply);
    *replies = reply.next;
    if (!reply.given)
        skua_complete(reply.done, NULL, 0);
}

static void entry_run_sync(struct ski_object *object, const struct ski_entry *entry, skua_msg *msg)
{
    entry_answer(object, entry, skua_msg_data(msg), msg->bytes);
    skua_msg_free(msg);
}

static inline void entry_run_plain(struct ski_object *object, const struct ski_entry *entry,
                                   skua_msg *msg)
{
    if (entry->method) {
        entry->method(object + 1, skua_msg_data(msg), msg->bytes);
        ski_pool_free(&ski_self->pool, msg);
    } else {
        ski_msg_clear_target(msg);
        entry->entry(object + 1, msg);
    }
}

/* The arguments of the thread of an entry. */
struct entry_call {
    struct ski_object      *object;
    const struct ski_entry *entry;
    skua_msg               *msg;
};

static void entry_thread_main(void *arg)
{
    struct entry_call call = *(struct entry_call *)arg;

    free(arg);
    skua_thread_self()->charged = call.object;
    (void)ski_measure_enter(call.object);
    if (call.entry->flags & SKUA_ENTRY_SYNC)
        entry_run_sync(call.object, call.entry, call.msg);
    else
        entry_run_plain(call.object, call.entry, call.msg);
    skua_thread_self()->charged = NULL;
    (void)ski_measure_enter(NULL); /* the object may go */
    ski_element_leave(call.object);
}

/* Runs an entry in a thread that moves with the object.  When the call of the program returns, the
 * thread may be on another PE, to which only its stack and the object have moved. */
static void entry_call_moving(const struct entry_call *call, const void *data, size_t bytes)
{
    if (call->entry->flags & SKUA_ENTRY_SYNC)
        entry_answer(call->object, call->entry, data, bytes);
    else
        call->entry->method(call->object + 1, data, bytes);
}

/* Runs a method on a copy of its data, which is on the stack. */
static void entry_call_copied(const struct entry_call *call)
{
    size_t bytes = call->msg->bytes;
    char  *copy  = __builtin_alloca_with_align(bytes + 1, 128);

    if (bytes)
        memcpy(copy, skua_msg_data(call->msg), bytes);
    skua_msg_free(call->msg);
    entry_call_moving(call, copy, bytes);
}

/* Runs a threaded entry of an object that can migrate meanwhile.  Data of a small message are
 * copied to the stack, so that they migrate with the thread. */
static void entry_moving_main(void *arg)
{
    struct entry_call call = *(struct entry_call *)arg;

    free(arg);
    skua_thread_self()->charged = call.object; /* until thread_migration.c ends it */
    (void)ski_measure_enter(call.object);
    if (call.entry->method && call.msg->bytes <= ENTRY_COPY_MAX) {
        entry_call_copied(&call);
        return;
    }
    skua_thread_self()->on_host = true; /* the message is in the arena of this host */
    if (call.entry->method) {
        entry_call_moving(&call, skua_msg_data(call.msg), call.msg->bytes);
        skua_msg_free(call.msg);
    } else {
        ski_msg_clear_target(call.msg);
        call.entry->entry(call.object + 1, call.msg);
    }
}

/* Creates the thread of an entry; it moves with the object if that keeps its address. */
static void entry_create_thread(struct entry_call *call)
{
    struct ski_object_threads *block  = ski_object_block(call->object);
    skua_thread               *thread = NULL;

    if (block)
        thread =
            ski_thread_create_owned(ski_self, entry_moving_main, call, call->object, &block->first);
    if (thread) {
        thread->entry = (uint32_t)(call->entry - ski_entries);
    } else {
        thread = skua_thread_create(entry_thread_main, call, 0);
        skua_thread_detach(thread);
    }
    skua_thread_set_name(thread, call->entry->name);
}

/* Returns the entry of ski_entries that @p entry, of a PE that measures, is a copy of. */
static const struct ski_entry *entry_unmeasured(const struct ski_entry *entry)
{
    return ski_entries + (entry - ski_entries_measured);
}

static SKI_COLD void entry_run_special(struct ski_object *object, const struct ski_entry *entry,
                                       skua_msg *msg);

/* Runs an entry and charges its object. */
static void entry_run_measured(struct ski_object *object, const struct ski_entry *entry,
                               skua_msg *msg)
{
    struct ski_object *outer = ski_measure_enter(object);

    if (entry->flags & (SKUA_ENTRY_THREADED | SKUA_ENTRY_SYNC | SKI_ENTRY_INPLACE))
        entry_run_special(object, entry, msg);
    else
        entry_run_plain(object, entry, msg);
    ski_measure_leave(outer);
}

/* Runs an entry that is not a plain call: measured, in place, with a reply, or in a thread. */
static SKI_COLD void entry_run_special(struct ski_object *object, const struct ski_entry *entry,
                                       skua_msg *msg)
{
    struct entry_call *call;

    if (entry->flags & SKI_ENTRY_MEASURED) {
        entry_run_measured(object, entry_unmeasured(entry), msg);
        return;
    }
    if (entry->flags & SKUA_ENTRY_SYNC && msg->bytes < sizeof(struct ski_reply_request))
        ski_misuse("%s::%s of %s on PE %d was invoked by a call that receives no reply; "
                   "skua_invoke_reply() is for that",
                   entry->of->def.name, entry->name, ski_object_text(object), ski_self->pe);
    if (entry->flags & SKI_ENTRY_INPLACE) {
        entry->ops->run(object, entry, msg);
        return;
    }
    if (!(entry->flags & SKUA_ENTRY_THREADED)) {
        entry_run_sync(object, entry, msg);
        return;
    }
    ski_assert(entry->entry || entry->method);
    ski_element_enter(object); /* until the thread ends */
    call  = ski_malloc(sizeof *call);
    *call = (struct entry_call){object, entry, msg};
    entry_create_thread(call);
}

#define ENTRY_SPECIAL                                                                              \
    (SKUA_ENTRY_THREADED | SKUA_ENTRY_SYNC | SKI_ENTRY_INPLACE | SKI_ENTRY_MEASURED)

void ski_entry_run(struct ski_object *object, const struct ski_entry *entry, skua_msg *msg)
{
    ski_element_enter(object);
    if (SKI_UNLIKELY(entry->flags & ENTRY_SPECIAL))
        entry_run_special(object, entry, msg);
    else
        entry_run_plain(object, entry, msg);
    ski_element_leave(object);
}

/* Calls a method and charges its object. */
static void entry_call_measured(struct ski_object *object, skua_method_fn method, const void *data,
                                size_t bytes)
{
    struct ski_object *outer = ski_measure_enter(object);

    method(object + 1, data, bytes);
    ski_measure_leave(outer);
}

/* Returns the function that runs an entry on data that are not its own message.  NULL: it needs
 * one. */
static inline skua_method_fn entry_method(const struct ski_entry *entry)
{
    if (SKI_UNLIKELY(entry->flags & (SKUA_ENTRY_THREADED | SKUA_ENTRY_SYNC)))
        return NULL;
    return entry->method ? entry->method : entry->shared;
}

void ski_entry_run_on(struct ski_object *object, const struct ski_entry *entry, uint32_t handler,
                      const void *data, size_t bytes)
{
    bool           measured = entry->flags & SKI_ENTRY_MEASURED;
    skua_method_fn method   = entry_method(entry);

    if (SKI_UNLIKELY(!method)) {
        ski_entry_run(object, &ski_self->objects->run[handler],
                      ski_msg_copy(ski_self, handler, data, bytes));
        return;
    }
    ski_element_enter(object);
    if (SKI_UNLIKELY(measured))
        entry_call_measured(object, method, data, bytes);
    else
        method(object + 1, data, bytes);
    ski_element_leave(object);
}

/* ---- answers ------------------------------------------------------------------------ */

/* Removes and returns the reply that the running entry has to send; ends the job if there is
 * none. */
static struct ski_reply *entry_owed_reply(const char *call)
{
    struct ski_reply *reply = *entry_replies(ski_pe_of_caller(call));

    if (!reply)
        ski_misuse("%s: no entry that is SKUA_ENTRY_SYNC is running here", call);
    if (reply->given)
        ski_misuse("%s: the reply has been sent already", call);
    reply->given = true;
    return reply;
}

void skua_reply(const void *data, size_t bytes)
{
    skua_complete(entry_owed_reply(__func__)->done, data, bytes);
}

skua_completion skua_reply_later(void)
{
    return entry_owed_reply(__func__)->done;
}
