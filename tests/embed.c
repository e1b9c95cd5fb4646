/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed.c - a program that uses Skua in phases, from skua_init() to skua_finalize(), with settings
 * that differ from one to the next. In each phase all PEs exchange messages, put, reduce, create
 * objects and use streams; between phases nothing of Skua is left in the process.
 *
 * usage: embed [PHASES [library]]
 *
 * `library`: a library of the launcher, PMIx or MPI, stays in the process after the first phase,
 * with the variables and signal handlers that it sets.
 *
 * The first PE of a process runs main(), the others the start function of skua_init().
 */
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <skua/skua.h>
#include <stdatomic.h>
#include <string.h>

#include "tap.h"
#include "waits.h"

#define ELEMENTS 11
#define ITEMS    40
#define LATE     5 /* messages to each PE that are sent right before skua_finalize() */

extern char **environ;

static skua_handler     token_handler, late_handler, added_handler;
static skua_class       cell_class;
static skua_entry       add_entry;
static skua_stream      items;
static skua_pe_data     data_key;
static int              phase;         /* counts from 0 */
static atomic_int       late, arrived; /* messages and items of this process in this phase */
static atomic_int       constructed, destroyed;
static struct sigaction before_segv;
static bool             library; /* see above */
static cpu_set_t        before_cpus;

/* ---- what a phase leaves behind --------------------------------------------------------- */

static int entries(const char *folder)
{
    DIR *open = opendir(folder);
    int  n    = 0;

    CHECK(open);
    while (readdir(open))
        n++;
    closedir(open);
    return n;
}

/* Returns a hash of the environment variables and their values. */
static uint64_t environment(void)
{
    uint64_t hash = 14695981039346656037u;

    for (char **entry = environ; *entry; entry++)
        for (const char *c = *entry; *c && strncmp(*entry, "SKUA_JOB=", 9) != 0; c++)
            hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    return hash;
}

static struct {
    int      files, threads;
    uint64_t environment;
} before;

static void look_before(void)
{
    before.files       = entries("/proc/self/fd");
    before.threads     = entries("/proc/self/task");
    before.environment = environment();
    sigaction(SIGSEGV, NULL, &before_segv);
    sched_getaffinity(0, sizeof before_cpus, &before_cpus);
}

/* The first phase may leave modules and descriptors that the libraries keep permanently. */
static void look_after(void)
{
    struct sigaction segv;
    cpu_set_t        cpus;

    if (phase == 0 && library)
        look_before();
    sigaction(SIGSEGV, NULL, &segv);
    sched_getaffinity(0, sizeof cpus, &cpus);
    CHECK(segv.sa_handler == before_segv.sa_handler);
    CHECK(CPU_EQUAL(&cpus, &before_cpus));
    CHECK(environment() == before.environment);
    CHECK(!skua_initialized());
    if (phase == 0) {
        look_before();
        return;
    }
    CHECK(entries("/proc/self/fd") == before.files);
    /* The kernel lists a thread for a moment after it was joined. */
    for (int i = 0; i < 100000 && entries("/proc/self/task") > before.threads; i++)
        sched_yield();
    CHECK(entries("/proc/self/task") == before.threads);
}

/* ---- the work of PEs ------------------------------------------------------------------------ */

static _Thread_local skua_counter laps; /* laps of the token, on each PE */

static void on_token(skua_msg *msg)
{
    int *left = skua_msg_data(msg);

    skua_complete(skua_done_count(&laps), NULL, 0);
    if (--*left > 0)
        skua_send((skua_pe() + 1) % skua_pes(), token_handler, msg);
    else
        skua_msg_free(msg);
}

static void on_late(skua_msg *msg)
{
    CHECK(*(int *)skua_msg_data(msg) == phase);
    skua_msg_free(msg);
    atomic_fetch_add(&late, 1);
}

static void on_added(skua_msg *msg)
{
    skua_msg_free(msg);
}

