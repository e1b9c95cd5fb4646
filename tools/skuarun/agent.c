/* SPDX-License-Identifier: Apache-2.0 */
/* agent.c - see agent.h. */
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <skua/time.h>

#include "base/config.h"
#include "base/topology.h"
#include "control.h"
#include "order.h"

#define LOOK_MS 1000               /* between two looks at the job                        */
#define PIECE   ((size_t)1 << 20)  /* of output in a frame: ends with a line, where it can */
#define WINDOW  ((int64_t)1 << 18) /* of output on its way: then processes have to wait */

struct agent {
    struct channel channel;
    struct launch  launch;
    struct control control;
    struct options options;
    int            signals;         /* a signalfd                                        */
    int64_t        flying;          /* bytes of output that the launcher has not written */
    bool           hungry;          /* it has been told that process 0 took its input    */
    bool           joined, exiting; /* it has been told */
    double         drain;           /* all processes have ended: when to stop reading; 0 */
};

/* The launcher is gone, or speaks nonsense: nobody watches any more. */
static _Noreturn void give_up(struct agent *a)
{
    if (a->launch.child)
        launch_signal(&a->launch, SIGKILL);
    _exit(1);
}

/* ---- orders --------------------------------------------------------------- */

/* Waits for the first frame. */
static void receive(struct agent *a, struct frame *frame)
{
    int found;

    while ((found = channel_next(&a->channel, frame)) == 0) {
        struct pollfd in = {.fd = a->channel.in, .events = POLLIN};

        poll(&in, 1, -1);
        if (channel_read(&a->channel) < 0)
            _exit(1);
    }
    if (found < 0 || frame->kind != FRAME_ORDER)
        _exit(1);
}

static void obey_settings(const struct order *order)
{
    /* UCX would catch SIGHUP, for its debugger, and a job would outlive its terminal. */
    setenv("UCX_DEBUG_SIGNO", "0", 0);
    for (char **setting = order->setting; *setting; setting++) {
        char *value = strchr(*setting, '=');

        if (!value)
            continue;
        *value = '\0';
        setenv(*setting, value + 1, 1);
    }
}

/* The CPUs of our PEs, if they were not told: some of those of all PEs of the job here. */
static skua_status_t find_cpus(struct order *order)
{
    const struct order_head *h = &order->head;
    skua_status_t            status;

    if (order->cpu)
        return SKUA_OK;
    order->cpu = ski_calloc((size_t)h->beside, sizeof *order->cpu);
    status     = ski_topology_place(ski_config.pin, h->beside, order->cpu);
    memmove(order->cpu, order->cpu + h->beside_first, (size_t)order_pes(h) * sizeof *order->cpu);
    return status;
}

static bool make_launch(struct agent *a, struct order *order)
{
    const struct order_head *h    = &order->head;
    int                     *near = ski_calloc((size_t)h->here, sizeof *near);
    struct ski_plan          plan = {.pes             = h->pes,
                                     .pes_per_process = h->pes_per_process,
                                     .local            = near,
                                     .local_processes            = h->here,
                                     .one_host        = h->one_host,
                                     .secret          = {h->secret[0], h->secret[1]}};
    bool                     made;

    for (int i = 0; i < h->here; i++)
        near[i] = h->first + i;
    if (ski_config_load() != SKUA_OK || find_cpus(order) != SKUA_OK)
        return false;
    plan.cpu           = order->cpu;
    made               = launch_create(&a->launch, &plan);
    a->launch.terminal = h->terminal;
    free(near);
    return made;
}

