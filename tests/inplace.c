/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inplace.c - in-place delivery: a ring of cells exchanges columns of a matrix, step by step;
 * received columns are compared byte by byte, however they were delivered.
 *
 * usage: inplace [CELLS] [STEPS] [some | none | any] [ROWS]
 *
 * Columns are delivered into one of two sets of ghost columns, used alternately.  At random, cells
 * refuse in-place delivery, migrate, withdraw a destination, use memory that only their own process
 * reaches, change the length of their columns, which are empty in some steps, or keep ghost columns
 * side by side or one after the other.  With `some` or `none`, some or no messages must have been
 * delivered in place on PE 0.
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"

#define PERIOD  64 /* steps until reference numbers wrap around */
#define COLUMNS 5  /* of a matrix; neighbours get the first two and the last two */

#define MANY 10000 /* rows whose bytes a network receives in several parts */

enum { LEFT, RIGHT, SIDES };

struct cell {
    uint64_t        random;
    skua_completion over;
    int             step, got, waits;
    float          *mine;         /* rows x COLUMNS                   */
    float          *ghost[2];     /* rows x SIDES, of even and odd steps */
    bool            shared;       /* the memory, by all of the host   */
    bool            joined;       /* each ghost column is one block   */
    skua_msg       *early[SIDES]; /* of the next step                 */
};

struct head {
    int64_t side;
};

/* Arguments of the constructor of a cell. */
struct start {
    uint64_t        random;
    skua_completion over;
};

static skua_class      cell_class;
static skua_entry      column_entry, go_entry;
static skua_collection cells;
static int             count = 12, steps = 300;
static size_t          rows   = 40;
static const char     *wanted = "";

/* The state of PE 0. */
static uint64_t seed;
static int      rounds = 2;

/* Returns value i of the column that a cell sends to a side in a step. */
static float value(int cell, int step, int side, int i)
{
    return (float)(cell * 7 + step * 3 + side * 1000 + i);
}

/* Returns the number of rows of all columns of a step; it changes from time to time. */
static size_t rows_of(int64_t step)
{
    if (step % 25 == 24)
        return 0;
    return step / 50 % 3 == 2 ? rows / 2 : rows;
}

static int index_of(const void *self)
{
    return skua_index_of(self).at.x[0];
}

/* ---- memory ------------------------------------------------------------------------------- */

static float *new_floats(bool shared, size_t n)
{
    return shared ? skua_channel_alloc(n * sizeof(float)) : malloc(n * sizeof(float));
}

static void free_floats(bool shared, float *floats)
{
    if (shared)
        skua_channel_free(floats);
    else
        free(floats);
}

static void allocate(struct cell *c)
{
    c->shared = tap_random(&c->random) % 4 != 0;
    c->joined = tap_random(&c->random) % 2;
    c->mine   = new_floats(c->shared, rows * COLUMNS);
    for (int set = 0; set < 2; set++)
        c->ghost[set] = new_floats(c->shared, rows * SIDES);
}

static void construct(void *self, const void *data, size_t bytes)
{
    struct cell        *c     = self;
    const struct start *start = data;

    CHECK(bytes == sizeof *start);
    c->over   = start->over;
    c->random = start->random + (uint64_t)index_of(self);
    allocate(c);
}

static void destroy(void *self)
{
    struct cell *c = self;

    for (int side = 0; side < SIDES; side++)
        if (c->early[side])
            skua_msg_free(c->early[side]);
    free_floats(c->shared, c->mine);
    for (int set = 0; set < 2; set++)
        free_floats(c->shared, c->ghost[set]);
}

static void pup(skua_pup *p, void *self)
{
    struct cell *c = self;

    skua_pup_bytes(p, c, offsetof(struct cell, mine));
    if (skua_pup_unpacking(p))
        allocate(c);
    for (int set = 0; set < 2; set++)
        skua_pup_bytes(p, c->ghost[set], rows * SIDES * sizeof(float));
}

/* ---- columns -------------------------------------------------------------------------------- */

static skua_layout column(float *at, int columns, size_t length)
{
    return (skua_layout){.kind    = SKUA_LAYOUT_STRIDED,
                         .at      = at,
                         .bytes   = sizeof *at,
                         .strided = {1, {length}, {columns * (ptrdiff_t)sizeof *at}}};
}

static skua_layout ghost(const struct cell *c, int64_t step, int64_t side)
{
    float *ghosts = c->ghost[step % 2];

    return c->joined ? column(ghosts + side * (int64_t)rows, 1, rows_of(step))
                     : column(ghosts + side, SIDES, rows_of(step));
}

/* Returns the step of a message that may arrive now, or -1. */
static int64_t step_of(const struct cell *c, int64_t reference)
{
    for (int64_t step = c->step; step <= c->step + 1; step++)
        if (step % PERIOD == reference)
            return step;
    return -1;
}

/* A ghost column is free when the step that read it is complete. */
static bool land(void *self, int64_t reference, const void *head, skua_layout *to)
{
    struct cell *c    = self;
    int64_t      side = ((const struct head *)head)->side, step = step_of(c, reference);

    CHECK(side == LEFT || side == RIGHT);
    if (step < 0 || tap_random(&c->random) % 8 == 0)
        return false;
    *to = ghost(c, step, side);
    return true;
}

