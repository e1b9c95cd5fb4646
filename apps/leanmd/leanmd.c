/* SPDX-License-Identifier: Apache-2.0 */
/* leanmd.c - see leanmd.ci. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/variant.h"
#include "leanmd.ci.h"

static uint32_t             first_cell_map;
static _Thread_local double busy; /* seconds in cells and computes of this PE */

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

static void cell_indices(const Cell *cell, int at[3])
{
    Cell_position index = Cell_index(cell);

    at[0] = index.i;
    at[1] = index.j;
    at[2] = index.k;
}

static Cell_element cell_at(int number)
{
    int at[3];

    box_indices(&options.box, number, at);
    return Cell_at(cells, at[0], at[1], at[2]);
}

static int cell_number(const Cell *cell)
{
    int at[3];

    cell_indices(cell, at);
    return box_number(&options.box, at);
}

void Cell_on_create(Cell *cell)
{
    int at[3];

    cell_indices(cell, at);
    atoms_create(&cell->atoms, &options.box, at);
}

void Cell_on_destroy(Cell *cell)
{
    atoms_destroy(&cell->atoms);
}

void Cell_on_pup(skua_pup *p, Cell *cell)
{
    skua_pup_value(p, &cell->atoms.n);
    skua_pup_value(p, &cell->atoms.room);
    if (skua_pup_unpacking(p) && !atoms_allocate(&cell->atoms))
        skua_abort("memory is short");
    skua_pup_bytes(p, cell->atoms.at, 6 * (size_t)cell->atoms.room * sizeof(double));
    skua_pup_value(p, &cell->computes);
    skua_pup_value(p, &cell->step);
}

/* The index of the compute of a cell and its neighbour with this offset: the cell from which the
 * other has a positive offset, in lexicographic order, is first. */
static skua_index compute_index(const int at[3], const int offset[3], bool first)
{
    int there[3], a[3], b[3];

    for (int d = 0; d < 3; d++)
        there[d] = at[d] + (first ? offset[d] : -offset[d]);
    box_indices(&options.box, box_number(&options.box, at), first ? a : b);
    box_indices(&options.box, box_number(&options.box, there), first ? b : a);
    return skua_index6(a[0], a[1], a[2], b[0], b[1], b[2]);
}

void create_section(Cell *cell)
{
    int        all = box_neighbours(&options.box), n = 0, at[3], offset[3];
    skua_index index[125];

    cell_indices(cell, at);
    for (int i = all / 2; i < all; i++) {
        box_offset(&options.box, i, offset);
        index[n++] = compute_index(at, offset, true);
        if (i > all / 2)
            index[n++] = compute_index(at, offset, false);
    }
    cell->computes = Compute_section_of(computes, index, (size_t)n);
}

/* The positions change when the forces have come, hence when all computes have read them. */
void send_positions(Cell *cell)
{
    struct md_sender from = {cell_number(cell), cell->atoms.n, cell->atoms.room, cell->computes};

    if (cell->step == options.warmup)
        skua_contribute_nothing(cell, Main_warm_done(main_proxy));
    Compute_positions_section(cell->computes, cell->step, from, atoms_of(&cell->atoms, 0),
                              skua_done_nothing());
}

static void contribute_sums(Cell *cell, int64_t energy)
{
    struct md_sums sums = {.potential = energy >> (FORCE_BITS - SUM_BITS)};

    atoms_sum(&cell->atoms, &sums);
    skua_contribute(cell, SKUA_SUM, SKUA_INT64, &sums, sizeof sums / sizeof(int64_t),
                    Main_sums_done(main_proxy));
}

/* Ends a step and begins the next one: velocities are known half a step before and after. */
void move_atoms(Cell *cell, const int64_t *force, int count)
{
    double began = skua_time();

    if (count != force_count(cell->atoms.n))
        skua_abort("a cell got forces on other atoms than its own");
    if (cell->step > 0)
        atoms_kick(&cell->atoms, force);
    if (is_sample(cell->step))
        contribute_sums(cell, force[count - 1]);
    if (cell->step < options.steps) {
        atoms_kick(&cell->atoms, force);
        atoms_drift(&cell->atoms);
    }
    busy += skua_time() - began;
}

