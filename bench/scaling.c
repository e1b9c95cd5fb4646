/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaling.c - the kernels of bench_scaling.h with Skua, on any number of PEs.
 *
 *   pairs, manytoone             messages of 8 bytes in bursts that are acknowledged
 *   alltoall                     a PE goes on when it has received as many bursts as it has sent
 *   barrier, sync, allreduce, broadcast   one after the other
 *   alloc, remotefree            messages that the PE frees itself, or that the next PE frees
 *   put, get, atomic, acc        -one: all PEs on the memory of PE 0; -spread: each on the memory
 *                                of all others in turn
 *   entries                      entry methods: elements of an array pass tokens to the next PE
 *   stream                       items of 8 bytes to all PEs in turn
 *   tasks                        a tree of chares that the runtime places
 *
 * and, with three PEs or more, how evenly PE 0 serves the others (share-KIND-Ppe): the messages of
 * the sender that it served most, divided by those of the sender that it served least.
 *   flood   PE 0 does nothing else
 *   slow    its handler takes longer than a send
 *   busy    it computes, and polls in between
 *
 * usage: bench-scaling SERIES [KERNEL]
 */
#include <skua/skua.h>

#include "bench_scaling.h"

#define SCALING_ELEMENTS 32 /* elements of the array of `entries' on each PE */
#define SCALING_HOPS     16 /* hops of a token in a round */
#define SCALING_PES      1024

#define SCALING_SHARE_S 0.03 /* seconds for which PE 0 counts            */
#define SCALING_SLOW_S  5e-7 /* seconds of a slow handler                */
#define SCALING_BUSY_S  1e-4 /* seconds of computation between two polls */

static skua_handler item, item_done, block, data, share_item, share_done;
static skua_stream  stream;
static skua_class   cell_class, task_class;
static skua_entry   token_entry, answer_entry;
static skua_pe_data state_key;

/* The state of a PE. */
struct scaling_state {
    int             bursts;  /* number of unacknowledged bursts */
    long            most;    /* largest number of bursts that a wait allows */
    long            missing; /* number of bursts that this PE waits for */
    long            due[SCALING_PES], come[SCALING_PES]; /* bursts of each PE to this one */
    skua_counter    received;
    int64_t         broadcasts;
    skua_region     region;
    skua_collection cells;
    long            tokens; /* number of tokens that have ended on this PE */
    uint64_t        items, items_sent, sum;
    bool            tree_done;
    bool            stopped; /* shares: PE 0 has stopped counting */
    bool            slow;
    double          end;
    long            arrived[SCALING_PES];
};

static struct scaling_state *state(void)
{
    return skua_pe_data_get(state_key);
}

/* ---- messages ------------------------------------------------------------------------ */

static bool bursts_are_done(void *arg)
{
    struct scaling_state *s = arg;

    return s->bursts <= s->most;
}

/* Waits until at most @p most bursts of this PE are unacknowledged. */
static void wait_for_bursts(struct scaling_state *s, long most)
{
    s->most = most;
    if (s->bursts > most)
        skua_run_until(bursts_are_done, s);
}

/* What the receiver of a message does. */
enum { NOTHING, ACKNOWLEDGE, COUNT };

/* Sends a burst, with the last message of which the receiver does @p then. */
static void send_messages(skua_handler handler, int to, uint64_t then)
{
    for (int i = 1; i <= SCALING_BURST; i++) {
        uint64_t value = i == SCALING_BURST ? then : NOTHING;

        skua_send_copy(to, handler, &value, sizeof value);
    }
}

/* Sends a burst, which the receiver acknowledges if @p acked. */
static void send_burst(struct scaling_state *s, skua_handler handler, int to, bool acked)
{
    send_messages(handler, to, acked ? ACKNOWLEDGE : NOTHING);
    s->bursts += acked;
}

/* Counts a burst that has arrived from @p source. */
static void count_burst(struct scaling_state *s, int source)
{
    if (++s->come[source] <= s->due[source])
        s->missing--;
}

