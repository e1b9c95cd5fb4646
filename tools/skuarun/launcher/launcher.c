/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher.c - see launcher.h.
 *
 * One loop around poll(): agents, signals, stdin, stdout and stderr.  No descriptor is ever waited
 * for alone.  Output that the reader of skuarun does not accept is queued, and the agents get no
 * credit for it: each of them sends a bounded amount and then stops reading the pipes of its
 * processes, while signals and requests of the key-value store still pass.
 *
 * With --survive agents stay when their processes have ended, and send IDLE.  When all have, the
 * launcher sends them the specification of the next epoch, or closes their connections.  An agent
 * that ends, or is silent for SKUA_PEER_TIMEOUT, is lost with its host; other agents take its
 * processes over (placement.h).  An agent that is left without processes, or is that of a spare
 * host, stays IDLE.
 */
#include "launcher/launcher.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <skua/time.h>

#include "base/assert.h"
#include "base/config.h"
#include "launcher/async_writer.h"
#include "launcher/placement.h"
#include "launcher/proc_map.h"
#include "launcher/remote_agent.h"
#include "common/fd.h"
#include "protocol/kvs.h"
#include "processes/monitor.h"

#define AGENT_SECONDS 3.0               /* until silent agents are given up, after the job */
#define STALL_SECONDS 0.25              /* until a stalled reader is given up, after a signal */
#define BACKLOG_BYTES ((size_t)1 << 16) /* of queued output; beyond it agents get no credit */

struct launcher {
    const struct run_options *options;
    struct monitor            monitor;
    struct remote_agent      *agent; /* sorted by their first process              */
    int                       agents;
    struct proc_map           map; /* the processes of the epoch                */
    struct recovery           recovery;
    double                    next_ping;
    int                       said_hello; /* number of agents that have                */
    bool                      specs_sent; /* every agent has its job specification     */
    const struct hosts       *hosts;
    struct kvs               *kvs;
    struct async_writer       out, errors;
    char                    **reason;        /* why each failed process ended, or NULL    */
    int                       blamed;        /* the process to report, or -1              */
    bool                      stdin_ready;   /* process 0 accepts input                   */
    double                    last_activity; /* time of the last frame or write           */
};

/* ---- messages to the user ------------------------------------------------------------- */

/* Writes "HOST: " into @p text if the job was started with --hosts, else "". */
static const char *launcher_host_prefix(const struct launcher *l, const struct remote_agent *agent,
                                        char text[256])
{
    text[0] = '\0';
    if (l->options->hosts)
        snprintf(text, 256, "%s: ", agent->host->name);
    return text;
}

