/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain.c - leanmd without the translator: the control flow of cells and computes is written by
 * hand.
 *
 * It is for comparison with leanmd.ci, whose description applies.  A cell waits for its forces,
 * then, every options.migrate steps, for atoms from all directions.  A compute keeps the first
 * positions until the second arrive. Of messages that arrive early, only atoms have to be kept: a
 * cell sends positions only when all its computes have completed the previous step.  Objects do not
 * migrate.
 */
#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/series.h"
#include "options.h"
#include "start.h"
#include "tally.h"

struct plain_cell {
    int             at[3], number;
    struct md_atoms atoms;
    skua_section    computes;
    int64_t         step;
    bool            waiting; /* the cell waits for atoms */
    int             arrived; /* number of messages with atoms that have arrived */
    skua_msg       *arrival[DIRECTIONS];
};

/* Positions; the message ends after those of the n atoms. */
struct plain_sender {
    int64_t         step;
    int             cell, n;
    skua_section    to;
    skua_completion done; /* gets the sum of the forces */
    double          x[3 * CELL_ATOMS_MAX];
};

struct plain_compute {
    int                  first;  /* number of the first cell */
    bool                 single; /* the compute of a single cell */
    double               shift[3];
    int64_t              step;
    struct plain_sender *early; /* a copy of the first positions */
};

/* The head of a message with atoms that change their cell; the atoms follow. */
struct plain_arrival {
    int64_t direction;
    int64_t n;
};

static struct leanmd_options options; /* read-only, like the next variable */
static skua_collection       cells, computes;
static skua_class            cell_class, compute_class;
static skua_entry            run_entry, forces_entry, atoms_entry, positions_entry;
static uint32_t              first_cell_map;
static skua_completion       sums_done; /* read-only */
static _Thread_local double  busy;      /* seconds that computes of this PE have run */
static struct md_tally       tally;     /* used on PE 0, like the next variable */
static double                started;

/* ---- indices ----------------------------------------------------------------------------------
 */

static skua_ref cell_ref(int number)
{
    int at[3];

    box_indices(&options.box, number, at);
    return skua_element3(cells, at[0], at[1], at[2]);
}

static skua_index compute_index(int first, int second)
{
    skua_index index = skua_index6(0, 0, 0, 0, 0, 0);

    box_indices(&options.box, first, index.at.x);
    box_indices(&options.box, second, index.at.x + 3);
    return index;
}

static int on_first_cell(const skua_index *index, const skua_range *range, const int32_t *arg)
{
    (void)range, (void)arg;
    return skua_home(skua_element3(cells, index->at.x[0], index->at.x[1], index->at.x[2]));
}

/* ---- cells ------------------------------------------------------------------------------------
 */

static void cell_construct(void *self, const void *data, size_t bytes)
{
    struct plain_cell *cell  = self;
    skua_index         index = skua_index_of(self);

    (void)data, (void)bytes;
    memcpy(cell->at, index.at.x, sizeof cell->at);
    cell->number = box_number(&options.box, cell->at);
    start_fill(&cell->atoms, &options.box, cell->at);
}

static void cell_create_section(struct plain_cell *cell)
{
    int        all = box_neighbours(&options.box), n = 0;
    skua_index index[125];

    for (int i = all / 2; i < all; i++) {
        index[n++] = compute_index(cell->number, box_neighbour(&options.box, cell->at, i, 1));
        if (i > all / 2)
            index[n++] = compute_index(box_neighbour(&options.box, cell->at, i, -1), cell->number);
    }
    cell->computes = skua_section_create(computes, index, (size_t)n);
}

static void cell_send_positions(struct plain_cell *cell)
{
    struct plain_sender from;

    from.step = cell->step;
    from.cell = cell->number;
    from.n    = cell->atoms.n;
    from.to   = cell->computes;
    from.done = skua_done_invoke(skua_ref_of(cell), forces_entry);
    atoms_positions(&cell->atoms, from.x);
    skua_section_invoke(cell->computes, positions_entry, &from,
                        offsetof(struct plain_sender, x) + 3 * (size_t)from.n * sizeof *from.x);
}

static void cell_next_step(struct plain_cell *cell)
{
    if (cell->step++ < options.steps)
        cell_send_positions(cell);
}

