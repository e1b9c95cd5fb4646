/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint.c - see checkpoint.h. */
#include "checkpoint/checkpoint.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <skua/quiescence.h>
#include <skua/scheduler.h>
#include <skua/time.h>

#include "balance/balancer.h"
#include "base/config.h"
#include "base/memory.h"
#include "checkpoint/checkpoint_pe.h"
#include "checkpoint/image.h"
#include "checkpoint/parts.h"
#include "core/collective/collective.h"
#include "core/message/message.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/sched/completion.h"
#include "objects/collective/section.h"
#include "objects/model/msg_target.h"
#include "objects/zerocopy/object_channel_end.h"

/* What a request is for. */
enum checkpoint_kind { CHECKPOINT_NOW, CHECKPOINT_IF_DUE, CHECKPOINT_MAKE_DUE, CHECKPOINT_KINDS };

#define CHECKPOINT_DIR 4096 /* bytes of the name of a directory, with its final zero */
#define CHECKPOINT_WHY 400  /* bytes of the reason why there is no checkpoint */

/* A request, as it travels; the name of the directory follows, with its final zero, or nothing. */
struct checkpoint_ask {
    skua_completion done;
    uint64_t        kind;
};

/* A request at PE 0. */
struct checkpoint_request {
    struct checkpoint_request *next;
    skua_completion            done;
    bool                       sync; /* of elements that wait at a sync point; `done` is unused */
    char                       dir[CHECKPOINT_DIR];
};

/* The steps of a checkpoint, on all PEs. */
enum checkpoint_step { CHECKPOINT_PREPARE, CHECKPOINT_SAVE, CHECKPOINT_AFTER, CHECKPOINT_STEPS };

/* A step, as it travels. */
struct checkpoint_order {
    uint64_t                step;
    struct ski_image_common common;
    int64_t                 time_ns;
    char                    dir[]; /* of CHECKPOINT_SAVE, with its final zero */
};

/* The report of a PE on a step, as it travels; the reason follows if it has failed. */
struct checkpoint_report {
    uint64_t step;
    int32_t  status;
    uint32_t collections, sections, channels; /* of CHECKPOINT_PREPARE: see image.h */
    uint64_t chares;
    uint64_t bytes; /* of CHECKPOINT_SAVE: of the image */
};

/* The request that is under way, at PE 0. */
struct checkpoint_progress {
    enum checkpoint_step    step;
    int                     open; /* PEs that have not reported on it */
    struct ski_image_common common;
    skua_status             status;
    char                    why[CHECKPOINT_WHY]; /* of the first failure */
    int                     where;               /* the PE that failed */
    uint64_t                bytes;
    double                  started;
};

_Static_assert(sizeof(struct checkpoint_ask) == SKI_CHECKPOINT_REQUEST_LEAST, "see checkpoint.h");
_Static_assert(sizeof(struct checkpoint_report) == SKI_CHECKPOINT_REPORT_LEAST, "see checkpoint.h");

/* ---- hooks ----------------------------------------------------------------------------- */

struct checkpoint_hook {
    skua_checkpoint_moment moment;
    skua_checkpoint_fn     fn;
    void                  *arg;
};

static struct checkpoint_hook *checkpoint_hooks; /* written before PEs begin */
static size_t                  checkpoint_hook_count;

void skua_checkpoint_hook(skua_checkpoint_moment moment, skua_checkpoint_fn fn, void *arg)
{
    if (ski_self)
        ski_misuse("%s: hooks are registered before skua_main() or skua_program()", __func__);
    if (!fn || (unsigned)moment > SKUA_CHECKPOINT_RESTART)
        ski_misuse("%s: a hook has a function and a moment of skua_checkpoint_moment", __func__);
    checkpoint_hooks =
        ski_realloc(checkpoint_hooks, (checkpoint_hook_count + 1) * sizeof *checkpoint_hooks);
    checkpoint_hooks[checkpoint_hook_count++] = (struct checkpoint_hook){moment, fn, arg};
}

