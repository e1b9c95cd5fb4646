/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher.c - see launcher.h.
 *
 * One loop around poll(): agents, signals, stdin, stdout and stderr.  No descriptor is ever waited
 * for alone.  Output that the reader of skuarun does not accept is queued, and the agents get no
 * credit for it: each of them sends a bounded amount and then stops reading the pipes of its
 * processes, while signals and requests of the key-value store still pass.
 *
 * launcher_frames.h describes what the frames of agents lead to, launcher_epoch.h what happens with
 * --survive when processes or hosts are lost.
 */
#include "launcher/launcher.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <skua/time.h>

#include "base/memory.h"
#include "common/fd.h"
#include "launcher/launcher_epoch.h"
#include "launcher/launcher_frames.h"
#include "launcher/launcher_state.h"

#define AGENT_SECONDS 3.0               /* until silent agents are given up, after the job */
#define STALL_SECONDS 0.25              /* until a stalled reader is given up, after a signal */
#define BACKLOG_BYTES ((size_t)1 << 16) /* of queued output; beyond it agents get no credit */

/* ---- operations of the monitor ---------------------------------------------------------- */

static void launcher_report(void *arg, int process)
{
    struct launcher *l = arg;

    l->blamed = process;
    launcher_report_blamed(l);
}

static void launcher_reap(void *arg)
{
    struct launcher *l = arg;
    int              status;
    pid_t            pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (int i = 0; i < l->agents; i++)
            if (l->agent[i].pid == pid) {
                l->agent[i].pid    = 0;
                l->agent[i].status = status;
            }
}

static const struct monitor_ops launcher_ops = {launcher_signal_all, launcher_reap, launcher_report,
                                                launcher_resize};

/* ---- output ------------------------------------------------------------------ */

static void launcher_queue_output(void *arg, int to, const char *text, size_t bytes)
{
    struct launcher *l = arg;
    async_writer_add(to == STDOUT_FILENO ? &l->out : &l->errors, text, bytes);
}

static size_t launcher_backlog(const struct launcher *l)
{
    return buffer_bytes(&l->out.unsent) + buffer_bytes(&l->errors.unsent);
}

/* Writes what the reader accepts and returns credit to the agents it came from. */
static void launcher_write_output(struct launcher *l)
{
    bool wrote = async_writer_flush(&l->out);

    wrote |= async_writer_flush(&l->errors);
    if (wrote)
        l->last_activity = skua_time();
    for (int i = 0; i < l->agents && launcher_backlog(l) < BACKLOG_BYTES; i++)
        if (l->agent[i].unacked > 0) {
            frame_conn_send_number(&l->agent[i].conn, FRAME_CREDIT, l->agent[i].unacked, NULL);
            l->agent[i].unacked = 0;
        }
}

/* ---- exits of agents ---------------------------------------------------------- */

static void launcher_report_lost(struct launcher *l, const struct remote_agent *agent)
{
    char command[512];

    if (!agent->said_hello && !agent->host->local) {
        remote_agent_command(agent, command, sizeof command);
        launcher_fail(l, 1, "cannot start an agent on host %s: `%s' %s %d", agent->host->name,
                      command, WIFEXITED(agent->status) ? "exited with code" : "died of signal",
                      WIFEXITED(agent->status) ? WEXITSTATUS(agent->status)
                                               : WTERMSIG(agent->status));
    } else if (l->options->hosts) {
        launcher_fail(l, 1, "lost the agent on host %s", agent->host->name);
    } else {
        launcher_fail(l, 1, "lost the agent of process %d", agent->first);
    }
}

/* Returns whether an agent that was killed before it had anything to do is started again. */
static bool launcher_restart_agent(struct launcher *l, struct remote_agent *agent)
{
    if (!l->recovery.on || l->specs_sent || l->monitor.failed || l->monitor.end_signal ||
        !WIFSIGNALED(agent->status) || agent->restarts++ >= 3)
        return false;
    l->said_hello -= agent->said_hello;
    agent->said_hello = false;
    fd_close(&agent->diagnostics.fd);
    return remote_agent_start(agent);
}

