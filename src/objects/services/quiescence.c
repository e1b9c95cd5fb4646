/* SPDX-License-Identifier: Apache-2.0 */
/* quiescence.c - see quiescence.h. */
#include "objects/services/quiescence.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/sched/wait_report.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/message/msg_counts.h"
#include "objects/model/objects_pe.h"
#include "objects/services/termination.h"
#include "onesided/onesided.h"

#define QUIESCENCE_ROOT 0

/* A function to call when a wave visits this PE. */
struct quiescence_hook {
    struct quiescence_hook *next;
    bool (*flush)(void *arg);
    void *arg;
};

/* A request, at the root. */
struct quiescence_request {
    struct quiescence_request *next;
    uint32_t                   since; /* the first wave that begins after it came */
    skua_completion            done;
};

struct quiescence {
    struct quiescence_hook          *hooks;
    struct quiescence_request       *first, **last; /* at the root */
    struct ski_termination_detection detection;
};

/* ---- hooks -------------------------------------------------------------------------- */

static struct quiescence *quiescence_of(const struct ski_pe *self)
{
    return self->objects->slot[SKI_SLOT_QUIESCENCE];
}

void ski_quiescence_hook(bool (*flush)(void *arg), void *arg)
{
    struct quiescence      *quiet = quiescence_of(SKI_SELF());
    struct quiescence_hook *hook  = ski_malloc(sizeof *hook);

    *hook        = (struct quiescence_hook){quiet->hooks, flush, arg};
    quiet->hooks = hook;
}

void ski_quiescence_unhook(bool (*flush)(void *arg), void *arg)
{
    struct quiescence_hook **at = &quiescence_of(SKI_SELF())->hooks, *gone;

    while (*at && ((*at)->flush != flush || (*at)->arg != arg))
        at = &(*at)->next;
    if ((gone = *at)) {
        *at = gone->next;
        free(gone);
    }
}

static bool quiescence_flush_all(const struct quiescence *quiet)
{
    bool any = false;

    for (const struct quiescence_hook *hook = quiet->hooks; hook; hook = hook->next)
        any |= hook->flush(hook->arg);
    return any;
}

/* ---- waves -------------------------------------------------------------------------- */

static struct ski_termination_counts quiescence_visit(struct ski_pe               *self,
                                                      struct ski_termination_topic topic)
{
    bool                  flushed = quiescence_flush_all(quiescence_of(self));
    struct ski_msg_counts all = ski_msg_counts_of(self), waves = ski_termination_msg_counts(self),
                          external = {0, 0};

    (void)topic;
    if (self->pe == ski_job_first_pe(self->job, self->process))
        external = ski_external_msg_counts();
    return (struct ski_termination_counts){.sent = all.sent - waves.sent + external.sent + flushed,
                                           .received =
                                               all.received - waves.received + external.received};
}

/* Removes and returns the requests for which the last wave was not the first: they are the
 * oldest. */
static struct quiescence_request *quiescence_take_served(struct quiescence *quiet)
{
    struct quiescence_request **at = &quiet->first, *served = quiet->first;

    while (*at && (int32_t)(quiet->detection.wave - (*at)->since) > 0)
        at = &(*at)->next;
    if (at == &quiet->first)
        return NULL;
    quiet->first = *at;
    *at          = NULL;
    if (!quiet->first)
        quiet->last = &quiet->first;
    return served;
}

/* Takes the sums of a wave, and completes the requests that it proves. */
static void quiescence_result(struct ski_pe *self, struct ski_termination_topic topic,
                              const struct ski_termination_counts *sum)
{
    struct quiescence         *quiet  = quiescence_of(self);
    struct quiescence_request *served = NULL;

    (void)topic;
    ski_assert(self->pe == QUIESCENCE_ROOT && quiet->first);
    if (ski_termination_record(&quiet->detection, sum))
        served = quiescence_take_served(quiet);
    if (quiet->first)
        ski_termination_continue(self, &quiet->detection);
    while (served) { /* each completion may ask again */
        struct quiescence_request *gone = served;

        served = gone->next;
        skua_complete(gone->done, NULL, 0);
        free(gone);
    }
}

static const struct ski_termination_kind quiescence_waves = {true, quiescence_visit,
                                                             quiescence_result};

/* ---- requests ----------------------------------------------------------------------- */

static void quiescence_send_request(struct ski_pe *self, const skua_completion *done)
{
    struct quiescence         *quiet   = quiescence_of(self);
    struct quiescence_request *request = ski_malloc(sizeof *request);
    bool                       alone   = !quiet->first;

    *request = (struct quiescence_request){NULL, quiet->detection.wave + 1, *done};
    ski_assert(self->pe == QUIESCENCE_ROOT && !*quiet->last);
    *quiet->last           = request;
    quiet->last            = &request->next;
    quiet->detection.pause = 0; /* a new request may be served soon */
    if (alone)
        ski_termination_send(self, &quiet->detection);
}

void skua_quiescence(skua_completion done)
{
    struct ski_pe *self = SKI_SELF();

    if (self->pe == QUIESCENCE_ROOT)
        quiescence_send_request(self, &done);
    else
        skua_send_copy(QUIESCENCE_ROOT, (skua_handler){SKI_HANDLER_QUIESCENCE_REQUEST}, &done,
                       sizeof done);
}

void ski_on_quiescence_request(skua_msg *msg)
{
    skua_completion done = *(skua_completion *)skua_msg_data(msg);

    if (ski_self->pe != QUIESCENCE_ROOT) {
        ski_net_drop(ski_self, msg);
        return;
    }
    skua_msg_free(msg);
    quiescence_send_request(ski_self, &done);
}

/* ---- life cycle --------------------------------------------------------------------- */

static void quiescence_report(struct ski_objects *objects, struct ski_text *text)
{
    struct quiescence *quiet    = objects->slot[SKI_SLOT_QUIESCENCE];
    size_t             requests = 0;

    for (const struct quiescence_request *request = quiet->first; request; request = request->next)
        requests++;
    if (requests)
        ski_text_item(text, "%zu requests for quiescence wait, as messages are held", requests);
}

static void quiescence_pe_begin(struct ski_objects *objects)
{
    struct quiescence *quiet = ski_calloc(1, sizeof *quiet);

    quiet->detection.topic = (struct ski_termination_topic){QUIESCENCE_ROOT, SKI_TOPIC_QUIET};
    quiet->last            = &quiet->first;
    objects->slot[SKI_SLOT_QUIESCENCE] = quiet;
    ski_termination_register(objects, SKI_TOPIC_QUIET, &quiescence_waves);
}

static void quiescence_pe_end(struct ski_objects *objects)
{
    struct quiescence *quiet = objects->slot[SKI_SLOT_QUIESCENCE];

    while (quiet->hooks)
        ski_quiescence_unhook(quiet->hooks->flush, quiet->hooks->arg);
    while (quiet->first) {
        struct quiescence_request *gone = quiet->first;
        quiet->first                    = gone->next;
        free(gone);
    }
    free(quiet);
}

const struct ski_lifecycle ski_quiescence_lifecycle = {
    .pe_begin  = quiescence_pe_begin,
    .pe_end    = quiescence_pe_end,
    .pe_report = quiescence_report,
};