static void pass_tokens(void)
{
    int left = 3 * skua_pes();

    skua_send_copy((skua_pe() + 1) % skua_pes(), token_handler, &left, sizeof left);
    CHECK(skua_counter_wait(&laps, left));
    laps = (skua_counter)SKUA_COUNTER_INIT;
}

static void reduce(void)
{
    skua_future sum  = SKUA_FUTURE_INIT;
    int64_t     mine = skua_pe() + phase;

    skua_allreduce(SKUA_SUM, SKUA_INT64, &mine, 1, skua_done_future(&sum));
    CHECK(future_take_int64(&sum) ==
          (int64_t)skua_pes() * (skua_pes() - 1) / 2 + (int64_t)skua_pes() * phase);
}

static void put_and_add(void)
{
    int next = (skua_pe() + 1) % skua_pes(), last = (skua_pe() + skua_pes() - 1) % skua_pes();
    skua_region region, kept;
    int64_t    *here, value = 1000 * phase + skua_pe();
    uint64_t    old;

    CHECK(skua_region_create(64, &region) == SKUA_OK);
    CHECK(skua_region_create(1 << 20, &kept) == SKUA_OK); /* skua_finalize() frees it */
    here = skua_region_local(region);
    CHECK(skua_put(skua_at(region, next, 0), &value, sizeof value) == SKUA_OK);
    CHECK(skua_fetch_add64(skua_at(region, 0, 8), 1, &old) == SKUA_OK);
    skua_sync();
    CHECK(here[0] == 1000 * phase + last);
    CHECK(skua_pe() != 0 || here[1] == skua_pes());
    skua_sync();
    CHECK(skua_region_destroy(region) == SKUA_OK);
    memset(skua_region_local(kept), 1, 1 << 20);
}

/* ---- objects and streams -------------------------------------------------------------------- */

struct cell {
    int64_t value;
};

static void construct(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    ((struct cell *)self)->value = skua_index_of(self).at.x[0];
    atomic_fetch_add(&constructed, 1);
}

static void destroy(void *self)
{
    (void)self;
    atomic_fetch_add(&destroyed, 1);
}

static void on_add(void *self, const void *data, size_t bytes)
{
    struct cell    *cell = self;
    skua_completion done;

    CHECK(bytes == sizeof done);
    memcpy(&done, data, sizeof done);
    cell->value += phase;
    skua_contribute(self, SKUA_SUM, SKUA_INT64, &cell->value, 1, done);
}

static void use_objects(void)
{
    skua_future     sum  = SKUA_FUTURE_INIT;
    skua_completion done = skua_done_future(&sum);
    skua_collection all  = skua_array_create1(cell_class, ELEMENTS, NULL, 0);

    skua_invoke_all(all, add_entry, &done, sizeof done);
    CHECK(future_take_int64(&sum) == ELEMENTS * (ELEMENTS - 1) / 2 + ELEMENTS * phase);
}

static void on_item(void *arg, const void *item)
{
    (void)arg;
    CHECK(*(const int64_t *)item == phase);
    atomic_fetch_add(&arrived, 1);
}

static void nap(void *arg)
{
    skua_counter fired = SKUA_COUNTER_INIT;

    skua_timer_after(1e-4, skua_done_count(&fired));
    CHECK(skua_counter_wait(&fired, 1));
    *(bool *)arg = true;
}

static void never(void *arg)
{
    skua_thread_suspend(); /* suspended until the phase, and with it the thread, ends */
    skua_abort("resumed: %p", arg);
}

static void use_threads(void)
{
    bool         slept  = false;
    skua_thread *thread = skua_thread_create(nap, &slept, 0);

    skua_thread_join(thread);
    CHECK(slept);
    skua_thread_detach(skua_thread_create(never, NULL, 0));
}

