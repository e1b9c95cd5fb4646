/* SPDX-License-Identifier: Apache-2.0 */
/* measure_table.c - see measure_table.h. */
#include "objects/services/measure_table.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "core/pe/handler.h"
#include "core/sched/thread.h"
#include "objects/chare/invoke.h"
#include "objects/measure/comm_graph.h"
#include "objects/measure/measure.h"

/* For all PEs of the process, once one of them measures. */
static struct {
    pthread_mutex_t  lock;
    skua_handler_fn *fn;
} measure_table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Handler: a user thread continues.  Its object is charged, if it has one. */
static void measure_table_on_thread(skua_msg *msg)
{
    struct skua_thread *thread = (struct skua_thread *)msg; /* its first member */
    struct ski_object  *outer  = ski_measure_enter(thread->charged);

    ski_on_thread(msg);
    ski_measure_leave(outer);
}

/* Returns the table of handlers that charge; it is created by the first PE of the process. */
static const skua_handler_fn *measure_table_make(void)
{
    pthread_mutex_lock(&measure_table.lock);
    if (!measure_table.fn) {
        measure_table.fn = ski_handler_table_create(ski_handlers.fn[SKI_HANDLERS_MAX - 1]);
        for (uint32_t i = 0; i < ski_handlers.count; i++)
            measure_table.fn[i] =
                ski_handlers.fn[i] == ski_on_invoke ? ski_on_invoke_measured : ski_handlers.fn[i];
        measure_table.fn[SKI_HANDLER_THREAD] = measure_table_on_thread;
        ski_entries_measured = ski_calloc(SKI_HANDLERS_MAX, sizeof *ski_entries_measured);
        for (uint32_t i = 0; i < ski_handlers.count; i++) {
            ski_entries_measured[i] = ski_entries[i];
            ski_entries_measured[i].flags |= SKI_ENTRY_MEASURED;
        }
    }
    pthread_mutex_unlock(&measure_table.lock);
    return measure_table.fn;
}

void ski_measure_table_reset(void)
{
    ski_handler_table_destroy(measure_table.fn);
    free(ski_entries_measured);
    measure_table.fn     = NULL;
    ski_entries_measured = NULL;
}

/* Makes the PE use a table of handlers, now or when the wait that uses another table has ended. */
static void measure_table_use(struct ski_pe *self, const skua_handler_fn *table)
{
    if (self->handler == self->objects->handlers)
        self->handler = table;
    self->objects->handlers = table;
}

static void measure_table_collection(struct ski_collection *all, void *arg)
{
    (void)arg;
    if (all->state != SKI_ENDED)
        ski_elements_measure(all);
}

/* Counts messages from now on, or no more. */
static void measure_table_count(struct ski_pe *self, bool graph)
{
    struct ski_measure *measure = self->objects->measure;

    if (graph && !measure->graph)
        measure->graph = ski_comm_graph_create();
    self->objects->entries = measure->graph ? ski_entries_measured : ski_entries;
}

void ski_measure_start(struct ski_pe *self, bool graph)
{
    if (!self->objects->measure) {
        ski_measure_begin(self);
        ski_collections_each(self->objects, measure_table_collection, NULL);
        measure_table_use(self, measure_table_make());
        self->objects->run = ski_entries_measured;
    }
    measure_table_count(self, graph);
}

void ski_measure_stop(struct ski_pe *self)
{
    if (!self->objects->measure)
        return;
    ski_measure_end(self);
    measure_table_use(self, ski_handlers.fn);
    self->objects->run     = ski_entries;
    self->objects->entries = ski_entries;
}