static void send(struct cell *c)
{
    int i = index_of(c);

    for (int side = 0; side < SIDES; side++) {
        struct head head = {1 - side};
        skua_layout from =
            column(c->mine + (side == LEFT ? 0 : COLUMNS - 1), COLUMNS, rows_of(c->step));
        int to = (i + (side == LEFT ? count - 1 : 1)) % count;

        for (size_t k = 0; k < rows_of(c->step); k++)
            ((float *)from.at)[k * COLUMNS] = value(i, c->step, side, (int)k);
        if (rows_of(c->step) == 0)
            from.at = NULL;
        skua_invoke_inplace(skua_element(skua_collection_of(c), skua_index1(to)), column_entry,
                            c->step % PERIOD, &head, sizeof head, &from);
        memset(c->mine, -1, rows * COLUMNS * sizeof(float)); /* it may be reused at once */
    }
}

static void compare(const struct cell *c)
{
    int i = index_of(c);

    for (int side = 0; side < SIDES; side++) {
        skua_layout at   = ghost(c, c->step, side);
        int         from = (i + (side == LEFT ? count - 1 : 1)) % count;

        for (size_t k = 0; k < rows_of(c->step); k++)
            CHECK(((float *)at.at)[k * (c->joined ? 1 : SIDES)] ==
                  value(from, c->step, 1 - side, (int)k));
    }
}

/* ---- steps ---------------------------------------------------------------------------------- */

static void go_on(struct cell *c);

static void take(struct cell *c, skua_msg *msg)
{
    size_t             bytes;
    const struct head *head = skua_inplace_head(msg, &bytes);
    skua_layout        to   = ghost(c, c->step, head->side);

    CHECK(bytes == sizeof *head && skua_inplace_reference(msg) == c->step % PERIOD);
    skua_layout_copy(&to, skua_inplace_data(msg));
    skua_msg_free(msg);
    if (++c->got == SIDES)
        go_on(c);
}

static void next_step(struct cell *c)
{
    c->waits = 1;
    send(c);
    for (int side = 0; side < SIDES; side++) {
        skua_msg *msg = c->early[side];

        c->early[side] = NULL;
        if (msg)
            take(c, msg);
    }
}

/* Random actions between steps.  Returns true if the cell has migrated and continues elsewhere. */
static bool wander(struct cell *c)
{
    uint64_t draw = tap_random(&c->random);

    if (draw % (rows > MANY ? 8 : 64) == 0)
        skua_inplace_withdraw(c);
    if (draw >> 8 & 63 || c->early[LEFT] || c->early[RIGHT])
        return false;
    skua_migrate(c, (int)((draw >> 16) % (unsigned)skua_pes()));
    skua_invoke_copy(skua_ref_of(c), go_entry, NULL, 0);
    return true;
}

static void go_on(struct cell *c)
{
    compare(c);
    c->got   = 0;
    c->waits = 0;
    c->step++;
    if (c->step == steps)
        skua_contribute(c, SKUA_SUM, SKUA_INT64, &(int64_t){1}, 1, c->over);
    else if (!wander(c))
        next_step(c);
}

static void on_go(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    next_step(self);
}

static void on_column(void *self, skua_msg *msg)
{
    struct cell       *c    = self;
    const struct head *head = skua_inplace_head(msg, NULL);

    if (skua_inplace_reference(msg) == c->step % PERIOD && c->waits) {
        take(c, msg);
        return;
    }
    CHECK(!c->early[head->side]);
    c->early[head->side] = msg;
}

/* ---- the whole test -------------------------------------------------------------------------- */

static void play(void);

static void finish(void *arg, const void *data, size_t bytes)
{
    uint64_t landed = skua_inplace_count();

    (void)arg, (void)bytes;
    CHECK(*(const int64_t *)data == count);
    skua_collection_destroy(cells);
    if (--rounds > 0) {
        play();
        return;
    }
    printf("# %llu of PE 0's messages were delivered in place\n", (unsigned long long)landed);
    CHECK(strcmp(wanted, "some") != 0 || landed > 0);
    CHECK(strcmp(wanted, "none") != 0 || landed == 0);
    skua_exit(0);
}

static void play(void)
{
    struct start start = {tap_random(&seed), skua_done_call(finish, NULL)};

    cells = skua_array_create1(cell_class, count, &start, sizeof start);
    skua_invoke_all(cells, go_entry, NULL, 0);
}

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    if (skua_pe() != 0)
        return;
    seed = tap_seed();
    play();
}

int main(int argc, char **argv)
{
    skua_class_def def = {.name      = "cell",
                          .bytes     = sizeof(struct cell),
                          .construct = construct,
                          .destroy   = destroy,
                          .pup       = pup};

    count        = argc > 1 ? atoi(argv[1]) : count;
    steps        = argc > 2 ? atoi(argv[2]) : steps;
    wanted       = argc > 3 ? argv[3] : "";
    rows         = argc > 4 ? (size_t)atoi(argv[4]) : rows;
    cell_class   = skua_class_register(&def);
    column_entry = skua_inplace_register(cell_class, "column", on_column, land, 0);
    go_entry     = skua_method_register(cell_class, "go", on_go, 0);
    return skua_main(argc, argv, start);
}
