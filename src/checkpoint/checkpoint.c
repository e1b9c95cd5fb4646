/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint.c - see checkpoint.h. */
#include "checkpoint/checkpoint.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <skua/checkpoint.h>
#include <skua/quiescence.h>
#include <skua/scheduler.h>
#include <skua/time.h>

#include "balance/balancer.h"
#include "base/config.h"
#include "base/memory.h"
#include "boot/image_slots.h"
#include "checkpoint/checkpoint_pe.h"
#include "checkpoint/commit.h"
#include "checkpoint/former.h"
#include "checkpoint/process_store.h"
#include "checkpoint/save_step.h"
#include "core/collective/collective.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/sched/completion.h"
#include "objects/model/msg_target.h"
#include "objects/services/termination.h"

#define CHECKPOINT_SIGNAL_POLL 0.1  /* seconds between two checks for SIGUSR1 */
#define CHECKPOINT_RETRY       1.0  /* seconds until a failed checkpoint is retried */
#define CHECKPOINT_RETRY_MAX   60.0 /* seconds, at most, after many failures */

/* A request at PE 0. */
struct checkpoint_request {
    struct checkpoint_request *next;
    skua_completion            done;
    enum ski_checkpoint_kind   kind;
    bool                       asked; /* by SIGUSR1 or skua_checkpoint_make_due() */
    char                       dir[SKI_CHECKPOINT_DIR]; /* empty: in memory */
};

/* The checkpoint in progress, at PE 0. */
struct checkpoint_progress {
    enum ski_checkpoint_step step;
    int                      open; /* PEs that have not reported on the present step */
    struct ski_image_common  common;
    int64_t                  time_ns;
    bool                     saved; /* PEs were ordered to save */
    skua_status              status;
    char                     why[SKI_CHECKPOINT_WHY]; /* the reason of the first failure */
    int                      where;                   /* the PE that failed   */
    uint64_t                 bytes;
    double                   started;
};

/* The state of PE 0. */
struct ski_checkpoint_root {
    struct checkpoint_request  *first, **last; /* requests; the first may be in progress       */
    struct checkpoint_progress *progress;      /* the checkpoint in progress, or NULL       */
    struct ski_commit           commit;        /* the files that are being written           */
    uint64_t    generation; /* number of the last checkpoint, or of the one in progress */
    uint64_t    kept;       /* generation of the last one that succeeded  */
    uint64_t    committed;  /* generation of the last one in a directory  */
    uint32_t    restarts;   /* between the first job and this one         */
    skua_status written;    /* whether the last one for a directory is there */
    double      made_dir, made_memory; /* when, in a directory and in memory */
    bool        due;                   /* a checkpoint was asked for                           */
    bool        writing_asked;         /* the one that is being written was asked for */
    double      retry_at, retry_wait;  /* one that was asked for and failed is made
                                          again then, and the wait doubles */
};

static volatile sig_atomic_t checkpoint_signalled; /* this process got SIGUSR1 */

static void checkpoint_next(struct ski_pe *self);

static struct ski_checkpoint_root *checkpoint_root(const struct ski_pe *self)
{
    return ski_checkpoint_of(self) ? ski_checkpoint_of(self)->root : NULL;
}

/* ---- calls ----------------------------------------------------------------------------- */

static void checkpoint_send_request(enum ski_checkpoint_kind kind, const char *dir,
                                    skua_completion done)
{
    struct ski_checkpoint_request ask = {done, kind};

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
    if (dir && (!*dir || strlen(dir) >= SKI_CHECKPOINT_DIR))
        ski_misuse("%s: the name of the directory has %zu bytes; 1 to %d are possible", __func__,
                   strlen(dir), SKI_CHECKPOINT_DIR - 1);
    checkpoint_send_request(SKI_CHECKPOINT_NOW, dir, done);
}

void skua_checkpoint_if_due(skua_completion done)
{
    (void)SKI_SELF();
    checkpoint_check_done(__func__, &done);
    checkpoint_send_request(SKI_CHECKPOINT_IF_DUE, NULL, done);
}

void skua_checkpoint_make_due(void)
{
    (void)SKI_SELF();
    checkpoint_send_request(SKI_CHECKPOINT_MAKE_DUE, NULL, skua_done_nothing());
}

