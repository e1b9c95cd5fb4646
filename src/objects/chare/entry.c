/* SPDX-License-Identifier: Apache-2.0 */
/* entry.c - see entry.h. */
#include "objects/chare/entry.h"

#include "base/memory.h"
#include "core/sched/thread.h"
#include "objects/chare/msg_target.h"
#include "objects/zerocopy/inplace.h"
#include "objects/objects.h"

/* An answer that is owed.  The entry that owes it is the newest in its thread. */
struct ski_reply {
    skua_completion   done;
    bool              given;
    skua_thread      *thread; /* NULL: the scheduler's stack */
    struct ski_reply *next;
};

static void run_sync(struct ski_object *object, const struct ski_entry *entry, skua_msg *msg)
{
    struct ski_objects *objects = ski_self->objects;
    struct ski_asked   *asked   = skua_msg_data(msg);
    struct ski_reply    reply   = {asked->reply, false, skua_thread_self(), objects->replies};
    struct ski_reply  **at      = &objects->replies;

    objects->replies = &reply;
    entry->method(object + 1, asked + 1, msg->bytes - sizeof *asked);
    while (*at != &reply)
        at = &(*at)->next;
    *at = reply.next;
    if (!reply.given)
        skua_complete(reply.done, NULL, 0);
    skua_msg_free(msg);
}

static inline void run_plain(struct ski_object *object, const struct ski_entry *entry,
                             skua_msg *msg)
{
    if (entry->method) {
        entry->method(object + 1, skua_msg_data(msg), msg->bytes);
        ski_pool_free(&ski_self->pool, msg);
    } else {
        ski_msg_strip(msg);
        entry->entry(object + 1, msg);
    }
}

struct visit {
    struct ski_object      *object;
    const struct ski_entry *entry;
    skua_msg               *msg;
};

static void in_thread(void *arg)
{
    struct visit visit = *(struct visit *)arg;

    free(arg);
    if (visit.entry->flags & SKUA_ENTRY_SYNC)
        run_sync(visit.object, visit.entry, visit.msg);
    else
        run_plain(visit.object, visit.entry, visit.msg);
    ski_object_leave(visit.object);
}

static SKI_COLD void run_special(struct ski_object *object, const struct ski_entry *entry,
                                 skua_msg *msg)
{
    struct visit *visit;
    skua_thread  *thread;

    if (entry->flags & SKUA_ENTRY_SYNC && msg->bytes < sizeof(struct ski_asked))
        ski_misuse("%s::%s of %s on PE %d was invoked without anybody waiting for its answer; "
                   "skua_invoke_reply() is for that",
                   entry->of->def.name, entry->name, ski_object_text(object), ski_self->pe);
    if (entry->flags & SKI_ENTRY_LANDS) {
        ski_landing_run(object, entry, msg);
        return;
    }
    if (!(entry->flags & SKUA_ENTRY_THREADED)) {
        run_sync(object, entry, msg);
        return;
    }
    ski_object_enter(object); /* until the thread ends */
    visit  = ski_malloc(sizeof *visit);
    *visit = (struct visit){object, entry, msg};
    thread = skua_thread_create(in_thread, visit, 0);
    skua_thread_set_name(thread, entry->name);
    skua_thread_detach(thread);
}

#define SPECIAL (SKUA_ENTRY_THREADED | SKUA_ENTRY_SYNC | SKI_ENTRY_LANDS)

void ski_entry_run(struct ski_object *object, const struct ski_entry *entry, skua_msg *msg)
{
    ski_object_enter(object);
    if (SKI_UNLIKELY(entry->flags & SPECIAL))
        run_special(object, entry, msg);
    else
        run_plain(object, entry, msg);
    ski_object_leave(object);
}

void ski_entry_run_on(struct ski_object *object, const struct ski_entry *entry, uint32_t handler,
                      const void *data, size_t bytes)
{
    if (SKI_UNLIKELY(!ski_entry_is_call(entry))) {
        ski_entry_run(object, entry, ski_msg_copy(ski_self, handler, data, bytes));
        return;
    }
    ski_object_enter(object);
    entry->method(object + 1, data, bytes);
    ski_object_leave(object);
}

/* ---- answers ---------------------------------------------------------------------------- */

static struct ski_reply *owed(const char *call)
{
    struct ski_reply *reply = SKI_SELF()->objects->replies;

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
    skua_complete(owed(__func__)->done, data, bytes);
}

skua_completion skua_reply_later(void)
{
    return owed(__func__)->done;
}