void send_atoms(Cell *cell)
{
    struct md_leaving leaving;
    int               at[3], offset[3];

    cell_indices(cell, at);
    if (!atoms_leave(&cell->atoms, &options.box, &leaving))
        skua_abort("an atom of cell (%d, %d, %d) moved beyond the neighbours in step %lld; use a "
                   "smaller --migrate",
                   at[0], at[1], at[2], (long long)cell->step);
    for (int way = 0; way < DIRECTIONS; way++) {
        if (way == STAYS)
            continue;
        box_direction(way, offset);
        for (int d = 0; d < 3; d++)
            offset[d] += at[d];
        Cell_atoms(cell_at(box_number(&options.box, offset)), cell->step * DIRECTIONS + way,
                   leaving.first[way + 1] - leaving.first[way],
                   leaving.at + 6 * leaving.first[way]);
    }
}

void receive_atoms(Cell *cell, const double *at, int n)
{
    if (!atoms_arrive(&cell->atoms, at, n))
        skua_abort("a cell has more than %d atoms, or memory is short", CELL_ATOMS_MAX);
}

/* ---- computes -------------------------------------------------------------------------------- */

bool is_single(const Compute *compute)
{
    Compute_position at = Compute_index(compute);

    return at.i == at.l && at.j == at.m && at.k == at.n;
}

static int first_cell(const Compute *compute)
{
    Compute_position at = Compute_index(compute);

    return box_number(&options.box, (int[]){at.i, at.j, at.k});
}

/* From the corner of the first cell to that of the second; across the edge of the box if that is
 * shorter. */
static void compute_shift(const Compute *compute, double shift[3])
{
    Compute_position at    = Compute_index(compute);
    int              by[3] = {at.l - at.i, at.m - at.j, at.n - at.k};

    for (int d = 0; d < 3; d++) {
        int cells_d = options.box.cells[d], away = options.box.away[d];

        by[d] -= by[d] > away ? cells_d : 0;
        by[d] += by[d] < -away ? cells_d : 0;
        shift[d] = by[d] * options.box.edge[d];
    }
}

static void contribute_forces(Compute *compute, const struct md_sender *from, const int64_t *force)
{
    skua_section_contribute(
        from->to.section, compute,
        skua_contribution_make(SKUA_SUM, SKUA_INT64, force, (size_t)force_count(from->n)),
        Cell_forces_done(cell_at(from->cell)));
}

static struct force_atoms received_atoms(const struct md_sender *from, const double *x)
{
    if (from->n > CELL_ATOMS_MAX || from->n > from->room)
        skua_abort("a cell has %d atoms, more than %d", from->n, CELL_ATOMS_MAX);
    return (struct force_atoms){from->n, {x, x + from->room, x + 2 * from->room}};
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
    double             began = skua_time(), shift[3];
    struct force_atoms a = received_atoms(from, x), b = received_atoms(other, y);
    bool               swapped = from->cell != first_cell(compute);
    int64_t            force[2][3 * CELL_ATOMS_MAX + 1];

    compute_shift(compute, shift);
    force_between(swapped ? &b : &a, swapped ? &a : &b, shift, is_sample(compute->step), force[0],
                  force[1]);
    contribute_forces(compute, from, force[swapped]);
    contribute_forces(compute, other, force[!swapped]);
    busy += skua_time() - began;
}

/* ---- balancing --------------------------------------------------------------------------------
 */

/* Where a cell is, in cells. */
static void cell_position(const void *self, double at[3])
{
    Cell_position index = Cell_index(self);

    at[0] = index.i;
    at[1] = index.j;
    at[2] = index.k;
}

/* A compute is where its first cell is, and a little towards the second. */
static void compute_position(const void *self, double at[3])
{
    Compute_position index = Compute_index(self);

    at[0] = index.i + 1e-3 * (index.l - index.i);
    at[1] = index.j + 1e-3 * (index.m - index.j);
    at[2] = index.k + 1e-3 * (index.n - index.k);
}