void skua_checkpoint_flush(skua_completion done)
{
    (void)SKI_SELF();
    checkpoint_check_done(__func__, &done);
    checkpoint_send_request(SKI_CHECKPOINT_FLUSH, NULL, done);
}

/* ---- results --------------------------------------------------------------------------- */

/* Gives the result of a request to its completion. */
static void checkpoint_complete(const skua_completion *done, uint64_t generation,
                                skua_status status, bool restarted)
{
    skua_checkpoint_result result = {generation, status, restarted};

    skua_complete(*done, &result, sizeof result);
}

/* Removes the first request, and ends it. */
static void checkpoint_end_request(struct ski_pe *self, skua_status status, uint64_t generation)
{
    struct ski_checkpoint_root *root    = checkpoint_root(self);
    struct checkpoint_request  *request = root->first;

    root->first = request->next;
    root->last  = root->first ? root->last : &root->first;
    if (request->kind == SKI_CHECKPOINT_SYNC)
        ski_balancer_continue(ski_balance_of(self));
    else
        checkpoint_complete(&request->done, generation, status, false);
    free(request);
}

static void checkpoint_log(const struct checkpoint_progress *progress, const char *dir)
{
    const char *where = *dir ? dir : "memory";

    if (progress->status == SKUA_OK)
        ski_log(SKI_LOG_INFO, "checkpoint %llu in %s: %llu bytes, the program stopped for %.4g s",
                (unsigned long long)progress->common.generation, where,
                (unsigned long long)progress->bytes, skua_time() - progress->started);
    else
        (void)ski_fail(progress->status, "no checkpoint in %s: PE %d: %s", where, progress->where,
                       progress->why);
}

/* Delays a requested checkpoint that has failed. It stays due: a program that cannot be saved
 * would otherwise try it at each of its steps. */
static void checkpoint_retry(struct ski_checkpoint_root *root)
{
    root->retry_wait = root->retry_wait > 0 ? 2 * root->retry_wait : CHECKPOINT_RETRY;
    if (root->retry_wait > CHECKPOINT_RETRY_MAX)
        root->retry_wait = CHECKPOINT_RETRY_MAX;
    root->retry_at = skua_time() + root->retry_wait;
    root->due      = true;
}

/* Resets the wait: the next checkpoint that fails is retried after the shortest one. */
static void checkpoint_succeeded(struct ski_checkpoint_root *root)
{
    root->retry_wait = 0;
    root->retry_at   = 0;
}

/* Ends a checkpoint: all PEs have completed its last step. */
static void checkpoint_finish(struct ski_pe *self)
{
    struct ski_checkpoint_root *root     = checkpoint_root(self);
    struct checkpoint_progress *progress = root->progress;
    bool                        ok       = progress->status == SKUA_OK;

    checkpoint_log(progress, root->first->dir);
    root->progress = NULL;
    if (ok) {
        root->kept          = progress->common.generation;
        root->writing_asked = root->first->asked;
        if (!*root->first->dir) /* else when its files are written */
            checkpoint_succeeded(root);
    } else if (root->first->asked) {
        checkpoint_retry(root);
    }
    checkpoint_end_request(self, progress->status, ok ? progress->common.generation : 0);
    free(progress);
    checkpoint_next(self);
}

/* ---- steps ----------------------------------------------------------------------------- */

/* Orders all PEs to take @p step of the checkpoint. */
static void checkpoint_order(struct ski_pe *self, enum ski_checkpoint_step step)
{
    struct ski_checkpoint_root *root     = checkpoint_root(self);
    struct checkpoint_progress *progress = root->progress;
    struct ski_checkpoint_order order    = {.step    = step,
                                            .common  = progress->common,
                                            .time_ns = progress->time_ns,
                                            .kept    = root->kept,
                                            .saved   = progress->saved,
                                            .complete =
                                                progress->saved && progress->status == SKUA_OK};
    const char                 *dir      = root->first->dir;

    progress->step = step;
    progress->open = self->pes;
    ski_broadcast(self, SKI_HANDLER_CHECKPOINT_ORDER,
                  ski_msg_with_header(&order, sizeof order, dir, strlen(dir) + 1));
}

