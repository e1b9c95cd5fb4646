/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote.c - see remote.h.
 *
 * An agent on this host is this program itself.  To others leads a command, whose
 * words come from a template; %h in it is the host.  Nothing in them is secret: what
 * is goes over the agent's stdin.
 */
#include "remote.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/memory.h"
#include "watch.h"

#define WORDS_MOST 64
#define SSH        "ssh -T -o BatchMode=yes -o ConnectTimeout=20 %h"
#define SRUN       "srun --nodes=1 --ntasks=1 --overlap --cpu-bind=none --nodelist=%h"

/* ---- the command ------------------------------------------------------------ */

static bool is_there(const char *program)
{
    char        path[PATH_MAX];
    const char *folder = getenv("PATH");

    while (folder && *folder) {
        size_t n = strcspn(folder, ":");

        snprintf(path, sizeof path, "%.*s/%s", (int)n, folder, program);
        if (access(path, X_OK) == 0)
            return true;
        folder += n + (folder[n] == ':');
    }
    return false;
}

static const char *template_of_command(void)
{
    const char *launcher = ski_config.launcher;

    if (strcmp(launcher, "auto") == 0)
        launcher = getenv("SLURM_JOB_ID") && is_there("srun") ? "srun" : "ssh";
    if (strcmp(launcher, "ssh") == 0)
        return SSH;
    return strcmp(launcher, "srun") == 0 ? SRUN : launcher;
}

/* A word of the template with each %h made the host. */
static char *word(const char *text, size_t bytes, const char *host)
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

/* The words of the command that leads to a host; returns how many. */
static int command_words(const struct host *host, char *words[WORDS_MOST])
{
    const char *at = template_of_command();
    int         n  = 0;

    while (*(at += strspn(at, " ")) && n < WORDS_MOST - 3) {
        size_t bytes = strcspn(at, " ");

        words[n++] = word(at, bytes, host->name);
        at += bytes;
    }
    return n;
}

/* Where skuarun is there: as the settings say, or where it is here. */
static char *agent_path(void)
{
    static char path[PATH_MAX];
    ssize_t     n;

    if (strcmp(ski_config.agent_path, "auto") != 0)
        return strncpy(path, ski_config.agent_path, sizeof path - 1);
    n                   = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    return path;
}

static _Noreturn void become_agent(const struct remote *remote)
{
    char *words[WORDS_MOST];
    int   n = 0;

    if (remote->host->local) {
        execl("/proc/self/exe", "skuarun", "--agent", (char *)NULL);
    } else {
        n          = command_words(remote->host, words);
        words[n++] = agent_path();
        words[n++] = "--agent";
        words[n]   = NULL;
        execvp(words[0], words);
    }
    fprintf(stderr, "skuarun: cannot run %s: %s\n", n ? words[0] : "the agent", strerror(errno));
    _exit(127);
}

void remote_command(const struct remote *remote, char *text, size_t size)
{
    char  *words[WORDS_MOST];
    int    n    = command_words(remote->host, words);
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < n; i++) {
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "", words[i]);
        free(words[i]);
    }
}

/* ---- the start --------------------------------------------------------------- */

bool remote_start(struct remote *remote)
{
    int in[2], out[2], words[2]; /* of the agent */

    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(words, O_CLOEXEC) < 0 ||
        (remote->pid = fork()) < 0) {
        remote->pid = 0;
        fprintf(stderr, "skuarun: cannot start an agent: %s\n", strerror(errno));
        return false;
    }
    if (remote->pid == 0) {
        setpgid(0, 0); /* what is typed at our terminal does not concern it */
        watch_leave_signals();
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        dup2(words[1], STDERR_FILENO);
        become_agent(remote);
    }
    setpgid(remote->pid, remote->pid);
    close(in[0]), close(out[1]), close(words[1]);
    channel_open(&remote->channel, out[0], in[1], FRAME_UP);
    remote->out    = (struct stream){.fd = -1, .to = STDOUT_FILENO};
    remote->errors = (struct stream){.fd = -1, .to = STDERR_FILENO};
    remote->words  = (struct stream){.fd = words[0], .to = STDERR_FILENO};
    return true;
}
