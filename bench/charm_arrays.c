/* SPDX-License-Identifier: Apache-2.0 */
/*
 * charm_arrays.c - small programs with arrays that are compared with the same programs in Charm++
 * (peers/charm_arrays.cc).
 *
 *   pingpong    two elements send each other data of 8 B to 100 KB, copied into messages
 *   forward     two elements send one message of 1 KB on to each other
 *   jacobi      a grid of blocks of 8 x 8 cells: in each step a block exchanges its edges with its
 *               four neighbours and computes; no other synchronisation
 *   rounds      a broadcast to the elements of an array, which they answer with a reduction
 *   sections    the same with a section of every second element
 *   moves       all elements of an array migrate to the next PE: each has 4 KB in the object
 *               (moves), or owns a block of 4 KB (moves-owned); not on one PE
 *   priorities  messages to one element, each with a priority of its own
 *   quiescence  detection of quiescence while nothing happens
 *   spawn       500000 single chares without work, created by one PE
 *   spawn-tree  as many, each of which creates those of half of its range
 *
 * usage: charm_arrays SERIES [PROGRAM]
 */
#include <math.h>

#include "charm.h"

#define ROUNDS      100 /* of rounds, sections and quiescence in a batch */
#define LARGEST     100000
#define FORWARDED   1000 /* bytes of the message that is sent on */
#define GRID        16   /* blocks in a row and in a column of jacobi */
#define SIDE        8    /* cells in a row and in a column of a block */
#define BLOCKS      (GRID * GRID)
#define STEPS       10    /* of jacobi in a batch */
#define WORKERS     1000  /* elements of rounds and sections */
#define MOVERS      1000  /* elements that migrate */
#define MOVED_BYTES 4096  /* of each of them */
#define MESSAGES    10000 /* with priorities, in a batch */
#define TASKS       500000

static skua_class pair_class, block_class, worker_class, mover_class, owner_class, listener_class,
    task_class, branch_class, counter_class;
static skua_entry serve_entry, ping_entry, forward_entry, begin_entry, edge_entry, round_entry,
    member_entry, move_entry, move_owner_entry, send_entry, listen_entry, count_entry;
static skua_collection counters;
static const char     *series;
static char            payload[LARGEST];

/* ---- two elements ------------------------------------------------------------------------ */

struct serve {
    int    trips;
    size_t bytes;
    bool   forward; /* one message is sent on */
};

struct pair {
    skua_ref        partner;
    int             trips; /* that are left, in element 0 */
    skua_completion done;
};

static void pair_construct(void *self, const void *data, size_t bytes)
{
    struct pair *pair = self;

    (void)bytes;
    pair->done    = *(const skua_completion *)data;
    pair->partner = skua_element1(skua_collection_of(self), 1 - skua_index_of(self).at.x[0]);
}

static void on_serve(void *self, const void *data, size_t bytes)
{
    struct pair        *pair  = self;
    const struct serve *serve = data;

    (void)bytes;
    pair->trips = serve->trips;
    if (serve->forward)
        skua_invoke(pair->partner, forward_entry, skua_msg_alloc(serve->bytes));
    else
        skua_invoke_copy_to(&pair->partner, ping_entry, payload, serve->bytes);
}

/* Returns whether the message that has arrived is the last one. */
static bool pair_is_done(struct pair *pair)
{
    if (pair->trips == 0 || --pair->trips > 0) /* element 1 counts none */
        return false;
    skua_complete(pair->done, NULL, 0);
    return true;
}

static void on_ping(void *self, const void *data, size_t bytes)
{
    struct pair *pair = self;

    (void)data;
    if (!pair_is_done(pair))
        skua_invoke_copy_to(&pair->partner, ping_entry, payload, bytes);
}

static void on_forward(void *self, skua_msg *msg)
{
    struct pair *pair = self;

    if (pair_is_done(pair))
        skua_msg_free(msg);
    else
        skua_invoke(pair->partner, forward_entry, msg);
}

static void measure_trips(skua_collection pairs, struct charm_outcome *end, const char *name,
                          struct serve serve)
{
    double best = 0;

    for (int batch = 0; batch < BENCH_BATCHES; batch++) {
        double start = bench_now();

        skua_invoke_copy(skua_element1(pairs, 0), serve_entry, &serve, sizeof serve);
        charm_expect(end, 0);
        charm_keep_best(&best, start);
    }
    charm_report(series, name, "ns", best * 1e9 / (2 * serve.trips));
}