static void checkpoint_fail(struct checkpoint_progress *progress, int pe, skua_status status,
                            const char *why, size_t bytes)
{
    if (progress->status != SKUA_OK)
        return;
    progress->status = status;
    progress->where  = pe;
    snprintf(progress->why, sizeof progress->why, "%.*s", (int)bytes, why);
}

/* Gives the checkpoint a number, and makes its directory: all PEs can save their state. */
static void checkpoint_number(struct ski_pe *self)
{
    struct ski_checkpoint_root *root                  = checkpoint_root(self);
    struct checkpoint_progress *progress              = root->progress;
    char                        why[SKI_STORE_REASON] = "";
    struct ski_image_id         id;
    bool                        ok = true;

    root->generation++;
    if (*root->first->dir)
        ok = ski_commit_open(&root->commit, root->first->dir, &root->generation, why);
    progress->common.generation = root->generation;
    id                          = ski_save_step_id(self, &progress->common, progress->time_ns);
    if (ok && *root->first->dir)
        ok = ski_commit_begin(&root->commit, &id, self->job->hosts, why);
    if (!ok)
        checkpoint_fail(progress, self->pe, SKUA_ERR_SYSTEM, why, strlen(why));
}

/* Begins the next step of the checkpoint: all PEs have taken the last one. */
static void checkpoint_advance(struct ski_pe *self)
{
    struct checkpoint_progress *progress = checkpoint_root(self)->progress;

    if (progress->step == SKI_CHECKPOINT_AFTER) {
        checkpoint_finish(self);
        return;
    }
    if (progress->step == SKI_CHECKPOINT_PREPARE && progress->status == SKUA_OK) {
        checkpoint_number(self);
        progress->saved = progress->status == SKUA_OK;
        if (progress->saved) {
            checkpoint_order(self, SKI_CHECKPOINT_SAVE);
            return;
        }
    }
    if (progress->saved && progress->status != SKUA_OK)
        checkpoint_root(self)->commit.failed = true; /* files that are written are removed */
    checkpoint_order(self, SKI_CHECKPOINT_AFTER);
}

