/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher.c - see launcher.h.
 *
 * One loop around poll(): agents, signals, our input and output.  It never waits for
 * anybody in particular.  Output that our reader does not take is kept, and the agents
 * are not told that it was taken: each sends a bounded amount and then leaves its
 * processes waiting, while signals and questions go on.
 */
#include "launcher.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <skua/time.h>

#include "outlet.h"
#include "partition.h"
#include "remote.h"
#include "table.h"
#include "watch.h"

#define PATIENCE_SECONDS 3.0               /* with agents that say nothing, when all is over    */
#define STALL_SECONDS    0.25              /* with a reader that takes nothing, when asked to end */
#define BACKLOG          ((size_t)1 << 16) /* of output: agents have to wait then */

struct launcher {
    const struct options *options;
    struct watch          watch;
    struct remote        *remote; /* the agents */
    int                   remotes, processes;
    int                   greeted; /* agents that have said hello */
    bool                  ordered; /* they know what to run       */
    const struct hosts   *hosts;
    struct table         *table;
    struct outlet         out, errors;
    char                **why;    /* of each process that ended badly     */
    int                   blamed; /* the process that is to be named, or -1 */
    bool                  hungry; /* process 0 takes input                 */
    double                heard;  /* when something moved last             */
};

/* ---- for people ------------------------------------------------------------- */

/* The name of an agent's host, and a colon, where there are several. */
static const char *prefix(const struct launcher *l, const struct remote *remote, char text[256])
{
    text[0] = '\0';
    if (l->options->hosts)
        snprintf(text, 256, "%s: ", remote->host->name);
    return text;
}

