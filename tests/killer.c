/* SPDX-License-Identifier: Apache-2.0 */
/*
 * killer.c - a library that is preloaded into the processes of a job and kills them by SIGKILL in
 * the phases that a seed chooses (tests/killed.sh).
 *
 * KILLER="SEED COUNT PROCESSES PHASES MODE FILE": the file has a letter for each process that was
 * killed.  The next one to be killed, number k of COUNT, is determined by SEED and k: its phase is
 * one of the letters PHASES, its process, and how many times that is in the phase before it is
 * killed.  All processes are started again after a kill, so a number holds for the whole life of a
 * process.  X, which is the last letter, is the phase of the last kill.  In one case of four
 * another process, which the seed chooses as well, is killed in the same moment; the file has a
 * '+' for it.  If PHASES begins with '=', kill k is in phase k of those that follow, and COUNT is
 * not used; if it begins with '+', two processes are killed each time.
 *
 *   S  start: before main()              C  compute: skua_invoke_all()
 *   R  reduction: a contribution         P  pack or unpack: migration, checkpoint and recovery
 *   B  balancing: skua_at_sync()         K  checkpoint: before and after the images are packed
 *   V  recovery: the hook of a restart   X  exit: skua_exit(), and the end of main()
 *   M  migration: pack or unpack outside of a checkpoint and of a recovery
 *
 * MODE is
 *   replace  a process is killed, and the launcher starts as many as before
 *   fewer    a process is killed, and the job continues without it (--spare=0): COUNT is less than
 *            PROCESSES
 *   agents   each process has an agent (shared_memory=0); kill number 0, 2, 4 ... is that of the
 *            agent of the process.  The kills between these are at the beginning of a second
 *            checkpoint: a lost agent had copies of images, which the first one replaces.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <skua/skua.h>

static struct {
    char        file[512];
    int         killed; /* processes, when this one was started */
    char        phase;  /* 0: no process is to be killed any more */
    bool        any;    /* of the phase: the first process that comes to it is killed */
    bool        victim; /* this process is the one that the seed has chosen          */
    bool        listed; /* PHASES has the phase of each kill: none is made up for     */
    bool        agent;  /* it is its agent that is killed                            */
    bool        packs;  /* a checkpoint or a recovery is under way, not a migration  */
    unsigned    other;  /* not 0: the choice of a second process                     */
    atomic_long times;  /* that a process is in the phase, and lives                 */
} killer;

