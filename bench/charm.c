/* SPDX-License-Identifier: Apache-2.0 */
/*
 * charm.c - small programs that are compared with the same programs in Charm++
 * (peers/charm_objects.cc).
 *
 *   queens     all placements of N queens: a seed for each placement of the first rows, whose
 *              object solves the rest; the members of a group count, quiescence ends the program
 *   fib        a tree of seeds, each of which waits for the results of two others; no other work;
 *              and a larger one (fib-large)
 *   futures    the same tree of threaded entries, which wait for two futures each
 *   create     an array of 10^6 elements
 *   walk       a message that visits its elements in order
 *   local      the member of a group on this PE, found and called 10^6 times
 *
 * PE 0 controls the programs in its begin function.
 *
 * usage: charm SERIES [PROGRAM]
 */
#include "charm.h"

#define CHARM_BATCHES 5
#define CELLS         1000000
#define LOCAL_CALLS   1000000
#define FIB           23 /* argument of fib for seeds: a tree of 92735 seeds */
#define FIB_LARGE     27 /* ... and one of 635621                            */
#define FUTURES       20 /* for threaded entries, down to FUTURES_LEAF: 3193 entries */
#define FUTURES_LEAF  6

struct board {
    int      rows, depth;          /* rows of the board; the row up to which seeds are created */
    int      row;                  /* the row of the next queen                                */
    uint32_t columns, left, right; /* columns and diagonals that are attacked                  */
};

struct tally {
    int64_t solutions;
};

struct fib_args {
    int             n;
    skua_completion done;
};

struct fib_node {
    skua_completion done;
    int             missing;
    int64_t         sum;
};

struct cell {
    int64_t visits;
};

static skua_class      board_class, tally_class, fib_class, future_class, cell_class;
static skua_entry      tally_entry, answer_entry, calc_entry, walk_entry;
static skua_collection tallies;
static const char     *series;

/* ---- queens -------------------------------------------------------------------------- */

/* Returns the board with a queen on the column of @p bit. */
static struct board board_place(const struct board *b, uint32_t bit)
{
    return (struct board){b->rows,
                          b->depth,
                          b->row + 1,
                          b->columns | bit,
                          (b->left | bit) << 1,
                          (b->right | bit) >> 1};
}

static uint32_t board_free(const struct board *b)
{
    return ((UINT32_C(1) << b->rows) - 1) & ~(b->columns | b->left | b->right);
}

static int64_t board_solve(const struct board *b)
{
    int64_t solutions = 0;

    if (b->row == b->rows)
        return 1;
    for (uint32_t free = board_free(b); free; free &= free - 1) {
        struct board next = board_place(b, free & -free);

        solutions += board_solve(&next);
    }
    return solutions;
}

static void board_construct(void *self, const void *data, size_t bytes)
{
    const struct board *b     = data;
    struct tally       *tally = skua_group_local(tallies);

    (void)bytes;
    for (uint32_t free = board_free(b); free; free &= free - 1) {
        struct board next = board_place(b, free & -free);

        if (next.row < b->depth)
            skua_chare_create(board_class, SKUA_ANY_PE, &next, sizeof next);
        else
            tally->solutions += board_solve(&next);
    }
    skua_object_destroy(self);
}

static void on_tally(void *self, const void *data, size_t bytes)
{
    struct tally *tally = self;

    (void)bytes;
    skua_contribute_to(self, SKUA_SUM, SKUA_INT64, &tally->solutions, 1, data);
    tally->solutions = 0;
}

static void measure_queens(const char *name, int rows, int depth, int64_t solutions)
{
    double best = 0;

    for (int batch = 0; batch < CHARM_BATCHES; batch++) {
        struct board         root  = {.rows = rows, .depth = depth};
        struct charm_outcome sum   = {0};
        skua_completion      done  = charm_done(&sum);
        double               start = bench_now();

        skua_chare_create(board_class, SKUA_ANY_PE, &root, sizeof root);
        charm_wait_until_quiet();
        charm_keep_best(&best, start);
        skua_invoke_all(tallies, tally_entry, &done, sizeof done);
        charm_expect(&sum, solutions);
    }
    charm_report(series, name, "ms", best * 1e3);
}