static void on_item(skua_msg *msg)
{
    uint64_t then   = *(const uint64_t *)skua_msg_data(msg);
    int      source = skua_msg_source(msg);

    skua_msg_free(msg);
    if (then == ACKNOWLEDGE)
        skua_send_copy(source, item_done, NULL, 0);
    else if (then == COUNT)
        count_burst(state(), source);
}

static void on_item_done(skua_msg *msg)
{
    skua_msg_free(msg);
    state()->bursts--;
}

/* Sends to one PE, in windows of bursts; the end of a window is acknowledged. */
static void send_windows(int to, long rounds)
{
    struct scaling_state *s = state();

    for (long i = 1; i <= rounds; i++) {
        bool end = i % SCALING_WINDOW == 0 || i == rounds;

        send_burst(s, item, to, end);
        if (end)
            wait_for_bursts(s, 0);
    }
}

static void run_pairs(long rounds)
{
    int to = scaling_partner(skua_pe(), skua_pes());

    if (to >= 0)
        send_windows(to, rounds);
}

static bool none_is_missing(void *arg)
{
    return ((struct scaling_state *)arg)->missing == 0;
}

/* A burst of @p source is due. */
static void expect_burst(struct scaling_state *s, int source)
{
    if (s->come[source] < ++s->due[source])
        s->missing++;
}

/* Each burst of a window has its own target.  A window ends when the bursts to this PE in its
 * rounds have arrived, so it needs no acknowledgement; the MPI program does the same. */
static void run_alltoall(long rounds)
{
    struct scaling_state *s  = state();
    int                   me = skua_pe(), pes = skua_pes();

    for (long i = 0; i < rounds; i++) {
        int to = scaling_other(me, pes, i);

        send_messages(item, to, COUNT);
        expect_burst(s, (2 * me - to + 2 * pes) % pes);
        if ((i + 1) % SCALING_WINDOW == 0 || i + 1 == rounds)
            skua_run_until(none_is_missing, s);
    }
}

static void run_manytoone(long rounds)
{
    if (skua_pe() != 0)
        send_windows(0, rounds);
}

/* ---- allocation ---------------------------------------------------------------------- */

static void run_alloc(long rounds)
{
    skua_msg *held[SCALING_BLOCKS];

    for (long i = 0; i < rounds; i++) {
        for (int k = 0; k < SCALING_BLOCKS; k++) {
            held[k]                             = skua_msg_alloc(SCALING_BLOCK);
            *(uint64_t *)skua_msg_data(held[k]) = (uint64_t)k;
        }
        for (int k = 0; k < SCALING_BLOCKS; k++)
            skua_msg_free(held[k]);
    }
}

/* Sends blocks that another PE frees. */
static void run_remotefree(long rounds)
{
    struct scaling_state *s  = state();
    int                   to = (skua_pe() + 1) % skua_pes();

    for (long i = 0; i < rounds; i++) {
        wait_for_bursts(s, SCALING_WINDOW - 1);
        for (uint64_t k = 1; k <= SCALING_BURST; k++) {
            skua_msg *msg = skua_msg_alloc(SCALING_BLOCK);

            *(uint64_t *)skua_msg_data(msg) = k == SCALING_BURST ? ACKNOWLEDGE : NOTHING;
            skua_send(to, block, msg);
        }
        s->bursts++;
    }
    wait_for_bursts(s, 0);
}

/* ---- collectives --------------------------------------------------------------------- */

static void barrier(void)
{
    skua_counter counter = SKUA_COUNTER_INIT;

    skua_barrier(skua_done_count(&counter));
    skua_counter_wait(&counter, 1);
}

static double reduce_all(skua_op op, double value)
{
    skua_future future = SKUA_FUTURE_INIT;
    double      result;

    skua_allreduce(op, SKUA_DOUBLE, &value, 1, skua_done_future(&future));
    result = *(const double *)skua_future_wait(&future, NULL);
    skua_future_clear(&future);
    return result;
}

static double largest(double value)
{
    return reduce_all(SKUA_MAX, value);
}

