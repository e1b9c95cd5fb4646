/* SPDX-License-Identifier: Apache-2.0 */
/* creation_wait.c - see creation_wait.h. */
#include "objects/chare/creation_wait.h"

#include <pthread.h>

#include "base/assert.h"
#include "core/collective/collective.h"
#include "core/pe/builtin.h"
#include "core/pe/handler.h"
#include "core/message/msg_counts.h"
#include "core/sched/wait.h"
#include "objects/chare/creation.h"

/* A wait on the scheduler's stack, and the messages that it keeps from running.  The slot of this
 * module is the innermost wait of the PE, or NULL. */
struct creation_wait {
    struct ski_list kept;
};

static skua_handler_fn
                     *creation_wait_table; /* for all PEs of the process, once one of them waits */
static pthread_once_t creation_wait_once = PTHREAD_ONCE_INIT;

static void creation_wait_keep(skua_msg *msg)
{
    struct creation_wait *wait = ski_self->objects->slot[SKI_SLOT_CREATION_WAIT];

    ski_assert(wait);
    ski_msg_hold(ski_self, &wait->kept, msg);
}

/* A broadcast that is kept has been forwarded, and has had its turn: the creation that is awaited
 * may come after it from the same root. */
static void creation_wait_broadcast(skua_msg *msg)
{
    msg = ski_broadcast_admit(ski_self, msg);
    if (!msg)
        return;
    if (ski_broadcast_handler(msg) == SKI_HANDLER_COLLECTION_CREATE)
        ski_on_broadcast(msg);
    else
        creation_wait_keep(msg);
}

/* A creation runs constructors, with the usual table. */
static void creation_wait_create(skua_msg *msg)
{
    struct ski_pe        *self = ski_self;
    struct creation_wait *wait = self->objects->slot[SKI_SLOT_CREATION_WAIT];

    ski_msg_unhold(self, &wait->kept);
    self->handler = self->objects->handlers;
    ski_on_create(msg);
    self->handler                               = creation_wait_table;
    self->objects->slot[SKI_SLOT_CREATION_WAIT] = wait;
}

static void creation_wait_make_table(void)
{
    static const uint32_t pass[] = {SKI_HANDLER_COLLECTION_ADOPT,  SKI_HANDLER_SHUTDOWN_EXIT,
                                    SKI_HANDLER_SHUTDOWN_STOPPED,  SKI_HANDLER_SHUTDOWN_RELEASE,
                                    SKI_HANDLER_BROADCAST_SEGMENT, SKI_HANDLER_BROADCAST_SENT,
                                    SKI_HANDLER_BROADCAST_LENT};

    creation_wait_table = ski_handler_table_create(creation_wait_keep);
    for (size_t i = 0; i < sizeof pass / sizeof *pass; i++)
        creation_wait_table[pass[i]] = ski_builtin[pass[i]].fn;
    creation_wait_table[SKI_HANDLER_BROADCAST]         = creation_wait_broadcast;
    creation_wait_table[SKI_HANDLER_COLLECTION_CREATE] = creation_wait_create;
}

/* Returns whether the elements of a collection are created here.  The member of a process group is
 * on one PE of the process, which announces its address to the others. */
static bool creation_is_here(const struct ski_collection *all)
{
    if (!all->creation)
        return all->state == SKI_ENDED;
    return all->kind != SKI_PROCESS_GROUP || all->shared ||
           all->self->pe == skua_process_first(all->self->process);
}

static const struct ski_call creation_call = {"the creation of a collection", NULL};

/* Waits once. Returns false if the job ends. */
static bool creation_wait_block(struct ski_collection *all)
{
    struct ski_pe         *self  = all->self;
    struct ski_objects    *known = self->objects;
    struct creation_wait   wait, *outer = known->slot[SKI_SLOT_CREATION_WAIT];
    bool                   usual       = self->handler == known->handlers;
    const skua_handler_fn *outer_table = self->handler;
    bool                   woken;

    if (self->thread)
        return ski_wait_on_runtime(self, &all->waiters, creation_call);
    pthread_once(&creation_wait_once, creation_wait_make_table);
    ski_list_init(&wait.kept);
    known->slot[SKI_SLOT_CREATION_WAIT] = &wait;
    self->handler                       = creation_wait_table;
    woken                               = ski_wait_on_runtime(self, &all->waiters, creation_call);
    self->handler = usual ? known->handlers : outer_table; /* which may have changed meanwhile */
    known->slot[SKI_SLOT_CREATION_WAIT] = outer;
    ski_msg_unhold(self, &wait.kept);
    return woken;
}

void ski_creation_wait(struct ski_collection *all)
{
    if (ski_objects_gated(all->self->objects))
        return;
    while (!creation_is_here(all) && creation_wait_block(all))
        ;
}

void ski_creation_wait_defined(const char *call, struct ski_collection *all)
{
    ski_creation_wait(all);
    if (all->state == SKI_EXPECTED)
        ski_misuse("%s: PE %d does not know that collection, and the program %s", call,
                   all->self->pe, ski_objects_gated(all->self->objects) ? "has not begun" : "ends");
}
