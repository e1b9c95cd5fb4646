/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c - see measure.h. */
#include "objects/measure/measure.h"

#include <stdlib.h>

#include "base/memory.h"
#include "core/sched/idle.h"
#include "core/pe/builtin.h"

/* ---- entries --------------------------------------------------------------------------- */

struct ski_object *ski_measure_enter(struct ski_object *object)
{
    struct ski_measure *measure = ski_self->objects->measure;

    return measure ? ski_measure_switch(measure, object) : NULL;
}

void ski_measure_leave(struct ski_object *outer)
{
    struct ski_measure *measure = ski_self->objects->measure;

    if (measure)
        ski_measure_switch(measure, outer);
}

/* Returns the measurement of this PE if it counts messages, else NULL. */
static struct ski_measure *measure_counting(void)
{
    return ski_measure_counts(ski_self) ? ski_self->objects->measure : NULL;
}

/* Returns the record of an element that sends, with its key. */
static struct ski_element_load *measure_sender(struct ski_object *object)
{
    struct ski_element_load *load = ski_element_load(object);

    if (load->key == 0)
        load->key = ski_comm_key_of(object);
    return load;
}

void ski_measure_count_search(const struct ski_measure *measure, uint64_t to, size_t bytes)
{
    ski_comm_graph_search(measure->graph, measure_sender(measure->running)->key, to, bytes);
}

/* Counts a message from @p object to what has the key @p to; 0: to all PEs. */
static void measure_count_from(const struct ski_measure *measure, struct ski_object *object,
                               uint64_t to, size_t bytes)
{
    struct ski_element_load *load;

    if (!object->of->measured)
        return;
    load = measure_sender(object);
    load->bytes += bytes;
    load->messages++;
    if (to && !ski_comm_graph_try(measure->graph, load->key, to, bytes))
        ski_comm_graph_search(measure->graph, load->key, to, bytes);
}

void ski_measure_count(const skua_ref *to, size_t bytes)
{
    const struct ski_measure *measure = measure_counting();

    if (measure && measure->running)
        measure_count_from(measure, measure->running, ski_comm_key(to->of.id, &to->index), bytes);
}

void ski_measure_count_all(size_t bytes)
{
    const struct ski_measure *measure = measure_counting();

    if (measure && measure->running)
        measure_count_from(measure, measure->running, 0, bytes);
}

void ski_measure_count_section(uint64_t section, size_t bytes)
{
    const struct ski_measure *measure = measure_counting();

    if (measure && measure->running)
        measure_count_from(measure, measure->running, ski_comm_key_section(section), bytes);
}

void ski_measure_count_member(uint64_t section, const struct ski_object *member, size_t bytes)
{
    const struct ski_measure *measure = measure_counting();

    if (measure)
        ski_comm_graph_search(measure->graph, ski_comm_key_section(section),
                              ski_comm_key_of(member), bytes);
}

void ski_measure_count_put(struct ski_object *object, const skua_ref *to, size_t bytes)
{
    const struct ski_measure *measure = measure_counting();

    if (measure)
        measure_count_from(measure, object, ski_comm_key(to->of.id, &to->index), bytes);
}

void ski_measure_count_contribution(struct ski_object *object, const skua_completion *done,
                                    size_t bytes)
{
    const struct ski_measure *measure = measure_counting();
    uint64_t                  to      = 0;
    skua_index                index;

    if (!measure)
        return;
    if (done && done->kind == SKI_DONE_OBJECT &&
        ski_target_bytes(done->what.target) <= sizeof done->with.index) {
        index.bytes = (uint32_t)ski_target_bytes(done->what.target);
        memcpy(&index.at, done->with.index, sizeof done->with.index);
        to = ski_comm_key(done->what.target >> 8, &index);
    }
    measure_count_from(measure, object, to, bytes);
}

/* ---- start and stop ---------------------------------------------------------------------- */

static struct ski_measure *measure_of(const struct ski_pe *self)
{
    return self->objects->slot[SKI_SLOT_MEASURE];
}

/* Creates the state of a PE that measures for the first time. */
static struct ski_measure *measure_make(struct ski_pe *self)
{
    struct ski_measure *measure = ski_calloc(1, sizeof *measure);

