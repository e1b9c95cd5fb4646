/* SPDX-License-Identifier: Apache-2.0 */
/* launcher_state.c - see launcher_state.h. */
#include "launcher/launcher_state.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/config.h"

const char *launcher_host_prefix(const struct launcher *l, const struct remote_agent *agent,
                                 char text[256])
{
    text[0] = '\0';
    if (l->options->hosts)
        snprintf(text, 256, "%s: ", agent->host->name);
    return text;
}

void launcher_fail(struct launcher *l, int code, const char *format, ...)
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

bool launcher_owns(const struct launcher *l, const struct remote_agent *agent, int process)
{
    return process >= 0 && process < l->map.processes &&
           l->map.agent_of[process] == (int)(agent - l->agent);
}

struct remote_agent *launcher_agent_of(const struct launcher *l, int process)
{
    ski_assert(process >= 0 && process < l->map.processes);
    return &l->agent[l->map.agent_of[process]];
}

void launcher_report_blamed(struct launcher *l)
{
    char host[256];

    if (l->blamed < 0 || !l->reason[l->blamed])
        return;
    fprintf(stderr, "skuarun: %s%s\n",
            launcher_host_prefix(l, launcher_agent_of(l, l->blamed), host), l->reason[l->blamed]);
    l->blamed = -1;
}

void launcher_kill_agent(struct remote_agent *agent)
{
    if (agent->pid > 0)
        kill(-agent->pid, SIGKILL);
}

/* Returns whether a signal to the job makes a checkpoint due. */
static bool launcher_asks_checkpoint(const struct launcher *l, int sig)
{
    return sig == SIGUSR1 && (l->recovery.on || strcmp(ski_config.checkpoint_dir, "none") != 0);
}

/* Acts on a signal while agents are being started.  They have not started any process yet: the end
 * of the job is theirs, a request for a checkpoint is kept, and any other signal has no receiver.
 */
static void launcher_signal_early(struct launcher *l, int sig)
{
    bool ends =
        sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT || sig == SIGKILL;

    l->checkpoint_asked |= launcher_asks_checkpoint(l, sig);
    if (!ends)
        return;
    for (int i = 0; i < l->agents; i++)
        launcher_kill_agent(&l->agent[i]);
    if (l->monitor.end_signal)
        monitor_fail(&l->monitor, 128 + l->monitor.end_signal);
}

void launcher_signal_all(void *arg, int sig)
{
    struct launcher *l = arg;

    if (!l->specs_sent) {
        launcher_signal_early(l, sig);
        return;
    }
    for (int i = 0; i < l->agents; i++)
        frame_conn_send_number(&l->agent[i].conn, FRAME_SIGNAL, sig, NULL);
}

void launcher_resize(void *arg, int pes)
{
    struct launcher *l = arg;

    if (recovery_resize(&l->recovery, pes))
        launcher_signal_all(l, SIGUSR1); /* makes a checkpoint due */
}

void launcher_send_specs(struct launcher *l)
{
    l->specs_sent = proc_map_send_specs(l->options, l->hosts, &l->map, l->agent, l->agents);
    if (!l->specs_sent)
        monitor_fail(&l->monitor, 1);
    else if (l->checkpoint_asked)
        launcher_signal_all(l, SIGUSR1);
    l->checkpoint_asked = false;
}

bool launcher_any_open(const struct launcher *l)
{
    for (int i = 0; i < l->agents; i++)
        if (l->agent[i].conn.in >= 0)
            return true;
    return false;
}
