/* SPDX-License-Identifier: Apache-2.0 */
/* quiescence.c - see quiescence.h. */
#include "objects/services/quiescence.h"

#include <stdlib.h>

#include "base/memory.h"
#include "core/sched/wait_report.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/message/msg_counts.h"
#include "objects/objects.h"
#include "objects/services/termination.h"
#include "onesided/onesided.h"

#define ROOT 0

struct hook {
    struct hook *next;
    bool (*flush)(void *arg);
    void *arg;
};

struct request {
    struct request *next;
    uint32_t        since; /* the first wave that began after it came */
    skua_completion done;
};

struct ski_quiet {
    struct hook         *hooks;
    struct request      *first, **last; /* at the root */
    struct ski_detection detection;
};

/* ---- hooks ------------------------------------------------------------------------- */

static struct ski_quiet *quiet_of(const struct ski_pe *self)
{
    return self->objects->quiet;
}

void ski_quiescence_hook(bool (*flush)(void *arg), void *arg)
{
    struct ski_quiet *quiet = quiet_of(SKI_SELF());
    struct hook      *hook  = ski_malloc(sizeof *hook);

    *hook        = (struct hook){quiet->hooks, flush, arg};
    quiet->hooks = hook;
}

void ski_quiescence_unhook(bool (*flush)(void *arg), void *arg)
{
    struct hook **at = &quiet_of(SKI_SELF())->hooks, *gone;

    while (*at && ((*at)->flush != flush || (*at)->arg != arg))
        at = &(*at)->next;
    if ((gone = *at)) {
        *at = gone->next;
        free(gone);
    }
}

static bool flush_all(const struct ski_quiet *quiet)
{
    bool any = false;

    for (const struct hook *hook = quiet->hooks; hook; hook = hook->next)
        any |= hook->flush(hook->arg);
    return any;
}

/* ---- waves ------------------------------------------------------------------------- */

static struct ski_tally visit(struct ski_pe *self, struct ski_topic topic)
{
    bool               flushed = flush_all(quiet_of(self));
    struct ski_traffic all = ski_traffic_of(self), waves = ski_wave_traffic(self), guest = {0, 0};

    (void)topic;
    if (self->pe == ski_job_first_pe(self->job, self->process))
        guest = ski_guest_traffic();
    return (struct ski_tally){.sent     = all.sent - waves.sent + guest.sent + flushed,
                              .received = all.received - waves.received + guest.received};
}

/* Takes out the requests for which the last wave was not the first: the oldest ones. */
static struct request *take_served(struct ski_quiet *quiet)
{
    struct request **at = &quiet->first, *served = quiet->first;

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

static void result(struct ski_pe *self, struct ski_topic topic, const struct ski_tally *sum)
{
    struct ski_quiet *quiet  = quiet_of(self);
    struct request   *served = NULL;

    (void)topic;
    if (ski_wave_note(&quiet->detection, sum))
        served = take_served(quiet);
    if (quiet->first)
        ski_wave_again(self, &quiet->detection);
    while (served) { /* each may ask again */
        struct request *gone = served;

        served = gone->next;
        skua_complete(gone->done, NULL, 0);
        free(gone);
    }
}

const struct ski_wave_kind ski_quiet_waves = {true, visit, result};

/* ---- requests ---------------------------------------------------------------------- */

static void ask(struct ski_pe *self, const skua_completion *done)
{
    struct ski_quiet *quiet   = quiet_of(self);
    struct request   *request = ski_malloc(sizeof *request);
    bool              alone   = !quiet->first;

    *request               = (struct request){NULL, quiet->detection.wave + 1, *done};
    *quiet->last           = request;
    quiet->last            = &request->next;
    quiet->detection.pause = 0; /* somebody new may be lucky */
    if (alone)
        ski_wave_send(self, &quiet->detection);
}

void skua_quiescence(skua_completion done)
{
    struct ski_pe *self = SKI_SELF();

    if (self->pe == ROOT)
        ask(self, &done);
    else
        skua_send_copy(ROOT, (skua_handler){SKI_HANDLER_QUIET_ASK}, &done, sizeof done);
}

void ski_on_quiet_ask(skua_msg *msg)
{
    skua_completion done = *(skua_completion *)skua_msg_data(msg);

    if (ski_self->pe != ROOT) {
        ski_far_drop(ski_self, msg);
        return;
    }
    skua_msg_free(msg);
    ask(ski_self, &done);
}

void ski_quiet_explain(const struct ski_quiet *quiet, struct ski_text *text)
{
    size_t requests = 0;

    for (const struct request *request = quiet->first; request; request = request->next)
        requests++;
    if (requests)
        ski_text_item(text, "%zu requests for quiescence wait, as messages are held", requests);
}

/* ---- life -------------------------------------------------------------------------- */

struct ski_quiet *ski_quiet_begin(void)
{
    struct ski_quiet *quiet = ski_calloc(1, sizeof *quiet);

    quiet->detection.topic = (struct ski_topic){ROOT, 0};
    quiet->last            = &quiet->first;
    return quiet;
}

void ski_quiet_end(struct ski_quiet *quiet)
{
    while (quiet->hooks)
        ski_quiescence_unhook(quiet->hooks->flush, quiet->hooks->arg);
    while (quiet->first) {
        struct request *gone = quiet->first;
        quiet->first         = gone->next;
        free(gone);
    }
    free(quiet);
}
