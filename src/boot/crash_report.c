/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash_report.c - see crash_report.h.
 *
 * addr2line, where it is installed, finds source lines and inlined functions; otherwise a frame is
 * a symbol, or a module and an offset.
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

/* Starts addr2line for one address, with @p to as its standard output.  Returns its process id, or
 * -1. */
static pid_t crash_report_spawn_addr2line(const char *module, const char *address, int to)
{
    char *argv[] = {"addr2line",     "-f", "-i", "-p", "-s", "-C", "-e", (char *)module,
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

#define CRASH_REPORT_CALLED_FROM "\n    called from "

/* Reads a pipe to its end, as far as there is room. */
static size_t crash_report_read_all(int from, char *text, size_t size)
{
    size_t  have = 0;
    ssize_t n;

    while (have + 1 < size && (n = read(from, text + have, size - 1 - have)) > 0)
        have += (size_t)n;
    text[have] = '\0';
    return have;
}

/* Returns the length of a line without " (discriminator 3)", which matters to compilers only. */
static size_t crash_report_line_length(const char *line, size_t length)
{
    const char *extra = memmem(line, length, " (discriminator ", 16);

    return extra ? (size_t)(extra - line) : length;
}

/* Writes the lines " (inlined by) f at file.c:12" of the answer as further frames. */
static void crash_report_format_inlined(const char *answer, char *text, size_t size)
{
    static const char inlined[] = " (inlined by) ";
    size_t            have      = 0;

    while (*answer && have < size) {
        size_t length = strcspn(answer, "\n"), shown = crash_report_line_length(answer, length);
        bool   outer = strncmp(answer, inlined, sizeof inlined - 1) == 0;
        size_t skip  = outer ? sizeof inlined - 1 : 0;

        have += (size_t)snprintf(text + have, size - have, "%s%.*s",
                                 outer ? CRASH_REPORT_CALLED_FROM : "", (int)(shown - skip),
                                 answer + skip);
        answer += length + (answer[length] == '\n');
    }
}

/* Writes "function at file.c:12".  Returns false if addr2line does not know it. */
static bool crash_report_source_line(const char *module, uint64_t offset, char *text, size_t size)
{
    char   address[32], answer[1024];
    int    ends[2];
    pid_t  pid;
    size_t n = 0;

    if (!module[0] || pipe(ends) < 0)
        return false;
    snprintf(address, sizeof address, "%#llx", (unsigned long long)offset);
    pid = crash_report_spawn_addr2line(module, address, ends[1]);
    close(ends[1]);
    if (pid > 0) {
        n = crash_report_read_all(ends[0], answer, sizeof answer);
        waitpid(pid, NULL, 0);
    }
    close(ends[0]);
    if (n == 0 || strncmp(answer, "??", 2) == 0)
        return false;
    crash_report_format_inlined(answer, text, size);
    return true;
}

/* Writes a frame, with the functions that it was inlined into, if they are known. */
static void crash_report_frames_text(const struct ski_frame *frame, bool innermost, bool lines,
                                     char *text, size_t size)
{
    const char *base = strrchr(frame->module, '/');

    /* An outer frame is a return address; the call is just before it. */
    if (lines && crash_report_source_line(
                     frame->module, innermost ? frame->offset : frame->offset - 1, text, size))
        return;
    if (frame->symbol[0])
        snprintf(text, size, "%s", frame->symbol);
    else
        snprintf(text, size, "%s+%#llx", base ? base + 1 : frame->module,
                 (unsigned long long)frame->offset);
}

void ski_frame_text(const struct ski_frame *frame, bool lines, char *text, size_t size)
{
    crash_report_frames_text(frame, false, lines, text, size);
    text[strcspn(text, "\n")] = '\0';
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
    char                    speaker[64], where[512];
    bool                    gave_up;
    int                     n;

    if (!atomic_load_explicit(&crash->ready, memory_order_acquire))
        return false;
    gave_up = crash->signal == SIGABRT && crash->text[0];
    ski_process_text(job, process, crash->pe, speaker, sizeof speaker);
    if (gave_up)
        n = snprintf(text, SKI_CRASH_LINE, "%s aborted: %.*s", speaker, SKI_CRASH_TEXT,
                     crash->text);
    else
        n = snprintf(text, SKI_CRASH_LINE, "%s died of signal %d (%s)%.*s", speaker, crash->signal,
                     strsignal(crash->signal), SKI_CRASH_TEXT, crash->text);
    for (int i = 0; i < crash->frames && i < SKI_CRASH_FRAMES && n < SKI_CRASH_LINE; i++) {
        crash_report_frames_text(&crash->frame[i], i == 0 && !gave_up, true, where, sizeof where);
        n += snprintf(text + n, SKI_CRASH_LINE - (size_t)n,
                      i == 0 ? ", in %s" : CRASH_REPORT_CALLED_FROM "%s", where);
    }
    return true;
}