static void set_balance(skua_class class, skua_entry resume,
                        void (*position)(const void *self, double at[3]))
{
    const skua_balance_params params = {.size     = sizeof params,
                                        .flags    = SKUA_BALANCE_AT_SYNC,
                                        .resume   = resume,
                                        .position = position};

    skua_class_set_balance(class, &params);
}

/* ---- the program, on PE 0 -------------------------------------------------------------------- */

/* A compute is at home where its first cell is. */
static int on_first_cell(const skua_index *index, const skua_range *range, const int32_t *arg)
{
    (void)range, (void)arg;
    return skua_home(Cell_at(cells, index->at.x[0], index->at.x[1], index->at.x[2]).ref);
}

void leanmd_prepare(void)
{
    atoms_memory   = (struct md_memory){skua_buffer_alloc, skua_buffer_free};
    first_cell_map = skua_map_register("first cell", on_first_cell);
    set_balance(Cell__class, Cell__resume_entry, cell_position);
    set_balance(Compute__class, Compute__resume_entry, compute_position);
}

static void insert_computes(int number)
{
    int all = box_neighbours(&options.box), at[3], offset[3];

    box_indices(&options.box, number, at);
    for (int i = all / 2; i < all; i++) {
        skua_index index;

        box_offset(&options.box, i, offset);
        index = compute_index(at, offset, true);
        skua_array_insert(skua_element(computes.all, index), SKUA_ANY_PE, NULL, 0);
    }
}

void create_objects(void)
{
    const int *n = options.box.cells;

    meters   = Meter_new();
    cells    = Cell_new(n[0], n[1], n[2]);
    computes = Compute_new_with(
        &(skua_array_def){.dims = 6, .map = {.kind = first_cell_map}, .flags = SKUA_ARRAY_OPEN});
    for (int number = 0; number < box_cells(&options.box); number++)
        insert_computes(number);
    skua_array_close(computes.all);
}

void start_clock(Main *self)
{
    self->started = self->sampled = skua_time();
    Meter_begin_all(meters);
}

static void print_json(const char *metric, int64_t size, double value)
{
    if (options.series[0])
        printf("{\"bench\":\"leanmd\",\"series\":\"%s\",\"bytes\":%lld,\"metric\":\"%s-%dpe\","
               "\"value\":%.6g}\n",
               options.series, (long long)size, metric, skua_pes(), value);
}

/* Samples arrive every options.migrate steps. */
void add_sample(Main *self, int64_t sample, const struct md_sums *sums)
{
    int64_t step = sample * options.migrate;
    double  now  = skua_time();

    tally_add(&self->tally, sums);
    step = step < options.steps ? step : options.steps;
    variant_progress(&self->shown, step, options.steps);
    if (sample > 0 && step == sample * options.migrate)
        print_json("interval", step, (now - self->sampled) / (double)options.migrate);
    self->sampled = now;
}

void report(const Main *self, const skua_statistics *of)
{
    double each = self->seconds / (double)(options.steps - options.warmup);
    double idle = 1 - of->mean / self->seconds, uneven = of->mean > 0 ? of->max / of->mean : 1;
    bool   good;

    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%32s\r", ""); /* clears the progress */
    good = tally_print(&self->tally, &options.box, options.steps);
    printf("%d PEs: %.1f us per step, idle %.1f %%, max/mean %.3f\n", skua_pes(), 1e6 * each,
           100 * idle, uneven);
    print_json("step", box_cells(&options.box), each);
    print_json("idle", box_cells(&options.box), idle);
    print_json("uneven", box_cells(&options.box), uneven);
    skua_exit(good ? 0 : 1);
}

void Meter_on_begin(Meter *self)
{
    (void)self;
    busy = 0;
}

void Meter_on_report(Meter *self)
{
    skua_statistics statistics = skua_statistics_of(busy);

    skua_contribute(self, SKUA_STATISTICS, SKUA_DOUBLE, &statistics, SKUA_STATISTICS_COUNT,
                    Main_busy_done(main_proxy));
}
