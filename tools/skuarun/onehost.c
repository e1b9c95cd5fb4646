/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onehost.c - see onehost.h.
 *
 * One loop around poll(): the output of the processes, the input of process 0, and signals.  With
 * --survive the loop runs once for each epoch; image slots and histories of output stay.
 */
#include "onehost.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <skua/time.h>

#include "base/config.h"
#include "base/memory.h"
#include "processes/monitor.h"
#include "processes/procs.h"

#define WRITE_BYTES ((size_t)4096) /* PIPE_BUF: a pipe that polls writable accepts this much */

struct onehost {
    struct procs    procs;
    struct monitor  monitor;
    double          drain; /* when to stop reading output, once all processes have ended; else 0 */
    int             error; /* errno of the write of output that failed, or 0                     */
    struct recovery recovery;
    struct procs_survival survival;
};

/* ---- operations of the monitor ------------------------------------------------------- */

static void onehost_signal_all(void *arg, int sig)
{
    struct onehost *h = arg;
    procs_signal(&h->procs, sig);
}

static void onehost_report(void *arg, int process)
{
    struct onehost *h = arg;
    char            reason[REASON_BYTES];

    procs_exit_reason(&h->procs, process,
                      reason); /* all processes run here: number and index are equal */
    fprintf(stderr, "skuarun: %s\n", reason);
}

static void onehost_reap(void *arg)
{
    struct onehost *h = arg;
    int             i;

    while ((i = procs_reap(&h->procs)) >= 0)
        monitor_process_exited(&h->monitor, &h->procs.child[i].report);
}

static void onehost_resize(void *arg, int pes)
{
    struct onehost *h = arg;

    if (recovery_resize(&h->recovery, pes))
        procs_signal(&h->procs, SIGUSR1); /* makes a checkpoint due */
}

static const struct monitor_ops onehost_ops = {onehost_signal_all, onehost_reap, onehost_report,
                                               onehost_resize};

/* Records a new generation of images.  A job whose size changes restarts from it.  The generation
 * is read before the request of the program, so no generation that follows a request is recorded
 * before that request. */
static void onehost_check_images(struct onehost *h)
{
    uint64_t generation;
    int      asked;

    if (!h->recovery.on)
        return;
    generation = procs_generation(&h->procs);
    if ((asked = procs_asked_size(&h->procs)) > 0)
        onehost_resize(h, asked); /* also while processes are being killed */
    if (h->monitor.recovering)
        return;
    if (recovery_completed(&h->recovery, generation) ||
        (procs_all_joined(&h->procs) && recovery_joined(&h->recovery)))
        procs_signal(&h->procs, SIGUSR1); /* makes the checkpoint of the resize due again */
    if (recovery_may_resize(&h->recovery) && !h->monitor.failed)
        monitor_end_epoch(&h->monitor);
}

static void onehost_check(struct onehost *h)
{
    onehost_check_images(h);
    monitor_output_error(&h->monitor, h->error);
    procs_kill_stopped(&h->procs);
    procs_ask_checkpoint(&h->procs);
    if (procs_program_exiting(&h->procs))
        monitor_exiting(&h->monitor, ski_job_exit_code(h->procs.job));
    monitor_joined(&h->monitor, procs_joined_phase(&h->procs));
    monitor_check_deadlines(&h->monitor);
}

/* ---- output -------------------------------------------------------------- */

/* Waits until @p fd is writable, and handles signals and exits meanwhile.  Returns false if the
 * user requested the end of the job, all processes have ended, and the reader still accepts
 * nothing. */
static bool onehost_wait_writable(struct onehost *h, int fd)
{
    for (;;) {
        struct pollfd polls[] = {{.fd = fd, .events = POLLOUT},
                                 {.fd = h->monitor.signals, .events = POLLIN}};

        poll(polls, 2, monitor_poll_timeout(&h->monitor, 0));
        if (polls[0].revents)
            return true;
        if (polls[1].revents)
            monitor_read_signals(&h->monitor);
        monitor_check_deadlines(&h->monitor);
        if (h->monitor.end_signal && h->monitor.alive == 0)
            return false;
    }
}

static void onehost_write(void *arg, int fd, const char *text, size_t bytes)
{
    struct onehost *h = arg;

    while (bytes > 0 && !h->error && onehost_wait_writable(h, fd)) {
        ssize_t n = write(fd, text, bytes < WRITE_BYTES ? bytes : WRITE_BYTES);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n < 0) {
            h->error = errno;
            return;
        }
        text += n;
        bytes -= (size_t)n;
    }
}