/* False: why not has been said. */
static bool obey(struct agent *a, struct order *order)
{
    char why[WHY_BYTES];
    int  code = 1;

    if (chdir(order->folder) < 0) {
        snprintf(why, sizeof why, "cannot enter %s: %s", order->folder, strerror(errno));
        channel_say(&a->channel, FRAME_REFUSED, code, why);
        return false;
    }
    obey_settings(order);
    if (!make_launch(a, order)) {
        channel_say(&a->channel, FRAME_REFUSED, code, NULL);
        return false;
    }
    a->options = (struct options){
        .label = order->head.label, .verbose = order->head.verbose, .command = order->argument};
    if (!launch_start(&a->launch, &a->options, &code, why))
        channel_say(&a->channel, FRAME_REFUSED, code, why);
    return true;
}

/* ---- up -------------------------------------------------------------------- */

/* Output goes up in frames that end with a line. */
static void send_output(void *arg, int to, const char *text, size_t bytes)
{
    struct agent *a = arg;

    while (bytes > 0) {
        size_t      n   = bytes < PIECE ? bytes : PIECE;
        const char *end = memrchr(text, '\n', n);

        if (end)
            n = (size_t)(end - text) + 1;
        channel_send(&a->channel, to == STDOUT_FILENO ? FRAME_OUTPUT : FRAME_ERRORS, text, n, NULL,
                     0);
        a->flying += (int64_t)n;
        text += n;
        bytes -= n;
    }
}

/* A process has ended in good order. */
static bool ended_well(const struct ended *ended)
{
    return WIFEXITED(ended->status) && ended->state == SKI_PROCESS_LEFT;
}

static void reap(struct agent *a)
{
    struct signalfd_siginfo info;
    int                     i;

    while (read(a->signals, &info, sizeof info) == sizeof info)
        ;
    while ((i = launch_reap(&a->launch)) >= 0) {
        const struct ended *ended = &a->launch.child[i].ended;
        char                why[WHY_BYTES];

        channel_send(&a->channel, FRAME_ENDED, ended, sizeof *ended, NULL, 0);
        if (ended_well(ended))
            continue;
        launch_why(&a->launch, i, why);
        channel_say(&a->channel, FRAME_WHY, ended->process, why);
    }
}

static void tell(struct agent *a)
{
    struct ski_job *job = a->launch.job;

    launch_give_up(&a->launch);
    if (!a->joined && launch_joined(&a->launch)) {
        a->joined = true;
        channel_send(&a->channel, FRAME_JOINED, NULL, 0, NULL, 0);
    }
    if (!a->exiting && ski_job_exiting(job)) {
        a->exiting = true;
        channel_say(&a->channel, FRAME_EXITING, ski_job_exit_code(job), NULL);
    }
    if (!a->hungry && a->launch.stdin_feed.to >= 0 && !feed_full(&a->launch.stdin_feed)) {
        a->hungry = true;
        channel_send(&a->channel, FRAME_FED, NULL, 0, NULL, 0);
    }
}

/* ---- down ------------------------------------------------------------------ */

static void hear_one(struct agent *a, const struct frame *frame)
{
    switch (frame->kind) {
    case FRAME_INPUT:
        a->hungry = false;
        feed_take(&a->launch.stdin_feed, frame->data, frame->bytes);
        break;
    case FRAME_SIGNAL: launch_signal(&a->launch, frame_number(frame)); break;
    case FRAME_TAKEN: a->flying -= frame_number(frame); break;
    case FRAME_VALUE:
        if (control_value(&a->control, frame))
            break;
        /* fallthrough */
    default: give_up(a);
    }
}

static void hear(struct agent *a)
{
    struct frame frame;
    int          found;

    while ((found = channel_next(&a->channel, &frame)) > 0)
        hear_one(a, &frame);
    if (found < 0)
        give_up(a);
}

/* ---- the loop -------------------------------------------------------------- */

/* What is polled: these, then what the launch has, then what control has. */
enum { SIGNALS, IN, OUT, LAUNCH };