static void measure_pingpong(void)
{
    static const size_t  sizes[] = {8, 100, 1000, 10000, LARGEST};
    struct charm_outcome end     = {0};
    skua_completion      done    = charm_done(&end);
    skua_collection      pairs   = skua_array_create1(pair_class, 2, &done, sizeof done);

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char name[32];

        snprintf(name, sizeof name, "pingpong-%zu", sizes[i]);
        measure_trips(pairs, &end, name, (struct serve){bench_trips(sizes[i]), sizes[i], false});
    }
    measure_trips(pairs, &end, "forward", (struct serve){bench_trips(FORWARDED), FORWARDED, true});
    skua_collection_destroy(pairs);
}

/* ---- jacobi -------------------------------------------------------------------------------- */

struct edge {
    int    step, side; /* the side of the receiver: above, below, left, right */
    double cell[SIDE];
};

/* A block with a border of cells of its neighbours.  A neighbour is at most one step ahead, so that
 * edges of two steps are kept. */
struct block {
    skua_ref        neighbour[4];
    int             step, last; /* the current step; the first one that is not to be made */
    int             arrived[2]; /* edges of even and odd steps                            */
    double          edge[2][4][SIDE];
    double          cell[SIDE + 2][SIDE + 2];
    skua_completion done;
};

static void block_construct(void *self, const void *data, size_t bytes)
{
    struct block   *b    = self;
    skua_collection grid = skua_collection_of(self);
    skua_index      at   = skua_index_of(self);
    int             x = at.at.x[1], y = at.at.x[0];

    (void)bytes;
    b->done         = *(const skua_completion *)data;
    b->neighbour[0] = skua_element2(grid, (y + GRID - 1) % GRID, x);
    b->neighbour[1] = skua_element2(grid, (y + 1) % GRID, x);
    b->neighbour[2] = skua_element2(grid, y, (x + GRID - 1) % GRID);
    b->neighbour[3] = skua_element2(grid, y, (x + 1) % GRID);
    for (int i = 1; i <= SIDE; i++)
        for (int j = 1; j <= SIDE; j++)
            b->cell[i][j] = y * GRID + x;
}

static void block_send_edges(struct block *b)
{
    struct edge edge = {.step = b->step};

    for (int side = 0; side < 4; side++) {
        edge.side = side ^ 1; /* the opposite one */
        for (int i = 0; i < SIDE; i++)
            edge.cell[i] = side < 2 ? b->cell[side == 0 ? 1 : SIDE][i + 1]
                                    : b->cell[i + 1][side == 2 ? 1 : SIDE];
        skua_invoke_copy_to(&b->neighbour[side], edge_entry, &edge, sizeof edge);
    }
}

/* Makes a step with the edges that have arrived. */
static void block_compute(struct block *b)
{
    const double(*edge)[SIDE] = b->edge[b->step & 1];
    double next[SIDE][SIDE];

    for (int i = 0; i < SIDE; i++) {
        b->cell[0][i + 1]        = edge[0][i];
        b->cell[SIDE + 1][i + 1] = edge[1][i];
        b->cell[i + 1][0]        = edge[2][i];
        b->cell[i + 1][SIDE + 1] = edge[3][i];
    }
    for (int i = 1; i <= SIDE; i++)
        for (int j = 1; j <= SIDE; j++)
            next[i - 1][j - 1] = 0.2 * (b->cell[i][j] + b->cell[i - 1][j] + b->cell[i + 1][j] +
                                        b->cell[i][j - 1] + b->cell[i][j + 1]);
    for (int i = 0; i < SIDE; i++)
        memcpy(&b->cell[i + 1][1], next[i], sizeof next[i]);
}

static void block_finish(struct block *b)
{
    double sum = 0;

    for (int i = 1; i <= SIDE; i++)
        for (int j = 1; j <= SIDE; j++)
            sum += b->cell[i][j];
    skua_contribute_to(b, SKUA_SUM, SKUA_DOUBLE, &sum, 1, &b->done);
}

/* Makes the steps whose edges have arrived. */
static void block_advance(struct block *b)
{
    while (b->step < b->last && b->arrived[b->step & 1] == 4) {
        block_compute(b);
        b->arrived[b->step++ & 1] = 0;
        if (b->step < b->last)
            block_send_edges(b);
        else
            block_finish(b);
    }
}

static void on_begin(void *self, const void *data, size_t bytes)
{
    struct block *b = self;

    (void)data, (void)bytes;
    b->last += STEPS;
    block_send_edges(b);
    block_advance(b);
}

static void on_edge(void *self, const void *data, size_t bytes)
{
    struct block      *b    = self;
    const struct edge *edge = data;

    (void)bytes;
    memcpy(b->edge[edge->step & 1][edge->side], edge->cell, sizeof edge->cell);
    b->arrived[edge->step & 1]++;
    block_advance(b);
}