static void cell_send_atoms(struct plain_cell *cell)
{
    struct md_leaving leaving;

    if (!atoms_leave(&cell->atoms, &options.box, &leaving))
        skua_abort("an atom moved beyond the neighbours of its cell");
    for (int way = 0; way < DIRECTIONS; way++) {
        int                  n     = leaving.first[way + 1] - leaving.first[way];
        size_t               bytes = (size_t)n * sizeof(struct md_atom);
        struct plain_arrival head  = {way, n};
        skua_msg            *msg;

        if (way == STAYS)
            continue;
        msg = skua_msg_alloc(sizeof head + bytes);
        memcpy(skua_msg_data(msg), &head, sizeof head);
        memcpy((char *)skua_msg_data(msg) + sizeof head, leaving.at + leaving.first[way], bytes);
        skua_invoke(cell_ref(box_beside(&options.box, cell->at, way)), atoms_entry, msg);
    }
}

/* Adds the atoms that have arrived, in the order of their directions. */
static void cell_receive_atoms(struct plain_cell *cell)
{
    for (int way = 0; way < DIRECTIONS; way++) {
        const struct plain_arrival *head;

        if (way == STAYS)
            continue;
        head = skua_msg_data(cell->arrival[way]);
        if (!atoms_arrive(&cell->atoms, (const struct md_atom *)(head + 1), (int)head->n))
            skua_abort("a cell has more than %d atoms", CELL_ATOMS_MAX);
        skua_msg_free(cell->arrival[way]);
    }
    cell->waiting = false;
    cell->arrived = 0;
    cell_next_step(cell);
}

static void cell_on_atoms(void *self, skua_msg *msg)
{
    struct plain_cell          *cell = self;
    const struct plain_arrival *head = skua_msg_data(msg);

    cell->arrival[head->direction] = msg;
    if (++cell->arrived == DIRECTIONS - 1 && cell->waiting)
        cell_receive_atoms(cell);
}

static void cell_contribute_sums(struct plain_cell *cell, const int64_t *force)
{
    struct md_sums sums = atoms_sum(&cell->atoms, force);

    skua_contribute(cell, SKUA_SUM, SKUA_INT64, &sums, sizeof sums / sizeof(int64_t), sums_done);
}

static void cell_on_forces(void *self, const void *data, size_t bytes)
{
    struct plain_cell *cell  = self;
    const int64_t     *force = data;

    (void)bytes;
    if (cell->step > 0)
        atoms_kick(&cell->atoms, force);
    if (cell->step % options.migrate == 0 || cell->step == options.steps)
        cell_contribute_sums(cell, force);
    if (cell->step < options.steps) {
        atoms_kick(&cell->atoms, force);
        atoms_drift(&cell->atoms);
    }
    if (cell->step < options.steps && (cell->step + 1) % options.migrate == 0) {
        cell_send_atoms(cell);
        cell->waiting = true;
        if (cell->arrived == DIRECTIONS - 1)
            cell_receive_atoms(cell);
    } else {
        cell_next_step(cell);
    }
}

static void cell_on_run(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    cell_create_section(self);
    cell_send_positions(self);
}

/* ---- computes ---------------------------------------------------------------------------------
 */

static void compute_construct(void *self, const void *data, size_t bytes)
{
    struct plain_compute *compute = self;
    skua_index            index   = skua_index_of(self);

    (void)data, (void)bytes;
    compute->first  = box_number(&options.box, index.at.x);
    compute->single = memcmp(index.at.x, index.at.x + 3, 3 * sizeof(int32_t)) == 0;
    box_shift(&options.box, index.at.x, index.at.x + 3, compute->shift);
}

static void compute_contribute(struct plain_compute *compute, const struct plain_sender *from,
                               const int64_t *force)
{
    skua_section_contribute(
        from->to, compute,
        skua_contribution_make(SKUA_SUM, SKUA_INT64, force, (size_t)force_count(from->n)),
        from->done);
}

static bool compute_sampled(const struct plain_compute *compute)
{
    return compute->step % options.migrate == 0 || compute->step == options.steps;
}

static void compute_within(struct plain_compute *compute, const struct plain_sender *from)
{
    double             began = skua_time();
    struct force_atoms a     = {from->n, from->x};
    int64_t            force[3 * CELL_ATOMS_MAX + 1];

    force_within(&a, compute_sampled(compute), force);
    compute_contribute(compute, from, force);
    busy += skua_time() - began;
}

