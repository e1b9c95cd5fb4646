/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_leanmd.c - the computation of apps/leanmd with MPI: a spatial decomposition.
 *
 * Each rank owns a block of cells.  The forces between two cells are computed once, by the owner of
 * the first: it imports the positions of the second if another rank owns that, and returns the
 * forces on it.  Positions of all cells for one rank are one message, so are forces and migrating
 * atoms. Pairs of own cells are computed while positions are in flight.  The start, the forces, the
 * integration and the sums are those of apps/leanmd, the same files.
 *
 * usage: mpirun -n N mpi_leanmd SERIES
 * X,Y,Z,AWAY-X,AWAY-Y,AWAY-Z,MARGIN,ATOMS,STEPS,PERIOD,DROPLET,SEED
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leanmd/start.h"
#include "leanmd/tally.h"

struct md_cell {
    int               at[3];
    struct md_atoms   atoms;
    double            x[3 * CELL_ATOMS_MAX]; /* positions of its atoms */
    int64_t          *force;                 /* force_count() integers */
    struct md_leaving leaving;
    struct {
        int                   n;
        const struct md_atom *at;
    } arrival[DIRECTIONS];
};

/* The data exchanged with another rank.  Cells are in ascending order. */
struct md_partner {
    int rank;
    int *export, exports, *import, imports;
    double  *positions[2]; /* positions of exported and of imported cells */
    int64_t *forces[2];    /* forces on exported and on imported cells    */
    double  *out, *in;     /* migrating atoms                             */
    int      out_count, out_room;
};

/* Largest number of doubles for one cell in a message. */
#define CELL_NUMBERS (1 + 3 * CELL_ATOMS_MAX)

static int                 rank, ranks, grid[3], partners;
static struct md_box       box;
static struct md_cell    **cells; /* by number; NULL: owned by another rank */
static struct md_partner  *partner;
static struct force_atoms *imported; /* by number */
static int64_t           **import_force;

static void *obtain(size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);

    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

/* ---- distribution --------------------------------------------------------------------------- */

static int owner(int number)
{
    int at[3], to = 0;

    box_indices(&box, number, at);
    for (int d = 0; d < 3; d++)
        to = to * grid[d] + (int)((int64_t)at[d] * grid[d] / box.cells[d]);
    return to;
}

static int neighbour_of(int number, int neighbour, int sign)
{
    int at[3];

    box_indices(&box, number, at);
    return box_neighbour(&box, at, neighbour, sign);
}

/* Returns true if a cell of rank @p to is the first of a pair whose second cell is this one. */
static int is_needed(int number, int to)
{
    int all = box_neighbours(&box);

    for (int i = all / 2 + 1; i < all; i++)
        if (owner(neighbour_of(number, i, -1)) == to)
            return 1;
    return 0;
}

static void find_exchanges(struct md_partner *p)
{
    for (int c = 0; c < box_cells(&box); c++) {
        if (cells[c] && is_needed(c, p->rank))
            p->export[p->exports++] = c;
        if (owner(c) == p->rank && is_needed(c, rank))
            p->import[p->imports++] = c;
    }
}

static void make_partner(int with)
{
    struct md_partner *p    = &partner[partners];
    size_t             most = (size_t)box_cells(&box);

    *p        = (struct md_partner){.rank = with};
    p->export = obtain(most * sizeof(int));
    p->import = obtain(most * sizeof(int));
    find_exchanges(p);
    if (p->exports + p->imports == 0)
        return;
    partners++;
    for (int i = 0; i < 2; i++) {
        size_t numbers  = (size_t)(i ? p->imports : p->exports) * CELL_NUMBERS;
        p->positions[i] = obtain(numbers * sizeof(double));
        p->forces[i]    = obtain(numbers * sizeof(int64_t));
    }
}