/* ---- fib ------------------------------------------------------------------------------- */

static int64_t fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void fib_finish(struct fib_node *node)
{
    skua_complete(node->done, &node->sum, sizeof node->sum);
    skua_object_destroy(node);
}

static void fib_construct(void *self, const void *data, size_t bytes)
{
    const struct fib_args *args = data;
    struct fib_node       *node = self;

    (void)bytes;
    node->done = args->done;
    node->sum  = args->n < 2 ? args->n : 0;
    for (int i = 1; args->n >= 2 && i <= 2; i++, node->missing++) {
        struct fib_args child = {args->n - i, skua_done_invoke(skua_ref_of(self), answer_entry)};

        skua_chare_create(fib_class, SKUA_ANY_PE, &child, sizeof child);
    }
    if (node->missing == 0)
        fib_finish(node);
}

static void on_answer(void *self, const void *data, size_t bytes)
{
    struct fib_node *node = self;

    (void)bytes;
    node->sum += *(const int64_t *)data;
    if (--node->missing == 0)
        fib_finish(node);
}

/* The threaded entry: waits for two futures, while all its ancestors wait as well. */
static void on_calc(void *self, const void *data, size_t bytes)
{
    struct fib_args args      = *(const struct fib_args *)data;
    skua_future     future[2] = {SKUA_FUTURE_INIT, SKUA_FUTURE_INIT};
    int64_t         sum       = 0;

    (void)bytes;
    for (int i = 0; args.n >= FUTURES_LEAF && i < 2; i++) {
        struct fib_args child = {args.n - 1 - i, skua_done_future(&future[i])};

        skua_invoke_copy(skua_chare_create(future_class, SKUA_ANY_PE, NULL, 0), calc_entry, &child,
                         sizeof child);
    }
    for (int i = 0; args.n >= FUTURES_LEAF && i < 2; i++) {
        sum += *(const int64_t *)skua_future_wait(&future[i], NULL);
        skua_future_clear(&future[i]);
    }
    if (args.n < FUTURES_LEAF)
        sum = fib(args.n);
    skua_complete(args.done, &sum, sizeof sum);
    skua_object_destroy(self);
}

static void measure_fib(const char *name, int n)
{
    double best = 0;

    for (int batch = 0; batch < CHARM_BATCHES; batch++) {
        struct charm_outcome sum   = {0};
        struct fib_args      root  = {n, charm_done(&sum)};
        int64_t              right = fib(n);
        double               start = bench_now();

        skua_chare_create(fib_class, SKUA_ANY_PE, &root, sizeof root);
        charm_expect(&sum, right);
        charm_keep_best(&best, start);
    }
    charm_report(series, name, "ms", best * 1e3);
}

static void measure_futures(void)
{
    double best = 0;

    for (int batch = 0; batch < CHARM_BATCHES; batch++) {
        struct charm_outcome sum   = {0};
        struct fib_args      root  = {FUTURES, charm_done(&sum)};
        double               start = bench_now();

        skua_invoke_copy(skua_chare_create(future_class, SKUA_ANY_PE, NULL, 0), calc_entry, &root,
                         sizeof root);
        charm_expect(&sum, fib(FUTURES));
        charm_keep_best(&best, start);
    }
    charm_report(series, "futures", "ms", best * 1e3);
}

/* ---- a large array --------------------------------------------------------------------- */

struct step {
    int             at;
    skua_completion done;
};