static void compute_between(struct plain_compute *compute, const struct plain_sender *first,
                            const struct plain_sender *second)
{
    double             began = skua_time();
    struct force_atoms a = {first->n, first->x}, b = {second->n, second->x};
    int64_t            force[2][3 * CELL_ATOMS_MAX + 1];

    force_between(&a, &b, compute->shift, compute_sampled(compute), force[0], force[1]);
    compute_contribute(compute, first, force[0]);
    compute_contribute(compute, second, force[1]);
    busy += skua_time() - began;
}

static void compute_keep(struct plain_compute *compute, const void *from, size_t bytes)
{
    compute->early = malloc(bytes);
    if (!compute->early)
        skua_abort("memory is short");
    memcpy(compute->early, from, bytes);
}

static void compute_on_positions(void *self, const void *data, size_t bytes)
{
    struct plain_compute      *compute = self;
    const struct plain_sender *from    = data;
    struct plain_sender       *early   = compute->early;

    if (!compute->single && !early) {
        compute_keep(compute, from, bytes);
        return;
    }
    compute->early = NULL;
    if (compute->single)
        compute_within(compute, from);
    else if (from->cell == compute->first)
        compute_between(compute, from, early);
    else
        compute_between(compute, early, from);
    free(early);
    compute->step++;
}

/* ---- the program, on PE 0 ----------------------------------------------------------------------
 */

static void on_sums(void *arg, const void *data, size_t bytes)
{
    struct md_sums sums;
    double         seconds = skua_time() - started;

    (void)arg, (void)bytes;
    memcpy(&sums, data, sizeof sums);
    tally_add(&tally, &sums);
    if (tally.samples <= (options.steps + options.migrate - 1) / options.migrate)
        return;
    skua_exit(tally_print(&tally, &options.box, options.steps) ? 0 : 1);
    printf("%d PEs: %.1f us per step, PE 0 computes %.1f %%\n", skua_pes(),
           1e6 * seconds / (double)options.steps, 100 * busy / seconds);
    series_print(
        &(struct series){"leanmd", options.series, NULL, box_cells(&options.box), skua_pes()},
        "step", seconds / (double)options.steps);
}

static void insert_computes(int first)
{
    int all = box_neighbours(&options.box), at[3];

    box_indices(&options.box, first, at);
    for (int i = all / 2; i < all; i++)
        skua_array_insert(
            skua_element(computes, compute_index(first, box_neighbour(&options.box, at, i, 1))),
            SKUA_ANY_PE, NULL, 0);
}

static void begin(int argc, char **argv)
{
    const int     *n   = options.box.cells;
    skua_array_def def = {.dims = 6, .map = {.kind = first_cell_map}, .flags = SKUA_ARRAY_OPEN};

    if (!options_read(&options, argc, argv))
        return;
    sums_done = skua_done_call(on_sums, NULL);
    cells     = skua_array_create3(cell_class, n[0], n[1], n[2], NULL, 0);
    computes  = skua_array_create(compute_class, &def, NULL, 0);
    for (int number = 0; number < box_cells(&options.box); number++)
        insert_computes(number);
    skua_array_close(computes);
    started = skua_time();
    skua_invoke_all(cells, run_entry, NULL, 0);
}

int main(int argc, char **argv)
{
    static const skua_class_def cell    = {.name      = "cell",
                                           .bytes     = sizeof(struct plain_cell),
                                           .construct = cell_construct},
                                compute = {.name      = "compute",
                                           .bytes     = sizeof(struct plain_compute),
                                           .construct = compute_construct};

    cell_class      = skua_class_register(&cell);
    compute_class   = skua_class_register(&compute);
    run_entry       = skua_method_register(cell_class, "run", cell_on_run, 0);
    forces_entry    = skua_method_register(cell_class, "forces", cell_on_forces, 0);
    atoms_entry     = skua_entry_register(cell_class, "atoms", cell_on_atoms, 0);
    positions_entry = skua_method_register(compute_class, "positions", compute_on_positions, 0);
    first_cell_map  = skua_map_register("first cell", on_first_cell);
    skua_readonly_register("options", &options, sizeof options);
    skua_readonly_register("cells", &cells, sizeof cells);
    skua_readonly_register("computes", &computes, sizeof computes);
    skua_readonly_register("sums_done", &sums_done, sizeof sums_done);
    return skua_program(argc, argv, begin);
}