/* The host of an agent is lost.  Returns whether the job continues without it. */
static bool launcher_survives_agent(struct launcher *l, const struct remote_agent *agent)
{
    if (!l->specs_sent || !monitor_host_lost(&l->monitor, agent->running))
        return false;
    fprintf(stderr,
            "skuarun: lost the agent on host %s with %d process(es); their output since the "
            "last checkpoint is printed again\n",
            agent->host->name, agent->running);
    if (!launcher_any_open(l))
        fprintf(stderr, "skuarun: no host is left: the job ends\n");
    return true;
}

/* Returns whether the end of the agent is a loss.  Before the job specifications are sent, the
 * launcher waits for all agents, also for those of spare hosts. */
static bool launcher_needs_agent(const struct launcher *l, const struct remote_agent *agent)
{
    return l->specs_sent ? agent->running > 0 : !l->monitor.end_signal;
}

/* The agent has ended and all of its frames have been handled. */
static void launcher_agent_gone(struct launcher *l, struct remote_agent *agent)
{
    while (agent->diagnostics.fd >= 0 && !l->errors.error) {
        struct pollfd more = {.fd = agent->diagnostics.fd, .events = POLLIN};

        if (poll(&more, 1, 0) <= 0)
            break;
        iof_output_read(
            &agent->diagnostics); /* it may give the reason; print that before our own line */
    }
    async_writer_flush(&l->errors);
    frame_conn_close(&agent->conn);
    if (launcher_restart_agent(l, agent))
        return;
    if (launcher_needs_agent(l, agent) && !launcher_survives_agent(l, agent))
        launcher_report_lost(l, agent);
    l->monitor.alive -= agent->running;
    agent->running = 0;
    agent->records = 0; /* its images are gone with it */
}

static void launcher_read_agent(struct launcher *l, struct remote_agent *agent)
{
    struct frame frame;
    int          count = frame_conn_read(&agent->conn);
    int          found = 0;

    if (count > 0)
        l->last_activity = agent->last_heard = skua_time();
    while (agent->conn.in >= 0 && (found = frame_conn_next(&agent->conn, &frame)) > 0)
        if (!launcher_on_frame(l, agent, &frame)) {
            found = -1;
            break;
        }
    if (found < 0) {
        launcher_fail(l, 1, "host %s sent data that is not a frame of an agent%s",
                      agent->host->name,
                      agent->said_hello ? "" : " (does its shell print something when it starts?)");
        buffer_drop(&agent->conn.received, buffer_bytes(&agent->conn.received));
    }
    if (found < 0 || count < 0)
        launcher_kill_agent(agent);
    if (agent->pid == 0 && count <= 0)
        launcher_agent_gone(l, agent);
}

/* ---- the loop ------------------------------------------------------------------ */

static void launcher_read_stdin(struct launcher *l)
{
    static char text[FRAME_STDIN_MAX];
    ssize_t     n = read(STDIN_FILENO, text, sizeof text);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    l->stdin_ready =
        false; /* until process 0 has read this; after the end of the input it stays false */
    frame_conn_send(&launcher_agent_of(l, 0)->conn, FRAME_STDIN, text, n > 0 ? (size_t)n : 0, NULL,
                    0);
}

/* Indices of the descriptors that are polled; three for each agent follow. */
enum { LAUNCHER_SIGNALS, LAUNCHER_STDIN, LAUNCHER_STDOUT, LAUNCHER_STDERR, LAUNCHER_AGENTS };

static void launcher_poll_fill(const struct launcher *l, struct pollfd *polls)
{
    polls[LAUNCHER_SIGNALS] = (struct pollfd){.fd = l->monitor.signals, .events = POLLIN};
    polls[LAUNCHER_STDIN]   = (struct pollfd){
          .fd     = l->stdin_ready && l->specs_sent && !l->monitor.recovering ? STDIN_FILENO : -1,
          .events = POLLIN};
    polls[LAUNCHER_STDOUT] = async_writer_pollfd(&l->out);
    polls[LAUNCHER_STDERR] = async_writer_pollfd(&l->errors);
    polls += LAUNCHER_AGENTS;
    for (const struct remote_agent *r = l->agent; r < l->agent + l->agents; r++) {
        *polls++ = (struct pollfd){.fd = r->conn.in, .events = POLLIN};
        *polls++ = (struct pollfd){.fd     = frame_conn_has_unsent(&r->conn) ? r->conn.out : -1,
                                   .events = POLLOUT};
        *polls++ = (struct pollfd){.fd = r->diagnostics.fd, .events = POLLIN};
    }
}