static uint32_t checkpoint_most(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void checkpoint_take_report(struct checkpoint_progress         *progress,
                                   const struct ski_checkpoint_report *report)
{
    struct ski_image_common *common = &progress->common;

    common->collections = checkpoint_most(common->collections, report->collections);
    common->sections    = checkpoint_most(common->sections, report->sections);
    common->channels    = checkpoint_most(common->channels, report->channels);
    common->regions     = checkpoint_most(common->regions, report->regions);
    common->teams       = checkpoint_most(common->teams, report->teams);
    common->chares      = common->chares > report->chares ? common->chares : report->chares;
    progress->bytes += report->bytes;
}

void ski_on_checkpoint_report(skua_msg *msg)
{
    struct ski_pe               *self     = ski_self;
    struct ski_checkpoint_root  *root     = checkpoint_root(self);
    struct checkpoint_progress  *progress = root ? root->progress : NULL;
    struct ski_checkpoint_report report;
    const char                  *why;

    memcpy(&report, skua_msg_data(msg), sizeof report);
    if (!progress || progress->open == 0 || report.step != (uint64_t)progress->step ||
        report.status > 0) {
        ski_net_drop(self, msg);
        return;
    }
    checkpoint_take_report(progress, &report);
    if (report.status != SKUA_OK)
        checkpoint_fail(progress, msg->source, (skua_status)report.status,
                        (const char *)skua_msg_data(msg) + sizeof report,
                        msg->bytes - sizeof report);
    else if ((why = ski_save_step_disagrees(self, &report)))
        checkpoint_fail(progress, msg->source, SKUA_ERR_UNSUPPORTED, why, strlen(why));
    skua_msg_free(msg);
    if (--progress->open == 0)
        checkpoint_advance(self);
}

/* ---- files ------------------------------------------------------------------------------- */

/* Commits the generation whose files all processes have written, or drops it if one has failed. */
static void checkpoint_commit(struct ski_pe *self)
{
    struct ski_checkpoint_root *root                  = checkpoint_root(self);
    uint64_t                    generation            = root->commit.manifest.generation;
    char                        why[SKI_STORE_REASON] = "";

    root->written = ski_commit_finish(&root->commit, why) ? SKUA_OK : SKUA_ERR_SYSTEM;
    if (root->written == SKUA_OK) {
        root->committed = generation;
        checkpoint_succeeded(root);
        ski_log(SKI_LOG_INFO, "checkpoint %llu is complete in %s", (unsigned long long)generation,
                root->commit.store.path);
    } else if (*why) {
        (void)ski_fail(SKUA_ERR_SYSTEM, "no checkpoint: %s", why);
    }
    if (root->written != SKUA_OK && root->writing_asked)
        checkpoint_retry(root);
    root->writing_asked = false;
    checkpoint_next(self);
}

void ski_on_checkpoint_written(skua_msg *msg)
{
    struct ski_pe                *self   = ski_self;
    struct ski_checkpoint_root   *root   = checkpoint_root(self);
    struct ski_commit            *commit = root ? &root->commit : NULL;
    struct ski_checkpoint_written report;
    struct ski_image_file_written written;
    const char                   *why = (const char *)skua_msg_data(msg) + sizeof report;

    memcpy(&report, skua_msg_data(msg), sizeof report);
    if (!commit || !commit->writing || report.generation != commit->manifest.generation ||
        (uint32_t)report.process >= (uint32_t)self->job->processes ||
        commit->manifest.image[report.process].pes > 0 ||
        !ski_checkpoint_has_string(msg, sizeof report)) {
        ski_net_drop(self, msg);
        return;
    }
    written = (struct ski_image_file_written){report.bytes, report.head_sum};
    if (!report.ok)
        (void)ski_fail(SKUA_ERR_SYSTEM, "no checkpoint: process %d: %s", report.process, why);
    if (ski_commit_add(commit, report.process, ski_job_first_pe(self->job, report.process),
                       ski_job_pes_of(self->job, report.process), report.ok ? &written : NULL))
        checkpoint_commit(self);
    skua_msg_free(msg);
}

/* ---- requests ----------------------------------------------------------------------------- */

static void checkpoint_quiet(void *arg, const void *data, size_t bytes)
{
    struct checkpoint_progress *progress = checkpoint_root(arg)->progress;
    struct timespec             now;

    (void)data, (void)bytes;
    clock_gettime(CLOCK_REALTIME, &now);
    progress->time_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    progress->started = progress->common.seconds = skua_time();
    checkpoint_order(arg, SKI_CHECKPOINT_PREPARE);
}

static void checkpoint_begin(struct ski_pe *self)
{
    struct ski_checkpoint_root *root     = checkpoint_root(self);
    struct checkpoint_progress *progress = ski_calloc(1, sizeof *progress);

    progress->common.done      = root->first->done;
    progress->common.pes       = self->pes;
    progress->common.processes = self->job->processes;
    progress->common.creators  = self->objects->creators;
    progress->common.restarts  = root->restarts;
    root->progress             = progress;
    skua_quiescence(skua_done_call(checkpoint_quiet, self));
}

/* Starts the first request, if no checkpoint is in progress. */
static void checkpoint_next(struct ski_pe *self)
{
    struct ski_checkpoint_root *root = checkpoint_root(self);

    while (root->first && !root->progress && !root->commit.writing) {
        if (root->first->kind == SKI_CHECKPOINT_FLUSH)
            checkpoint_end_request(self, root->written,
                                   root->written == SKUA_OK ? root->committed : 0);
        else
            checkpoint_begin(self);
    }
}

/* Adds a request for a checkpoint in directory @p dir; empty: in memory. */
static void checkpoint_add(struct ski_pe *self, enum ski_checkpoint_kind kind,
                           const skua_completion *done, const char *dir)
{
    struct ski_checkpoint_root *root    = checkpoint_root(self);
    struct checkpoint_request  *request = ski_calloc(1, sizeof *request);

    request->done  = *done;
    request->kind  = kind;
    request->asked = root->due && (kind == SKI_CHECKPOINT_IF_DUE || kind == SKI_CHECKPOINT_SYNC);
    snprintf(request->dir, sizeof request->dir, "%s", dir);
    *root->last = request;
    root->last  = &request->next;
    if (kind != SKI_CHECKPOINT_FLUSH) {
        root->made_memory = skua_time();
        root->made_dir    = *dir ? root->made_memory : root->made_dir;
        root->due         = false;
    }
    checkpoint_next(self);
}

static bool checkpoint_has_dir(void)
{
    return strcmp(ski_config.checkpoint_dir, "none") != 0;
}

/* Returns the directory of the checkpoint that is due, "" for one in memory; NULL: none is due. */
static const char *checkpoint_due(const struct ski_checkpoint_root *root)
{
    double now = skua_time();
    bool   due = root->due && now >= root->retry_at;

    if (root->first || root->commit.writing)
        return NULL;
    if (checkpoint_has_dir() && (due || (ski_config.checkpoint_every > 0 &&
                                         now - root->made_dir >= ski_config.checkpoint_every)))
        return ski_config.checkpoint_dir;
    return ski_config.survive > 0 && (due || now - root->made_memory >= ski_config.survive) ? ""
                                                                                            : NULL;
}

/* Makes a checkpoint due. One that failed before does not delay it. */
static void checkpoint_make_due(struct ski_checkpoint_root *root)
{
    root->due      = true;
    root->retry_at = 0;
}

/* Returns whether a request of another PE is valid. */
static bool checkpoint_request_valid(skua_msg *msg, const struct ski_checkpoint_request *ask)
{
    return checkpoint_root(ski_self) && ask->kind <= SKI_CHECKPOINT_FLUSH &&
           ski_completion_is_value(&ask->done) &&
           (msg->bytes == sizeof *ask || ski_checkpoint_has_string(msg, sizeof *ask));
}

void ski_on_checkpoint_request(skua_msg *msg)
{
    struct ski_pe                *self = ski_self;
    struct ski_checkpoint_root   *root = checkpoint_root(self);
    struct ski_checkpoint_request ask;
    const char                   *dir = "";

    memcpy(&ask, skua_msg_data(msg), sizeof ask);
    if (!checkpoint_request_valid(msg, &ask)) {
        ski_net_drop(self, msg);
        return;
    }
    if (msg->bytes > sizeof ask)
        dir = (const char *)skua_msg_data(msg) + sizeof ask;
    if (ask.kind == SKI_CHECKPOINT_IF_DUE)
        dir = checkpoint_due(root);
    if (ask.kind == SKI_CHECKPOINT_MAKE_DUE)
        checkpoint_make_due(root);
    else if (!dir)
        checkpoint_complete(&ask.done, 0, SKUA_OK, false);
    else
        checkpoint_add(self, (enum ski_checkpoint_kind)ask.kind, &ask.done, dir);
    skua_msg_free(msg);
}

/* Requests the checkpoint that is due, if one is, while elements wait at a sync point. Returns
 * whether it has: the elements are then resumed after the checkpoint. */
static bool checkpoint_at_sync(struct ski_balance *balance)
{
    const char     *dir  = checkpoint_due(checkpoint_root(balance->self));
    skua_completion done = skua_done_nothing();

    if (dir)
        checkpoint_add(balance->self, SKI_CHECKPOINT_SYNC, &done, dir);
    return dir != NULL;
}

void ski_checkpoint_restarted(struct ski_pe *self, const struct ski_image_common *from)
{
    struct ski_checkpoint_root *root = checkpoint_root(self);

    root->restarts   = from->restarts + 1;
    root->generation = root->kept = from->generation;
    root->made_dir = root->made_memory = skua_time();
    if (self->job->hosts > 1 && ski_image_slots()->generation > 0)
        root->made_memory -= ski_config.survive; /* replace copies on a lost host soon */
    checkpoint_complete(&from->done, from->generation, SKUA_OK, true);
}

/* ---- SIGUSR1 -------------------------------------------------------------------------------- */

static void checkpoint_on_signal(int signal)
{
    (void)signal;
    checkpoint_signalled = 1;
}

static void checkpoint_look_for_signal(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
    if (!checkpoint_signalled)
        return;
    checkpoint_signalled = 0;
    skua_checkpoint_make_due();
}

static void checkpoint_mask_signal(int how)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(how, &set, NULL);
}