static void make_cells(void)
{
    size_t all = (size_t)box_cells(&box);

    cells        = obtain(all * sizeof *cells);
    imported     = obtain(all * sizeof *imported);
    import_force = obtain(all * sizeof *import_force);
    partner      = obtain((size_t)ranks * sizeof *partner);
    for (int c = 0; c < (int)all; c++)
        if (owner(c) == rank) {
            cells[c] = obtain(sizeof **cells);
            box_indices(&box, c, cells[c]->at);
            start_fill(&cells[c]->atoms, &box, cells[c]->at);
            cells[c]->force = obtain((size_t)force_count(CELL_ATOMS_MAX) * sizeof(int64_t));
        }
    for (int r = 0; r < ranks; r++)
        if (r != rank)
            make_partner(r);
}

/* ---- exchanges ------------------------------------------------------------------------------- */

static struct force_atoms atoms_in(int number)
{
    if (!cells[number])
        return imported[number];
    return (struct force_atoms){cells[number]->atoms.n, cells[number]->x};
}

static int pack_positions(struct md_partner *p)
{
    double *to = p->positions[0];

    for (int i = 0; i < p->exports; i++) {
        struct force_atoms a = atoms_in(p->export[i]);

        *to++ = a.n;
        memcpy(to, a.x, 3 * (size_t)a.n * sizeof *to);
        to += 3 * a.n;
    }
    return (int)(to - p->positions[0]);
}

static void unpack_positions(struct md_partner *p)
{
    const double *from  = p->positions[1];
    int64_t      *force = p->forces[1];

    for (int i = 0; i < p->imports; i++) {
        struct force_atoms *a = &imported[p->import[i]];

        a->n = (int)*from++;
        a->x = from;
        from += 3 * a->n;
        import_force[p->import[i]] = force;
        memset(force, 0, (size_t)force_count(a->n) * sizeof *force);
        force += force_count(a->n);
    }
}

static void add_forces(int64_t *restrict to, const int64_t *restrict from, int n)
{
    for (int i = 0; i < force_count(n); i++)
        to[i] += from[i];
}

static void unpack_forces(struct md_partner *p)
{
    const int64_t *from = p->forces[0];

    for (int i = 0; i < p->exports; i++) {
        struct md_cell *cell = cells[p->export[i]];

        add_forces(cell->force, from, cell->atoms.n);
        from += force_count(cell->atoms.n);
    }
}

static int forces_in(const struct md_partner *p, int imports)
{
    int count = 0;

    for (int i = 0; i < (imports ? p->imports : p->exports); i++)
        count += force_count(imports ? imported[p->import[i]].n : cells[p->export[i]]->atoms.n);
    return count;
}

/* ---- forces ---------------------------------------------------------------------------------- */

static void interact(int number, int with, int neighbour, int energy)
{
    static int64_t     fa[3 * CELL_ATOMS_MAX + 1], fb[3 * CELL_ATOMS_MAX + 1];
    struct force_atoms a = atoms_in(number), b = atoms_in(with);
    int                to[3];
    double             shift[3];

    box_indices(&box, with, to);
    box_shift(&box, cells[number]->at, to, shift);
    if (neighbour == box_neighbours(&box) / 2)
        force_within(&a, energy, fa);
    else
        force_between(&a, &b, shift, energy, fa, fb);
    add_forces(cells[number]->force, fa, a.n);
    if (neighbour != box_neighbours(&box) / 2)
        add_forces(cells[with] ? cells[with]->force : import_force[with], fb, b.n);
}

/* Computes the pairs whose second cell this rank owns, or all other pairs. */
static void interact_all(int own, int energy)
{
    int all = box_neighbours(&box);

    for (int c = 0; c < box_cells(&box); c++)
        for (int i = all / 2; i < all && cells[c]; i++) {
            int with = neighbour_of(c, i, 1);

            if ((cells[with] != NULL) == own)
                interact(c, with, i, energy);
        }
}