static void on_data(skua_msg *msg)
{
    skua_msg_free(msg);
    skua_complete(skua_done_count(&state()->received), NULL, 0);
}

static void run_barrier(long rounds)
{
    for (long i = 0; i < rounds; i++)
        barrier();
}

static void run_sync(long rounds)
{
    for (long i = 0; i < rounds; i++)
        skua_sync();
}

static void run_allreduce(long rounds)
{
    for (long i = 0; i < rounds; i++)
        reduce_all(SKUA_SUM, 1);
}

/* The PEs take turns as root. */
static void run_broadcast(long rounds)
{
    struct scaling_state *s = state();

    for (long i = 0; i < rounds; i++) {
        if (i % skua_pes() == skua_pe())
            skua_broadcast(data, skua_msg_alloc(8), skua_done_nothing());
        skua_counter_wait(&s->received, ++s->broadcasts);
    }
}

/* ---- one-sided operations ------------------------------------------------------------ */

/* The buffers of each PE of this process.  Without the alignment the last line of a buffer is the
 * first of the next: threads that get into neighbouring buffers would write the same line. */
static _Alignas(128) char onesided_memory[SCALING_PES][SCALING_BYTES];

enum scaling_access { SCALING_PUT, SCALING_GET, SCALING_ATOMIC, SCALING_ACC };

/* Returns the offset of an access. Puts of different PEs do not overlap; atomics and accumulates of
 * all PEs use the same words, or a single word or block if all use one target. */
static uint64_t access_offset(enum scaling_access access, bool spread, long round)
{
    uint64_t step = (uint64_t)round * 7919 + (uint64_t)skua_pe() * 613;

    if (access == SCALING_PUT || access == SCALING_GET)
        return (uint64_t)skua_pe() * SCALING_BYTES;
    if (access == SCALING_ATOMIC)
        return spread ? step % SCALING_WORDS * sizeof(uint64_t) : 0;
    return spread ? step % (SCALING_REGION / SCALING_BYTES) * SCALING_BYTES : 0;
}

/* Starts one access; an atomic returns when it is complete, with the previous value. */
static void access_start(enum scaling_access access, skua_gaddr at)
{
    static const double      one = 1;
    static const skua_update sum = {SKUA_SUM, SKUA_DOUBLE, &one};
    char                    *own = onesided_memory[skua_pe()];
    uint64_t                 old;

    switch (access) {
    case SCALING_PUT: skua_put_nb(at, own, SCALING_BYTES, NULL); break;
    case SCALING_GET: skua_get_nb(own, at, SCALING_BYTES, NULL); break;
    case SCALING_ATOMIC: skua_fetch_add64(at, 1, &old); break;
    case SCALING_ACC: skua_acc_nb(at, own, SCALING_BYTES, &sum, NULL); break;
    }
}

static void run_access(enum scaling_access access, bool spread, long rounds)
{
    skua_region region = state()->region;

    for (long i = 0; i < rounds; i++) {
        int pe = spread ? scaling_other(skua_pe(), skua_pes(), i) : 0;

        for (int k = 0; k < SCALING_BURST; k++)
            access_start(access,
                         skua_at(region, pe, access_offset(access, spread, i * SCALING_BURST + k)));
        skua_flush(pe);
    }
}

#define SCALING_ACCESS(name, access, spread)                                                       \
    static void run_##name(long rounds)                                                            \
    {                                                                                              \
        run_access(access, spread, rounds);                                                        \
    }

SCALING_ACCESS(put_one, SCALING_PUT, false)
SCALING_ACCESS(put_spread, SCALING_PUT, true)
SCALING_ACCESS(get_one, SCALING_GET, false)
SCALING_ACCESS(get_spread, SCALING_GET, true)
SCALING_ACCESS(atomic_one, SCALING_ATOMIC, false)
SCALING_ACCESS(atomic_spread, SCALING_ATOMIC, true)
SCALING_ACCESS(acc_one, SCALING_ACC, false)
SCALING_ACCESS(acc_spread, SCALING_ACC, true)

