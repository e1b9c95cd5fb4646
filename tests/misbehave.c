/* SPDX-License-Identifier: Apache-2.0 */
/*
 * misbehave.c - fails, or misuses the interface, on the last PE in the way that its argument names,
 * for skuarun.sh, hosts.sh and misuse.sh, which check how the job ends.  Crashes, exit codes and
 * output are here; the acts of other subjects are in misbehave_SUBJECT.c.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "misbehave.h"

skua_handler misbehave_nothing;

static volatile int sink;

/* ---- crashes ------------------------------------------------------------------ */

static __attribute__((noinline)) void write_to_nowhere(void)
{
    volatile uintptr_t nowhere = 8; /* hides the value from the compiler */

    *(volatile int *)nowhere = 1;
}

/* Uses what a wait returns that the end of the job has ended. */
static void use_no_value(void)
{
    skua_future future = SKUA_FUTURE_INIT;

    skua_exit(0);
    sink = *(const volatile int *)skua_future_wait(&future, NULL);
}

static void die_by_signal(void)
{
    write_to_nowhere();
}

static void killed(void)
{
    kill(getpid(), SIGKILL);
}

static void stop_it(void)
{
    raise(SIGSTOP);
}

static void abort_it(void)
{
    abort();
}

static void give_up(void)
{
    skua_abort("the answer is not %d", 42);
}

static void leave_early(void)
{
    exit(0);
}

static void leave_early_with_code(void)
{
    exit(7);
}

static __attribute__((noinline)) int recurse(int depth)
{
    volatile char frame[1024];

    frame[depth % 1024] = (char)depth;
    return depth == 0 ? frame[0] : recurse(depth + 1) + frame[1];
}

static void overflow_thread(void *arg)
{
    (void)arg;
    sink = recurse(1);
}

static void run_quietly(void *arg)
{
    (void)arg;
    skua_thread_yield();
}

/* A frame that is larger than the stack and is accessed at its far end only. */
static __attribute__((noinline)) int large_frame(void)
{
    volatile char frame[1 << 20];

    frame[0] = 1;
    return frame[0];
}

static void overflow_frame_thread(void *arg)
{
    (void)arg;
    sink = large_frame();
}

static void overflow_frame(void)
{
    for (int i = 0; i < 100; i++) /* with other stacks before and after it */
        skua_thread_create(run_quietly, NULL, 0);
    skua_thread_set_name(skua_thread_create(overflow_frame_thread, NULL, 0), "wide");
}

static void overflow(void)
{
    skua_thread_set_name(skua_thread_create(overflow_thread, NULL, 0), "deep");
}

/* ---- memory ------------------------------------------------------------------ */

static void fill_arena(void)
{
    int n = 0;

    while (n < 1000000) {
        skua_msg   *msg;
        skua_status status = skua_msg_try_alloc(1000000, &msg);
        if (status != SKUA_OK) {
            printf("%s after %d messages\n", skua_status_str(status), n);
            skua_exit(n > 10 ? 0 : 1);
            return;
        }
        memset(skua_msg_data(msg), 1, 1000);
        n++;
    }
    skua_exit(1);
}

static void fill_arena_fatally(void)
{
    for (;;)
        memset(skua_msg_data(skua_msg_alloc(1000000)), 1, 1000);
}

/* ---- errors of calls that return a status ------------------------------------ */

static bool on_error(void *arg, const skua_error *error)
{
    printf("told %s: %s in %s on PE %d%s\n", (char *)arg, skua_status_str(error->status),
           error->call, error->pe, error->fatal ? ", fatal" : "");
    fflush(stdout);
    return strcmp(arg, "all") == 0;
}

static __attribute__((noinline)) void put_beyond(void)
{
    skua_region region;
    char        byte = 1;

    skua_region_create_local(64, &region);
    printf("got %s\n", skua_status_str(skua_put(skua_at(region, skua_pe(), 64), &byte, 1)));
    skua_exit(0);
}

/* ---- others ------------------------------------------------------------------ */

static void exit_with_code(void)
{
    skua_exit(42);
}

static void exit_with_large_code(void)
{
    skua_exit(-256);
}

static void compute_on(void)
{
    skua_exit(3);
    for (;;)
        sink++;
}

static void wait_for_ever(void)
{
    printf("waiting\n");
}

static volatile sig_atomic_t signalled;

static void on_signal(int sig)
{
    signalled = sig;
}

static void wait_for_signal(void)
{
    signal(SIGUSR1, on_signal);
    printf("waiting\n");
    fflush(stdout);
    while (!signalled)
        usleep(1000);
    skua_exit(5);
}

/* More output than pipes hold. */
static void flood(void)
{
    for (int i = 0; i < 100000; i++)
        printf("line %d of output that is never read\n", i);
    skua_exit(0);
}

/* Writes that end one line and begin the next. */
static void pieces(void)
{
    for (int i = 0; i < 5; i++) {
        printf("begin");
        fflush(stdout);
        usleep(20000);
        printf(" end\nwhole\n");
    }
    skua_exit(0);
}

static void echo(void)
{
    char line[256];

    while (skua_pe() == 0 && fgets(line, sizeof line, stdin))
        printf("got %s", line);
    skua_exit(0);
}

static void print_lines(void)
{
    for (int i = 0; i < 200; i++) { /* in several writes, which could interleave */
        printf("line %d ", i);
        fflush(stdout);
        printf("of PE %d\n", skua_pe());
    }
}

static void on_all_printed(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
    if (skua_pe() == 0)
        skua_exit(0);
}

