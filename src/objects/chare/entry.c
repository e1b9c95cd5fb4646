/* SPDX-License-Identifier: Apache-2.0 */
/* entry.c - see entry.h. */
#include "objects/chare/entry.h"

#include "base/assert.h"
#include "base/memory.h"
#include "core/message/message.h"
#include "core/sched/thread.h"
#include "objects/measure/measure.h"
#include "objects/model/msg_target.h"

/* An answer that a running entry owes.  In each thread, the entry that runs is the newest of its
 * replies. */
struct ski_reply {
    skua_completion   done;
    bool              given;
    skua_thread      *thread; /* NULL: the scheduler's stack */
    struct ski_reply *next;
};

/* Runs an entry that gives an answer; an empty one, if the entry gives none. */
static void entry_run_sync(struct ski_object *object, const struct ski_entry *entry, skua_msg *msg)
{
    struct ski_objects       *objects = ski_self->objects;
    struct ski_reply_request *asked   = skua_msg_data(msg);
    struct ski_reply          reply   = {asked->reply, false, skua_thread_self(), objects->replies};
    struct ski_reply        **at      = &objects->replies;

    objects->replies = &reply;
    entry->method(object + 1, asked + 1, msg->bytes - sizeof *asked);
    while (*at != &reply) {
        ski_assert(*at);
        at = &(*at)->next;
    }
    *at = reply.next;
    if (!reply.given)
        skua_complete(reply.done, NULL, 0);
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

/* What the thread of an entry is given. */
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

/* The entry of ski_entries that @p entry, of a PE that measures, is a copy of. */
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

static SKI_COLD void entry_run_special(struct ski_object *object, const struct ski_entry *entry,
                                       skua_msg *msg)
{
    struct entry_call *call;
    skua_thread       *thread;

    if (entry->flags & SKI_ENTRY_MEASURED) {
        entry_run_measured(object, entry_unmeasured(entry), msg);
        return;
    }
    if (entry->flags & SKUA_ENTRY_SYNC && msg->bytes < sizeof(struct ski_reply_request))
        ski_misuse("%s::%s of %s on PE %d was invoked by a call that takes no answer; "
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
    call   = ski_malloc(sizeof *call);
    *call  = (struct entry_call){object, entry, msg};
    thread = skua_thread_create(entry_thread_main, call, 0);
    skua_thread_set_name(thread, entry->name);
    skua_thread_detach(thread);
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
static void entry_call_measured(struct ski_object *object, const struct ski_entry *entry,
                                const void *data, size_t bytes)
{
    struct ski_object *outer = ski_measure_enter(object);

    entry->method(object + 1, data, bytes);
    ski_measure_leave(outer);
}

void ski_entry_run_on(struct ski_object *object, const struct ski_entry *entry, uint32_t handler,
                      const void *data, size_t bytes)
{
    bool measured = entry->flags & SKI_ENTRY_MEASURED;

    if (SKI_UNLIKELY(measured))
        entry = entry_unmeasured(entry);
    if (SKI_UNLIKELY(!ski_entry_is_call(entry))) {
        ski_entry_run(object, &ski_self->objects->run[handler],
                      ski_msg_copy(ski_self, handler, data, bytes));
        return;
    }
    ski_element_enter(object);
    if (SKI_UNLIKELY(measured))
        entry_call_measured(object, entry, data, bytes);
    else
        entry->method(object + 1, data, bytes);
    ski_element_leave(object);
}

/* ---- answers ------------------------------------------------------------------------ */

/* The reply that the running entry owes, which is given now; ends the job if there is none. */
static struct ski_reply *entry_owed_reply(const char *call)
{
    struct ski_reply *reply = ski_pe_of_caller(call)->objects->replies;

    while (reply && reply->thread != skua_thread_self())
        reply = reply->next;
    if (!reply)
        ski_misuse("%s: no entry that is SKUA_ENTRY_SYNC is running here", call);
    if (reply->given)
        ski_misuse("%s: the answer was given already", call);
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