/* Checks the sum of all cells, which the steps do not change, but for rounding. */
static void on_cells(void *arg, const void *data, size_t bytes)
{
    double sum = BLOCKS / 2.0 * (BLOCKS - 1) * SIDE * SIDE;

    if (bytes != sizeof sum || fabs(*(const double *)data / sum - 1) > 1e-9)
        skua_abort("the sum of the cells is wrong");
    ((struct charm_outcome *)arg)->done = true;
}

static void measure_jacobi(void)
{
    struct charm_outcome end  = {0};
    skua_completion      done = skua_done_call(on_cells, &end);
    skua_collection      grid = skua_array_create2(block_class, GRID, GRID, &done, sizeof done);
    double               best = 0;

    charm_wait_until_quiet();
    for (int batch = 0; batch < 10 * BENCH_BATCHES; batch++) {
        double start = bench_now();

        skua_invoke_all(grid, begin_entry, NULL, 0);
        charm_expect(&end, 0);
        charm_keep_best(&best, start);
    }
    charm_report(series, "jacobi", "ns", best * 1e9 / (STEPS * BLOCKS));
    skua_collection_destroy(grid);
}

/* ---- broadcasts, multicasts and reductions
 * ------------------------------------------------------- */

struct multicast {
    skua_section    section;
    skua_completion done;
};

static void on_round(void *self, const void *data, size_t bytes)
{
    int64_t one = 1;

    (void)bytes;
    skua_contribute_to(self, SKUA_SUM, SKUA_INT64, &one, 1, data);
}

static void on_member(void *self, const void *data, size_t bytes)
{
    const struct multicast *multicast = data;
    int64_t                 one       = 1;

    (void)bytes;
    skua_section_contribute(multicast->section, self,
                            skua_contribution_make(SKUA_SUM, SKUA_INT64, &one, 1), multicast->done);
}

static void measure_rounds(skua_collection workers)
{
    struct charm_outcome sum  = {0};
    skua_completion      done = charm_done(&sum);
    double               best = 0;

    for (int batch = 0; batch < BENCH_BATCHES; batch++) {
        double start = bench_now();

        for (int round = 0; round < ROUNDS; round++) {
            skua_invoke_all(workers, round_entry, &done, sizeof done);
            charm_expect(&sum, WORKERS);
        }
        charm_keep_best(&best, start);
    }
    charm_report(series, "rounds", "us", best * 1e6 / ROUNDS);
}

static void measure_sections(skua_collection workers)
{
    skua_range           range   = {.dims = 1, .upper = {WORKERS}};
    int32_t              stride  = 2;
    skua_section         section = skua_section_create_range(workers, &range, &stride);
    struct charm_outcome sum     = {0};
    struct multicast     args    = {section, charm_done(&sum)};
    double               best    = 0;

    for (int batch = 0; batch < BENCH_BATCHES; batch++) {
        double start = bench_now();

        for (int round = 0; round < ROUNDS; round++) {
            skua_section_invoke(section, member_entry, &args, sizeof args);
            charm_expect(&sum, WORKERS / 2);
        }
        charm_keep_best(&best, start);
    }
    charm_report(series, "sections", "us", best * 1e6 / ROUNDS);
    skua_section_destroy(section);
}

/* ---- migration ---------------------------------------------------------------------------------
 */

struct mover {
    skua_completion done;
    char            data[MOVED_BYTES];
};

struct owner {
    skua_completion done;
    char           *data;
};

static void mover_construct(void *self, const void *data, size_t bytes)
{
    (void)bytes;
    ((struct mover *)self)->done = *(const skua_completion *)data;
}

static void mover_pup(skua_pup *p, void *self)
{
    struct mover *mover = self;

    skua_pup_value(p, &mover->done);
    skua_pup_value(p, &mover->data);
}

static void mover_moved(void *self)
{
    skua_contribute_nothing(self, ((struct mover *)self)->done);
}

static void owner_construct(void *self, const void *data, size_t bytes)
{
    struct owner *owner = self;

    (void)bytes;
    owner->done = *(const skua_completion *)data;
    owner->data = calloc(1, MOVED_BYTES);
}

static void owner_destroy(void *self)
{
    free(((struct owner *)self)->data);
}

static void owner_pup(skua_pup *p, void *self)
{
    struct owner *owner = self;

    skua_pup_value(p, &owner->done);
    skua_pup_memory(p, &owner->data, MOVED_BYTES);
}

static void owner_moved(void *self)
{
    skua_contribute_nothing(self, ((struct owner *)self)->done);
}