void ski_checkpoint_call_hooks(const struct ski_pe *self, skua_checkpoint_moment moment)
{
    if (self->pe != ski_job_first_pe(self->job, self->process))
        return;
    for (size_t i = 0; i < checkpoint_hook_count; i++)
        if (checkpoint_hooks[i].moment == moment)
            checkpoint_hooks[i].fn(checkpoint_hooks[i].arg);
}

/* ---- requests --------------------------------------------------------------------------- */

static void checkpoint_ask(enum checkpoint_kind kind, const char *dir, skua_completion done)
{
    struct checkpoint_ask ask = {done, kind};

    skua_send(0, (skua_handler){SKI_HANDLER_CHECKPOINT_REQUEST},
              ski_msg_with_header(&ask, sizeof ask, dir, dir ? strlen(dir) + 1 : 0));
}

static void checkpoint_check_done(const char *call, const skua_completion *done)
{
    if (!ski_completion_is_value(done))
        ski_misuse("%s: its completion is a counter, a future or a callback of this process, which "
                   "cannot be in a checkpoint; give it skua_done_invoke() or skua_done_send()",
                   call);
}

void skua_checkpoint(const char *dir, skua_completion done)
{
    (void)SKI_SELF();
    checkpoint_check_done(__func__, &done);
    if (dir && strlen(dir) >= CHECKPOINT_DIR)
        ski_misuse("%s: the name of the directory has %zu bytes, at most %d are possible", __func__,
                   strlen(dir), CHECKPOINT_DIR - 1);
    checkpoint_ask(CHECKPOINT_NOW, dir, done);
}

void skua_checkpoint_if_due(skua_completion done)
{
    (void)SKI_SELF();
    checkpoint_check_done(__func__, &done);
    checkpoint_ask(CHECKPOINT_IF_DUE, NULL, done);
}

void skua_checkpoint_make_due(void)
{
    (void)SKI_SELF();
    checkpoint_ask(CHECKPOINT_MAKE_DUE, NULL, skua_done_nothing());
}

/* ---- PE 0 -------------------------------------------------------------------------------- */

/* Gives the result of a request to its completion. */
static void checkpoint_complete(const skua_completion *done, uint64_t generation,
                                skua_status status, bool restarted)
{
    skua_checkpoint_result result = {generation, status, restarted};

    skua_complete(*done, &result, sizeof result);
}

static void checkpoint_order(struct ski_pe *self, enum checkpoint_step step)
{
    struct ski_checkpoint      *state    = ski_checkpoint_of(self);
    struct checkpoint_progress *progress = state->progress;
    struct checkpoint_order     order    = {.step = step, .common = progress->common};
    const char                 *dir      = state->first->dir;
    struct timespec             now;

    clock_gettime(CLOCK_REALTIME, &now);
    order.time_ns  = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    progress->step = step;
    progress->open = self->pes;
    ski_broadcast(self, SKI_HANDLER_CHECKPOINT_ORDER,
                  ski_msg_with_header(&order, sizeof order, dir, strlen(dir) + 1));
}

static void checkpoint_quiet(void *arg, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    checkpoint_order(arg, CHECKPOINT_PREPARE);
}

/* Begins the first request. */
static void checkpoint_begin(struct ski_pe *self)
{
    struct ski_checkpoint      *state    = ski_checkpoint_of(self);
    struct checkpoint_progress *progress = ski_calloc(1, sizeof *progress);

    progress->started           = skua_time();
    progress->common.done       = state->first->done;
    progress->common.pes        = self->pes;
    progress->common.processes  = self->job->processes;
    progress->common.creators   = self->objects->creators;
    progress->common.generation = ++state->generation;
    state->progress             = progress;
    skua_quiescence(skua_done_call(checkpoint_quiet, self));
}