/* ---- entry methods ------------------------------------------------------------------- */

struct cell {
    long tokens;
};

static bool tokens_are_done(void *arg)
{
    struct scaling_state *s = arg;

    return s->tokens == SCALING_ELEMENTS;
}

/* Passes a token with its remaining hops to the element of the next PE. */
static void on_token(void *self, const void *arg, size_t bytes)
{
    long left = *(const long *)arg - 1;
    int  n    = SCALING_ELEMENTS * skua_pes();
    int  next = (skua_index_of(self).at.x[0] + SCALING_ELEMENTS) % n;

    (void)bytes;
    ((struct cell *)self)->tokens++;
    if (left == 0)
        state()->tokens++;
    else
        skua_invoke_copy(skua_element1(skua_collection_of(self), next), token_entry, &left,
                         sizeof left);
}

static void run_entries(long rounds)
{
    struct scaling_state *s    = state();
    long                  hops = rounds * SCALING_HOPS;

    for (int i = 0; i < SCALING_ELEMENTS; i++)
        skua_invoke_copy(skua_element1(s->cells, skua_pe() * SCALING_ELEMENTS + i), token_entry,
                         &hops, sizeof hops);
    skua_run_until(tokens_are_done, s);
    s->tokens = 0;
}

/* ---- streams ------------------------------------------------------------------------- */

static void on_batch(void *arg, const void *items, size_t count)
{
    struct scaling_state *s   = arg;
    uint64_t              sum = 0; /* in a register: the state could be among the items */

    for (size_t i = 0; i < count; i++)
        sum += ((const uint64_t *)items)[i];
    s->sum += sum;
    s->items += count;
}

static bool items_are_here(void *arg)
{
    struct scaling_state *s = arg;

    return s->items == s->items_sent;
}

/* Every PE receives as many items as it sends. */
static void run_stream(long rounds)
{
    struct scaling_state *s   = state();
    skua_stream           to  = stream;
    int                   pes = skua_pes(), pe = skua_pe();
    uint64_t              count = (uint64_t)rounds * SCALING_ITEMS;

    for (uint64_t i = 0; i < count; i++) {
        skua_stream_put(to, pe, &i);
        pe = pe + 1 == pes ? 0 : pe + 1;
    }
    skua_stream_flush(to);
    s->items_sent += count;
    skua_run_until(items_are_here, s);
}

/* ---- tasks --------------------------------------------------------------------------- */

/* Sum of a correct tree, computed once because it costs as much as the tree. */
static int64_t tree_sum;

struct task_args {
    int             n;
    skua_completion done;
};

struct task {
    skua_completion done;
    int             missing;
    int64_t         sum;
};

static void task_finish(struct task *task)
{
    skua_complete(task->done, &task->sum, sizeof task->sum);
    skua_object_destroy(task);
}

static void task_construct(void *self, const void *arg, size_t bytes)
{
    const struct task_args *args = arg;
    struct task            *task = self;

    (void)bytes;
    task->done = args->done;
    if (args->n < SCALING_FIB_LEAF) {
        task->sum = scaling_fib(args->n);
        task_finish(task);
        return;
    }
    for (int i = 1; i <= 2; i++, task->missing++) {
        struct task_args child = {args->n - i, skua_done_invoke(skua_ref_of(self), answer_entry)};

        skua_chare_create(task_class, SKUA_ANY_PE, &child, sizeof child);
    }
}

static void on_answer(void *self, const void *arg, size_t bytes)
{
    struct task *task = self;

    (void)bytes;
    task->sum += *(const int64_t *)arg;
    if (--task->missing == 0)
        task_finish(task);
}

static void on_tree(void *arg, const void *sum, size_t bytes)
{
    if (bytes != sizeof(int64_t) || *(const int64_t *)sum != tree_sum)
        skua_abort("the sum of the tasks is wrong");
    ((struct scaling_state *)arg)->tree_done = true;
}

static bool tree_is_done(void *arg)
{
    return ((struct scaling_state *)arg)->tree_done;
}

