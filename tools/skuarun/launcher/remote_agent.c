/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_agent.c - see remote_agent.h.
 *
 * An agent on this host is started by exec of /proc/self/exe.  An agent on another host is started
 * through a remote shell, whose command line comes from a template in which %h is replaced by the
 * host. A command line is visible to other users, so it holds no secret; that goes over the agent's
 * stdin.
 */
#include "launcher/remote_agent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/rlimit.h"
#include "processes/monitor.h"

#define WORDS_MAX  64
#define AGENT_SELF "/proc/self/exe"
#define SSH        "ssh -T -o BatchMode=yes -o ConnectTimeout=20 %h"
#define SRUN       "srun --nodes=1 --ntasks=1 --overlap --cpu-bind=none --nodelist=%h"

/* ---- the command ------------------------------------------------------------ */

static bool remote_agent_in_path(const char *program)
{
    char        path[PATH_MAX];
    const char *directory = getenv("PATH");

    while (directory && *directory) {
        size_t n = strcspn(directory, ":");

        snprintf(path, sizeof path, "%.*s/%s", (int)n, directory, program);
        if (access(path, X_OK) == 0)
            return true;
        directory += n + (directory[n] == ':');
    }
    return false;
}

static const char *remote_agent_template(void)
{
    const char *launcher = ski_config.launcher;

    if (strcmp(launcher, "auto") == 0)
        launcher = getenv("SLURM_JOB_ID") && remote_agent_in_path("srun") ? "srun" : "ssh";
    if (strcmp(launcher, "ssh") == 0)
        return SSH;
    return strcmp(launcher, "srun") == 0 ? SRUN : launcher;
}

bool remote_agent_check(const struct hosts *hosts)
{
    const char *template = remote_agent_template();

    if (access(AGENT_SELF, X_OK) != 0) {
        fprintf(stderr, "skuarun: cannot start agents: " AGENT_SELF ": %s (is /proc mounted?)\n",
                strerror(errno));
        return false;
    }
    for (int i = 0; i < hosts->count; i++)
        if (!hosts->host[i].local && !strstr(template, "%h")) {
            fprintf(stderr,
                    "skuarun: --launcher=%s: the command would not reach host %s: write %%h where "
                    "it expects the name of the host (skuarun --help)\n",
                    template, hosts->host[i].name);
            return false;
        }
    return true;
}

/* Returns a copy of a word of the template with each %h replaced by the host. */
static char *remote_agent_expand(const char *text, size_t bytes, const char *host)
{
    struct buffer to = {0};

    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '%' && i + 1 < bytes && text[i + 1] == 'h') {
            buffer_add(&to, host, strlen(host));
            i++;
        } else {
            buffer_add(&to, text + i, 1);
        }
    }
    buffer_add(&to, "", 1);
    return to.text;
}

/* Splits the template into the words of the command line for @p host.  Returns their number. */
static int remote_agent_words(const struct hosts_entry *host, char *words[WORDS_MAX])
{
    const char *at = remote_agent_template();
    int         n  = 0;

    while (*(at += strspn(at, " ")) && n < WORDS_MAX - 3) {
        size_t bytes = strcspn(at, " ");

        words[n++] = remote_agent_expand(at, bytes, host->name);
        at += bytes;
    }
    return n;
}

/* Returns the path of skuarun on another host: SKUA_AGENT_PATH, or its path on this host. */
static char *remote_agent_path(void)
{
    static char path[PATH_MAX];
    ssize_t     n;

    if (strcmp(ski_config.agent_path, "auto") != 0)
        return strncpy(path, ski_config.agent_path, sizeof path - 1);
    n                   = readlink(AGENT_SELF, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    return path;
}

static _Noreturn void remote_agent_exec(const struct remote_agent *agent)
{
    char *words[WORDS_MAX];
    int   n = 0;

    if (agent->host->local) {
        execl(AGENT_SELF, "skuarun", "--agent", (char *)NULL);
    } else {
        n          = remote_agent_words(agent->host, words);
        words[n++] = remote_agent_path();
        words[n++] = "--agent";
        words[n]   = NULL;
        execvp(words[0], words);
    }
    fprintf(stderr, "skuarun: cannot run %s: %s\n", n ? words[0] : "the agent", strerror(errno));
    _exit(127);
}

void remote_agent_command(const struct remote_agent *agent, char *text, size_t size)
{
    char  *words[WORDS_MAX];
    int    n    = remote_agent_words(agent->host, words);
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < n; i++) {
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "", words[i]);
        free(words[i]);
    }
}

/* ---- the start --------------------------------------------------------------- */

bool remote_agent_start(struct remote_agent *agent)
{
    int in[2], out[2], errors[2]; /* pipes to the stdin, stdout and stderr of the agent */

    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(errors, O_CLOEXEC) < 0 ||
        (agent->pid = fork()) < 0) {
        agent->pid = 0;
        fprintf(stderr, "skuarun: cannot start an agent: %s%s\n", strerror(errno),
                ski_rlimit_advice(errno));
        return false;
    }
    if (agent->pid == 0) {
        setpgid(0, 0); /* signals typed at our terminal do not reach it */
        monitor_restore_signals(false);
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        dup2(errors[1], STDERR_FILENO);
        remote_agent_exec(agent);
    }
    setpgid(agent->pid, agent->pid);
    close(in[0]), close(out[1]), close(errors[1]);
    frame_conn_open(&agent->conn, out[0], in[1], FRAME_UP);
    agent->out         = (struct iof_output){.fd = -1, .to = STDOUT_FILENO};
    agent->errors      = (struct iof_output){.fd = -1, .to = STDERR_FILENO};
    agent->diagnostics = (struct iof_output){.fd = errors[0], .to = STDERR_FILENO};
    return true;
}