static void launcher_poll_serve(struct launcher *l, const struct pollfd *polls)
{
    if (polls[LAUNCHER_SIGNALS].revents)
        monitor_read_signals(&l->monitor);
    if (polls[LAUNCHER_STDIN].revents)
        launcher_read_stdin(l);
    polls += LAUNCHER_AGENTS;
    for (struct remote_agent *r = l->agent; r < l->agent + l->agents; r++, polls += 3) {
        if (polls[2].revents)
            iof_output_read(&r->diagnostics);
        if (polls[1].revents)
            frame_conn_flush(&r->conn);
        if (r->conn.in >= 0 && (polls[0].revents || r->pid == 0))
            launcher_read_agent(l, r);
    }
}

static bool launcher_is_over(const struct launcher *l)
{
    return (l->monitor.alive == 0 || l->monitor.killed) && !monitor_goes_on(&l->monitor);
}

/* Returns whether agents are connected or output is queued.  Once the job is over, a reader that
 * accepts nothing (if the user requested the end) and agents that are silent are abandoned after a
 * while. */
static bool launcher_continues(const struct launcher *l)
{
    double idle = skua_time() - l->last_activity;

    if (launcher_is_over(l) && launcher_backlog(l) > 0 && l->monitor.end_signal &&
        idle > STALL_SECONDS)
        return false;
    if (launcher_is_over(l) && launcher_backlog(l) == 0 && idle > AGENT_SECONDS)
        return false;
    return launcher_any_open(l) || launcher_backlog(l) > 0;
}

/* Returns the time at which the loop has to run even without an event; 0: the deadline of the
 * monitor. */
static double launcher_until(const struct launcher *l)
{
    if (launcher_is_over(l))
        return skua_time() + STALL_SECONDS;
    return l->recovery.on && l->specs_sent ? l->next_ping : 0;
}

static void launcher_loop(struct launcher *l)
{
    size_t         count = LAUNCHER_AGENTS + 3 * (size_t)l->agents;
    struct pollfd *polls = ski_calloc(count, sizeof *polls);

    l->last_activity = skua_time();
    while (launcher_continues(l)) {
        launcher_poll_fill(l, polls);
        poll(polls, count, monitor_poll_timeout(&l->monitor, launcher_until(l)));
        launcher_poll_serve(l, polls);
        launcher_write_output(l);
        monitor_output_error(&l->monitor, l->out.error ? l->out.error : l->errors.error);
        monitor_check_deadlines(&l->monitor);
        launcher_check_epoch(l);
    }
    free(polls);
}

int launcher_run(const struct run_options *options, const struct hosts *hosts)
{
    struct launcher l = {.options = options,
                         .hosts   = hosts,
                         .out     = {.fd = STDOUT_FILENO},
                         .errors  = {.fd = STDERR_FILENO}};

    if (!monitor_begin(&l.monitor, &launcher_ops, &l))
        return 1;
    iof_set_sink(launcher_queue_output, &l);
    recovery_begin(&l.recovery, options, options->pes);
    l.monitor.recovery = l.recovery.on ? &l.recovery : NULL;
    l.agent            = proc_map_create(options, hosts, &l.agents, &l.map);
    launcher_begin_epoch(&l);
    if (!l.agent || !proc_map_start_agents(options, l.agent, l.agents))
        monitor_fail(&l.monitor, 1);
    launcher_loop(&l);
    for (int i = 0; i < l.agents; i++) {
        launcher_kill_agent(&l.agent[i]);
        frame_conn_close(&l.agent[i].conn);
        free(l.agent[i].record);
    }
    launcher_end_epoch(&l);
    proc_map_free(&l.map);
    free(l.agent);
    buffer_free(&l.out.unsent);
    buffer_free(&l.errors.unsent);
    return l.monitor.code;
}
