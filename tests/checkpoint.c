/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.c - a program that can be stopped after a checkpoint and restarted on another number
 * of PEs: its result is the same.
 *
 * usage: checkpoint DIR STEPS [SAVE [stop]]
 *        checkpoint DIR STEPS due
 *
 * The boss, a single object, drives the steps.  In each, it broadcasts to the cells, a dense array
 * whose elements own memory, migrate at random and contribute to a sum; to the leaves, an array of
 * long indices into which elements are inserted and from which they destroy themselves; and to the
 * clerks, a group, and sends PE 0's teller, the member of another one, an item.  Savers
 * (interface/saver.ci) wait in their control flow for the messages of a step, of which some come a
 * step early; those on a PE share a multicast, which they keep from the step before the middle to
 * the step after it.  The workers are single objects, which receive messages.
 *
 * Before the checkpoint, which follows step SAVE, half of the cells contribute to a second
 * reduction, the others afterwards.  With `stop` the job ends after the checkpoint.  PE 0 prints
 * the result, which is that of a run without a checkpoint, or the restarted run's.  With `due` a
 * checkpoint may be made after each step, if one is due, and the boss prints a line in every tenth
 * step (tests/survive.sh).  With the environment variable ASK the program asks to survive, with a
 * checkpoint every so many seconds; with RESIZE, for so many PEs.  If the file of the environment
 * variable DIE exists, the boss stops the launcher before that request, and after the checkpoint
 * that follows it removes the file and kills its process.  In the middle it waits as long as the
 * file of the environment variable HOLD exists, and then, with checkpoints that are due, as long as
 * that of STAY exists (tests/survive_hosts.sh).
 */
#include <inttypes.h>
#include <signal.h>
#include <skua/skua.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "saver.ci.h"
#include "tap.h"

#define CELLS   13
#define WORKERS 5
#define LEAVES  24     /* number of leaves that are inserted */
#define MANY    600000 /* number of leaves in a long run, three in each step */
#define DUE     (-1)   /* the value of save for `due` */

/* Read-only, on all PEs. */
static int             steps, save, stop;
static skua_collection cells, leaves, clerks, porters;
static skua_ref        boss_ref, workers[WORKERS];
static char           *dir;
static size_t          dir_bytes;
static Saver_proxy     savers;
static Teller_proxy    tellers;

static uint64_t tally; /* registered: of each process */

static skua_class boss_class, cell_class, leaf_class, clerk_class, porter_class, worker_class;
static skua_entry boss_summed, boss_halved, boss_saved, boss_flushed, boss_leaves, boss_ran,
    boss_told, boss_quiet, cell_step, cell_half, cell_rest, leaf_step, clerk_step, porter_step,
    worker_add;

/* ---- cells ----------------------------------------------------------------------------- */

struct cell {
    uint64_t random;
    int64_t  count;
    int64_t *row; /* row of `count` numbers */
    bool     gave;
};

static void cell_construct(void *self, const void *data, size_t bytes)
{
    struct cell *cell = self;

    (void)data, (void)bytes;
    cell->random = (uint64_t)skua_index_of(self).at.x[0] + 77;
    cell->count  = 10 + skua_index_of(self).at.x[0];
    cell->row    = calloc((size_t)cell->count, sizeof *cell->row);
}

static void cell_destroy(void *self)
{
    free(((struct cell *)self)->row);
}

static void cell_pup(skua_pup *p, void *self)
{
    struct cell *cell = self;

    skua_pup_value(p, &cell->random);
    skua_pup_value(p, &cell->count);
    skua_pup_memory(p, &cell->row, (size_t)cell->count * sizeof *cell->row);
    skua_pup_value(p, &cell->gave);
}

static int64_t cell_value(const struct cell *cell)
{
    int64_t sum = 0;

    for (int64_t i = 0; i < cell->count; i++)
        sum += cell->row[i] * (i + 1);
    return sum;
}

