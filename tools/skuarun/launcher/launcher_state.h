/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher_state.h - the state of the launcher, for the files that serve it: the loop (launcher.c),
 * the frames of agents (launcher_frames.h) and the epochs of the job (launcher_epoch.h).
 */
#ifndef SKUARUN_LAUNCHER_STATE_H
#define SKUARUN_LAUNCHER_STATE_H

#include "common/options.h"
#include "launcher/async_writer.h"
#include "launcher/hosts.h"
#include "launcher/proc_map.h"
#include "launcher/remote_agent.h"
#include "processes/monitor.h"

struct kvs;

/** All that the launcher knows about the job. */
struct launcher {
    const struct run_options *options;
    struct monitor            monitor;
    struct remote_agent      *agent; /* sorted by their first process */
    int                       agents;
    struct proc_map           map; /* the processes of the epoch */
    struct recovery           recovery;
    double                    next_ping;
    int                       said_hello;       /* number of agents that have */
    bool                      specs_sent;       /* every agent has its job specification */
    bool                      checkpoint_asked; /* before that */
    const struct hosts       *hosts;
    struct kvs               *kvs;
    struct async_writer       out, errors;
    char                    **reason;        /* why each failed process ended, or NULL */
    int                       blamed;        /* the process to report, or -1 */
    bool                      stdin_ready;   /* process 0 accepts input */
    double                    last_activity; /* time of the last frame or write */
};

/** Writes "HOST: " into @p text if the job was started with --hosts, else "".  Returns @p text. */
const char *launcher_host_prefix(const struct launcher *l, const struct remote_agent *agent,
                                 char text[256]);

/** Ends the job with exit code @p code and prints the reason, unless it is being ended already. */
__attribute__((format(printf, 3, 4))) void launcher_fail(struct launcher *l, int code,
                                                         const char *format, ...);

/** Returns whether @p process is a process of the epoch that @p agent has started. */
bool launcher_owns(const struct launcher *l, const struct remote_agent *agent, int process);

/** Returns the agent of a process. */
struct remote_agent *launcher_agent_of(const struct launcher *l, int process);

/** Prints why the blamed process failed, once its REASON has arrived. */
void launcher_report_blamed(struct launcher *l);

/** Kills an agent, or the remote shell that leads to it. */
void launcher_kill_agent(struct remote_agent *agent);

/** Sends signal @p sig to all processes of the launcher @p arg.  Before any process has started,
 *  kills the agents if the signal ends the job, keeps a request for a checkpoint, and ignores other
 *  signals. */
void launcher_signal_all(void *arg, int sig);

/** Requests that the job of the launcher @p arg continues with @p pes PEs from its next checkpoint
 *  on. */
void launcher_resize(void *arg, int pes);

/** Sends all agents their job specifications. */
void launcher_send_specs(struct launcher *l);

/** Returns whether the connection to some agent is open. */
bool launcher_any_open(const struct launcher *l);

#endif