static uint64_t killer_random(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Kills another child of the launcher, or agent, if there is one.  Returns whether it has. */
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

/* Kills the agent of this process, whose parent it is, and the process itself. */
static _Noreturn void killer_kill(void)
{
    if (killer.agent)
        kill(getppid(), SIGKILL);
    raise(SIGKILL);
    _exit(1);
}

/* Opens the file, and locks it for the rest of the life of the process.  Returns -1 if a process
 * has been killed since this one was started: only one of several that are in the phase is. */
static int killer_lock_file(void)
{
    int         file = open(killer.file, O_WRONLY | O_APPEND | O_CLOEXEC);
    struct stat now;

    if (file >= 0 && flock(file, LOCK_EX) == 0 && fstat(file, &now) == 0 &&
        now.st_size == killer.killed)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

static void killer_visit(char phase)
{
    bool wanted = phase == killer.phase
                      ? killer.any || killer.victim
                      : phase == 'X' && killer.phase && killer.victim && !killer.listed;
    int  file;

    if (!wanted || (phase == killer.phase && atomic_fetch_sub(&killer.times, 1) > 0) ||
        (file = killer_lock_file()) < 0)
        return;
    if (write(file, &phase, 1) == 1) {
        if (killer.other && killer_kill_other())
            (void)!write(file, "+", 1);
        killer_kill();
    }
    close(file);
}

static void killer_before(void *arg)
{
    (void)arg;
    killer.packs = true;
    killer_visit('K');
}

static void killer_after(void *arg)
{
    (void)arg;
    killer.packs = false;
    killer_visit('K');
}

static void killer_restarted(void *arg)
{
    (void)arg;
    killer.packs = false;
    killer_visit('V');
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
    KILLER_CALL(killer.phase == 'M' && !killer.packs ? 'M' : 'P', skua_pup_bytes_named,
                (p, data, bytes, name));
}

void skua_exit(int code)
{
    KILLER_CALL('X', skua_exit, (code));
}

/* ---- the beginning ------------------------------------------------------------------------- */

/* What KILLER says, and what has happened. */
struct killer_order {
    uint64_t seed;
    int      count, processes;
    char     phases[32], mode[16];
    int      killed, kills; /* processes, and moments at which one or two were */
};

/* Reads what has happened.  Returns false if there is no file. */
static bool killer_read(struct killer_order *order)
{
    char text[256];
    int  file = open(killer.file, O_RDONLY | O_CLOEXEC);

    if (file < 0)
        return false;
    order->killed = (int)read(file, text, sizeof text);
    close(file);
    for (int i = 0; i < order->killed; i++)
        order->kills += text[i] != '+';
    return order->killed >= 0;
}

/* Returns how many times a process is in the phase and lives.  In a list, a kill in a checkpoint is
 * in the second one: a recovery from the first may follow. */
static long killer_visits(char phase, uint64_t *state)
{
    switch (phase) {
    case 'C': return killer.listed ? 0 : (long)(killer_random(state) % 20);
    case 'R':
    case 'P':
    case 'M': return (long)(killer_random(state) % 20);
    case 'K': return (killer.listed ? 2 : 0) + (long)(killer_random(state) % 2);
    default: return 0;
    }
}

/* Chooses the phase, the process and the number of visits.  Of the phases that not all processes
 * come to, the first one that does is killed. */
static void killer_choose(const struct killer_order *order, char phase, uint64_t *state, int self)
{
    killer.phase  = phase;
    killer.victim = (int)(killer_random(state) % (uint64_t)order->processes) == self;
    killer.any    = strchr("CRPBM", phase) != NULL;
    atomic_store(&killer.times, killer_visits(phase, state));
}

/* A phase of PHASES; exit is the last one. */
static char killer_phase(const struct killer_order *order, uint64_t *state)
{
    size_t choices = strcspn(order->phases, "X");

    if (killer.listed)
        return order->phases[1 + order->kills];
    if (order->killed >= order->count - 2 && order->phases[choices])
        return 'X';
    return order->phases[killer_random(state) % choices];
}

/* The kill between those of two agents. */
static void killer_choose_between(void)
{
    killer.phase = 'K';
    killer.any   = true;
    atomic_store(&killer.times, 2); /* before the first, after it, before the second */
}

static void killer_plan(struct killer_order *order, int self)
{
    bool     agents = strcmp(order->mode, "agents") == 0;
    uint64_t state  = order->seed * 1000003 + (uint64_t)order->killed;

    if (strcmp(order->mode, "fewer") == 0)
        order->processes -= order->killed;
    killer.agent = agents && order->kills % 2 == 0;
    if (agents && !killer.agent)
        killer_choose_between();
    else
        killer_choose(order, killer_phase(order, &state), &state, self);
    if (*order->phases == '+' ||
        (!killer.listed && killer.phase != 'X' && killer_random(&state) % 4 == 0))
        killer.other = 1 + (unsigned)(killer_random(&state) % 1000);
}

static __attribute__((constructor)) void killer_begin(void)
{
    const char         *text = getenv("KILLER"), *job = getenv("SKUA_JOB");
    struct killer_order order = {.kills = 0};

    if (!text || !job ||
        sscanf(text, "%lu %d %d %31s %15s %511s", &order.seed, &order.count, &order.processes,
               order.phases, order.mode, killer.file) != 6 ||
        !killer_read(&order))
        return;
    killer.listed = strchr("=+", *order.phases) != NULL;
    if (killer.listed ? !order.phases[1 + order.kills] : order.killed >= order.count)
        return;
    killer.killed = order.killed;
    killer.packs  = getenv("SKUA_RESTART") != NULL;
    killer_plan(&order, killer_process(job));
    skua_checkpoint_hook(SKUA_CHECKPOINT_BEFORE, killer_before, NULL);
    skua_checkpoint_hook(SKUA_CHECKPOINT_AFTER, killer_after, NULL);
    skua_checkpoint_hook(SKUA_CHECKPOINT_RESTART, killer_restarted, NULL);
    atexit(killer_at_exit);
    killer_visit('S');
}