/* Adds a request, in the directory @p dir, or that of the settings if it is empty. */
static void checkpoint_add(struct ski_pe *self, const skua_completion *done, const char *dir,
                           bool sync)
{
    struct ski_checkpoint     *state   = ski_checkpoint_of(self);
    struct checkpoint_request *request = ski_calloc(1, sizeof *request);

    request->done = *done;
    request->sync = sync;
    snprintf(request->dir, sizeof request->dir, "%s", *dir ? dir : ski_config.checkpoint_dir);
    *state->last = request;
    state->last  = &request->next;
    state->due   = false;
    state->made  = skua_time();
    if (!state->progress)
        checkpoint_begin(self);
}

static bool checkpoint_is_due(const struct ski_checkpoint *state)
{
    if (strcmp(ski_config.checkpoint_dir, "none") == 0)
        return false;
    return state->due || (ski_config.checkpoint_every > 0 &&
                          skua_time() - state->made >= ski_config.checkpoint_every);
}

static void checkpoint_finish(struct ski_pe *self)
{
    struct ski_checkpoint      *state    = ski_checkpoint_of(self);
    struct checkpoint_progress *progress = state->progress;
    struct checkpoint_request  *request  = state->first;
    skua_status                 status   = progress->status;

    if (status == SKUA_OK)
        ski_log(SKI_LOG_INFO, "checkpoint %llu in %s: %llu bytes, in %.4g s",
                (unsigned long long)progress->common.generation, request->dir,
                (unsigned long long)progress->bytes, skua_time() - progress->started);
    else
        (void)ski_fail(status, "no checkpoint in %s: PE %d: %s", request->dir, progress->where,
                       progress->why);
    state->first    = request->next;
    state->last     = state->first ? state->last : &state->first;
    state->progress = NULL;
    if (request->sync)
        ski_balancer_go_on(ski_balance_of(self));
    else
        checkpoint_complete(&request->done, status == SKUA_OK ? progress->common.generation : 0,
                            status, false);
    free(progress);
    free(request);
    if (state->first)
        checkpoint_begin(self);
}

/* All PEs have taken a step. */
static void checkpoint_advance(struct ski_pe *self)
{
    const struct checkpoint_progress *progress = ski_checkpoint_of(self)->progress;

    if (progress->step == CHECKPOINT_AFTER)
        checkpoint_finish(self);
    else if (progress->step == CHECKPOINT_PREPARE && progress->status == SKUA_OK)
        checkpoint_order(self, CHECKPOINT_SAVE);
    else
        checkpoint_order(self, CHECKPOINT_AFTER);
}