void ski_checkpoint_block_signal(void)
{
    if (checkpoint_has_dir() || ski_config.survive > 0)
        checkpoint_mask_signal(SIG_BLOCK);
}

/* Installs a handler of SIGUSR1, unless the program has one, and unblocks it. */
static void checkpoint_catch_signal(void)
{
    struct sigaction action = {.sa_handler = checkpoint_on_signal, .sa_flags = SA_RESTART}, old;

    if (sigaction(SIGUSR1, NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
        old.sa_handler == SIG_DFL)
        (void)sigaction(SIGUSR1, &action, NULL);
    checkpoint_mask_signal(SIG_UNBLOCK);
}

/* ---- life ---------------------------------------------------------------------------------- */

static struct ski_checkpoint_root *checkpoint_root_new(void)
{
    struct ski_checkpoint_root *root = ski_calloc(1, sizeof *root);

    root->last     = &root->first;
    root->made_dir = root->made_memory = skua_time();
    return root;
}

/* Frees the state of PE 0 at the end of the job, after completing a generation that is being
 * written if that takes no longer than a process may take to exit. */
static void checkpoint_root_free(struct ski_checkpoint_root *root)
{
    char why[SKI_STORE_REASON] = "";

    if (!ski_commit_close(&root->commit, 0.8 * ski_config.exit_grace, why))
        (void)ski_fail(SKUA_ERR_SYSTEM, "the last checkpoint was not completed: %s", why);
    while (root->first) {
        struct checkpoint_request *gone = root->first;

        root->first = gone->next;
        free(gone);
    }
    free(root->progress);
    free(root);
}

static void checkpoint_pe_begin(struct ski_pe *self)
{
    struct ski_checkpoint *state;

    if (ski_pe_hidden(self))
        return;
    state = ski_calloc(1, sizeof *state);
    ski_list_init(&state->early);
    if (self->pe == 0)
        state->root = checkpoint_root_new();
    self->objects->slot[SKI_SLOT_CHECKPOINT] = state;
    if ((checkpoint_has_dir() || ski_config.survive > 0) &&
        self->pe == ski_job_first_pe(self->job, self->process)) {
        skua_timer_every(CHECKPOINT_SIGNAL_POLL, skua_done_call(checkpoint_look_for_signal, NULL));
        ski_termination_own_timer(self);
    }
}

static void checkpoint_pe_end(struct ski_pe *self)
{
    struct ski_checkpoint *state = ski_checkpoint_of(self);

    if (!state)
        return;
    if (state->root)
        checkpoint_root_free(state->root);
    free(state->restart);
    free(state->copy);
    free(state);
    self->objects->slot[SKI_SLOT_CHECKPOINT] = NULL;
}

/* Warns of settings that seem to give checkpoints and do not. */
static void checkpoint_warn(const struct ski_boot *boot)
{
    if (boot->process != 0)
        return;
    if (ski_config.survive > 0 && boot->mode != SKI_BOOT_LAUNCHED)
        ski_log(SKI_LOG_WARN, "SKUA_SURVIVE has no effect without skuarun, which starts the "
                              "processes of a job again; under another launcher set "
                              "SKUA_CHECKPOINT_DIR and SKUA_RESTART");
    if (ski_config.checkpoint_every > 0 && !checkpoint_has_dir() && ski_config.survive <= 0)
        ski_log(SKI_LOG_WARN, "SKUA_CHECKPOINT_EVERY has no effect: no directory is set for the "
                              "checkpoints (SKUA_CHECKPOINT_DIR)");
}

static void checkpoint_open(const struct ski_boot *boot)
{
    checkpoint_warn(boot);
    ski_balancer_set_hold(checkpoint_at_sync);
    ski_process_store_open(boot);
    if (checkpoint_has_dir() || ski_config.survive > 0)
        checkpoint_catch_signal();
}

static void checkpoint_close(void)
{
    ski_process_store_close();
    ski_former_end();
}

const struct ski_layer ski_checkpoint_layer = {
    .name  = "checkpoint",
    .open  = checkpoint_open,
    .close = checkpoint_close,
    .begin = checkpoint_pe_begin,
    .end   = checkpoint_pe_end,
};