/* Ends the job with a line that says why, unless that has happened. */
static __attribute__((format(printf, 3, 4))) void fail(struct launcher *l, int code,
                                                       const char *format, ...)
{
    va_list args;

    if (l->watch.failed)
        return;
    watch_fail(&l->watch, code);
    fputs("skuarun: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

static struct remote *remote_of(const struct launcher *l, int process)
{
    int low = 0, high = l->remotes - 1;

    while (low < high) {
        int middle = (low + high + 1) / 2;

        if (l->remote[middle].first <= process)
            low = middle;
        else
            high = middle - 1;
    }
    return &l->remote[low];
}

/* Names the process that is to blame, once the reason has come. */
static void say_why(struct launcher *l)
{
    char host[256];

    if (l->blamed < 0 || !l->why[l->blamed])
        return;
    fprintf(stderr, "skuarun: %s%s\n", prefix(l, remote_of(l, l->blamed), host), l->why[l->blamed]);
    l->blamed = -1;
}

/* What came is no agent's, or no more will come: what leads there is not needed. */
static void cut_off(struct remote *remote)
{
    if (remote->pid > 0)
        kill(-remote->pid, SIGKILL);
}

/* ---- for the watch ---------------------------------------------------------- */

static void signal_all(void *arg, int sig)
{
    struct launcher *l = arg;

    for (int i = 0; i < l->remotes; i++)
        if (l->ordered)
            channel_say(&l->remote[i].channel, FRAME_SIGNAL, sig, NULL);
        else
            cut_off(&l->remote[i]); /* it has no process yet */
}

static void name(void *arg, int process)
{
    struct launcher *l = arg;

    l->blamed = process;
    say_why(l);
}

static void reap(void *arg)
{
    struct launcher *l = arg;
    int              status;
    pid_t            pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (int i = 0; i < l->remotes; i++)
            if (l->remote[i].pid == pid) {
                l->remote[i].pid    = 0;
                l->remote[i].status = status;
            }
}

static const struct watch_ops ops = {signal_all, reap, name};

/* ---- output ------------------------------------------------------------------ */

static void take_output(void *arg, int to, const char *text, size_t bytes)
{
    struct launcher *l = arg;
    outlet_add(to == STDOUT_FILENO ? &l->out : &l->errors, text, bytes);
}

static size_t backlog(const struct launcher *l)
{
    return buffer_bytes(&l->out.text) + buffer_bytes(&l->errors.text);
}

/* Writes what can be, and lets those know whose it was. */
static void write_output(struct launcher *l)
{
    bool wrote = outlet_write(&l->out);

    wrote |= outlet_write(&l->errors);
    if (wrote)
        l->heard = skua_time();
    for (int i = 0; i < l->remotes && backlog(l) < BACKLOG; i++)
        if (l->remote[i].owed > 0) {
            channel_say(&l->remote[i].channel, FRAME_TAKEN, l->remote[i].owed, NULL);
            l->remote[i].owed = 0;
        }
}

/* ---- what agents say ---------------------------------------------------------- */

static void answer(void *arg, int asker, const struct ski_control *head, const char *value)
{
    struct launcher *l = arg;
    channel_send(&l->remote[asker].channel, FRAME_VALUE, head, sizeof *head, value, head->bytes);
}

static bool is_its(const struct remote *remote, int process)
{
    return process >= remote->first && process < remote->first + remote->here;
}

static void give_orders(struct launcher *l)
{
    l->ordered = partition_order(l->options, l->hosts, l->remote, l->remotes);
    if (!l->ordered)
        watch_fail(&l->watch, 1);
}

static bool on_hello(struct launcher *l, struct remote *remote, const struct frame *frame)
{
    struct hello ours = frame_hello(), theirs;

    memcpy(&theirs, frame->data, sizeof theirs);
    remote->greeted = true;
    remote->machine = theirs.machine;
    if (memcmp(&ours, &theirs, offsetof(struct hello, machine)) != 0)
        fail(l, 1, "host %s has skuarun %.24s, this one is %s", remote->host->name, theirs.version,
             ours.version);
    else if (++l->greeted == l->remotes && !l->watch.failed)
        give_orders(l);
    return true;
}

static bool on_text(struct remote *remote, const struct stream *stream, const struct frame *frame)
{
    stream_write(stream, frame->data, frame->bytes);
    remote->owed += (int)frame->bytes;
    return true;
}

static bool on_put(struct launcher *l, struct remote *remote, const struct frame *frame)
{
    struct ski_control head;

    return control_decode(SKI_CONTROL_PUT, l->processes, frame->data, frame->bytes, &head) &&
           is_its(remote, head.process) && table_put(l->table, &head, frame->data + sizeof head);
}

static bool on_get(struct launcher *l, struct remote *remote, const struct frame *frame)
{
    struct ski_control head;

    return control_decode(SKI_CONTROL_GET, l->processes, frame->data, frame->bytes, &head) &&
           table_get(l->table, &head, (int)(remote - l->remote)) != TABLE_NO_ROOM;
}

static bool on_ended(struct launcher *l, struct remote *remote, const struct frame *frame)
{
    struct ended ended;

    memcpy(&ended, frame->data, sizeof ended);
    if (!is_its(remote, ended.process) || remote->running == 0)
        return false;
    remote->running--;
    watch_ended(&l->watch, &ended);
    return true;
}

static bool on_why(struct launcher *l, struct remote *remote, const struct frame *frame)
{
    int process = frame_number(frame);

    if (!is_its(remote, process) || l->why[process])
        return false;
    l->why[process] = strndup(frame->data + 4, frame->bytes - 4);
    say_why(l);
    return true;
}

static bool on_refused(struct launcher *l, struct remote *remote, const struct frame *frame)
{
    char host[256];

    if (frame->bytes == 4)
        watch_fail(&l->watch, frame_number(frame));
    else
        fail(l, frame_number(frame), "%s%.*s", prefix(l, remote, host), (int)frame->bytes - 4,
             frame->data + 4);
    return true;
}

/* False: it makes no sense. */
static bool hear_one(struct launcher *l, struct remote *remote, const struct frame *frame)
{
    if (remote->greeted == (frame->kind == FRAME_HELLO))
        return false;
    switch (frame->kind) {
    case FRAME_HELLO: return on_hello(l, remote, frame);
    case FRAME_OUTPUT: return on_text(remote, &remote->out, frame);
    case FRAME_ERRORS: return on_text(remote, &remote->errors, frame);
    case FRAME_PUT: return on_put(l, remote, frame);
    case FRAME_GET: return on_get(l, remote, frame);
    case FRAME_ENDED: return on_ended(l, remote, frame);
    case FRAME_WHY: return on_why(l, remote, frame);
    case FRAME_REFUSED: return on_refused(l, remote, frame);
    case FRAME_FED: l->hungry |= remote == l->remote; return true;
    case FRAME_JOINED: watch_joined(&l->watch); return true;
    case FRAME_EXITING: watch_exiting(&l->watch, frame_number(frame)); return true;
    default: return false;
    }
}

/* ---- agents that end ---------------------------------------------------------- */

static void say_lost(struct launcher *l, const struct remote *remote)
{
    char command[512];

    if (!remote->greeted && !remote->host->local) {
        remote_command(remote, command, sizeof command);
        fail(l, 1, "cannot start on host %s: `%s' %s %d", remote->host->name, command,
             WIFEXITED(remote->status) ? "ended with code" : "died of signal",
             WIFEXITED(remote->status) ? WEXITSTATUS(remote->status) : WTERMSIG(remote->status));
    } else if (l->options->hosts) {
        fail(l, 1, "lost host %s", remote->host->name);
    } else {
        fail(l, 1, "lost the agent of process %d", remote->first);
    }
}

/* The agent has ended, and all that it said has been heard. */
static void leave(struct launcher *l, struct remote *remote)
{
    while (remote->words.fd >= 0 && !l->errors.error) {
        struct pollfd more = {.fd = remote->words.fd, .events = POLLIN};

        if (poll(&more, 1, 0) <= 0)
            break;
        stream_read(&remote->words); /* why, perhaps, before we say that */
    }
    outlet_write(&l->errors);
    channel_close(&remote->channel);
    if (remote->running > 0 && (l->ordered || !l->watch.asked))
        say_lost(l, remote);
    l->watch.alive -= remote->running;
    remote->running = 0;
}

static void hear(struct launcher *l, struct remote *remote)
{
    struct frame frame;
    int          came  = channel_read(&remote->channel);
    int          found = 0;

    if (came > 0)
        l->heard = skua_time();
    while (remote->channel.in >= 0 && (found = channel_next(&remote->channel, &frame)) > 0)
        if (!hear_one(l, remote, &frame)) {
            found = -1;
            break;
        }
    if (found < 0) {
        fail(l, 1, "what comes from host %s is not what an agent says%s", remote->host->name,
             remote->greeted ? "" : " (does its shell print something at the start?)");
        buffer_drop(&remote->channel.came, buffer_bytes(&remote->channel.came));
    }
    if (found < 0 || came < 0)
        cut_off(remote);
    if (remote->pid == 0 && came <= 0)
        leave(l, remote);
}

/* ---- the loop ------------------------------------------------------------------ */

static void read_input(struct launcher *l)
{
    static char text[FRAME_INPUT_MOST];
    ssize_t     n = read(STDIN_FILENO, text, sizeof text);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    l->hungry = false; /* until it says so again; at the end it will not */
    channel_send(&l->remote[0].channel, FRAME_INPUT, text, n > 0 ? (size_t)n : 0, NULL, 0);
}

/* What is polled: these, then three for each agent. */
enum { SIGNALS, INPUT, OUTPUT, ERRORS, REMOTES };

static void fill(const struct launcher *l, struct pollfd *polls)
{
    polls[SIGNALS] = (struct pollfd){.fd = l->watch.signals, .events = POLLIN};
    polls[INPUT] =
        (struct pollfd){.fd = l->hungry && l->ordered ? STDIN_FILENO : -1, .events = POLLIN};
    polls[OUTPUT] = outlet_poll(&l->out);
    polls[ERRORS] = outlet_poll(&l->errors);
    polls += REMOTES;
    for (const struct remote *r = l->remote; r < l->remote + l->remotes; r++) {
        *polls++ = (struct pollfd){.fd = r->channel.in, .events = POLLIN};
        *polls++ = (struct pollfd){.fd     = channel_waits(&r->channel) ? r->channel.out : -1,
                                   .events = POLLOUT};
        *polls++ = (struct pollfd){.fd = r->words.fd, .events = POLLIN};
    }
}

static void serve(struct launcher *l, const struct pollfd *polls)
{
    if (polls[SIGNALS].revents)
        watch_signals(&l->watch);
    if (polls[INPUT].revents)
        read_input(l);
    polls += REMOTES;
    for (struct remote *r = l->remote; r < l->remote + l->remotes; r++, polls += 3) {
        if (polls[2].revents)
            stream_read(&r->words);
        if (polls[1].revents)
            channel_flush(&r->channel);
        if (r->channel.in >= 0 && (polls[0].revents || r->pid == 0))
            hear(l, r);
    }
}

static bool any_open(const struct launcher *l)
{
    for (int i = 0; i < l->remotes; i++)
        if (l->remote[i].channel.in >= 0)
            return true;
    return false;
}

static bool is_over(const struct launcher *l)
{
    return l->watch.alive == 0 || l->watch.killed;
}

/* Whether there is more to do, and somebody who does it: not a reader that stalls
 * while we were asked to end, nor agents that do not answer any more. */
static bool goes_on(const struct launcher *l)
{
    double still = skua_time() - l->heard;

    if (is_over(l) && backlog(l) > 0 && l->watch.asked && still > STALL_SECONDS)
        return false;
    if (is_over(l) && backlog(l) == 0 && still > PATIENCE_SECONDS)
        return false;
    return any_open(l) || backlog(l) > 0;
}

static void run(struct launcher *l)
{
    size_t         count = REMOTES + 3 * (size_t)l->remotes;
    struct pollfd *polls = ski_calloc(count, sizeof *polls);

    l->heard = skua_time();
    while (goes_on(l)) {
        fill(l, polls);
        poll(polls, count,
             watch_milliseconds(&l->watch, is_over(l) ? skua_time() + STALL_SECONDS : 0));
        serve(l, polls);
        write_output(l);
        watch_output(&l->watch, l->out.error ? l->out.error : l->errors.error);
        watch_time(&l->watch);
    }
    free(polls);
}

int launcher_run(const struct options *options, const struct hosts *hosts)
{
    struct launcher l = {.options   = options,
                         .processes = (options->pes + options->threads - 1) / options->threads,
                         .hosts     = hosts,
                         .out       = {.fd = STDOUT_FILENO},
                         .errors    = {.fd = STDERR_FILENO},
                         .blamed    = -1,
                         .hungry    = true};

    l.table = table_create(TABLE_KEYS * (size_t)l.processes, answer, &l);
    l.why   = ski_calloc((size_t)l.processes, sizeof *l.why);
    watch_begin(&l.watch, &ops, &l);
    stream_on_write(take_output, &l);
    l.watch.alive = l.processes;
    l.remote      = partition(options, hosts, &l.remotes);
    if (!l.remote || !partition_start(options, l.remote, l.remotes))
        watch_fail(&l.watch, 1);
    run(&l);
    for (int i = 0; i < l.remotes; i++) {
        cut_off(&l.remote[i]);
        channel_close(&l.remote[i].channel);
    }
    for (int i = 0; i < l.processes; i++)
        free(l.why[i]);
    free(l.why);
    free(l.remote);
    table_destroy(l.table);
    return l.watch.code;
}