/* Ends the job and prints why, unless it is being ended already. */
static __attribute__((format(printf, 3, 4))) void launcher_fail(struct launcher *l, int code,
                                                                const char *format, ...)
{
    va_list args;

    if (l->monitor.failed)
        return;
    monitor_fail(&l->monitor, code);
    fputs("skuarun: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

/* Returns whether the process is one of the agent's. */
static bool launcher_owns(const struct launcher *l, const struct remote_agent *agent, int process)
{
    return process >= 0 && process < l->map.processes &&
           l->map.agent_of[process] == (int)(agent - l->agent);
}

/* Returns the agent of a process. */
static struct remote_agent *launcher_agent_of(const struct launcher *l, int process)
{
    ski_assert(process >= 0 && process < l->map.processes);
    return &l->agent[l->map.agent_of[process]];
}

/* Prints why the blamed process failed, once its REASON has arrived. */
static void launcher_report_blamed(struct launcher *l)
{
    char host[256];

    if (l->blamed < 0 || !l->reason[l->blamed])
        return;
    fprintf(stderr, "skuarun: %s%s\n",
            launcher_host_prefix(l, launcher_agent_of(l, l->blamed), host), l->reason[l->blamed]);
    l->blamed = -1;
}

/* Kills the agent, or the remote shell that leads to it. */
static void launcher_kill_agent(struct remote_agent *agent)
{
    if (agent->pid > 0)
        kill(-agent->pid, SIGKILL);
}

/* ---- operations of the monitor ---------------------------------------------------------- */

static void launcher_signal_all(void *arg, int sig)
{
    struct launcher *l = arg;

    for (int i = 0; i < l->agents; i++)
        if (l->specs_sent)
            frame_conn_send_number(&l->agent[i].conn, FRAME_SIGNAL, sig, NULL);
        else
            launcher_kill_agent(&l->agent[i]); /* it has not started any process yet */
}

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

static void launcher_resize(void *arg, int pes)
{
    struct launcher *l = arg;

    if (recovery_resize(&l->recovery, pes))
        launcher_signal_all(l, SIGUSR1); /* makes a checkpoint due */
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

/* ---- frames from agents ---------------------------------------------------------- */

static void launcher_answer(void *arg, int requester, const struct ski_control *head,
                            const char *value)
{
    struct launcher *l = arg;
    frame_conn_send(&l->agent[requester].conn, FRAME_VALUE, head, sizeof *head, value, head->bytes);
}

static void launcher_send_specs(struct launcher *l)
{
    l->specs_sent = proc_map_send_specs(l->options, l->hosts, &l->map, l->agent, l->agents);
    if (!l->specs_sent)
        monitor_fail(&l->monitor, 1);
}

static bool launcher_on_hello(struct launcher *l, struct remote_agent *agent,
                              const struct frame *frame)
{
    struct frame_hello ours = frame_make_hello(), theirs;

    memcpy(&theirs, frame->data, sizeof theirs);
    agent->said_hello = true;
    agent->machine    = theirs.machine;
    agent->last_heard = skua_time();
    if (memcmp(&ours, &theirs, offsetof(struct frame_hello, machine)) != 0)
        launcher_fail(l, 1,
                      "host %s runs skuarun %.24s, this host runs %s: install one version on both",
                      agent->host->name, theirs.version, ours.version);
    else if (++l->said_hello == l->agents && !l->monitor.failed)
        launcher_send_specs(l);
    return true;
}

static bool launcher_on_output(struct remote_agent *agent, const struct iof_output *output,
                               const struct frame *frame)
{
    iof_output_write(output, frame->data, frame->bytes);
    agent->unacked += (int)frame->bytes;
    return true;
}

static bool launcher_on_put(struct launcher *l, struct remote_agent *agent,
                            const struct frame *frame)
{
    struct ski_control head;

    return kvs_decode(SKI_CONTROL_PUT, l->map.processes, frame->data, frame->bytes, &head) &&
           launcher_owns(l, agent, head.process) &&
           kvs_put(l->kvs, &head, frame->data + sizeof head);
}

static bool launcher_on_get(struct launcher *l, struct remote_agent *agent,
                            const struct frame *frame)
{
    struct ski_control head;

    return kvs_decode(SKI_CONTROL_GET, l->map.processes, frame->data, frame->bytes, &head) &&
           kvs_get(l->kvs, &head, (int)(agent - l->agent)) != KVS_FULL;
}

static bool launcher_on_exited(struct launcher *l, struct remote_agent *agent,
                               const struct frame *frame)
{
    struct exit_report report;

    memcpy(&report, frame->data, sizeof report);
    if (!launcher_owns(l, agent, report.process) || agent->running == 0)
        return false;
    agent->running--;
    monitor_process_exited(&l->monitor, &report);
    return true;
}

static bool launcher_on_reason(struct launcher *l, struct remote_agent *agent,
                               const struct frame *frame)
{
    int process = frame_number(frame);

    if (!launcher_owns(l, agent, process) || l->reason[process])
        return false;
    l->reason[process] = strndup(frame->data + 4, frame->bytes - 4);
    launcher_report_blamed(l);
    return true;
}

static bool launcher_on_failed(struct launcher *l, struct remote_agent *agent,
                               const struct frame *frame)
{
    char host[256];

    if (frame->bytes == 4)
        monitor_fail(&l->monitor, frame_number(frame));
    else
        launcher_fail(l, frame_number(frame), "%s%.*s", launcher_host_prefix(l, agent, host),
                      (int)frame->bytes - 4, frame->data + 4);
    return true;
}

/* The processes of an agent have completed a generation: the job has completed what all have. */
static bool launcher_on_generation(struct launcher *l, struct remote_agent *agent,
                                   const struct frame *frame)
{
    struct image_record record;
    uint64_t            least = UINT64_MAX;

    memcpy(&record, frame->data, sizeof record);
    agent->generation = record.generation;
    for (int i = 0; i < l->map.processes; i++)
        least = launcher_agent_of(l, i)->generation < least ? launcher_agent_of(l, i)->generation
                                                            : least;
    if (l->monitor.recovering)
        return true;
    if (recovery_completed(&l->recovery, least))
        launcher_signal_all(l, SIGUSR1); /* makes the checkpoint of the resize due again */
    if (recovery_may_resize(&l->recovery) && !l->monitor.failed)
        monitor_end_epoch(&l->monitor);
    return true;
}

/* The processes of an agent have joined the job. */
static bool launcher_on_all_joined(struct launcher *l, struct remote_agent *agent)
{
    bool all = true;

    agent->all_joined = true;
    for (int i = 0; i < l->map.processes; i++)
        all &= launcher_agent_of(l, i)->all_joined;
    if (all && !l->monitor.recovering && recovery_joined(&l->recovery))
        launcher_signal_all(l, SIGUSR1); /* makes the checkpoint of the resize due again */
    return true;
}

static bool launcher_record_valid(const struct image_record *r)
{
    return r->generation > 0 && r->processes >= 1 && r->processes <= SKI_JOB_PES_MAX &&
           r->pes >= 1 && r->pes <= SKI_JOB_PES_MAX && r->process >= 0 && r->process < r->processes;
}

static bool launcher_on_idle(const struct launcher *l, struct remote_agent *agent,
                             const struct frame *frame)
{
    if (!l->recovery.on || frame->bytes % sizeof *agent->record || agent->running > 0 ||
        agent->idle)
        return false;
    free(agent->record);
    agent->idle    = true;
    agent->records = (int)(frame->bytes / sizeof *agent->record);
    agent->record  = ski_malloc(frame->bytes + 1); /* one byte more: never NULL */
    memcpy(agent->record, frame->data, frame->bytes);
    for (int i = 0; i < agent->records; i++)
        if (!launcher_record_valid(&agent->record[i]))
            return false;
    return true;
}

/* Returns false if the frame is invalid. */
static bool launcher_on_frame(struct launcher *l, struct remote_agent *agent,
                              const struct frame *frame)
{
    if (agent->said_hello == (frame->kind == FRAME_HELLO))
        return false;
    switch (frame->kind) {
    case FRAME_HELLO: return launcher_on_hello(l, agent, frame);
    case FRAME_STDOUT: return launcher_on_output(agent, &agent->out, frame);
    case FRAME_STDERR: return launcher_on_output(agent, &agent->errors, frame);
    case FRAME_PUT: return launcher_on_put(l, agent, frame);
    case FRAME_GET: return launcher_on_get(l, agent, frame);
    case FRAME_EXITED: return launcher_on_exited(l, agent, frame);
    case FRAME_REASON: return launcher_on_reason(l, agent, frame);
    case FRAME_FAILED: return launcher_on_failed(l, agent, frame);
    case FRAME_STDIN_READY: l->stdin_ready |= launcher_owns(l, agent, 0); return true;
    case FRAME_JOINED: monitor_joined(&l->monitor, (uint32_t)frame_number(frame)); return true;
    case FRAME_ALL_JOINED: return launcher_on_all_joined(l, agent);
    case FRAME_EXITING: monitor_exiting(&l->monitor, frame_number(frame)); return true;
    case FRAME_GENERATION: return launcher_on_generation(l, agent, frame);
    case FRAME_IDLE: return launcher_on_idle(l, agent, frame);
    case FRAME_PONG: return true;
    case FRAME_RESIZE: launcher_resize(l, frame_number(frame)); return true;
    default: return false;
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

static bool launcher_any_open(const struct launcher *l)
{
    for (int i = 0; i < l->agents; i++)
        if (l->agent[i].conn.in >= 0)
            return true;
    return false;
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

/* ---- epochs -------------------------------------------------------------------- */

/* Kills agents that are silent for too long, and sends a PING to the others. */
static void launcher_check_silence(struct launcher *l)
{
    double timeout = ski_config.peer_timeout < 0.2 ? 0.2 : ski_config.peer_timeout;
    double now     = skua_time();
    bool   late    = now - l->next_ping > timeout / 2; /* skuarun itself was stopped */

    if (!l->specs_sent || now < l->next_ping)
        return;
    l->next_ping = now + (timeout < 4 ? timeout / 4 : 1);
    for (struct remote_agent *r = l->agent; r < l->agent + l->agents; r++) {
        if (r->conn.in < 0 || r->conn.out < 0)
            continue;
        if (!late && now - r->last_heard > timeout)
            launcher_kill_agent(r);
        else
            frame_conn_send_number(&r->conn, FRAME_PING, 0, NULL);
    }
}

static bool launcher_epoch_over(const struct launcher *l)
{
    for (int i = 0; i < l->agents; i++)
        if (l->agent[i].conn.in >= 0 && !l->agent[i].idle)
            return false;
    return l->specs_sent;
}

/* Returns the images that the agents hold, in an array that the caller frees. */
static struct image_record *launcher_images(const struct launcher *l, int *count)
{
    struct image_record *all = NULL;

    *count = 0;
    for (int i = 0; i < l->agents; i++) {
        const struct remote_agent *r = &l->agent[i];

        if (r->records == 0)
            continue;
        all = ski_realloc(all, (size_t)(*count + r->records) * sizeof *all);
        memcpy(all + *count, r->record, (size_t)r->records * sizeof *all);
        *count += r->records;
    }
    return all;
}

static void launcher_free_reasons(struct launcher *l)
{
    for (int i = 0; i < l->map.processes; i++)
        free(l->reason[i]);
    free(l->reason);
}

/* Sets up what an epoch needs, for the processes of the map. */
static void launcher_begin_epoch(struct launcher *l)
{
    l->kvs    = kvs_create(KVS_KEYS_PER_PROCESS * (size_t)l->map.processes, launcher_answer, l);
    l->reason = ski_calloc((size_t)l->map.processes, sizeof *l->reason);
    l->blamed = -1;
    l->stdin_ready = true;
    monitor_next_epoch(&l->monitor);
    l->monitor.alive = l->map.processes;
}

static void launcher_end_epoch(struct launcher *l)
{
    launcher_free_reasons(l);
    kvs_destroy(l->kvs);
}

/* Lets an agent without processes keep its images of the generation that the epoch restores. */
static void launcher_keep_images(const struct launcher *l, struct remote_agent *agent)
{
    struct image_record keep = {.generation = l->map.generation};
    int                 kept = 0;

    for (int i = 0; i < agent->records; i++)
        if (agent->record[i].generation == keep.generation)
            agent->record[kept++] = agent->record[i];
    agent->records = kept;
    if (agent->conn.in >= 0)
        frame_conn_send(&agent->conn, FRAME_KEEP, &keep, sizeof keep, NULL, 0);
}

/* Agents with processes are busy from now on; the others wait for an epoch that needs them. */
static void launcher_set_idle(struct launcher *l)
{
    for (struct remote_agent *r = l->agent; r < l->agent + l->agents; r++) {
        r->idle       = r->running == 0;
        r->generation = 0;
        r->all_joined = false;
        if (r->idle)
            launcher_keep_images(l, r);
    }
}

/* Maps the processes of the next epoch.  A job that is to have fewer processes than its images need
 * takes several steps: the number is requested again at the next checkpoint. */
static bool launcher_place(struct launcher *l)
{
    struct recovery *r       = &l->recovery;
    int              threads = l->options->threads, wanted = r->pes;
    int              least =
        placement_least(l->agent, l->agents, r->generation, (wanted + threads - 1) / threads);

    if ((least - 1) * threads >= wanted) {
        r->pes = least * threads;
        if (r->resize == 0)
            recovery_resize(r, wanted);
    }
    l->map.epoch      = r->epoch;
    l->map.generation = r->generation;
    return placement_make(&l->map, r->pes, threads, l->agent, l->agents);
}

/* Starts the next epoch.  Returns false if the job cannot continue; the reason has been printed. */
static bool launcher_next_epoch(struct launcher *l)
{
    int                  count;
    struct image_record *record = launcher_images(l, &count);
    bool                 ok;

    ok = recovery_next(&l->recovery, record, count, l->options->threads);
    free(record);
    if (!ok)
        return false;
    launcher_end_epoch(l);
    ok = launcher_place(l);
    launcher_begin_epoch(l);
    if (!ok) {
        l->monitor.alive = 0;
        launcher_fail(l, 1, "no host is left");
        return false;
    }
    launcher_set_idle(l);
    launcher_send_specs(l);
    recovery_started(&l->recovery);
    return true;
}

/* When the epoch has ended, begins the next one or closes the connections to the agents. */
static void launcher_check_epoch(struct launcher *l)
{
    if (!l->recovery.on)
        return;
    launcher_check_silence(l);
    if (!launcher_epoch_over(l) || !launcher_any_open(l))
        return;
    if (monitor_goes_on(&l->monitor) && launcher_next_epoch(l))
        return;
    l->monitor.recovering = false; /* no epoch follows */
    for (int i = 0; i < l->agents; i++)
        frame_conn_end(&l->agent[i].conn); /* the last lines of the agents are still read */
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

    monitor_begin(&l.monitor, &launcher_ops, &l);
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
