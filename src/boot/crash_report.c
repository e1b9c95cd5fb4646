/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash_report.c - see crash_report.h.
 *
 * Source lines come from addr2line, where it is installed; else a frame is a
 * symbol, or a module and an offset.
 */
#include "boot/crash_report.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Starts addr2line for one address, its answer going to @p to; its pid, or -1. */
static pid_t ask_addr2line(const char *module, const char *address, int to)
{
    char *argv[] = {"addr2line",     "-f", "-p", "-s", "-C", "-e", (char *)module,
                    (char *)address, NULL};
    posix_spawn_file_actions_t files;
    pid_t                      pid = -1;

    if (posix_spawn_file_actions_init(&files) != 0)
        return -1;
    posix_spawn_file_actions_adddup2(&files, to, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&pid, argv[0], &files, NULL, argv, environ) != 0)
        pid = -1;
    posix_spawn_file_actions_destroy(&files);
    return pid;
}

/* "function at file.c:12" into @p text; false if it cannot be found out. */
static bool source_line(const char *module, uint64_t offset, char *text, size_t size)
{
    char    address[32];
    int     ends[2];
    pid_t   pid;
    ssize_t n = -1;

    if (!module[0] || pipe(ends) < 0)
        return false;
    snprintf(address, sizeof address, "%#llx", (unsigned long long)offset);
    pid = ask_addr2line(module, address, ends[1]);
    close(ends[1]);
    if (pid > 0) {
        n = read(ends[0], text, size - 1);
        waitpid(pid, NULL, 0);
    }
    close(ends[0]);
    if (n <= 0)
        return false;
    text[n]                   = '\0';
    text[strcspn(text, "\n")] = '\0';
    return strncmp(text, "??", 2) != 0;
}

void ski_frame_text(const struct ski_frame *frame, bool innermost, char *text, size_t size)
{
    const char *base = strrchr(frame->module, '/');

    /* Outer frames are return addresses: the call is just before them. */
    if (source_line(frame->module, innermost ? frame->offset : frame->offset - 1, text, size))
        return;
    if (frame->symbol[0])
        snprintf(text, size, "%s", frame->symbol);
    else
        snprintf(text, size, "%s+%#llx", base ? base + 1 : frame->module,
                 (unsigned long long)frame->offset);
}

void ski_process_text(const struct ski_job *job, int process, int pe, char *text, size_t size)
{
    int first = ski_job_first_pe(job, process), pes = ski_job_pes_of(job, process);

    if (pe >= 0 || pes == 1)
        snprintf(text, size, "PE %d (process %d)", pe >= 0 ? pe : first, process);
    else
        snprintf(text, size, "PEs %d-%d (process %d)", first, first + pes - 1, process);
}

bool ski_crash_text(struct ski_job *job, int process, char text[SKI_CRASH_LINE])
{
    const struct ski_crash *crash = &ski_job_process(job, process)->crash;
    char                    who[64], where[512];
    bool                    gave_up;
    int                     n;

    if (!atomic_load_explicit(&crash->ready, memory_order_acquire))
        return false;
    gave_up = crash->signal == SIGABRT && crash->text[0];
    ski_process_text(job, process, crash->pe, who, sizeof who);
    if (gave_up)
        n = snprintf(text, SKI_CRASH_LINE, "%s gave up: %.*s", who, SKI_CRASH_TEXT, crash->text);
    else
        n = snprintf(text, SKI_CRASH_LINE, "%s died of signal %d (%s)%.*s", who, crash->signal,
                     strsignal(crash->signal), SKI_CRASH_TEXT, crash->text);
    for (int i = 0; i < crash->frames && i < SKI_CRASH_FRAMES && n < SKI_CRASH_LINE; i++) {
        ski_frame_text(&crash->frame[i], i == 0 && !gave_up, where, sizeof where);
        n += snprintf(text + n, SKI_CRASH_LINE - (size_t)n,
                      i == 0 ? ", in %s" : "\n    called from %s", where);
    }
    return true;
}

bool ski_crash_print(struct ski_job *job, int process, const char *speaker)
{
    char text[SKI_CRASH_LINE];

    if (!ski_crash_text(job, process, text))
        return false;
    fprintf(stderr, "%s: %s\n", speaker, text);
    return true;
}