static uint32_t checkpoint_most(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void checkpoint_take_report(struct checkpoint_progress     *progress,
                                   const struct checkpoint_report *report, const char *why,
                                   size_t bytes, int from)
{
    struct ski_image_common *common = &progress->common;

    common->collections = checkpoint_most(common->collections, report->collections);
    common->sections    = checkpoint_most(common->sections, report->sections);
    common->channels    = checkpoint_most(common->channels, report->channels);
    common->chares      = common->chares > report->chares ? common->chares : report->chares;
    progress->bytes += report->bytes;
    if (report->status != SKUA_OK && progress->status == SKUA_OK) {
        progress->status = (skua_status)report->status;
        progress->where  = from;
        snprintf(progress->why, sizeof progress->why, "%.*s", (int)bytes, why);
    }
}

void ski_on_checkpoint_report(skua_msg *msg)
{
    struct ski_pe              *self     = ski_self;
    struct ski_checkpoint      *state    = ski_checkpoint_of(self);
    struct checkpoint_progress *progress = state ? state->progress : NULL;
    struct checkpoint_report    report;

    memcpy(&report, skua_msg_data(msg), sizeof report);
    if (!progress || progress->open == 0 || report.step != (uint64_t)progress->step ||
        report.status > 0) {
        ski_net_drop(self, msg);
        return;
    }
    checkpoint_take_report(progress, &report, (const char *)skua_msg_data(msg) + sizeof report,
                           msg->bytes - sizeof report, msg->source);
    skua_msg_free(msg);
    if (--progress->open == 0)
        checkpoint_advance(self);
}

/* Whether @p msg, which has a head of @p head bytes, ends with a string; it may be empty. */
static bool checkpoint_has_string(const skua_msg *msg, size_t head)
{
    const char *data = skua_msg_data((skua_msg *)msg);

    return msg->bytes > head && msg->bytes - head <= CHECKPOINT_DIR && data[msg->bytes - 1] == 0;
}

void ski_on_checkpoint_request(skua_msg *msg)
{
    struct ski_pe         *self  = ski_self;
    struct ski_checkpoint *state = ski_checkpoint_of(self);
    struct checkpoint_ask  ask;
    const char            *dir = (const char *)skua_msg_data(msg) + sizeof ask;

    memcpy(&ask, skua_msg_data(msg), sizeof ask);
    if (!state || self->pe != 0 || ask.kind >= CHECKPOINT_KINDS ||
        !ski_completion_is_value(&ask.done) ||
        (msg->bytes > sizeof ask && !checkpoint_has_string(msg, sizeof ask))) {
        ski_net_drop(self, msg);
        return;
    }
    if (ask.kind == CHECKPOINT_MAKE_DUE)
        state->due = true;
    else if (ask.kind == CHECKPOINT_IF_DUE && !checkpoint_is_due(state))
        checkpoint_complete(&ask.done, 0, SKUA_OK, false);
    else
        checkpoint_add(self, &ask.done, msg->bytes > sizeof ask ? dir : "", false);
    skua_msg_free(msg);
}

/* Elements wait at a sync point, and are resumed after a checkpoint if one is due. */
static bool checkpoint_at_sync(struct ski_balance *balance)
{
    skua_completion done = skua_done_nothing();

    if (!checkpoint_is_due(ski_checkpoint_of(balance->self)))
        return false;
    checkpoint_add(balance->self, &done, "", true);
    return true;
}

void ski_checkpoint_restarted(struct ski_pe *self, const struct ski_image_common *from)
{
    struct ski_checkpoint *state = ski_checkpoint_of(self);

    state->generation = from->generation;
    state->made       = skua_time();
    checkpoint_complete(&from->done, from->generation, SKUA_OK, true);
}

/* ---- each PE ------------------------------------------------------------------------------- */

static void checkpoint_report_to_root(struct checkpoint_report *report, enum checkpoint_step step,
                                      skua_status status, const char *why)
{
    report->step   = step;
    report->status = status;
    skua_send(0, (skua_handler){SKI_HANDLER_CHECKPOINT_REPORT},
              ski_msg_with_header(report, sizeof *report, why, strlen(why)));
}

static void checkpoint_prepare(struct ski_pe *self)
{
    struct ski_objects      *objects             = self->objects;
    struct checkpoint_report report              = {.collections = objects->collections_created,
                                                    .sections    = ski_sections_of(objects)->created,
                                                    .channels    = ski_object_channels_of(objects)->created,
                                                    .chares      = objects->chares_created};
    char                     why[CHECKPOINT_WHY] = "";
    bool                     possible;

    ski_checkpoint_call_hooks(self, SKUA_CHECKPOINT_BEFORE);
    possible = ski_part_collections_possible(self, why, sizeof why);
    checkpoint_report_to_root(&report, CHECKPOINT_PREPARE,
                              possible ? SKUA_OK : SKUA_ERR_UNSUPPORTED, why);
}

static struct ski_image_id checkpoint_image_id(const struct ski_pe           *self,
                                               const struct checkpoint_order *order)
{
    return (struct ski_image_id){.generation  = order->common.generation,
                                 .fingerprint = ski_part_program_fingerprint(),
                                 .time_ns     = order->time_ns,
                                 .pe          = self->pe,
                                 .pes         = self->pes,
                                 .process     = self->process,
                                 .processes   = self->job->processes,
                                 .first_pe    = ski_job_first_pe(self->job, self->process),
                                 .process_pes = ski_job_pes_of(self->job, self->process)};
}

/* Writes a file for the time being. */
static int checkpoint_write(const struct ski_pe *self, const char *dir, size_t bytes)
{
    char  path[CHECKPOINT_DIR + 40];
    FILE *file;
    int   error;

    snprintf(path, sizeof path, "%s/image.%04d", dir, self->pe);
    file = fopen(path, "w");
    if (!file)
        return errno;
    error = fwrite(ski_checkpoint_of(self)->memory.base, 1, bytes, file) == bytes ? 0 : errno;
    return fclose(file) == 0 ? error : errno;
}

static void checkpoint_save(struct ski_pe *self, const struct checkpoint_order *order)
{
    struct ski_checkpoint   *state  = ski_checkpoint_of(self);
    struct ski_image_id      id     = checkpoint_image_id(self, order);
    struct checkpoint_report report = {.chares = 0};
    struct ski_image_writer  writer;
    size_t                   bytes = 0;
    int                      error;

    ski_image_begin(&writer, &state->memory, &id);
    ski_image_save(self, &writer, &order->common);
    error = ski_image_finish(&writer, &bytes) == SKUA_OK ? 0 : ENOMEM;
    if (!error)
        error = checkpoint_write(self, order->dir, bytes);
    report.bytes = bytes;
    checkpoint_report_to_root(&report, CHECKPOINT_SAVE, error ? SKUA_ERR_NOMEM : SKUA_OK,
                              error ? strerror(error) : "");
}

static void checkpoint_after(struct ski_pe *self)
{
    struct checkpoint_report report = {.chares = 0};

    ski_checkpoint_call_hooks(self, SKUA_CHECKPOINT_AFTER);
    checkpoint_report_to_root(&report, CHECKPOINT_AFTER, SKUA_OK, "");
}

void ski_on_checkpoint_order(skua_msg *msg)
{
    const struct checkpoint_order *order = skua_msg_data(msg);

    if (msg->source != 0 || !checkpoint_has_string(msg, sizeof *order) ||
        order->step >= CHECKPOINT_STEPS || !ski_checkpoint_of(ski_self)) {
        ski_net_drop(ski_self, msg);
        return;
    }
    switch ((enum checkpoint_step)order->step) {
    case CHECKPOINT_PREPARE: checkpoint_prepare(ski_self); break;
    case CHECKPOINT_SAVE: checkpoint_save(ski_self, order); break;
    default: checkpoint_after(ski_self); break;
    }
    skua_msg_free(msg);
}

/* ---- life ---------------------------------------------------------------------------------- */

static void checkpoint_begin_pe(struct ski_pe *self)
{
    struct ski_checkpoint *state;

    if (ski_pe_hidden(self))
        return;
    state = ski_calloc(1, sizeof *state);
    ski_list_init(&state->early);
    ski_image_memory_anonymous(&state->memory);
    state->last                              = &state->first;
    state->made                              = skua_time();
    self->objects->slot[SKI_SLOT_CHECKPOINT] = state;
}

static void checkpoint_end_pe(struct ski_pe *self)
{
    struct ski_checkpoint *state = ski_checkpoint_of(self);

    if (!state)
        return;
    while (state->first) {
        struct checkpoint_request *gone = state->first;

        state->first = gone->next;
        free(gone);
    }
    ski_image_memory_unmap(&state->memory);
    free(state->progress);
    free(state->restart);
    free(state);
    self->objects->slot[SKI_SLOT_CHECKPOINT] = NULL;
}

static void checkpoint_open(const struct ski_boot *boot)
{
    (void)boot;
    ski_balancer_set_hold(checkpoint_at_sync);
}

const struct ski_layer ski_checkpoint_layer = {
    .name  = "checkpoint",
    .open  = checkpoint_open,
    .begin = checkpoint_begin_pe,
    .end   = checkpoint_end_pe,
};