static void on_cell_step(void *self, const void *data, size_t bytes)
{
    struct cell *cell = self;
    int64_t      sum;

    (void)data, (void)bytes;
    cell->row[tap_random(&cell->random) % (uint64_t)cell->count] +=
        (int64_t)(tap_random(&cell->random) % 1000);
    if (tap_random(&cell->random) % 2)
        skua_migrate(self, (int)(tap_random(&cell->random) % (unsigned)skua_pes()));
    else
        (void)tap_random(&cell->random);
    sum = cell_value(cell);
    skua_contribute(self, SKUA_SUM, SKUA_INT64, &sum, 1, skua_done_invoke(boss_ref, boss_summed));
}

static void cell_give(struct cell *cell)
{
    int64_t value = cell_value(cell) * 3;

    cell->gave = true;
    skua_contribute(cell, SKUA_SUM, SKUA_INT64, &value, 1, skua_done_invoke(boss_ref, boss_halved));
}

static void on_cell_half(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    if (skua_index_of(self).at.x[0] % 2)
        cell_give(self);
}

static void on_cell_rest(void *self, const void *data, size_t bytes)
{
    struct cell *cell = self;

    (void)data, (void)bytes;
    CHECK(cell->gave == skua_index_of(self).at.x[0] % 2);
    if (!cell->gave)
        cell_give(cell);
    cell->gave = false;
}

/* ---- leaves: long indices, inserted and destroyed ------------------------------------------ */

struct leaf {
    int64_t age, key;
};

static skua_index leaf_index(int key)
{
    char name[40] = "a leaf with a very long index, 0000000";

    snprintf(name + 31, sizeof name - 31, "%07u", (unsigned)key % 10000000);
    return skua_index_bytes(name, 39);
}

static void leaf_construct(void *self, const void *data, size_t bytes)
{
    struct leaf *leaf = self;

    CHECK(bytes == sizeof leaf->key);
    memcpy(&leaf->key, data, bytes);
}

static void on_leaf_step(void *self, const void *data, size_t bytes)
{
    struct leaf *leaf = self;
    int64_t      value[2];

    (void)data, (void)bytes;
    leaf->age++;
    value[0] = 1;
    value[1] = leaf->age * (leaf->key + 1);
    skua_contribute(self, SKUA_SUM, SKUA_INT64, value, 2, skua_done_invoke(boss_ref, boss_leaves));
    if ((leaf->age + leaf->key) % 5 == 4)
        skua_object_destroy(self);
    else
        skua_migrate(self, (int)((leaf->age * 7 + leaf->key) % skua_pes()));
}

/* ---- clerks, porters and workers ----------------------------------------------------------- */

struct clerk {
    int64_t steps;
    int32_t born; /* the PE or process that its index was */
};

static void clerk_construct(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    ((struct clerk *)self)->born = skua_index_of(self).at.x[0];
}

static void on_clerk_step(void *self, const void *data, size_t bytes)
{
    struct clerk *clerk = self;

    CHECK(bytes == sizeof(int32_t));
    clerk->steps++;
    CHECK(clerk->steps == *(const int32_t *)data + 1);
    if (skua_index_of(self).at.x[0] == 0)
        CHECK(clerk->born == 0);
}

static void on_porter_step(void *self, const void *data, size_t bytes)
{
    struct clerk *porter = self;

    (void)data, (void)bytes;
    porter->steps++;
    tally += 5;
    CHECK(tally == (uint64_t)porter->steps * 5);
    CHECK(skua_object_local((skua_ref){porters, skua_index1(skua_process())}) == self);
}

struct worker {
    int64_t sum;
};

static void on_worker_add(void *self, const void *data, size_t bytes)
{
    struct worker *worker = self;

    CHECK(bytes == sizeof worker->sum);
    worker->sum += *(const int64_t *)data;
}

/* ---- the boss ------------------------------------------------------------------------------ */

