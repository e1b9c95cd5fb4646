/* SPDX-License-Identifier: Apache-2.0 */
/* leanmd.c - see leanmd.ci. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/variant.h"
#include "leanmd.ci.h"

#define NEIGHBOURS_MAX 125

static uint32_t first_cell_map;
/* The work of this PE, in seconds: the code of cells and computes, with the contributions of forces
 * to their sums, without other calls of the runtime. */
static _Thread_local double busy;
static _Thread_local double
    waited; /* seconds that this PE had nothing to run before the clock started */

/* ---- steps --------------------------------------------------------------------------------- */

bool is_sample(int64_t step)
{
    return step % options.migrate == 0 || step == options.steps;
}

int64_t samples(void)
{
    return (options.steps + options.migrate - 1) / options.migrate + 1;
}

bool is_migration(int64_t step)
{
    return step < options.steps && (step + 1) % options.migrate == 0;
}

bool is_balancing(int64_t step)
{
    return options.balance && step < options.steps && (step + 1) % options.balance == 0;
}

/* ---- cells ---------------------------------------------------------------------------------- */

static Cell_element cell_at(int number)
{
    int at[3];

    box_indices(&options.box, number, at);
    return Cell_at(cells, at[0], at[1], at[2]);
}

void Cell_on_create(Cell *cell)
{
    start_fill(&cell->atoms, &options.box, skua_index_of(cell).at.x);
}

void Cell_on_destroy(Cell *cell)
{
    free(cell->atoms.at);
}

void Cell_on_pup(skua_pup *p, Cell *cell)
{
    skua_pup_value(p, &cell->atoms.n);
    skua_pup_memory(p, &cell->atoms.at, (size_t)cell->atoms.n * sizeof *cell->atoms.at);
    skua_pup_value(p, &cell->computes);
    skua_pup_value(p, &cell->step);
    if (skua_pup_unpacking(p))
        cell->atoms.room = cell->atoms.n;
}

/* Returns the index of the compute of two cells. */
static skua_index compute_index(int first, int second)
{
    skua_index index = skua_index6(0, 0, 0, 0, 0, 0);

    box_indices(&options.box, first, index.at.x);
    box_indices(&options.box, second, index.at.x + 3);
    return index;
}

void create_section(Cell *cell)
{
    int        all = box_neighbours(&options.box), n = 0;
    skua_index self = skua_index_of(cell), index[NEIGHBOURS_MAX];
    int        here = box_number(&options.box, self.at.x);

    for (int i = all / 2; i < all; i++) {
        index[n++] = compute_index(here, box_neighbour(&options.box, self.at.x, i, 1));
        if (i > all / 2)
            index[n++] = compute_index(box_neighbour(&options.box, self.at.x, i, -1), here);
    }
    cell->computes = Compute_section_of(computes, index, (size_t)n);
}

/* Positions are a few kilobytes, and a compute uses the second set in place, so passing them by
 * reference would cost more than copying. */
void send_positions(Cell *cell)
{
    skua_index       self = skua_index_of(cell);
    struct md_sender from = {box_number(&options.box, self.at.x), cell->atoms.n, cell->computes,
                             Cell_forces_done(Cell_self(cell))};
    double           began, x[3 * CELL_ATOMS_MAX];

    if (cell->step == options.warmup)
        skua_contribute_nothing(cell, Main_warm_done(main_proxy));
    began = skua_time();
    atoms_positions(&cell->atoms, x);
    busy += skua_time() - began;
    Compute_positions_section(cell->computes, cell->step, from, x);
}

/* Ends a step and begins the next one. Velocities are known half a step before and after a full
 * step. */
void move_atoms(Cell *cell, const int64_t *force, int count)
{
    double         began = skua_time();
    struct md_sums sums  = {0};

    if (count != force_count(cell->atoms.n))
        skua_abort("a cell received forces for atoms that are not its own");
    if (cell->step > 0)
        atoms_kick(&cell->atoms, force);
    if (is_sample(cell->step))
        sums = atoms_sum(&cell->atoms, force);
    if (cell->step < options.steps) {
        atoms_kick(&cell->atoms, force);
        atoms_drift(&cell->atoms);
    }
    busy += skua_time() - began;
    if (is_sample(cell->step))
        skua_contribute(cell, SKUA_SUM, SKUA_INT64, &sums, sizeof sums / sizeof(int64_t),
                        Main_sums_done(main_proxy));
}

void send_atoms(Cell *cell)
{
    double            began = skua_time();
    skua_index        self  = skua_index_of(cell);
    struct md_leaving leaving;

    if (!atoms_leave(&cell->atoms, &options.box, &leaving))
        skua_abort("an atom of cell (%d, %d, %d) moved beyond the neighbours in step %lld; use a "
                   "smaller --migrate",
                   self.at.x[0], self.at.x[1], self.at.x[2], (long long)cell->step);
    busy += skua_time() - began;
    for (int way = 0; way < DIRECTIONS; way++)
        if (way != STAYS)
            Cell_atoms(cell_at(box_beside(&options.box, self.at.x, way)),
                       cell->step * DIRECTIONS + way, leaving.first[way + 1] - leaving.first[way],
                       leaving.at + leaving.first[way]);
}

void receive_atoms(Cell *cell, const struct md_atom *at, int n)
{
    if (!atoms_arrive(&cell->atoms, at, n))
        skua_abort("a cell has more than %d atoms, or memory is short", CELL_ATOMS_MAX);
}

/* ---- computes -------------------------------------------------------------------------------- */