static void on_walk(void *self, const void *data, size_t bytes)
{
    struct step step = *(const struct step *)data;

    (void)bytes;
    ((struct cell *)self)->visits++;
    if (++step.at == CELLS)
        skua_complete(step.done, NULL, 0);
    else
        skua_invoke_copy(skua_element1(skua_collection_of(self), step.at), walk_entry, &step,
                         sizeof step);
}

static void measure_array(void)
{
    double create = 0, walk = 0;

    for (int batch = 0; batch < CHARM_BATCHES; batch++) {
        struct charm_outcome end   = {0};
        struct step          step  = {0, charm_done(&end)};
        double               start = bench_now();
        skua_collection      cells = skua_array_create1(cell_class, CELLS, NULL, 0);

        charm_wait_until_quiet();
        charm_keep_best(&create, start);
        start = bench_now();
        skua_invoke_copy(skua_element1(cells, 0), walk_entry, &step, sizeof step);
        charm_expect(&end, 0);
        charm_keep_best(&walk, start);
        skua_collection_destroy(cells);
        charm_wait_until_quiet();
    }
    charm_report(series, "create", "ms", create * 1e3);
    charm_report(series, "walk", "ns", walk * 1e9 / CELLS);
}

/* ---- a member of a group ----------------------------------------------------------------- */

static __attribute__((noinline)) void tally_add(struct tally *tally, int64_t n)
{
    tally->solutions += n;
}

static void measure_local(void)
{
    double best = 0;

    for (int batch = 0; batch < CHARM_BATCHES; batch++) {
        double start = bench_now();

        for (int i = 0; i < LOCAL_CALLS; i++)
            tally_add(skua_group_local(tallies), i & 1);
        charm_keep_best(&best, start);
    }
    tally_add(skua_group_local(tallies), -(int64_t)CHARM_BATCHES * LOCAL_CALLS / 2);
    charm_report(series, "local", "ns", best * 1e9 / LOCAL_CALLS);
}

/* ---- main ---------------------------------------------------------------------------- */

static void begin(int argc, char **argv)
{
    const char *only = argc > 2 ? argv[2] : NULL;

    series  = argc > 1 ? argv[1] : "skua";
    tallies = skua_group_create(tally_class, NULL, 0);
    charm_wait_until_quiet();
    if (charm_is_wanted(only, "queens")) {
        measure_queens("queens-13-3", 13, 3, 73712);
        measure_queens("queens-14-4", 14, 4, 365596);
    }
    if (charm_is_wanted(only, "fib")) {
        measure_fib("fib", FIB);
        measure_fib("fib-large", FIB_LARGE);
    }
    if (charm_is_wanted(only, "futures"))
        measure_futures();
    if (charm_is_wanted(only, "array"))
        measure_array();
    if (charm_is_wanted(only, "local"))
        measure_local();
    skua_exit(0);
}

static void register_classes(void)
{
    static const skua_class_def board = {.name = "board", .construct = board_construct};
    static const skua_class_def tally = {.name = "tally", .bytes = sizeof(struct tally)};
    static const skua_class_def node  = {
         .name = "fib", .bytes = sizeof(struct fib_node), .construct = fib_construct};
    static const skua_class_def waits = {.name = "future"};
    static const skua_class_def cell  = {.name = "cell", .bytes = sizeof(struct cell)};

    board_class  = skua_class_register(&board);
    tally_class  = skua_class_register(&tally);
    fib_class    = skua_class_register(&node);
    future_class = skua_class_register(&waits);
    cell_class   = skua_class_register(&cell);
    tally_entry  = skua_method_register(tally_class, "tally", on_tally, 0);
    answer_entry = skua_method_register(fib_class, "answer", on_answer, 0);
    calc_entry   = skua_method_register(future_class, "calc", on_calc, SKUA_ENTRY_THREADED);
    walk_entry   = skua_method_register(cell_class, "walk", on_walk, 0);
}

int main(int argc, char **argv)
{
    register_classes();
    skua_readonly_register("tallies", &tallies, sizeof tallies);
    return skua_program(argc, argv, begin);
}