/* PE 0 creates the root; the other PEs run tasks while they wait for the end of the measurement. */
static void run_tasks(long rounds)
{
    struct scaling_state *s    = state();
    struct task_args      root = {SCALING_FIB, skua_done_call(on_tree, s)};

    for (long i = 0; skua_pe() == 0 && i < rounds; i++) {
        s->tree_done = false;
        skua_chare_create(task_class, 0, &root, sizeof root);
        skua_run_until(tree_is_done, s);
    }
}

/* ---- shares of senders --------------------------------------------------------------- */

static void spin(double seconds)
{
    double end = bench_now() + seconds;

    while (bench_now() < end)
        ;
}

static void on_share_item(skua_msg *msg)
{
    struct scaling_state *s      = state();
    int                   source = skua_msg_source(msg);
    bool                  last   = *(const uint64_t *)skua_msg_data(msg);

    skua_msg_free(msg);
    if (s->slow)
        spin(SCALING_SLOW_S);
    if (!s->stopped)
        s->arrived[source]++;
    if (!last)
        return;
    s->stopped = s->stopped || bench_now() >= s->end;
    skua_send_copy(source, share_done, &s->stopped, sizeof s->stopped);
}

static void on_share_done(skua_msg *msg)
{
    struct scaling_state *s = state();

    s->bursts--;
    s->stopped = s->stopped || *(const bool *)skua_msg_data(msg);
    skua_msg_free(msg);
}

/* A sender sends as fast as its window allows until PE 0 reports that it has stopped counting. */
static void send_shares(struct scaling_state *s)
{
    while (!s->stopped) {
        wait_for_bursts(s, SCALING_WINDOW - 1);
        send_burst(s, share_item, 0, true);
    }
    wait_for_bursts(s, 0);
}

static double share_ratio(const struct scaling_state *s)
{
    long least = s->arrived[1], most = s->arrived[1];

    for (int pe = 2; pe < skua_pes(); pe++) {
        least = s->arrived[pe] < least ? s->arrived[pe] : least;
        most  = s->arrived[pe] > most ? s->arrived[pe] : most;
    }
    return (double)most / (double)(least > 0 ? least : 1);
}

static bool share_is_over(void *arg)
{
    return ((struct scaling_state *)arg)->stopped;
}

static void measure_share(const struct scaling_library *library, const char *name)
{
    struct scaling_state *s    = state();
    bool                  busy = strcmp(name, "busy") == 0;

    memset(s->arrived, 0, sizeof s->arrived);
    s->stopped = false;
    s->slow    = strcmp(name, "slow") == 0;
    s->end     = bench_now() + SCALING_SHARE_S;
    barrier();
    if (skua_pe() != 0)
        send_shares(s);
    while (skua_pe() == 0 && busy && !s->stopped) {
        spin(SCALING_BUSY_S);
        skua_poll((size_t)-1);
    }
    if (skua_pe() == 0)
        skua_run_until(share_is_over, s);
    barrier();
    scaling_report(library, "share", name, share_ratio(s));
}

static void measure_shares(const struct scaling_library *library, const char *only)
{
    static const char *const kinds[] = {"flood", "slow", "busy"};

    for (size_t i = 0; skua_pes() > 2 && i < sizeof kinds / sizeof *kinds; i++)
        if (!only || bench_names_have(only, kinds[i]))
            measure_share(library, kinds[i]);
}

/* ---- main ---------------------------------------------------------------------------- */