void set_cells(Compute *compute)
{
    skua_index self = skua_index_of(compute);

    compute->single = memcmp(self.at.x, self.at.x + 3, 3 * sizeof *self.at.x) == 0;
    compute->first  = box_number(&options.box, self.at.x);
    box_shift(&options.box, self.at.x, self.at.x + 3, compute->shift);
}

static void contribute_forces(Compute *compute, const struct md_sender *from, const int64_t *force)
{
    skua_section_contribute(
        from->to.section, compute,
        skua_contribution_make(SKUA_SUM, SKUA_INT64, force, (size_t)force_count(from->n)),
        from->done);
}

static struct force_atoms received_atoms(const struct md_sender *from, const double *x)
{
    if (from->n > CELL_ATOMS_MAX)
        skua_abort("a cell has %d atoms, more than %d", from->n, CELL_ATOMS_MAX);
    return (struct force_atoms){from->n, x};
}

void interact_within(Compute *compute, const struct md_sender *from, const double *x)
{
    double             began = skua_time();
    struct force_atoms a     = received_atoms(from, x);
    int64_t            force[3 * CELL_ATOMS_MAX + 1];

    force_within(&a, is_sample(compute->step), force);
    contribute_forces(compute, from, force);
    busy += skua_time() - began;
}

void interact_between(Compute *compute, const struct md_sender *from, const double *x,
                      const struct md_sender *other, const double *y)
{
    double             began = skua_time();
    struct force_atoms a = received_atoms(from, x), b = received_atoms(other, y);
    bool               swapped = from->cell != compute->first;
    int64_t            force[2][3 * CELL_ATOMS_MAX + 1];

    force_between(swapped ? &b : &a, swapped ? &a : &b, compute->shift, is_sample(compute->step),
                  force[0], force[1]);
    contribute_forces(compute, from, force[swapped]);
    contribute_forces(compute, other, force[!swapped]);
    busy += skua_time() - began;
}

/* ---- the program, on PE 0 -------------------------------------------------------------------- */

/* The home PE of a compute is that of its first cell. */
static int on_first_cell(const skua_index *index, const skua_range *range, const int32_t *arg)
{
    (void)range, (void)arg;
    return skua_home(Cell_at(cells, index->at.x[0], index->at.x[1], index->at.x[2]).ref);
}

/* Returns the PE of a cell, or of the first cell of a compute. */
static void position_of(const void *self, double at[3])
{
    skua_index index = skua_index_of(self);

    for (int d = 0; d < 3; d++)
        at[d] = index.at.x[d];
}

static void set_balance(skua_class class, skua_entry resume)
{
    skua_class_set_balance(class, &(skua_balance_params){.size     = sizeof(skua_balance_params),
                                                         .flags    = SKUA_BALANCE_AT_SYNC,
                                                         .resume   = resume,
                                                         .position = position_of});
}

void leanmd_prepare(void)
{
    first_cell_map = skua_map_register("first cell", on_first_cell);
    set_balance(Cell__class, Cell__resume_entry);
    set_balance(Compute__class, Compute__resume_entry);
}

void create_objects(void)
{
    const int *n = options.box.cells, all = box_neighbours(&options.box);

    meters   = Meter_new();
    cells    = Cell_new(n[0], n[1], n[2]);
    computes = Compute_new_with(
        &(skua_array_def){.dims = 6, .map = {.kind = first_cell_map}, .flags = SKUA_ARRAY_OPEN});
    for (int first = 0; first < box_cells(&options.box); first++)
        for (int i = all / 2, at[3]; i < all; i++) {
            box_indices(&options.box, first, at);
            skua_array_insert(
                skua_element(computes.all,
                             compute_index(first, box_neighbour(&options.box, at, i, 1))),
                SKUA_ANY_PE, NULL, 0);
        }
    skua_array_close(computes.all);
}

void start_clock(Main *self)
{
    meter_start(&self->meter);
    Meter_begin_all(meters);
}

/* Returns the labels of a result of @p size: the number of cells; of "interval", a step. */
static struct series results_of(int64_t size)
{
    return (struct series){"leanmd", options.series, NULL, size, skua_pes()};
}

void add_sample(Main *self, int64_t sample, const struct md_sums *sums)
{
    int64_t       step   = sample * options.migrate;
    double        now    = skua_time();
    struct series series = results_of(step);

    tally_add(&self->tally, sums);
    meter_add_syncs(&self->meter);
    variant_progress(&self->shown, step, options.steps);
    if (sample > 0 && step <= options.steps)
        series_print(&series, "interval", (now - self->sampled) / (double)options.migrate);
    self->sampled = now;
}

void report(const Main *self, const skua_statistics *of, double waiting)
{
    struct series series = results_of(box_cells(&options.box));
    bool          good;

    progress_clear();
    good = tally_print(&self->tally, &options.box, options.steps);
    meter_print(&self->meter, &series, options.steps - options.warmup, of, waiting);
    skua_exit(good ? 0 : 1);
}

void Meter_on_begin(Meter *self)
{
    (void)self;
    busy   = 0;
    waited = meter_waited();
}

void Meter_on_report(Meter *self)
{
    skua_statistics statistics = skua_statistics_of(busy);
    double          since      = meter_waited() - waited;

    skua_contribute(self, SKUA_STATISTICS, SKUA_DOUBLE, &statistics, SKUA_STATISTICS_COUNT,
                    Main_busy_done(main_proxy));
    skua_contribute(self, SKUA_SUM, SKUA_DOUBLE, &since, 1, Main_waited_done(main_proxy));
}
