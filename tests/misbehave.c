/* SPDX-License-Identifier: Apache-2.0 */
/*
 * misbehave.c - does the thing its first argument names, on the last PE; for
 * tests/skuarun.sh and tests/misuse.sh, which look at what becomes of the job.
 */
#include <signal.h>
#include <skua/skua.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static skua_handler nothing;
static volatile int sink;

static void on_nothing(skua_msg *msg)
{
    skua_msg_free(msg);
}

/* ---- deaths ------------------------------------------------------------------ */

static __attribute__((noinline)) void write_to_nowhere(void)
{
    volatile uintptr_t nowhere = 8; /* so that the compiler does not see it */

    *(volatile int *)nowhere = 1;
}

static void die_by_signal(void)
{
    write_to_nowhere();
}

static void killed(void)
{
    kill(getpid(), SIGKILL);
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

static void overflow(void)
{
    skua_thread_set_name(skua_thread_create(overflow_thread, NULL, 0), "deep");
}

/* ---- misuse ------------------------------------------------------------------ */

static void unknown_pe(void)
{
    skua_send(99, nothing, skua_msg_alloc(8));
}

static void unknown_handler(void)
{
    skua_send_copy(0, (skua_handler){1234}, NULL, 0);
}

static void late_register(void)
{
    skua_register("too late", on_nothing);
}

static void late_readonly(void)
{
    static int variable;

    skua_readonly("too late", &variable, sizeof variable);
}

static void consume_too_much(void)
{
    skua_detector detector = skua_detector_create();

    skua_detector_produce(detector, 4);
    skua_detector_consume(detector, 5);
    skua_detector_done(detector);
    skua_detector_start(detector, 1, skua_done_nothing());
}

static void done_too_often(void)
{
    skua_detector detector = skua_detector_create();

    skua_detector_done(detector);
    skua_detector_done(detector);
    skua_detector_start(detector, 1, skua_done_nothing());
}

static void start_twice(void)
{
    skua_detector detector = skua_detector_create();

    skua_detector_start(detector, 1, skua_done_nothing());
    skua_detector_start(detector, 1, skua_done_nothing());
}

static void no_detector(void)
{
    skua_detector_produce((skua_detector){99, 1}, 1);
}

static void free_stranger(void)
{
    static char memory[128];
    skua_msg_free((skua_msg *)(void *)memory);
}

static void unlock_unlocked(void)
{
    skua_mutex mutex = SKUA_MUTEX_INIT;
    skua_mutex_unlock(&mutex);
}

static void run_in_thread_body(void *arg)
{
    (void)arg;
    skua_run();
}

static void run_in_thread(void)
{
    skua_thread_detach(skua_thread_create(run_in_thread_body, NULL, 0));
}

static void bad_reduction(void)
{
    double x = 1;
    skua_reduce(0, SKUA_BIT_AND, SKUA_DOUBLE, &x, 1, skua_done_nothing());
}

static void different_reduction(void)
{
    double x = 1;
    skua_allreduce(SKUA_MAX, SKUA_DOUBLE, &x, 1, skua_done_nothing());
}

static void set_twice(void)
{
    skua_future future = SKUA_FUTURE_INIT;
    skua_future_set(&future, NULL, 0);
    skua_future_set(&future, NULL, 0);
}

static void unknown_lock(void)
{
    skua_lock((skua_locks){{0}}, 0, 7);
}

static void unlock_untaken(void)
{
    skua_locks locks;

    skua_locks_create(1, &locks);
    if (skua_pe() == skua_pes() - 1)
        skua_unlock(locks, 0, 0);
}

static void fill_arena(void)
{
    int n = 0;

    while (n < 1000000) {
        skua_msg     *msg;
        skua_status_t status = skua_msg_try_alloc(1000000, &msg);
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

/* ---- others ------------------------------------------------------------------ */

static void exit_with_code(void)
{
    skua_exit(42);
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

/* More than pipes hold. */
static void flood(void)
{
    for (int i = 0; i < 100000; i++)
        printf("line %d of a flood that nobody reads\n", i);
    skua_exit(0);
}

/* Lines that are finished in the piece that begins others. */
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
    for (int i = 0; i < 200; i++) { /* in pieces, to tempt the lines apart */
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
    skua_send(0, nothing, msg);
}

static void on_large(skua_msg *msg)
{
    size_t bytes = skua_msg_size(msg);
    char  *data  = skua_msg_data(msg);

    if (bytes != ((size_t)3 << 30) + 12345)
        return on_nothing(msg);
    if (data[0] != 'a' || data[(size_t)1 << 31] != 'b' || data[bytes - 1] != 'c')
        skua_abort("the large message is damaged");
    skua_msg_free(msg);
    printf("%zu bytes\n", bytes);
    skua_exit(0);
}

/* ---- objects ---------------------------------------------------------------------- */

static skua_class box_class, bag_class;
static skua_entry box_put, box_ask, box_delete, bag_put;

static void on_put(void *self, const void *data, size_t bytes)
{
    (void)self, (void)data, (void)bytes;
}

static void on_delete(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_delete(self);
}

static void contribute_last(void *self)
{
    skua_contribute_nothing(self, skua_done_nothing());
}

static void register_classes(void)
{
    skua_class_def box = {"box", 8, NULL, NULL, NULL};
    skua_class_def bag = {"bag", 8, NULL, contribute_last, NULL};

    box_class  = skua_class_register(&box);
    bag_class  = skua_class_register(&bag);
    box_put    = skua_method_register(box_class, "put", on_put, 0);
    box_ask    = skua_method_register(box_class, "ask", on_put, SKUA_ENTRY_SYNC);
    box_delete = skua_method_register(box_class, "delete", on_delete, 0);
    bag_put    = skua_method_register(bag_class, "put", on_delete, 0);
}

static void no_element(void)
{
    skua_invoke_copy(skua_element1(skua_array1(box_class, 10, NULL, 0), 12), box_put, NULL, 0);
}

static void deleted_element(void)
{
    skua_collection boxes = skua_array1(box_class, 10, NULL, 0);

    skua_invoke_copy(skua_element1(boxes, 3), box_delete, NULL, 0);
    skua_invoke_copy(skua_element1(boxes, 3), box_put, NULL, 0);
}

static void wrong_dimensions(void)
{
    skua_invoke_copy(skua_element2(skua_array1(box_class, 10, NULL, 0), 1, 2), box_put, NULL, 0);
}

static void wrong_class(void)
{
    skua_invoke_copy(skua_element1(skua_array1(box_class, 10, NULL, 0), 1), bag_put, NULL, 0);
}

/* First elsewhere, then at its home. */
static void insert_twice(void)
{
    skua_array_def def = {.dims = 1, .flags = SKUA_ARRAY_OPEN};
    skua_ref       ref = skua_element1(skua_array_create(box_class, &def, NULL, 0), 5);

    skua_array_insert(ref, 1 - skua_home(ref), NULL, 0);
    skua_array_insert(ref, SKUA_ANY_PE, NULL, 0);
}

static void answer_to_nobody(void)
{
    skua_done_invoke(skua_element1(skua_array1(box_class, 10, NULL, 0), 1), box_ask);
}

static void contribute_at_end(void)
{
    skua_invoke_copy(skua_element1(skua_array1(bag_class, 10, NULL, 0), 7), bag_put, NULL, 0);
}

static const struct {
    const char *name;
    void (*last)(void);   /* on the last PE          */
    void (*others)(void); /* on the others, or NULL  */
} acts[] = {
    {"segv", die_by_signal, NULL},
    {"kill", killed, NULL},
    {"abort", abort_it, NULL},
    {"give-up", give_up, NULL},
    {"leave", leave_early, NULL},
    {"leave-7", leave_early_with_code, NULL},
    {"overflow", overflow, NULL},
    {"unknown-pe", unknown_pe, NULL},
    {"unknown-handler", unknown_handler, NULL},
    {"late-register", late_register, NULL},
    {"late-readonly", late_readonly, NULL},
    {"consume-too-much", consume_too_much, NULL},
    {"done-too-often", done_too_often, NULL},
    {"start-twice", start_twice, NULL},
    {"no-detector", no_detector, NULL},
    {"free-stranger", free_stranger, NULL},
    {"unlock", unlock_unlocked, NULL},
    {"run-in-thread", run_in_thread, NULL},
    {"bad-reduction", bad_reduction, NULL},
    {"different-reduction", different_reduction, bad_reduction},
    {"set-twice", set_twice, NULL},
    {"no-element", no_element, NULL},
    {"deleted-element", deleted_element, NULL},
    {"wrong-dimensions", wrong_dimensions, NULL},
    {"wrong-class", wrong_class, NULL},
    {"insert-twice", insert_twice, NULL},
    {"answer-to-nobody", answer_to_nobody, NULL},
    {"contribute-at-end", contribute_at_end, NULL},
    {"unknown-lock", unknown_lock, NULL},
    {"unlock-untaken", unlock_untaken, unlock_untaken},
    {"fill-arena", fill_arena, NULL},
    {"fill-arena-fatally", fill_arena_fatally, NULL},
    {"exit-42", exit_with_code, NULL},
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

static void different_sum(void)
{
    int32_t x = 1;
    skua_allreduce(SKUA_SUM, SKUA_INT32, &x, 1, skua_done_nothing());
}

static void start(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    bool        last = skua_pe() == skua_pes() - 1;

    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        if (strcmp(what, acts[i].name) != 0)
            continue;
        if (strcmp(what, "echo") == 0 ? skua_pe() == 0 : last)
            acts[i].last();
        else if (acts[i].others == bad_reduction)
            different_sum();
        else if (acts[i].others)
            acts[i].others();
        if (strcmp(what, "lines") == 0)
            skua_barrier(skua_done_call(on_all_printed, NULL));
        return;
    }
    skua_abort("misbehave: there is no '%s'", what);
}

/* Whether this process is the one that takes away the file which the variable
 * names: it is to differ from the others. */
static bool chosen_by(const char *variable)
{
    const char *path = getenv(variable);

    return path && unlink(path) == 0;
}

/* A request that no launcher understands, as the setting says: too short, or a put in
 * the name of another process. */
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

int main(int argc, char **argv)
{
    if (getenv("SAY_NONSENSE"))
        say_nonsense(getenv("SAY_NONSENSE"));
    nothing = skua_register("nothing", on_large);
    register_classes();
    if (chosen_by("ODD_ONE"))
        skua_register("odd", on_nothing);
    if (chosen_by("PLACE_TAKEN"))
        mmap((void *)0x300000000000, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0);
    return skua_main(argc, argv, start);
}
