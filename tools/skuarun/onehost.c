/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onehost.c - see onehost.h.
 *
 * One loop around poll(), over the output of the processes, our input for process
 * 0, and signals.
 */
#include "onehost.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <skua/time.h>

#include "base/config.h"
#include "base/memory.h"
#include "spawn.h"

#define PIECE ((size_t)4096) /* a pipe that takes anything takes so much (PIPE_BUF) */

struct onehost {
    struct launch launch;
    struct watch  watch;
    double        drain; /* all processes have ended: when to stop reading; 0 */
    int           error; /* why our output could not be written, or 0         */
};

/* ---- for the watch ------------------------------------------------------- */

static void signal_all(void *arg, int sig)
{
    struct onehost *h = arg;
    launch_signal(&h->launch, sig);
}

static void name(void *arg, int process)
{
    struct onehost *h = arg;
    char            why[WHY_BYTES];

    launch_why(&h->launch, process, why); /* all are here: its number is its index */
    fprintf(stderr, "skuarun: %s\n", why);
}

static void reap(void *arg)
{
    struct onehost *h = arg;
    int             i;

    while ((i = launch_reap(&h->launch)) >= 0)
        watch_ended(&h->watch, &h->launch.child[i].ended);
}

static const struct watch_ops ops = {signal_all, reap, name};

static void look(struct onehost *h)
{
    watch_output(&h->watch, h->error);
    launch_give_up(&h->launch);
    if (ski_job_exiting(h->launch.job))
        watch_exiting(&h->watch, ski_job_exit_code(h->launch.job));
    if (h->watch.absent >= 0 && launch_joined(&h->launch))
        watch_joined(&h->watch);
    watch_time(&h->watch);
}

/* ---- output -------------------------------------------------------------- */

/* Waits until @p fd takes something, and attends to signals and the dead meanwhile.
 * False: we were asked to end, all processes have, and nobody takes it. */
static bool wait_for_output(struct onehost *h, int fd)
{
    for (;;) {
        struct pollfd polls[] = {{.fd = fd, .events = POLLOUT},
                                 {.fd = h->watch.signals, .events = POLLIN}};

        poll(polls, 2, watch_milliseconds(&h->watch, 0));
        if (polls[0].revents)
            return true;
        if (polls[1].revents)
            watch_signals(&h->watch);
        watch_time(&h->watch);
        if (h->watch.asked && h->watch.alive == 0)
            return false;
    }
}

static void write_all(void *arg, int fd, const char *text, size_t bytes)
{
    struct onehost *h = arg;

    while (bytes > 0 && !h->error && wait_for_output(h, fd)) {
        ssize_t n = write(fd, text, bytes < PIECE ? bytes : PIECE);
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

static void run(struct onehost *h)
{
    size_t         count = launch_polls(&h->launch);
    struct pollfd *polls = ski_calloc(1 + count, sizeof *polls);
    bool           open  = true;

    while (h->watch.alive > 0 || (open && skua_time() < h->drain)) {
        struct stream *prompt = launch_prompt(&h->launch);
        int            ready;

        polls[0] = (struct pollfd){.fd = h->watch.signals, .events = POLLIN};
        launch_fill(&h->launch, polls + 1);
        ready = poll(polls, 1 + count,
                     prompt ? LAUNCH_PROMPT_MS : watch_milliseconds(&h->watch, h->drain));
        if (ready == 0 && prompt)
            stream_flush(prompt);
        if (ready > 0)
            open = launch_serve(&h->launch, polls + 1);
        if (ready > 0 && polls[0].revents)
            watch_signals(&h->watch);
        look(h);
        if (h->watch.alive == 0 && h->drain <= 0)
            h->drain = skua_time() + LAUNCH_DRAIN_SECONDS;
    }
    free(polls);
}

int onehost_run(const struct options *options)
{
    static struct onehost h; /* large */
    struct ski_plan       plan = {
              .pes = options->pes, .pes_per_process = options->threads, .pin = ski_config.pin};
    char why[WHY_BYTES];
    int  code = 0;

    if (!launch_create(&h.launch, &plan))
        return 1;
    watch_begin(&h.watch, &ops, &h);
    stream_on_write(write_all, &h);
    h.launch.terminal = isatty(STDOUT_FILENO);
    if (!launch_start(&h.launch, options, &code, why)) {
        watch_fail(&h.watch, code);
        fprintf(stderr, "skuarun: %s\n", why);
    }
    h.launch.stdin_feed.from = h.launch.stdin_feed.to >= 0 ? STDIN_FILENO : -1;
    h.watch.alive            = h.launch.alive;
    run(&h);
    launch_destroy(&h.launch);
    return h.watch.code;
}