static void on_move(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_migrate(self, (skua_pe() + 1) % skua_pes());
}

static void measure_moves(const char *name, skua_class of, skua_entry move)
{
    struct charm_outcome end    = {0};
    skua_completion      done   = charm_done(&end);
    skua_collection      movers = skua_array_create1(of, MOVERS, &done, sizeof done);
    double               best   = 0;

    for (int batch = 0; batch < 2 * BENCH_BATCHES; batch++) {
        double start = bench_now();

        skua_invoke_all(movers, move, NULL, 0);
        charm_expect(&end, 0);
        charm_keep_best(&best, start);
    }
    charm_report(series, name, "ns", best * 1e9 / MOVERS);
    skua_collection_destroy(movers);
}

/* ---- priorities --------------------------------------------------------------------------------
 */

struct listener {
    int             heard, latest; /* messages, and the priority of the latest one */
    skua_completion done;
};

static void listener_construct(void *self, const void *data, size_t bytes)
{
    (void)bytes;
    ((struct listener *)self)->done = *(const skua_completion *)data;
}

/* Element 0 sends all messages to element 1. */
static void on_send(void *self, const void *data, size_t bytes)
{
    skua_ref listener = skua_element1(skua_collection_of(self), 1);
    uint32_t draw     = 1;

    (void)data, (void)bytes;
    for (int i = 0; i < MESSAGES; i++) {
        int priority;

        draw     = draw * 1664525 + 1013904223;
        priority = (int)(draw >> 16);
        skua_invoke_copy_prio(listener, listen_entry, &priority, sizeof priority, priority);
    }
}

/* Checks the order on one PE: there all messages are in the queue before one of them runs. */
static void on_listen(void *self, const void *data, size_t bytes)
{
    struct listener *listener = self;
    int              priority = *(const int *)data;

    (void)bytes;
    if (skua_pes() == 1 && listener->heard > 0 && priority < listener->latest)
        skua_abort("a message has overtaken one whose priority is smaller");
    listener->latest = priority;
    if (++listener->heard < MESSAGES)
        return;
    listener->heard = 0;
    skua_complete(listener->done, NULL, 0);
}

static void measure_priorities(void)
{
    struct charm_outcome end       = {0};
    skua_completion      done      = charm_done(&end);
    skua_collection      listeners = skua_array_create1(listener_class, 2, &done, sizeof done);
    double               best      = 0;

    for (int batch = 0; batch < BENCH_BATCHES; batch++) {
        double start = bench_now();

        skua_invoke_copy(skua_element1(listeners, 0), send_entry, NULL, 0);
        charm_expect(&end, 0);
        charm_keep_best(&best, start);
    }
    charm_report(series, "priorities", "ns", best * 1e9 / MESSAGES);
    skua_collection_destroy(listeners);
}

/* ---- quiescence --------------------------------------------------------------------------------
 */

static void measure_quiescence(void)
{
    double best = 0;

    for (int batch = 0; batch < BENCH_BATCHES; batch++) {
        double start = bench_now();

        for (int round = 0; round < ROUNDS; round++)
            charm_wait_until_quiet();
        charm_keep_best(&best, start);
    }
    charm_report(series, "quiescence", "us", best * 1e6 / ROUNDS);
}

/* ---- tasks -------------------------------------------------------------------------------------
 */

/* The tasks of a PE that have run. */
struct counter {
    int64_t tasks;
};

struct branch {
    int first, last;
};

static void task_construct(void *self, const void *data, size_t bytes)
{
    struct counter *counter = skua_group_local(counters);

    (void)data, (void)bytes;
    counter->tasks++;
    skua_object_destroy(self);
}

static void branch_construct(void *self, const void *data, size_t bytes)
{
    struct branch range = *(const struct branch *)data;

    while (range.first < range.last) {
        int           middle = (range.first + range.last + 1) / 2;
        struct branch half   = {middle, range.last};

        skua_chare_create(branch_class, SKUA_ANY_PE, &half, sizeof half);
        range.last = middle - 1;
    }
    task_construct(self, data, bytes);
}

static void on_count(void *self, const void *data, size_t bytes)
{
    struct counter *counter = self;

    (void)bytes;
    skua_contribute_to(self, SKUA_SUM, SKUA_INT64, &counter->tasks, 1, data);
    counter->tasks = 0;
}

