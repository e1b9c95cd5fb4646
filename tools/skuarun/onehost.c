/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onehost.c - see onehost.h.
 *
 * One loop around poll(): the output of the processes, the input of process 0, and signals.
 */
#include "onehost.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <skua/time.h>

#include "base/config.h"
#include "base/memory.h"
#include "processes/monitor.h"
#include "processes/procs.h"

#define WRITE_BYTES ((size_t)4096) /* PIPE_BUF: a pipe that polls writable accepts this much */

struct onehost {
    struct procs   procs;
    struct monitor monitor;
    double         drain; /* when to stop reading output, once all processes have ended; else 0 */
    int            error; /* errno of the write of output that failed, or 0                     */
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

static const struct monitor_ops onehost_ops = {onehost_signal_all, onehost_reap, onehost_report};

static void onehost_check(struct onehost *h)
{
    monitor_output_error(&h->monitor, h->error);
    procs_kill_stopped(&h->procs);
    if (procs_program_exiting(&h->procs))
        monitor_exiting(&h->monitor, ski_job_exit_code(h->procs.job));
    monitor_joined(&h->monitor, procs_joined_phase(&h->procs));
    monitor_check_deadlines(&h->monitor);
}

/* ---- output -------------------------------------------------------------- */

/* Waits until @p fd is writable, and handles signals and exits meanwhile.  Returns false if the
 * user asked the job to end, all processes have ended, and the reader still accepts nothing. */
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

int onehost_run(const struct run_options *options)
{
    static struct onehost h; /* too large for the stack */
    struct ski_job_params plan = {
        .pes = options->pes, .pes_per_process = options->threads, .pin = ski_config.pin};
    char reason[REASON_BYTES];
    int  code = 0;

    if (!procs_create(&h.procs, &plan))
        return 1;
    monitor_begin(&h.monitor, &onehost_ops, &h);
    iof_set_sink(onehost_write, &h);
    h.procs.terminal = isatty(STDOUT_FILENO);
    if (!procs_start(&h.procs, options, &code, reason)) {
        monitor_fail(&h.monitor, code);
        fprintf(stderr, "skuarun: %s\n", reason);
    }
    h.procs.input.from = h.procs.input.to >= 0 ? STDIN_FILENO : -1;
    h.monitor.alive    = h.procs.alive;
    onehost_loop(&h);
    procs_destroy(&h.procs);
    return h.monitor.code;
}