    measure->idle = ski_idle_ticks(self);
    ski_cpu_share_open(&measure->cpu);
    self->objects->slot[SKI_SLOT_MEASURE] = measure;
    ski_measure_clear(self, NULL);
    return measure;
}

struct ski_measure *ski_measure_begin(struct ski_pe *self)
{
    struct ski_measure *measure = measure_of(self);

    if (!measure)
        measure = measure_make(self);
    if (measure->stopped) { /* the time between does not count */
        measure->reset_ticks += ski_ticks() - measure->stopped;
        measure->reset_idle += *measure->idle - measure->stopped_idle;
        measure->stopped = 0;
    }
    measure->running              = NULL;
    return self->objects->measure = measure;
}

void ski_measure_end(struct ski_pe *self)
{
    struct ski_measure *measure = self->objects->measure;

    ski_measure_switch(measure, NULL);
    measure->stopped       = ski_ticks();
    measure->stopped_idle  = *measure->idle;
    self->objects->measure = NULL;
}

/* What is cleared of a PE. */
struct measure_clearing {
    bool (*keeps)(const struct ski_collection *all);
    uint64_t ticks;    /* loads that elements keep */
    uint32_t elements; /* elements that keep their loads */
};

/* Resets the loads of a collection, or sums them if they are kept. */
static void measure_clear_collection(struct ski_collection *all, void *arg)
{
    struct measure_clearing *clearing = arg;
    bool                     kept     = clearing->keeps && clearing->keeps(all);

    if (!all->measured)
        return;
    for (uint32_t i = 0; i < all->objects; i++) {
        if (kept) {
            clearing->ticks += all->load[i].ticks;
            clearing->elements++;
            continue;
        }
        all->load[i].ticks    = 0;
        all->load[i].bytes    = 0;
        all->load[i].messages = 0;
    }
}

void ski_measure_clear(struct ski_pe *self, bool (*keeps)(const struct ski_collection *all))
{
    struct ski_measure     *measure  = measure_of(self);
    struct measure_clearing clearing = {.keeps = keeps};

    if (!measure)
        return;
    if (!measure->stopped)
        ski_measure_switch(measure, measure->running);
    ski_collections_each(self->objects, measure_clear_collection, &clearing);
    measure->since = measure->reset_ticks = ski_ticks();
    measure->idled = measure->reset_idle = *measure->idle;
    measure->carried = -(int64_t)clearing.ticks; /* as if they had come with it */
    ski_cpu_share_reset(&measure->cpu);
    if (measure->stopped) {
        measure->stopped      = measure->reset_ticks;
        measure->stopped_idle = measure->reset_idle;
    }
    if (measure->graph && clearing.elements == 0)
        ski_comm_graph_clear(measure->graph);
}

void ski_measure_carry(const struct ski_pe *self, int64_t ticks)
{
    struct ski_measure *measure = measure_of(self);

    if (measure)
        measure->carried += ticks;
}

/* Ticks as seconds. */
static double measure_seconds(int64_t ticks)
{
    return ticks < 0 ? -measure_seconds(-ticks) : (double)ski_ticks_to_ns((uint64_t)ticks) * 1e-9;
}

struct ski_measure_times ski_measure_times_of(const struct ski_pe *self)
{
    const struct ski_measure *measure = measure_of(self);
    uint64_t                  now, idle;

    if (!measure)
        return (struct ski_measure_times){0, 0, 0};
    now  = measure->stopped ? measure->stopped : ski_ticks();
    idle = measure->stopped ? measure->stopped_idle : *measure->idle;
    return (struct ski_measure_times){measure_seconds((int64_t)(now - measure->reset_ticks)),
                                      measure_seconds((int64_t)(idle - measure->reset_idle)),
                                      measure_seconds(measure->carried)};
}

double ski_measure_cpu_share(const struct ski_pe *self)
{
    return measure_of(self) ? ski_cpu_share_get(&measure_of(self)->cpu) : 1;
}

void ski_measure_destroy(struct ski_pe *self)
{
    if (measure_of(self)) {
        ski_comm_graph_destroy(measure_of(self)->graph);
        ski_cpu_share_close(&measure_of(self)->cpu);
    }
    free(self->objects->slot[SKI_SLOT_MEASURE]);
    self->objects->slot[SKI_SLOT_MEASURE] = NULL;
    self->objects->measure                = NULL;
}