/* ---- the loop ------------------------------------------------------------ */

static void onehost_loop(struct onehost *h)
{
    size_t         count = procs_poll_count(&h->procs);
    struct pollfd *polls = ski_calloc(1 + count, sizeof *polls);
    bool           open  = true;

    while (h->monitor.alive > 0 || (open && skua_time() < h->drain)) {
        struct iof_output *prompt = procs_prompt(&h->procs);
        int                ready;

        polls[0] = (struct pollfd){.fd = h->monitor.signals, .events = POLLIN};
        procs_poll_fill(&h->procs, polls + 1);
        ready = poll(polls, 1 + count,
                     prompt ? PROCS_PROMPT_MS : monitor_poll_timeout(&h->monitor, h->drain));
        if (ready == 0 && prompt)
            iof_output_flush(prompt);
        if (ready > 0)
            open = procs_poll_serve(&h->procs, polls + 1);
        if (ready > 0 && polls[0].revents)
            monitor_read_signals(&h->monitor);
        onehost_check(h);
        if (h->monitor.alive == 0 && h->drain <= 0)
            h->drain = skua_time() + PROCS_DRAIN_SECONDS;
    }
    free(polls);
}

/* ---- epochs ---------------------------------------------------------------------- */

/* Makes the arena and starts the processes of the present epoch.  Returns false if that is
 * impossible; the reason has been printed. */
static bool onehost_start(struct onehost *h, const struct run_options *options)
{
    const struct recovery  *r      = &h->recovery;
    struct ski_job_params   plan   = {.pes = r->pes,
                                      .pes_per_process =
                                      options->threads < r->pes ? options->threads : r->pes,
                                      .pin = ski_config.pin};
    struct host_images_plan images = {r->epoch, r->generation, NULL, HOST_IMAGES_ALL};
    char                    reason[REASON_BYTES];
    int                     code = 0;

    if (!procs_create(&h->procs, &plan) ||
        (r->on && !procs_begin_epoch(&h->procs, &h->survival, &images)))
        return false;
    h->procs.terminal = isatty(STDOUT_FILENO);
    monitor_next_epoch(&h->monitor);
    monitor_read_signals(&h->monitor); /* an arena takes a while: the user may have ended the job */
    if (h->monitor.end_signal) {
        monitor_fail(&h->monitor, 128 + h->monitor.end_signal);
        return true;
    }
    if (!procs_start(&h->procs, options, &code, reason)) {
        monitor_fail(&h->monitor, code);
        fprintf(stderr, "skuarun: %s\n", reason);
    }
    h->procs.input.from = h->procs.input.to >= 0 ? STDIN_FILENO : -1;
    h->monitor.alive    = h->procs.alive;
    return true;
}

/* All processes have ended.  Returns whether the job continues with another epoch. */
static bool onehost_recover(struct onehost *h, const struct run_options *options)
{
    struct image_record *record;
    int                  count;
    bool                 go_on;

    if (!monitor_goes_on(&h->monitor))
        return false;
    record = host_images_scan(&h->survival.images, &count);
    go_on  = recovery_next(&h->recovery, record, count, options->threads);
    free(record);
    return go_on;
}

/* Ends the present epoch.  Returns whether another one follows. */
static bool onehost_next(struct onehost *h, const struct run_options *options)
{
    bool go_on = onehost_recover(h, options);

    if (go_on)
        procs_rewind_output(&h->procs, h->recovery.generation);
    else
        procs_end_output(&h->procs);
    procs_destroy(&h->procs);
    return go_on;
}

int onehost_run(const struct run_options *options)
{
    static struct onehost h; /* too large for the stack */

    if (!monitor_begin(&h.monitor, &onehost_ops, &h))
        return 1;
    iof_set_sink(onehost_write, &h);
    recovery_begin(&h.recovery, options, options->pes);
    h.monitor.recovery = h.recovery.on ? &h.recovery : NULL;
    do {
        h.drain = 0;
        if (!onehost_start(&h, options))
            return 1;
        recovery_started(&h.recovery);
        onehost_loop(&h);
    } while (onehost_next(&h, options));
    procs_survival_free(&h.survival);
    return h.monitor.code;
}