/* Creates all tasks from this PE, or a tree of them. */
static void measure_tasks(const char *name, bool tree)
{
    struct branch        all  = {0, TASKS - 1};
    struct charm_outcome sum  = {0};
    skua_completion      done = charm_done(&sum);
    double               best = 0;

    for (int batch = 0; batch < 5; batch++) {
        double start = bench_now();

        if (tree)
            skua_chare_create(branch_class, SKUA_ANY_PE, &all, sizeof all);
        for (int i = 0; !tree && i < TASKS; i++)
            skua_chare_create(task_class, SKUA_ANY_PE, NULL, 0);
        charm_wait_until_quiet();
        charm_keep_best(&best, start);
        skua_invoke_all(counters, count_entry, &done, sizeof done);
        charm_expect(&sum, TASKS);
    }
    charm_report(series, name, "ms", best * 1e3);
}

/* ---- main --------------------------------------------------------------------------------------
 */

static void begin(int argc, char **argv)
{
    const char     *only = argc > 2 ? argv[2] : NULL;
    skua_collection workers;

    series   = argc > 1 ? argv[1] : "skua";
    counters = skua_group_create(counter_class, NULL, 0);
    workers  = skua_array_create1(worker_class, WORKERS, NULL, 0);
    charm_wait_until_quiet();
    if (charm_is_wanted(only, "pingpong"))
        measure_pingpong();
    if (charm_is_wanted(only, "jacobi"))
        measure_jacobi();
    if (charm_is_wanted(only, "rounds"))
        measure_rounds(workers);
    if (charm_is_wanted(only, "sections"))
        measure_sections(workers);
    if (charm_is_wanted(only, "moves") && skua_pes() > 1) {
        measure_moves("moves", mover_class, move_entry);
        measure_moves("moves-owned", owner_class, move_owner_entry);
    }
    if (charm_is_wanted(only, "priorities"))
        measure_priorities();
    if (charm_is_wanted(only, "quiescence"))
        measure_quiescence();
    if (charm_is_wanted(only, "spawn"))
        measure_tasks("spawn", false);
    if (charm_is_wanted(only, "spawn-tree"))
        measure_tasks("spawn-tree", true);
    skua_exit(0);
}

static void register_classes(void)
{
    static const skua_class_def pair     = {.name      = "pair",
                                            .bytes     = sizeof(struct pair),
                                            .construct = pair_construct},
                                block    = {.name      = "block",
                                            .bytes     = sizeof(struct block),
                                            .construct = block_construct},
                                worker   = {.name = "worker"},
                                mover    = {.name      = "mover",
                                            .bytes     = sizeof(struct mover),
                                            .construct = mover_construct,
                                            .pup       = mover_pup,
                                            .moved     = mover_moved},
                                owner    = {.name      = "owner",
                                            .bytes     = sizeof(struct owner),
                                            .construct = owner_construct,
                                            .destroy   = owner_destroy,
                                            .pup       = owner_pup,
                                            .moved     = owner_moved},
                                listener = {.name      = "listener",
                                            .bytes     = sizeof(struct listener),
                                            .construct = listener_construct},
                                task     = {.name = "task", .construct = task_construct},
                                branch   = {.name = "branch", .construct = branch_construct},
                                counter  = {.name = "counter", .bytes = sizeof(struct counter)};

    pair_class     = skua_class_register(&pair);
    block_class    = skua_class_register(&block);
    worker_class   = skua_class_register(&worker);
    mover_class    = skua_class_register(&mover);
    owner_class    = skua_class_register(&owner);
    listener_class = skua_class_register(&listener);
    task_class     = skua_class_register(&task);
    branch_class   = skua_class_register(&branch);
    counter_class  = skua_class_register(&counter);
}

static void register_entries(void)
{
    serve_entry      = skua_method_register(pair_class, "serve", on_serve, 0);
    ping_entry       = skua_method_register(pair_class, "ping", on_ping, 0);
    forward_entry    = skua_entry_register(pair_class, "forward", on_forward, 0);
    begin_entry      = skua_method_register(block_class, "begin", on_begin, 0);
    edge_entry       = skua_method_register(block_class, "edge", on_edge, 0);
    round_entry      = skua_method_register(worker_class, "round", on_round, 0);
    member_entry     = skua_method_register(worker_class, "member", on_member, 0);
    move_entry       = skua_method_register(mover_class, "move", on_move, 0);
    move_owner_entry = skua_method_register(owner_class, "move", on_move, 0);
    send_entry       = skua_method_register(listener_class, "send", on_send, 0);
    listen_entry     = skua_method_register(listener_class, "listen", on_listen, 0);
    count_entry      = skua_method_register(counter_class, "count", on_count, 0);
}

int main(int argc, char **argv)
{
    register_classes();
    register_entries();
    skua_readonly_register("counters", &counters, sizeof counters);
    return skua_program(argc, argv, begin);
}