static void compute_forces(int energy)
{
    MPI_Request request[2 * ranks];
    MPI_Status  status[2 * ranks];
    int         count = 0;

    for (int c = 0; c < box_cells(&box); c++)
        if (cells[c]) {
            atoms_positions(&cells[c]->atoms, cells[c]->x);
            memset(cells[c]->force, 0,
                   (size_t)force_count(cells[c]->atoms.n) * sizeof *cells[c]->force);
        }
    for (struct md_partner *p = partner; p < partner + partners; p++) {
        MPI_Irecv(p->positions[1], p->imports * CELL_NUMBERS, MPI_DOUBLE, p->rank, 0,
                  MPI_COMM_WORLD, &request[count++]);
        MPI_Isend(p->positions[0], pack_positions(p), MPI_DOUBLE, p->rank, 0, MPI_COMM_WORLD,
                  &request[count++]);
    }
    interact_all(1, energy);
    MPI_Waitall(count, request, status);
    for (struct md_partner *p = partner; p < partner + partners; p++)
        unpack_positions(p);
    interact_all(0, energy);
    count = 0;
    for (struct md_partner *p = partner; p < partner + partners; p++) {
        MPI_Irecv(p->forces[0], forces_in(p, 0), MPI_INT64_T, p->rank, 1, MPI_COMM_WORLD,
                  &request[count++]);
        MPI_Isend(p->forces[1], forces_in(p, 1), MPI_INT64_T, p->rank, 1, MPI_COMM_WORLD,
                  &request[count++]);
    }
    MPI_Waitall(count, request, status);
    for (struct md_partner *p = partner; p < partner + partners; p++)
        unpack_forces(p);
}

/* ---- migrating atoms ------------------------------------------------------------------------- */

#define ATOM_NUMBERS ((int)(sizeof(struct md_atom) / sizeof(double)))

static void send_later(int number, int direction, const struct md_atom *at, int n)
{
    struct md_partner *p    = partner;
    int                more = 3 + ATOM_NUMBERS * n;

    while (p->rank != owner(number))
        p++;
    if (p->out_count + more > p->out_room) {
        p->out_room = 2 * (p->out_count + more);
        p->out      = realloc(p->out, (size_t)p->out_room * sizeof *p->out);
    }
    p->out[p->out_count]     = number;
    p->out[p->out_count + 1] = direction;
    p->out[p->out_count + 2] = n;
    memcpy(p->out + p->out_count + 3, at, (size_t)n * sizeof *at);
    p->out_count += more;
}

static void deliver(int number, int direction, const struct md_atom *at, int n)
{
    cells[number]->arrival[direction].n  = n;
    cells[number]->arrival[direction].at = at;
}

static void leave_cell(struct md_cell *cell)
{
    if (!atoms_leave(&cell->atoms, &box, &cell->leaving))
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (int way = 0; way < DIRECTIONS; way++) {
        int                   n  = cell->leaving.first[way + 1] - cell->leaving.first[way];
        int                   to = box_beside(&box, cell->at, way);
        const struct md_atom *at = cell->leaving.at + cell->leaving.first[way];

        if (n > 0 && cells[to])
            deliver(to, way, at, n);
        else if (n > 0)
            send_later(to, way, at, n);
    }
}