struct boss {
    int32_t  step, waiting, submitted;
    uint64_t hash;
    int64_t  leaves;
};

static void boss_mix(struct boss *boss, uint64_t value)
{
    boss->hash = (boss->hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    boss->hash ^= boss->hash >> 29;
}

/* The savers get the rows of a step in the step before. */
static void boss_send_row(int step)
{
    double row[30];

    for (int i = 0; i < 30; i++)
        row[i] = step * 100 + i;
    if (step < steps)
        Saver_extra_all(savers, step, step % 30 + 1, row);
}

/* The savers keep this multicast: all wait for it, as all is quiet before a step. */
static void boss_send_kept(void)
{
    skua_index index[SAVER_ROWS * SAVER_COLUMNS];
    double     row[30];

    for (int i = 0; i < SAVER_ROWS * SAVER_COLUMNS; i++)
        index[i] = skua_index2(i / SAVER_COLUMNS, i % SAVER_COLUMNS);
    for (int i = 0; i < 30; i++)
        row[i] = i * i + 7;
    Saver_keep_section(Saver_section_of(savers, index, SAVER_ROWS * SAVER_COLUMNS), 30, row);
}

static void boss_begin_step(struct boss *boss)
{
    int32_t step  = boss->step;
    int64_t value = step + 1;

    boss->waiting = step + 1 == steps ? 4 : 3;
    for (int i = 0; i < 3 && boss->submitted < (save == DUE ? MANY : LEAVES); i++) {
        int64_t key = boss->submitted++;

        skua_array_insert((skua_ref){leaves, leaf_index((int)key)}, (int)key % skua_pes(), &key,
                          sizeof key);
    }
    skua_invoke_all(cells, cell_step, &step, sizeof step);
    skua_invoke_all(leaves, leaf_step, &step, sizeof step);
    skua_invoke_all(clerks, clerk_step, &step, sizeof step);
    skua_invoke_all(porters, porter_step, &step, sizeof step);
    skua_invoke_copy(workers[step % WORKERS], worker_add, &value, sizeof value);
    Saver_go_all(savers, step, step * 3);
    Teller_item(Teller_at(tellers, 0), step, skua_done_invoke(boss_ref, boss_told));
    boss_send_row(step + 1);
    if (step == steps / 2 - 1)
        boss_send_kept();
    if (step == steps / 2)
        Saver_release_all(savers);
}

static void boss_end_step(struct boss *boss)
{
    if (--boss->waiting > 0)
        return;
    boss->step++;
    if (boss->step == steps) {
        boss_mix(boss, (uint64_t)boss->leaves);
        printf("result %016" PRIx64 "\n", boss->hash);
        skua_checkpoint_flush(skua_done_invoke(boss_ref, boss_flushed));
    } else {
        skua_invoke_all(cells, cell_half, NULL, 0);
        skua_quiescence(skua_done_invoke(boss_ref, boss_quiet));
    }
}

/* Returns true if the file that an environment variable names exists. It is called repeatedly. */
static bool boss_is_held(const char *variable)
{
    const char *file = getenv(variable);
    bool        held = file && access(file, F_OK) == 0;

    if (held)
        usleep(1000);
    return held;
}

/* Asks for another number of PEs; a job that does not survive refuses it. */
static void boss_resize(void)
{
    const char *pes = getenv("RESIZE"), *file = getenv("DIE");

    if (file && access(file, F_OK) == 0)
        kill(getppid(), SIGSTOP);
    if (pes && skua_resize(atoi(pes)) != SKUA_OK)
        printf("refused\n");
}

/* Kills the process, once, if the test wants that. */
static void boss_die(void)
{
    const char *file = getenv("DIE");

    if (file && unlink(file) == 0)
        raise(SIGKILL);
}

static void on_boss_quiet(void *self, const void *data, size_t bytes)
{
    struct boss *boss = self;

    (void)data, (void)bytes;
    if (save == DUE && boss->step % 10 == 0)
        printf("step %d %016" PRIx64 "\n", boss->step, boss->hash);
    while (save == DUE && 2 * boss->step == steps && boss_is_held("HOLD"))
        continue;
    if (save == DUE && boss->step == 5)
        skua_checkpoint_make_due();
    if (save == DUE && boss->step == 15)
        boss_resize();
    if (save == DUE)
        skua_checkpoint_if_due(skua_done_invoke(boss_ref, boss_saved));
    else if (boss->step == save)
        skua_checkpoint(dir, skua_done_invoke(boss_ref, boss_saved));
    else
        skua_invoke_all(cells, cell_rest, NULL, 0);
}

static void on_boss_saved(void *self, const void *data, size_t bytes)
{
    struct boss           *boss = self;
    skua_checkpoint_result result;

    CHECK(bytes == sizeof result);
    memcpy(&result, data, sizeof result);
    CHECK(result.status != SKUA_OK || save == DUE || result.generation > 0);
    CHECK(result.status == SKUA_OK || result.generation == 0);
    CHECK(!getenv("SKUA_RESTART") || !getenv("SKUA_SURVIVE")); /* no child is to be restarted */
    CHECK(result.status == SKUA_OK || !stop); /* without a checkpoint, the program continues */
    if (save == DUE && boss->step == 15)
        boss_die();
    if (stop && !result.restarted)
        skua_checkpoint_flush(skua_done_invoke(boss_ref, boss_flushed));
    else if (save == DUE && 2 * boss->step == steps && boss_is_held("STAY"))
        skua_checkpoint_if_due(skua_done_invoke(boss_ref, boss_saved));
    else
        skua_invoke_all(cells, cell_rest, NULL, 0);
}

/* Runs when the files of the checkpoint have been written. */
static void on_boss_flushed(void *self, const void *data, size_t bytes)
{
    (void)self, (void)data, (void)bytes;
    skua_exit(0);
}

static void on_boss_halved(void *self, const void *data, size_t bytes)
{
    CHECK(bytes == sizeof(int64_t));
    boss_mix(self, (uint64_t) * (const int64_t *)data);
    boss_begin_step(self);
}

static void on_boss_summed(void *self, const void *data, size_t bytes)
{
    CHECK(bytes == sizeof(int64_t));
    boss_mix(self, (uint64_t) * (const int64_t *)data);
    boss_end_step(self);
}

static void on_boss_leaves(void *self, const void *data, size_t bytes)
{
    const int64_t *value = data;

    CHECK(bytes == 2 * sizeof *value);
    ((struct boss *)self)->leaves += value[0] * 1000 + value[1];
    boss_end_step(self);
}

static void on_boss_ran(void *self, const void *data, size_t bytes)
{
    CHECK(bytes == sizeof(int64_t));
    ((struct boss *)self)->leaves += 17 * *(const int64_t *)data;
    boss_end_step(self);
}

static void on_boss_told(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    boss_end_step(self);
}

/* ---- the program ----------------------------------------------------------------------------- */

static void begin(int argc, char **argv)
{
    skua_array_def def = {.size = sizeof def, .dims = 0, .flags = SKUA_ARRAY_OPEN};

    CHECK(argc > 2);
    dir_bytes = strlen(argv[1]) + 1;
    dir       = strdup(argv[1]);
    steps     = atoi(argv[2]);
    save      = argc > 3 ? atoi(argv[3]) : 0;
    save      = argc > 3 && strcmp(argv[3], "due") == 0 ? DUE : save;
    stop      = argc > 4;
    boss_ref  = skua_chare_create_local(boss_class, NULL, 0);
    cells     = skua_array_create1(cell_class, CELLS, NULL, 0);
    leaves    = skua_array_create(leaf_class, &def, NULL, 0);
    clerks    = skua_group_create(clerk_class, NULL, 0);
    porters   = skua_process_group_create(porter_class, NULL, 0);
    savers    = Saver_new(SAVER_ROWS, SAVER_COLUMNS);
    tellers   = Teller_new();
    for (int i = 0; i < WORKERS; i++)
        workers[i] = skua_chare_create(worker_class, i % skua_pes(), NULL, 0);
    Saver_run_all(savers, steps, skua_done_invoke(boss_ref, boss_ran));
    boss_send_row(0);
    skua_invoke_copy(boss_ref, boss_halved, &(int64_t){0}, sizeof(int64_t));
}

static skua_class make_class(const char *name, size_t bytes,
                             void (*construct)(void *, const void *, size_t))
{
    return skua_class_register(&(skua_class_def){.size      = sizeof(skua_class_def),
                                                 .name      = name,
                                                 .bytes     = bytes,
                                                 .construct = construct,
                                                 .pup       = skua_pup_plain});
}

static skua_entry make_entry(skua_class of, const char *name, skua_method_fn fn)
{
    return skua_method_register(of, name, fn, 0);
}

int main(int argc, char **argv)
{
    if (getenv("ASK"))
        setenv("SKUA_SURVIVE", getenv("ASK"), 1);
    boss_class   = make_class("boss", sizeof(struct boss), NULL);
    leaf_class   = make_class("leaf", sizeof(struct leaf), leaf_construct);
    clerk_class  = make_class("clerk", sizeof(struct clerk), clerk_construct);
    porter_class = make_class("porter", sizeof(struct clerk), clerk_construct);
    worker_class = make_class("worker", sizeof(struct worker), NULL);
    cell_class   = skua_class_register(&(skua_class_def){.size      = sizeof(skua_class_def),
                                                         .name      = "cell",
                                                         .bytes     = sizeof(struct cell),
                                                         .construct = cell_construct,
                                                         .destroy   = cell_destroy,
                                                         .pup       = cell_pup});
    boss_summed  = make_entry(boss_class, "summed", on_boss_summed);
    boss_halved  = make_entry(boss_class, "halved", on_boss_halved);
    boss_saved   = make_entry(boss_class, "saved", on_boss_saved);
    boss_flushed = make_entry(boss_class, "flushed", on_boss_flushed);
    boss_leaves  = make_entry(boss_class, "leaves", on_boss_leaves);
    boss_ran     = make_entry(boss_class, "ran", on_boss_ran);
    boss_told    = make_entry(boss_class, "told", on_boss_told);
    boss_quiet   = make_entry(boss_class, "quiet", on_boss_quiet);
    cell_step    = make_entry(cell_class, "step", on_cell_step);
    cell_half    = make_entry(cell_class, "half", on_cell_half);
    cell_rest    = make_entry(cell_class, "rest", on_cell_rest);
    leaf_step    = make_entry(leaf_class, "step", on_leaf_step);
    clerk_step   = make_entry(clerk_class, "step", on_clerk_step);
    porter_step  = make_entry(porter_class, "step", on_porter_step);
    worker_add   = make_entry(worker_class, "add", on_worker_add);
    skua_readonly_register("steps", &steps, sizeof steps);
    skua_readonly_register("save", &save, sizeof save);
    skua_readonly_register("stop", &stop, sizeof stop);
    skua_readonly_register("cells", &cells, sizeof cells);
    skua_readonly_register("leaves", &leaves, sizeof leaves);
    skua_readonly_register("clerks", &clerks, sizeof clerks);
    skua_readonly_register("porters", &porters, sizeof porters);
    skua_readonly_register("savers", &savers, sizeof savers);
    skua_readonly_register("tellers", &tellers, sizeof tellers);
    skua_readonly_register("boss", &boss_ref, sizeof boss_ref);
    skua_readonly_register("workers", workers, sizeof workers);
    skua_readonly_block_register("dir", (void **)&dir, &dir_bytes);
    skua_checkpoint_register("tally", &tally, sizeof tally);
    saver_register();
    return skua_program(argc, argv, begin);
}