static void fill(struct agent *a, struct pollfd *polls)
{
    polls[SIGNALS] = (struct pollfd){.fd = a->signals, .events = POLLIN};
    polls[IN]      = (struct pollfd){.fd = a->channel.in, .events = POLLIN};
    polls[OUT] =
        (struct pollfd){.fd = channel_waits(&a->channel) ? a->channel.out : -1, .events = POLLOUT};
    launch_fill(&a->launch, polls + LAUNCH);
    if (a->flying > WINDOW) /* leave the output where it is; the input is before it */
        for (size_t i = LAUNCH + 2; i < LAUNCH + launch_polls(&a->launch); i++)
            polls[i].fd = -1;
    control_fill(&a->control, polls + LAUNCH + launch_polls(&a->launch));
}

/* Attends to what there is; true while some output is open. */
static bool serve(struct agent *a, const struct pollfd *polls)
{
    char why[WHY_BYTES];
    bool open = launch_serve(&a->launch, polls + LAUNCH);

    if (!control_serve(&a->control, polls + LAUNCH + launch_polls(&a->launch), why))
        channel_say(&a->channel, FRAME_REFUSED, 1, why);
    if (polls[SIGNALS].revents)
        reap(a);
    if (polls[IN].revents && channel_read(&a->channel) < 0)
        give_up(a);
    hear(a);
    channel_flush(&a->channel);
    return open;
}

static int milliseconds(const struct agent *a)
{
    if (launch_prompt(&a->launch))
        return LAUNCH_PROMPT_MS;
    return a->drain > 0 ? (int)(LAUNCH_DRAIN_SECONDS * 1e3) : LOOK_MS;
}

/* Whether there is more to do: processes, their output, or what is to be told. */
static bool goes_on(struct agent *a, bool open)
{
    double now = skua_time();

    if (a->launch.alive > 0)
        return true;
    if (a->drain <= 0 || a->flying > WINDOW)
        a->drain = now + LAUNCH_DRAIN_SECONDS;
    return (open && now < a->drain) || channel_waits(&a->channel);
}

static void run(struct agent *a)
{
    size_t         count = LAUNCH + launch_polls(&a->launch) + (size_t)a->launch.job->local_processes;
    struct pollfd *polls = ski_calloc(count, sizeof *polls);
    bool           open  = true;

    while (goes_on(a, open)) {
        fill(a, polls);
        if (poll(polls, count, milliseconds(a)) > 0)
            open = serve(a, polls);
        else if (launch_prompt(&a->launch))
            stream_flush(launch_prompt(&a->launch));
        tell(a);
    }
    free(polls);
}

/* Only children concern us: other signals end an agent, and its processes with it. */
static int open_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_SETMASK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* Frames have descriptors of their own: what is printed by mistake is none. */
static void open_channel(struct agent *a)
{
    struct hello hello = frame_hello();
    int          in    = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    int          out   = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

    dup2(STDERR_FILENO, STDOUT_FILENO);
    channel_open(&a->channel, in, out, FRAME_DOWN);
    channel_send(&a->channel, FRAME_HELLO, &hello, sizeof hello, NULL, 0);
}

/* What is still to be told, at the end. */
static void flush(struct agent *a)
{
    while (channel_waits(&a->channel)) {
        struct pollfd out = {.fd = a->channel.out, .events = POLLOUT};

        poll(&out, 1, -1);
        channel_flush(&a->channel);
    }
}

int agent_run(void)
{
    static struct agent a; /* large */
    struct frame        frame;
    struct order        order;

    prctl(PR_SET_NAME, "skuarun"); /* we may have been started as /proc/self/exe */
    a.signals = open_signals();
    open_channel(&a);
    receive(&a, &frame);
    if (!order_decode(&order, frame.data, frame.bytes))
        return 1;
    stream_on_write(send_output, &a);
    a.hungry = true; /* as the launcher knows */
    if (obey(&a, &order)) {
        control_begin(&a.control, &a.launch, &a.channel);
        hear(&a);
        run(&a);
        control_end(&a.control);
        launch_destroy(&a.launch);
    }
    flush(&a);
    order_free(&order);
    return 0;
}
