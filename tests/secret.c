/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret.c - the secret of a distributed job is not exposed: not in files that all users of the
 * host can read, not in the environment or the command lines of the job's processes, and not in a
 * core dump.
 *
 * Every PE searches for both words of the secret, as bytes and as digits.  If the test runs as
 * root, a child process with the user id 65534 searches what other users can read; else the PE
 * itself does.
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <skua/skua.h>

#include "boot/job.h"
#include "core/pe/pe.h"
#include "tap.h"

#define NOBODY   65534
#define FILE_MAX ((size_t)4 << 20)

static skua_handler seen_handler;

/* Reads a file, or as much of it as fits.  Returns the number of bytes, or 0 if it cannot be read.
 */
static size_t read_file(const char *path, char *to)
{
    int     fd  = open(path, O_RDONLY | O_CLOEXEC);
    size_t  got = 0;
    ssize_t n   = 1;

    while (fd >= 0 && n > 0 && got < FILE_MAX) {
        n = read(fd, to + got, FILE_MAX - got);
        got += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    return got;
}

static bool has(const char *text, size_t bytes, const void *what, size_t length)
{
    return memmem(text, bytes, what, length) != NULL;
}

/* Returns true if a text contains a word: as bytes or as digits, in either byte order. */
static bool has_word(char *text, size_t bytes, uint64_t word)
{
    char digits[17], turned[17];

    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)word);
    snprintf(turned, sizeof turned, "%016llx", (unsigned long long)__builtin_bswap64(word));
    if (has(text, bytes, &word, sizeof word))
        return true;
    for (size_t i = 0; i < bytes; i++)
        text[i] = (char)tolower((unsigned char)text[i]);
    return has(text, bytes, digits, 16) || has(text, bytes, turned, 16);
}

static bool tells(const char *path, const uint64_t secret[2])
{
    char  *text  = malloc(FILE_MAX);
    size_t bytes = read_file(path, text);
    bool   found = has_word(text, bytes, secret[0]) || has_word(text, bytes, secret[1]);

    free(text);
    return found;
}

static bool process_tells(int pid, const uint64_t secret[2])
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    if (tells(path, secret))
        return true;
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    return tells(path, secret);
}

/* Files of the host and of a process that any user may try to read. */
static bool host_tells(int pid, const uint64_t secret[2])
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    return tells("/proc/net/unix", secret) || tells("/proc/net/tcp", secret) ||
           tells(path, secret) || process_tells(pid, secret);
}

/* Returns true if another user finds the secret or can read the memory of the process. */
static bool stranger_finds(const uint64_t copy[2])
{
    int   pid = (int)getpid(), status = 1;
    char  path[64];
    pid_t child = fork();

    if (child != 0)
        return waitpid(child, &status, 0) != child || status != 0;
    if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
        _exit(2);
    snprintf(path, sizeof path, "/proc/%d/mem", pid);
    if (open(path, O_RDONLY) >= 0)
        _exit(3);
    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    if (open(path, O_RDONLY) >= 0)
        _exit(4);
    _exit(host_tells(pid, copy) ? 5 : 0);
}

/* Returns true if a core dump excludes the memory at @p at: the flag dd of its mapping. */
static bool is_left_out(const void *at)
{
    FILE              *maps = fopen("/proc/self/smaps", "r");
    char               line[512];
    unsigned long long from, to;
    bool               here = false, out = false;

    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%llx-%llx ", &from, &to) == 2)
            here = (uintptr_t)at >= from && (uintptr_t)at < to;
        if (here && strncmp(line, "VmFlags:", 8) == 0)
            out = strstr(line, " dd") != NULL;
    }
    if (maps)
        fclose(maps);
    return out;
}

static void on_seen(skua_msg *msg)
{
    static int seen;

    skua_msg_free(msg);
    if (++seen == skua_pes())
        skua_exit(0);
}

static void start(int argc, char **argv)
{
    const uint64_t *secret = ski_self->job->secret;

    (void)argc, (void)argv;
    CHECK(secret && secret[0] != 0 && secret[1] != 0);
    CHECK(!host_tells((int)getpid(), secret));
    CHECK(!process_tells((int)getppid(), secret));
    CHECK(geteuid() != 0 || !stranger_finds(secret));
    CHECK(is_left_out(secret) && !is_left_out(ski_self->job));
    skua_send_copy(0, seen_handler, NULL, 0);
}

int main(int argc, char **argv)
{
    seen_handler = skua_handler_register("seen", on_seen);
    return skua_main(argc, argv, start);
}
