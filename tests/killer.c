/* SPDX-License-Identifier: Apache-2.0 */
/*
 * killer.c - a library that is preloaded into the processes of a job and kills them by SIGKILL in
 * the phases that a seed chooses (tests/killed.sh).
 *
 * KILLER="SEED COUNT PROCESSES PHASES FILE": the file has a letter for each process that was
 * killed.  SEED and k determine the k-th kill, of COUNT: its phase (one of the letters PHASES), its
 * process, and how many times the process enters the phase before it is killed.  All processes are
 * restarted after a kill, so k does not change during the life of a process.  X, the last letter,
 * is the phase of the last kill. In one of four cases another process of the host, which the seed
 * also chooses, is killed at the same time; the file has a '+' for it.
 *
 *   S  start: before main()              C  compute: skua_invoke_all()
 *   R  reduction: a contribution         P  pack or unpack: migration, checkpoint and recovery
 *   B  balancing: skua_at_sync()         K  checkpoint: before and after the images are packed
 *   V  recovery: the hook of a restart   X  exit: skua_exit(), and the end of main()
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <skua/skua.h>

static struct {
    char        file[512];
    char        phase;  /* 0: no process is to be killed any longer                 */
    bool        any;    /* the first process that enters the phase is killed        */
    bool        victim; /* this process is the one that the seed has chosen         */
    unsigned    other;  /* not 0: selects a second process to kill                  */
    atomic_long times;  /* number of entries to the phase that the process survives */
} killer;

static uint64_t killer_random(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Kills another child of the launcher, if there is one. Returns true if it has. */
static bool killer_kill_other(void)
{
    pid_t launcher = getppid(), child[64];
    int   count    = 0, pid;
    char  path[64];
    FILE *children;

    snprintf(path, sizeof path, "/proc/%d/task/%d/children", launcher, launcher);
    children = fopen(path, "re");
    if (!children)
        return false;
    while (count < 64 && fscanf(children, "%d", &pid) == 1)
        if (pid != getpid())
            child[count++] = pid;
    fclose(children);
    return count > 0 && kill(child[killer.other % (unsigned)count], SIGKILL) == 0;
}

/* Kills the process if it is chosen for this phase, or at its exit if it never entered its phase.
 */
static void killer_visit(char phase)
{
    bool wanted = phase == killer.phase ? killer.any || killer.victim
                                        : phase == 'X' && killer.phase && killer.victim;
    int  file;

    if (!wanted || (phase == killer.phase && atomic_fetch_sub(&killer.times, 1) > 0))
        return;
    file = open(killer.file, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file >= 0 && write(file, &phase, 1) == 1) {
        if (killer.other && killer_kill_other())
            (void)!write(file, "+", 1);
        raise(SIGKILL);
    }
    close(file);
}

static char killer_checkpoint = 'K', killer_recovery = 'V'; /* arguments of the hook */

static void killer_hook(void *arg)
{
    killer_visit(*(const char *)arg);
}

static void killer_at_exit(void)
{
    killer_visit('X');
}

/* Returns the number of this process, which is the last one in SKUA_JOB (boot/boot.h). */
static int killer_process(const char *job)
{
    const char *last = strrchr(job, ',');

    return last ? atoi(last + 1) : 0;
}

/* ---- calls of the program ---------------------------------------------------------------- */

/* Defines a wrapper that enters the phase and calls the library's function with its arguments. */
#define KILLER_CALL(phase, name, arguments)                                                        \
    do {                                                                                           \
        static __typeof__(name) *next;                                                             \
                                                                                                   \
        if (!next)                                                                                 \
            *(void **)&next = dlsym(RTLD_NEXT, #name);                                             \
        killer_visit(phase);                                                                       \
        next arguments;                                                                            \
    } while (0)

void skua_invoke_all(skua_collection all, skua_entry entry, const void *data, size_t bytes)
{
    KILLER_CALL('C', skua_invoke_all, (all, entry, data, bytes));
}

void skua_contribute_to(void *self, skua_op op, skua_type type, const void *data, size_t count,
                        const skua_completion *done)
{
    KILLER_CALL('R', skua_contribute_to, (self, op, type, data, count, done));
}

void skua_at_sync(void *self)
{
    KILLER_CALL('B', skua_at_sync, (self));
}

void skua_pup_bytes_named(skua_pup *p, void *data, size_t bytes, const char *name)
{
    KILLER_CALL('P', skua_pup_bytes_named, (p, data, bytes, name));
}

void skua_exit(int code)
{
    KILLER_CALL('X', skua_exit, (code));
}

/* ---- the beginning ------------------------------------------------------------------------- */

/* Chooses the phase, the process and the number of entries. Exit is the last phase. In a phase that
 * not all processes enter, the first process that enters it is killed. */
static void killer_choose(uint64_t state, const char *phases, bool last, int processes, int self)
{
    static const char ending[] = "X";
    size_t            choices  = strcspn(phases, ending);
    int               victim;

    killer.phase  = last && phases[choices] ? *ending : phases[killer_random(&state) % choices];
    victim        = (int)(killer_random(&state) % (uint64_t)processes);
    killer.any    = strchr("CRPB", killer.phase) != NULL;
    killer.victim = victim == self;
    atomic_store(&killer.times, strchr("CRP", killer.phase) ? (long)(killer_random(&state) % 20)
                                : killer.phase == 'K'       ? (long)(killer_random(&state) % 2)
                                                            : 0);
    if (!last && killer_random(&state) % 4 == 0)
        killer.other = 1 + (unsigned)(killer_random(&state) % 1000);
}

static __attribute__((constructor)) void killer_begin(void)
{
    const char *text = getenv("KILLER"), *job = getenv("SKUA_JOB");
    uint64_t    state;
    int         count, processes;
    char        phases[32];
    struct stat killed;

    if (!text || !job ||
        sscanf(text, "%lu %d %d %31s %511s", &state, &count, &processes, phases, killer.file) !=
            5 ||
        stat(killer.file, &killed) != 0 || killed.st_size >= count)
        return;
    killer_choose(state * 1000003 + (uint64_t)killed.st_size, phases, killed.st_size >= count - 2,
                  processes, killer_process(job));
    skua_checkpoint_hook(SKUA_CHECKPOINT_BEFORE, killer_hook, &killer_checkpoint);
    skua_checkpoint_hook(SKUA_CHECKPOINT_AFTER, killer_hook, &killer_checkpoint);
    skua_checkpoint_hook(SKUA_CHECKPOINT_RESTART, killer_hook, &killer_recovery);
    atexit(killer_at_exit);
    killer_visit('S');
}