static struct scaling_kernel kernels[] = {
    {"pairs", run_pairs, SCALING_BURST, scaling_half, 2},
    {"alltoall", run_alltoall, SCALING_BURST, NULL, 1},
    {"manytoone", run_manytoone, SCALING_BURST, scaling_all_but_one, 2},
    {"barrier", run_barrier, 0, NULL, 2},
    {"sync", run_sync, 0, NULL, 2},
    {"allreduce", run_allreduce, 0, NULL, 2},
    {"broadcast", run_broadcast, 0, NULL, 2},
    {"alloc", run_alloc, SCALING_BLOCKS, NULL, 1},
    {"remotefree", run_remotefree, SCALING_BURST, NULL, 1},
    {"put-one", run_put_one, SCALING_BURST, NULL, 1},
    {"put-spread", run_put_spread, SCALING_BURST, NULL, 1},
    {"get-one", run_get_one, SCALING_BURST, NULL, 1},
    {"get-spread", run_get_spread, SCALING_BURST, NULL, 1},
    {"atomic-one", run_atomic_one, SCALING_BURST, NULL, 1},
    {"atomic-spread", run_atomic_spread, SCALING_BURST, NULL, 1},
    {"acc-one", run_acc_one, SCALING_BURST, NULL, 1},
    {"acc-spread", run_acc_spread, SCALING_BURST, NULL, 1},
    {"entries", run_entries, SCALING_ELEMENTS *SCALING_HOPS, NULL, 1},
    {"stream", run_stream, SCALING_ITEMS, NULL, 1},
    {"tasks", run_tasks, 1, scaling_one, 1}, /* main() sets the operations of a round */
    {NULL, NULL, 0, NULL, 0},
};

/* Creates the array on PE 0 and sends its id to all PEs. */
static void create_cells(struct scaling_state *s)
{
    if (skua_pe() == 0) {
        s->cells = skua_array_create1(cell_class, SCALING_ELEMENTS * skua_pes(), NULL, 0);
        for (int pe = 0; pe < skua_pes(); pe++)
            skua_put(skua_at(s->region, pe, 0), &s->cells, sizeof s->cells);
    }
    skua_sync();
    memcpy(&s->cells, skua_region_local(s->region), sizeof s->cells);
}

static void prepare(struct scaling_state *s)
{
    size_t bytes = SCALING_REGION + (size_t)skua_pes() * SCALING_BYTES;

    s->received = (skua_counter)SKUA_COUNTER_INIT;
    skua_stream_bind(stream, s);
    if (skua_region_create(bytes, &s->region) < 0)
        skua_abort("there is no memory for the region");
    create_cells(s);
    memset(skua_region_local(s->region), 0, bytes);
    skua_sync();
}

static void start(int argc, char **argv)
{
    struct scaling_library library = {argc > 1 ? argv[1] : "skua", skua_pe(), skua_pes(), barrier,
                                      largest};

    if (skua_pes() > SCALING_PES)
        skua_abort("bench-scaling runs on at most %d PEs", SCALING_PES);
    prepare(state());
    scaling_measure_all(&library, kernels, argc > 2 ? argv[2] : NULL);
    measure_shares(&library, argc > 2 ? argv[2] : NULL);
    barrier();
    if (skua_pe() == 0)
        skua_exit(0);
}

static void register_classes(void)
{
    static const skua_class_def cell = {.name = "cell", .bytes = sizeof(struct cell)};
    static const skua_class_def task = {
        .name = "task", .bytes = sizeof(struct task), .construct = task_construct};

    cell_class   = skua_class_register(&cell);
    task_class   = skua_class_register(&task);
    token_entry  = skua_method_register(cell_class, "token", on_token, 0);
    answer_entry = skua_method_register(task_class, "answer", on_answer, 0);
}

int main(int argc, char **argv)
{
    skua_stream_def def = {.item_bytes = sizeof(uint64_t), .batch = on_batch};

    for (struct scaling_kernel *kernel = kernels; kernel->name; kernel++)
        if (kernel->run == run_tasks)
            kernel->each = scaling_fib_tasks(SCALING_FIB);
    tree_sum = scaling_fib(SCALING_FIB);
    register_classes();
    stream     = skua_stream_register("items", &def);
    item       = skua_handler_register("item", on_item);
    item_done  = skua_handler_register("item done", on_item_done);
    block      = skua_handler_register("block", on_item);
    data       = skua_handler_register("data", on_data);
    share_item = skua_handler_register("share item", on_share_item);
    share_done = skua_handler_register("share done", on_share_done);
    state_key  = skua_pe_data_register(sizeof(struct scaling_state));
    return skua_main(argc, argv, start);
}