static void large(void)
{
    size_t    bytes = ((size_t)3 << 30) + 12345;
    skua_msg *msg   = skua_msg_alloc(bytes);
    char     *data  = skua_msg_data(msg);

    data[0] = 'a', data[(size_t)1 << 31] = 'b', data[bytes - 1] = 'c';
    skua_send(0, misbehave_nothing, msg);
}

static void on_large(skua_msg *msg)
{
    size_t bytes = skua_msg_size(msg);
    char  *data  = skua_msg_data(msg);

    if (bytes != ((size_t)3 << 30) + 12345)
        return skua_msg_free(msg);
    if (data[0] != 'a' || data[(size_t)1 << 31] != 'b' || data[bytes - 1] != 'c')
        skua_abort("the large message is damaged");
    skua_msg_free(msg);
    printf("%zu bytes\n", bytes);
    skua_exit(0);
}

static const struct misbehave_act acts[] = {
    {"segv", die_by_signal, NULL},
    {"kill", killed, NULL},
    {"stop", stop_it, NULL},
    {"exit-wait", use_no_value, NULL},
    {"abort", abort_it, NULL},
    {"give-up", give_up, NULL},
    {"leave", leave_early, NULL},
    {"leave-7", leave_early_with_code, NULL},
    {"overflow", overflow, NULL},
    {"overflow-frame", overflow_frame, NULL},
    {"put-beyond", put_beyond, NULL},
    {"fill-arena", fill_arena, NULL},
    {"fill-arena-fatally", fill_arena_fatally, NULL},
    {"exit-42", exit_with_code, NULL},
    {"exit--256", exit_with_large_code, NULL},
    {"compute-on", compute_on, NULL},
    {"wait", wait_for_ever, wait_for_ever},
    {"usr1", wait_for_signal, wait_for_signal},
    {"all-segv", die_by_signal, die_by_signal},
    {"all-give-up", give_up, give_up},
    {"flood", flood, flood},
    {"pieces", pieces, pieces},
    {"echo", echo, NULL},
    {"lines", print_lines, print_lines},
    {"large", large, NULL},
};

static const struct misbehave_subject own = {acts, sizeof acts / sizeof *acts, NULL};

static const struct misbehave_subject *const subjects[] = {&own,
                                                           &misbehave_calls,
                                                           &misbehave_objects,
                                                           &misbehave_flows,
                                                           &misbehave_sections,
                                                           &misbehave_elements,
                                                           &misbehave_channels};

#define SUBJECTS (sizeof subjects / sizeof *subjects)

static const struct misbehave_act *find_act(const char *name)
{
    for (size_t s = 0; s < SUBJECTS; s++)
        for (size_t i = 0; i < subjects[s]->count; i++)
            if (strcmp(name, subjects[s]->acts[i].name) == 0)
                return &subjects[s]->acts[i];
    skua_abort("misbehave: unknown case '%s'", name);
}

static void start(int argc, char **argv)
{
    const struct misbehave_act *act  = find_act(argc > 1 ? argv[1] : "");
    bool                        last = skua_pe() == skua_pes() - 1;

    if (strcmp(act->name, "echo") == 0 ? skua_pe() == 0 : last)
        act->last();
    else if (act->others)
        act->others();
    if (strcmp(act->name, "lines") == 0)
        skua_barrier(skua_done_call(on_all_printed, NULL));
}

/* Returns true if this process has removed the file that the variable names. Exactly one process
 * does so, and behaves differently. */
static bool chosen_by(const char *variable)
{
    const char *path = getenv(variable);

    return path && unlink(path) == 0;
}

/* Sends an invalid request on the control connection: too short, or a put for another process. */
static void say_nonsense(const char *which)
{
    static const struct {
        uint32_t kind, bytes;
        int32_t  process;
        char     key[32];
    } of_another        = {1, 0, 1000000, "skua.ports"};
    const char *job     = getenv("SKUA_JOB");
    int         control = -1;

    if (job && sscanf(job, "%*d,%*d,%*d,%d", &control) == 1)
        send(control, &of_another, strcmp(which, "short") == 0 ? 3 : sizeof of_another, 0);
}

/* A program whose begin() waits and then writes variables that others have read already. */
static int early, late;

static void write_late(int argc, char **argv)
{
    skua_future future = SKUA_FUTURE_INIT;

    (void)argc, (void)argv;
    early = 1;
    skua_timer_after(1e-3, skua_done_future(&future));
    skua_future_wait(&future, NULL);
    late = 1;
}

static int run_program(int argc, char **argv)
{
    skua_readonly_register("early", &early, sizeof early);
    skua_readonly_register("late", &late, sizeof late);
    return skua_program(argc, argv, write_late);
}

int main(int argc, char **argv)
{
    if (getenv("SAY_NONSENSE"))
        say_nonsense(getenv("SAY_NONSENSE"));
    if (getenv("ON_ERROR"))
        skua_error_set_callback(on_error, getenv("ON_ERROR"));
    misbehave_nothing = skua_handler_register("nothing", on_large);
    for (size_t s = 0; s < SUBJECTS; s++)
        if (subjects[s]->begin)
            subjects[s]->begin();
    if (chosen_by("ODD_ONE"))
        skua_handler_register("odd", skua_msg_free);
    if (chosen_by("PLACE_TAKEN"))
        mmap((void *)0x300000000000, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0);
    if (argc > 1 && strcmp(argv[1], "write-late") == 0)
        return run_program(argc, argv);
    return skua_main(argc, argv, start);
}
