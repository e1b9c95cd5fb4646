/* SPDX-License-Identifier: Apache-2.0 */
/* creation_wait.c - see creation_wait.h. */
#include "objects/chare/creation_wait.h"

#include <pthread.h>

#include "base/memory.h"
#include "core/collective/collective.h"
#include "core/pe/builtin.h"
#include "core/pe/handler.h"
#include "core/message/msg_counts.h"
#include "core/sched/wait.h"

/* A wait on the scheduler's stack, and the messages that it keeps from running. */
struct ski_creation_wait {
    struct ski_list kept;
};

static skua_handler_fn *table; /* of all PEs of the process, once one of them waits */
static pthread_once_t   table_once = PTHREAD_ONCE_INIT;

static void creation_wait_keep(skua_msg *msg)
{
    ski_hold(ski_self, &ski_self->objects->creation_wait->kept, msg);
}

static void creation_wait_broadcast(skua_msg *msg)
{
    if (ski_broadcast_handler(msg) == SKI_HANDLER_CREATE)
        ski_on_broadcast(msg);
    else
        creation_wait_keep(msg);
}

/* Runs constructors with the usual table. */
static void creation_wait_create(skua_msg *msg)
{
    struct ski_pe            *self = ski_self;
    struct ski_creation_wait *wait = self->objects->creation_wait;

    ski_unhold(self, &wait->kept);
    self->handler = ski_handlers.fn;
    ski_on_create(msg);
    self->handler                = table;
    self->objects->creation_wait = wait;
}

static void creation_wait_make_table(void)
{
    static const uint32_t pass[] = {SKI_HANDLER_ADOPT, SKI_HANDLER_EXIT, SKI_HANDLER_GONE,
                                    SKI_HANDLER_BYE, SKI_HANDLER_BROADCAST_SEGMENT};

    table = ski_malloc(SKI_HANDLERS_MOST * sizeof *table);
    for (uint32_t i = 0; i < SKI_HANDLERS_MOST; i++)
        table[i] = creation_wait_keep;
    for (size_t i = 0; i < sizeof pass / sizeof *pass; i++)
        table[pass[i]] = ski_builtin[pass[i]].fn;
    table[SKI_HANDLER_BROADCAST] = creation_wait_broadcast;
    table[SKI_HANDLER_CREATE]    = creation_wait_create;
}

/* Whether the collection is created here as far as it will be: in a process with several PEs
 * a process group is once another PE has told its address. */
static bool creation_is_here(const struct ski_collection *all)
{
    if (!all->creation)
        return all->state == SKI_ENDED;
    return all->kind != SKI_PROCESS_GROUP || all->shared ||
           all->self->pe == skua_process_first(all->self->process);
}

static const struct ski_call creation_call = {"the creation of a collection", NULL};

/* Whether the wait goes on; false: the job ends. */
static bool creation_wait_block(struct ski_collection *all)
{
    struct ski_pe           *self  = all->self;
    struct ski_objects      *known = self->objects;
    struct ski_creation_wait wait, *outer = known->creation_wait;
    const skua_handler_fn   *usual = self->handler;
    bool                     woken;

    if (self->thread)
        return ski_wait_on_runtime(self, &all->waiters, creation_call);
    pthread_once(&table_once, creation_wait_make_table);
    ski_list_init(&wait.kept);
    known->creation_wait = &wait;
    self->handler        = table;
    woken                = ski_wait_on_runtime(self, &all->waiters, creation_call);
    self->handler        = usual;
    known->creation_wait = outer;
    ski_unhold(self, &wait.kept);
    return woken;
}

void ski_creation_wait(struct ski_collection *all)
{
    if (all->self->objects->gate)
        return;
    while (!creation_is_here(all) && creation_wait_block(all))
        ;
}

void ski_creation_wait_defined(const char *call, struct ski_collection *all)
{
    ski_creation_wait(all);
    if (all->state == SKI_EXPECTED)
        ski_misuse("%s: PE %d has not heard of that collection, and the program %s", call,
                   all->self->pe, all->self->objects->gate ? "has not begun" : "ends");
}