static void receive_atoms(struct md_partner *p)
{
    MPI_Status status;
    int        count;

    MPI_Probe(p->rank, 2, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    p->in = realloc(p->in, ((size_t)count + 1) * sizeof *p->in);
    MPI_Recv(p->in, count, MPI_DOUBLE, p->rank, 2, MPI_COMM_WORLD, &status);
    for (int i = 0; i < count; i += 3 + ATOM_NUMBERS * (int)p->in[i + 2])
        deliver((int)p->in[i], (int)p->in[i + 1], (const struct md_atom *)(p->in + i + 3),
                (int)p->in[i + 2]);
}

static void migrate(void)
{
    MPI_Request request[ranks];
    MPI_Status  status[ranks];
    int         count = 0;

    for (int c = 0; c < box_cells(&box); c++)
        if (cells[c])
            leave_cell(cells[c]);
    for (struct md_partner *p = partner; p < partner + partners; p++)
        MPI_Isend(p->out, p->out_count, MPI_DOUBLE, p->rank, 2, MPI_COMM_WORLD, &request[count++]);
    for (struct md_partner *p = partner; p < partner + partners; p++)
        receive_atoms(p);
    MPI_Waitall(count, request, status);
    for (struct md_partner *p = partner; p < partner + partners; p++)
        p->out_count = 0;
    for (int c = 0; c < box_cells(&box); c++)
        for (int way = 0; way < DIRECTIONS && cells[c]; way++) {
            if (!atoms_arrive(&cells[c]->atoms, cells[c]->arrival[way].at,
                              cells[c]->arrival[way].n))
                MPI_Abort(MPI_COMM_WORLD, 3);
            cells[c]->arrival[way].n = 0;
        }
}

/* ---- the run --------------------------------------------------------------------------------- */

static void sum_up(struct md_tally *tally)
{
    struct md_sums mine = {0}, all;
    int64_t       *sum  = (int64_t *)&mine;

    for (int c = 0; c < box_cells(&box); c++)
        if (cells[c]) {
            struct md_sums of = atoms_sum(&cells[c]->atoms, cells[c]->force);

            for (size_t i = 0; i < sizeof mine / sizeof *sum; i++)
                sum[i] = (int64_t)((uint64_t)sum[i] + (uint64_t)((int64_t *)&of)[i]);
        }
    MPI_Reduce(&mine, &all, sizeof all / sizeof(int64_t), MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        tally_add(tally, &all);
}

/* Returns the time of a step in seconds.  As in leanmd, the clock starts when the forces of the
 * first positions are computed: @p steps steps compute as many forces. */
static double run(int steps, int period, struct md_tally *tally)
{
    double started = 0;

    for (int step = 0; step <= steps; step++) {
        int sampled = step % period == 0 || step == steps;

        compute_forces(sampled);
        if (step == 0)
            started = MPI_Wtime();
        for (int c = 0; c < box_cells(&box) && step > 0; c++)
            if (cells[c])
                atoms_kick(&cells[c]->atoms, cells[c]->force);
        if (sampled)
            sum_up(tally);
        for (int c = 0; c < box_cells(&box) && step < steps; c++)
            if (cells[c]) {
                atoms_kick(&cells[c]->atoms, cells[c]->force);
                atoms_drift(&cells[c]->atoms);
            }
        if (step < steps && (step + 1) % period == 0)
            migrate();
    }
    return (MPI_Wtime() - started) / steps;
}

int main(int argc, char **argv)
{
    struct md_tally tally = {0};
    int             atoms, steps, period, droplet, seed, good = 1;
    double          each;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 3 || sscanf(argv[2], "%d,%d,%d,%d,%d,%d,%lf,%d,%d,%d,%d,%d", &box.cells[0],
                            &box.cells[1], &box.cells[2], &box.away[0], &box.away[1], &box.away[2],
                            &box.margin, &atoms, &steps, &period, &droplet, &seed) != 12)
        MPI_Abort(MPI_COMM_WORLD, 2);
    box.per_cell = atoms;
    box.droplet  = droplet;
    box.seed     = (uint64_t)seed;
    start_prepare(&box);
    MPI_Dims_create(ranks, 3, grid);
    make_cells();
    MPI_Barrier(MPI_COMM_WORLD);
    each = run(steps, period, &tally);
    if (rank == 0) {
        good = tally_print(&tally, &box, steps);
        printf("{\"bench\":\"leanmd\",\"series\":\"%s\",\"bytes\":%d,\"metric\":\"step-%dpe\","
               "\"value\":%.6g}\n",
               argv[1], box_cells(&box), ranks, each);
    }
    MPI_Finalize();
    return good ? 0 : 1;
}
