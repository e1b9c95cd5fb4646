/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resize.c - skua resize: requests another number of PEs from a running job.
 *
 * The launcher of the job gets a signal with that number as its value.  It makes a checkpoint in
 * memory due, and when the program has made it, restarts all processes from it.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boot/image_slots.h"
#include "commands.h"

static const char resize_help[] =
    "usage: skua resize PES [PID]\n"
    "\n"
    "Change the number of PEs of a job that was started by `skuarun --survive' on this host.\n"
    "At the next point where the program allows a checkpoint, the job is restarted from it\n"
    "with PES PEs, and prints a line when it continues.  PID is the process id of skuarun;\n"
    "it may be omitted if you run only one such job.\n"
    "\n"
    "  -h, --help  print this text\n";

/* Returns whether the process is a launcher of jobs, and not an agent of one: the words of its
 * command line begin with the path of skuarun, and --agent is not among them. */
static bool resize_is_launcher(const char *pid)
{
    char   path[300], text[4096];
    FILE  *file;
    size_t n = 0;

    snprintf(path, sizeof path, "/proc/%s/cmdline", pid);
    file = fopen(path, "re");
    if (file) {
        n = fread(text, 1, sizeof text - 1, file);
        fclose(file);
    }
    text[n] = '\0';
    return n > 0 && strcmp(strrchr(text, '/') ? strrchr(text, '/') + 1 : text, "skuarun") == 0 &&
           strcmp(text + strlen(text) + 1 < text + n ? text + strlen(text) + 1 : "", "--agent") !=
               0;
}

static bool resize_is_mine(const char *pid)
{
    char        path[300];
    struct stat owner;

    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    return stat(path, &owner) == 0 && owner.st_uid == geteuid();
}

/* Returns the only launcher of this user, or 0 after an error if there is none or several. */
static pid_t resize_find(void)
{
    DIR           *proc = opendir("/proc");
    struct dirent *entry;
    pid_t          found = 0;
    int            count = 0;

    while (proc && (entry = readdir(proc)))
        if (isdigit((unsigned char)entry->d_name[0]) && resize_is_mine(entry->d_name) &&
            resize_is_launcher(entry->d_name)) {
            found = (pid_t)atoi(entry->d_name);
            count++;
        }
    if (proc)
        closedir(proc);
    if (count == 1)
        return found;
    if (count == 0)
        fprintf(stderr, "skua resize: you have no running job on this host\n");
    else
        fprintf(stderr,
                "skua resize: %d of your jobs run on this host; give the process id of a skuarun\n",
                count);
    return 0;
}

static int resize_number(const char *text, long most)
{
    char *end;
    long  n = strtol(text, &end, 10);

    return *end || end == text || n < 1 || n > most ? 0 : (int)n;
}

/* Returns the launcher that the user means, or 0 after an error. */
static pid_t resize_target(const char *pid)
{
    if (!pid)
        return resize_find();
    if (resize_number(pid, 1L << 30) && resize_is_launcher(pid))
        return (pid_t)resize_number(pid, 1L << 30);
    fprintf(stderr, "skua resize: process %s is not a skuarun\n", pid);
    return 0;
}

int command_resize(int argc, char **argv)
{
    int   pes = argc > 1 ? resize_number(argv[1], SKI_JOB_PES_MAX) : 0;
    pid_t pid;

    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(resize_help, stdout);
        return 0;
    }
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "skua resize: expected a number of PEs and at most one process "
                        "(skua resize --help)\n");
        return 2;
    }
    if (pes == 0) {
        fprintf(stderr,
                "skua resize: %s: expected a number of PEs from 1 to %d (skua resize --help)\n",
                argv[1], SKI_JOB_PES_MAX);
        return 2;
    }
    pid = resize_target(argc > 2 ? argv[2] : NULL);
    if (pid == 0)
        return 1;
    if (sigqueue(pid, SKI_RESIZE_SIGNAL, (union sigval){.sival_int = pes}) == 0)
        return 0;
    fprintf(stderr, "skua resize: cannot reach process %d: %s\n", (int)pid, strerror(errno));
    return 1;
}