/* The work of every PE in each phase. */
static void work(void)
{
    int       *counted = skua_pe_data_get(data_key);
    int64_t    item    = phase;
    skua_stats stats;

    CHECK(skua_initialized());
    CHECK(++*counted == 1); /* PE data are initially zero */
    skua_stats_get(&stats, sizeof stats);
    CHECK(stats.delivered < 1000);
    pass_tokens();
    reduce();
    put_and_add();
    if (skua_pe() == phase % skua_pes())
        use_objects();
    use_threads();
    for (int i = 0; i < ITEMS; i++)
        skua_stream_put(items, i % skua_pes(), &item);
    for (int pe = 0; pe < skua_pes(); pe++)
        for (int i = 0; i < LATE; i++)
            skua_send_copy(pe, late_handler, &phase, sizeof phase);
}

static void start(int argc, char **argv)
{
    CHECK(argc == 7 && strcmp(argv[0], "others") == 0);
    work();
}

/* ---- phases --------------------------------------------------------------------------------- */

static void register_all(void)
{
    const skua_class_def  cell = {.name      = "cell",
                                  .bytes     = sizeof(struct cell),
                                  .construct = construct,
                                  .destroy   = destroy,
                                  .pup       = skua_pup_plain};
    const skua_stream_def item = {.item_bytes = sizeof(int64_t), .item = on_item};

    token_handler = skua_handler_register("token", on_token);
    late_handler  = skua_handler_register("late", on_late);
    cell_class    = skua_class_register(&cell);
    add_entry     = skua_method_register(cell_class, "add", on_add, 0);
    items         = skua_stream_register("items", &item);
    data_key      = skua_pe_data_register(sizeof(int));
}

static const char *const choices[][4] = {
    {NULL},
    {"inbox_cells=8", "tree_arity=1", NULL},
    {"direct=0", "order=strict", NULL},
    {"checked_messages=1", "checked_channels=1", "zcopy_threshold_host=1", NULL},
    {"progress_thread=1", "collective_window=2k", NULL},
};

static void begin(void)
{
    static char *others[] = {"others", NULL};

    skua_init_params params = {.size     = sizeof params,
                               .start    = start,
                               .argc     = 7,
                               .argv     = others,
                               .settings = choices[phase % 5]};

    atomic_store(&late, 0);
    atomic_store(&arrived, 0);
    atomic_store(&constructed, 0);
    atomic_store(&destroyed, 0);
    CHECK(skua_init(&params) == SKUA_OK);
    CHECK(skua_pe() == skua_process_first(skua_process()));
}

static void end(int pes, int all)
{
    CHECK(skua_finalize() == 0);
    CHECK(atomic_load(&late) == LATE * pes * all);
    if (pes == all)
        CHECK(atomic_load(&arrived) == ITEMS * all && atomic_load(&constructed) == ELEMENTS);
    CHECK(atomic_load(&destroyed) == atomic_load(&constructed));
}

static bool never_true(void *arg)
{
    (void)arg;
    return false;
}

/* Tests a phase that ends by skua_exit(), without waiting. */
static void run_to_exit(int code)
{
    CHECK(skua_init(NULL) == SKUA_OK);
    if (skua_pe() == 0)
        skua_exit(code);
    CHECK(!skua_run_until(never_true, NULL));
    skua_run();
    CHECK(skua_finalize() == code);
}

int main(int argc, char **argv)
{
    int phases = argc > 1 ? atoi(argv[1]) : 10;

    library = argc > 2;
    register_all();
    look_before();
    for (phase = 0; phase < phases; phase++) {
        int pes, all;

        begin();
        pes = skua_process_pes(skua_process());
        all = skua_pes();
        work();
        if (phase == 2)
            skua_send_copy(0, added_handler, NULL, 0);
        end(pes, all);
        look_after();
        if (phase == 1)
            added_handler = skua_handler_register("added", on_added);
    }
    run_to_exit(7);
    run_to_exit(0);
    look_after();
    return 0;
}
