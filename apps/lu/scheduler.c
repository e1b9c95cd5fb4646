/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler.c - the work of a PE in lu.ci: panels, triangular solves, updates. */
#include <skua/skua.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/variant.h"
#include "dense.h"
#include "lu.ci.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* since Linux 6.1 */
#endif

#define WORK_PRIORITY 1  /* priority after all messages of priority 0 */
#define PANELS_KEPT   4  /* number of panels for which there is always memory */
#define WARM_UP       4  /* number of products before the start */
#define PRODUCT_SHARE 32 /* part of the matrix of a PE that one product copies at most */

Scheduler *scheduler_here(void)
{
    return Scheduler_here(Scheduler_at(schedulers, skua_pe()));
}

/* ---- memory ------------------------------------------------------------------------------- */

static void *scheduler_alloc(int64_t count, size_t bytes)
{
    void *memory = calloc((size_t)count, bytes);

    if (!memory)
        skua_abort("PE %d has no memory for its tables; use a larger --block", skua_pe());
    return memory;
}

static void scheduler_make_column(Scheduler *s, int64_t j)
{
    struct lu_column *column = &s->column[j];

    column->row   = scheduler_alloc(options.blocks, sizeof *column->row);
    column->ready = scheduler_alloc(options.blocks, sizeof *column->ready);
    for (int64_t i = 0; i < options.blocks; i++)
        if (s->pe[block_number(i, j)] == skua_pe()) {
            column->ready[column->count] = -1;
            column->row[column->count++] = i;
            s->last[i]                   = j;
            for (int64_t k = 0; k <= i && k < j; k++)
                s->step[k].left++;
        }
}

/* Returns the number of PEs that have blocks of a panel; @p seen has room for all PEs. */
static int scheduler_panel_pes(const Scheduler *s, int64_t k, int64_t *seen)
{
    int count = 0;

    for (int64_t i = k; i < options.blocks; i++) {
        int32_t pe = s->pe[block_number(i, k)];

        count += seen[pe] != k + 1;
        seen[pe] = k + 1;
    }
    return count;
}

static void scheduler_make_tables(Scheduler *s)
{
    int64_t  blocks = options.blocks, all = blocks * (blocks + 1);
    int64_t *seen = scheduler_alloc(skua_pes(), sizeof *seen);

    s->offset  = scheduler_alloc(all, sizeof *s->offset);
    s->pitch   = scheduler_alloc(all, sizeof *s->pitch);
    s->upper   = scheduler_alloc(all, sizeof *s->upper);
    s->last    = scheduler_alloc(blocks, sizeof *s->last);
    s->step    = scheduler_alloc(blocks, sizeof *s->step);
    s->column  = scheduler_alloc(blocks + 1, sizeof *s->column);
    s->section = scheduler_alloc(blocks, sizeof *s->section);
    s->region  = scheduler_alloc(skua_pes(), sizeof *s->region);
    for (int64_t i = 0; i < blocks; i++) {
        s->last[i]       = -1;
        s->step[i].parts = scheduler_panel_pes(s, i, seen);
    }
    for (int64_t j = 0; j <= blocks; j++)
        scheduler_make_column(s, j);
    free(seen);
}

static void scheduler_fill_block(Scheduler *s, int64_t i, int64_t j)
{
    int64_t n = options.block, width = column_width(j), pitch = s->pitch[block_number(i, j)];
    double *at = s->data + s->offset[block_number(i, j)];

    for (int64_t r = 0; r < n; r++)
        for (int64_t c = 0; c < width; c++)
            at[r * pitch + c] = matrix_number(i * n + r, j * n + c);
}

static void scheduler_fill(Scheduler *s)
{
    for (int64_t j = 0; j <= options.blocks; j++)
        for (int p = 0; p < s->column[j].count; p++)
            scheduler_fill_block(s, s->column[j].row[p], j);
}

static int64_t scheduler_most_rows(const Scheduler *s)
{
    int most = 0;

    for (int64_t j = 0; j < options.blocks; j++)
        most = s->column[j].count > most ? s->column[j].count : most;
    return most * options.block;
}

/* Returns the memory for copies: without the option a tenth of this PE's part of the matrix, but
 * enough for some panels. */
static size_t scheduler_bound(const Scheduler *s, size_t numbers)
{
    size_t share = numbers / 10,
           least = PANELS_KEPT * (size_t)(options.block * scheduler_most_rows(s));

    return options.memory >= 0 ? (size_t)options.memory << 20
                               : (share > least ? share : least) * sizeof(double);
}

/* Returns the first panel from @p j on of which this PE has blocks. */
static int64_t scheduler_find_panel(const Scheduler *s, int64_t j)
{
    for (; j < options.blocks; j++) {
        const struct lu_column *column = &s->column[j];

        if (column->count && column->row[column->count - 1] >= j)
            break;
    }
    return j;
}

/* Makes a slot of the memory below the diagonal of a column. It is in use until all PEs have done
 * their part of the column's own step. */
static void scheduler_make_slot(Scheduler *s, struct lu_slot *slot, int64_t j)
{
    const struct lu_column *column = &s->column[j];
    int                     first  = 0;

    while (first < column->count && column->row[first] <= j)
        first++;
    slot->step    = j;
    slot->readers = skua_pes();
    slot->rows    = (column->count - first) * options.block;
    if (slot->rows)
        slot->at = s->data + s->offset[block_number(column->row[first], j)];
}

static void scheduler_make_slots(Scheduler *s)
{
    int slot = 0;

    for (int64_t j = 0; j < options.blocks && slot < SLOTS; j++)
        if (s->column[j].count)
            scheduler_make_slot(s, &s->slot[slot++], j);
}

/* Multiplies zeros, so that the library's own memory has taken its page faults before the first
 * product that counts. */
static void scheduler_warm_up(void)
{
    int64_t n    = options.block;
    double *zero = scheduler_alloc(8 * n * n, sizeof *zero);

    for (int i = 0; i < WARM_UP; i++)
        dense_update(2 * n, 2 * n, n, zero, n, zero + 2 * n * n, 2 * n, zero + 4 * n * n, 2 * n);
    free(zero);
}

/* Asks for huge pages where the matrix fills whole ones: a product reads and writes many rows, each
 * in pages of its own.  Where the system has none, products are slower by some percent. */
static void scheduler_use_huge_pages(const Scheduler *s, size_t numbers)
{
    uintptr_t page  = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)s->data + page - 1) & ~(page - 1);
    uintptr_t end   = (uintptr_t)(s->data + numbers) & ~(page - 1);

    if (begin < end)
        madvise((void *)begin, end - begin, MADV_COLLAPSE);
}

void Scheduler_on_create(Scheduler *s, int n, const int32_t *pe)
{
    size_t numbers;

    s->pe = scheduler_alloc(n, sizeof *pe);
    memcpy(s->pe, pe, (size_t)n * sizeof *pe);
    scheduler_make_tables(s);
    numbers  = place_blocks(s);
    s->bound = scheduler_bound(s, numbers);
    if (skua_region_create_local((numbers + 1) * sizeof(double), &s->own) ||
        !panel_create(&s->panel, (int)options.block, scheduler_most_rows(s)))
        skua_abort("PE %d has no memory for its %zu MiB of the matrix; use a smaller --size",
                   skua_pe(), numbers >> 17);
    s->data = skua_region_local(s->own);
    dense_prepare(options.cache << 10, padded_size() * padded_size() / skua_pes() / PRODUCT_SHARE);
    scheduler_make_slots(s);
    s->region[skua_pe()] = s->own;
    scheduler_warm_up();
    scheduler_fill(s);
    scheduler_use_huge_pages(s, numbers);
    s->next_panel = scheduler_find_panel(s, 0);
}

void Scheduler_on_destroy(Scheduler *s)
{
    for (int64_t j = 0; j <= options.blocks; j++) {
        free(s->column[j].row);
        free(s->column[j].ready);
    }
    while (s->spare) {
        double *rows = s->spare;

        memcpy(&s->spare, rows, sizeof s->spare);
        free(rows);
    }
    panel_destroy(&s->panel);
    skua_region_destroy(s->own);
    free(s->pe);
    free(s->offset);
    free(s->pitch);
    free(s->upper);
    free(s->last);
    free(s->step);
    free(s->column);
    free(s->section);
    free(s->region);
}

void Scheduler_on_prepare(Scheduler *s, int n, const skua_section *panel)
{
    memcpy(s->section, panel, (size_t)n * sizeof *panel);
    skua_contribute_nothing(s, Main_ready_done(main_proxy));
}

/* ---- panels ------------------------------------------------------------------------------- */

void scheduler_join_panel(Block *b)
{
    Scheduler        *s      = scheduler_here();
    struct lu_column *column = &s->column[b->j];
    int               below  = 0;

    for (int p = 0; p < column->count; p++)
        below += column->row[p] >= b->j;
    if (++column->joined == below)
        Scheduler_factor_panel(Scheduler_self(s), b->j);
}

static void scheduler_copy_rows(double *to, int64_t to_pitch, const double *from,
                                int64_t from_pitch, int64_t rows)
{
    for (int64_t r = 0; r < rows; r++)
        memcpy(to + r * to_pitch, from + r * from_pitch, (size_t)options.block * sizeof *to);
}

/* Returns a free slot that has room for the panel, or NULL. */
static struct lu_slot *scheduler_free_slot(Scheduler *s)
{
    for (int i = 0; i < SLOTS; i++)
        if (!s->slot[i].readers && s->slot[i].rows >= s->panel.count)
            return &s->slot[i];
    return NULL;
}

/* Moves the panel to a free slot; a panel without gaps stays where it is. */
static void scheduler_take_slot(Scheduler *s)
{
    struct panel *panel = &s->panel;

    s->panel_slot = panel->pitch == options.block ? NULL : scheduler_free_slot(s);
    if (!s->panel_slot)
        return;
    s->panel_slot->step    = s->panel_step;
    s->panel_slot->readers = skua_pes();
    scheduler_copy_rows(s->panel_slot->at, options.block, panel->row, panel->pitch, panel->count);
    panel->row   = s->panel_slot->at;
    panel->pitch = options.block;
}

void Scheduler_on_released(Scheduler *s, int64_t step)
{
    for (int i = 0; i < SLOTS; i++)
        if (s->slot[i].readers && s->slot[i].step == step)
            s->slot[i].readers--;
}

void begin_panel(Scheduler *s, int64_t step)
{
    const struct lu_column *column = &s->column[step];
    struct panel           *panel  = &s->panel;
    int                     first  = 0;

    while (column->row[first] < step)
        first++;
    panel->first    = step * options.block;
    panel->count    = 0;
    panel->row      = s->data + s->offset[block_number(column->row[first], step)];
    panel->pitch    = s->pitch[block_number(column->row[first], step)];
    panel->diagonal = column->row[first] == step;
    for (int p = first; p < column->count; p++)
        for (int64_t r = 0; r < options.block; r++)
            panel->number[panel->count++] = column->row[p] * options.block + r;
    s->panel_step = step;
    scheduler_take_slot(s);
    panel_begin(panel);
}

void offer_pivot(Scheduler *s)
{
    size_t count = (size_t)panel_offer_count(s->panel.width);

    s->offered = skua_time();
    if (!s->stopped)
        skua_section_contribute(
            s->section[s->panel_step], s,
            skua_contribution_make(lu_pivot_op(), SKUA_DOUBLE, panel_offer(&s->panel), count),
            Scheduler_pivot_done_section((Scheduler_section){s->section[s->panel_step]}));
}

static void scheduler_eliminate(Scheduler *s, const double *offer)
{
    if (panel_eliminate(&s->panel, offer))
        return;
    s->stopped = true;
    if (s->panel.diagonal)
        Main_singular(main_proxy, s->panel.first + s->panel.column);
}

void use_pivot(Scheduler *s, const double *offer)
{
    double now = skua_time();

    if (s->shared)
        s->times.pivots += now - s->offered;
    s->shared = true; /* all PEs of the panel have joined */
    scheduler_eliminate(s, offer);
    s->times.panels += skua_time() - now;
}

void factor_alone(Scheduler *s)
{
    double began = skua_time();

    for (int64_t c = 0; c < options.block && !s->stopped; c++)
        scheduler_eliminate(s, panel_offer(&s->panel));
    s->times.panels += skua_time() - began;
}

void end_panel(Scheduler *s)
{
    size_t diagonal = block_number(s->panel_step, s->panel_step);

    panel_end(&s->panel);
    if (s->panel_slot && s->panel.diagonal)
        scheduler_copy_rows(s->data + s->offset[diagonal], s->pitch[diagonal], s->panel.row,
                            s->panel.pitch, options.block);
    s->shared     = false;
    s->next_panel = scheduler_find_panel(s, s->panel_step + 1);
    Scheduler_panel_all(schedulers, s->panel_step, skua_pe(), s->own,
                        (uint64_t)(s->panel.row - s->data), s->panel.pitch, s->panel.width,
                        s->panel.pivot);
    scheduler_post(s);
    if (s->panel.diagonal)
        variant_progress(&s->shown, s->panel_step + 1, options.blocks);
}

/* Notifies the blocks of this PE that take part in a step. */
static void scheduler_tell_pivots(Scheduler *s, int64_t step)
{
    for (int64_t j = step + 1; j <= options.blocks; j++)
        for (int p = 0; p < s->column[j].count; p++)
            if (s->column[j].row[p] >= step)
                Block_pivots(Block_at(matrix, (int)s->column[j].row[p], (int)j), step);
}

void Scheduler_on_panel(Scheduler *s, int64_t step, int from, skua_region region, uint64_t offset,
                        int64_t pitch, int n, const int64_t *pivot)
{
    struct lu_step *at = &s->step[step];

    s->region[from] = region;
    fetch_place(s, step, from, offset, pitch);
    if (++at->announced < at->parts || at->left == 0) {
        if (at->announced == at->parts)
            fetch_release_panel(s, step);
        fetch_lower(s);
        return;
    }
    if (n != options.block)
        skua_abort("PE %d announced %d pivots of a panel of %lld columns", from, n,
                   (long long)options.block);
    if (!exchange_create(&at->exchange, step, pivot))
        skua_abort("PE %d has no memory for the pivots; use a smaller --size", skua_pe());
    fetch_lower(s);
    scheduler_tell_pivots(s, step);
}

/* ---- updates ------------------------------------------------------------------------------ */

void scheduler_post(Scheduler *s)
{
    if (s->posted)
        return;
    s->posted = true;
    Scheduler_work_prio(Scheduler_self(s), WORK_PRIORITY);
}

void scheduler_enqueue(Block *b)
{
    Scheduler        *s      = scheduler_here();
    struct lu_column *column = &s->column[b->j];

    column->ready[b->place] = b->step;
    column->waiting++;
    scheduler_post(s);
}

void Scheduler_on_upper(Scheduler *s, int64_t step, int64_t j, skua_region region)
{
    struct lu_upper *upper = &s->upper[block_number(step, j)];

    upper->announced = true;
    upper->region    = region;
    scheduler_post(s);
}

/* Tells the PEs that have blocks below block (step, j) that it is complete. This PE uses it in
 * place. */
static void scheduler_announce_upper(Scheduler *s, int64_t step, int64_t j)
{
    s->upper[block_number(step, j)].view = fetch_own(s, step, j);
    for (int pe = 0; pe < skua_pes(); pe++)
        for (int64_t i = step + 1; pe != skua_pe() && i < options.blocks; i++)
            if (s->pe[block_number(i, j)] == pe) {
                Scheduler_upper(Scheduler_at(schedulers, pe), step, j, s->own);
                break;
            }
}

/* Records that a block of a column has completed its step. */
static void scheduler_finish(Scheduler *s, int64_t j, int p, int64_t step)
{
    struct lu_column *column = &s->column[j];

    column->ready[p] = -1;
    column->waiting--;
    if (column->row[p] > step)
        fetch_release_upper(s, step, j);
    Block_updated(Block_at(matrix, (int)column->row[p], (int)j), step);
    fetch_release(s, step);
}

/* Blocks that lie side by side and below each other, and take part in a step in the same way. */
struct lu_run {
    int64_t step;
    int64_t from, to;   /* columns                                      */
    int     first, end; /* indices of the blocks in each of the columns */
};

static struct lu_view scheduler_upper(const Scheduler *s, int64_t step, int64_t j)
{
    return s->upper[block_number(step, j)].view;
}

/* Returns true if block (i, next) of this PE lies beside block (i, j). */
static bool scheduler_is_beside(const Scheduler *s, int64_t i, int64_t j, int64_t next)
{
    size_t a = block_number(i, j), b = block_number(i, next);

    return s->pe[b] == skua_pe() && s->pitch[a] == s->pitch[b] &&
           s->offset[b] == s->offset[a] + (size_t)options.block &&
           s->column[j].count == s->column[next].count;
}

/* Returns the next column in which this PE has blocks. */
static int64_t scheduler_next_column(const Scheduler *s, int64_t j)
{
    do
        j++;
    while (j <= options.blocks && s->column[j].count == 0);
    return j;
}

/* Returns true if an update of a column comes first, and alone: other PEs may soon wait for the
 * panel of the column, since it is the next panel of this PE and L of the step before it is here.
 */
static bool scheduler_is_urgent(const Scheduler *s, int64_t j, int64_t step)
{
    return j == s->next_panel && j > 0 && j < options.blocks && step + options.ahead >= j &&
           s->step[j - 1].here;
}

/* Returns true if the same blocks of the next column can be part of a run. */
static bool scheduler_continues(Scheduler *s, const struct lu_run *run, int64_t next)
{
    int64_t        i = s->column[run->to].row[run->first];
    struct lu_view a, b;

    if (next > options.blocks || scheduler_is_urgent(s, next, run->step) ||
        !scheduler_is_beside(s, i, run->to, next))
        return false;
    for (int p = run->first; p < run->end; p++)
        if (s->column[next].ready[p] != run->step)
            return false;
    if (i == run->step)
        return true;
    if (!fetch_upper(s, run->step, next))
        return false;
    a = scheduler_upper(s, run->step, run->to);
    b = scheduler_upper(s, run->step, next);
    return b.at == a.at + options.block && b.pitch == a.pitch;
}

/* Extends a run by the columns beside it.  An urgent column is updated alone. */
static void scheduler_widen(Scheduler *s, struct lu_run *run)
{
    int64_t next = scheduler_next_column(s, run->from);

    while (!scheduler_is_urgent(s, run->from, run->step) && scheduler_continues(s, run, next)) {
        run->to = next;
        next    = scheduler_next_column(s, next);
    }
}

static int64_t scheduler_run_width(const Scheduler *s, const struct lu_run *run)
{
    int64_t width = 0;

    for (int64_t j = run->from; j <= run->to; j = scheduler_next_column(s, j))
        width += column_width(j);
    return width;
}

static void scheduler_finish_run(Scheduler *s, const struct lu_run *run)
{
    for (int64_t j = run->from; j <= run->to; j = scheduler_next_column(s, j))
        for (int p = run->first; p < run->end; p++)
            scheduler_finish(s, j, p, run->step);
}

/* Performs the triangular solve of the blocks of a run, which are in the block row of its step. */
static void scheduler_solve(Scheduler *s, int64_t j, int p, int64_t step)
{
    struct lu_run  run   = {step, j, j, p, p + 1};
    struct lu_view lower = s->step[step].lower[step];
    double         began;

    scheduler_widen(s, &run);
    began = skua_time();
    panel_solve_lower(options.block, scheduler_run_width(s, &run), lower.at, lower.pitch,
                      s->data + s->offset[block_number(step, j)], s->pitch[block_number(step, j)]);
    s->times.solves += skua_time() - began;
    for (; j <= run.to; j = scheduler_next_column(s, j))
        scheduler_announce_upper(s, step, j);
    scheduler_finish_run(s, &run);
}

/* Finds the blocks of a column that follow each other, as do their blocks of L. */
static struct lu_run scheduler_find_run(const Scheduler *s, int64_t j, int first, int64_t step)
{
    const struct lu_column *column = &s->column[j];
    const struct lu_view   *lower = s->step[step].lower, *begin = &lower[column->row[first]];
    int                     end = first + 1;

    while (end < column->count && column->ready[end] == step &&
           lower[column->row[end]].pitch == begin->pitch &&
           lower[column->row[end]].at == begin->at + (end - first) * options.block * begin->pitch)
        end++;
    return (struct lu_run){step, j, j, first, end};
}

/* Updates blocks of a column from index @p first on. Returns the index after them. */
static int scheduler_update_run(Scheduler *s, int64_t j, int first, int64_t step)
{
    struct lu_run  run   = scheduler_find_run(s, j, first, step);
    int64_t        row   = s->column[j].row[first];
    struct lu_view lower = s->step[step].lower[row], upper = scheduler_upper(s, step, j);
    int64_t        rows  = (run.end - first) * options.block, width;
    double         began = skua_time();

    scheduler_widen(s, &run);
    width = scheduler_run_width(s, &run);
    dense_update(rows, width, options.block, lower.at, lower.pitch, upper.at, upper.pitch,
                 s->data + s->offset[block_number(row, j)], s->pitch[block_number(row, j)]);
    *(width > options.block ? &s->times.products : &s->times.alone) += skua_time() - began;
    *(width > options.block ? &s->times.operations : &s->times.operations_alone) +=
        2.0 * (double)rows * (double)width * (double)options.block;
    scheduler_finish_run(s, &run);
    return run.end;
}

static void scheduler_update(Scheduler *s, int64_t j, int64_t step)
{
    const struct lu_column *column = &s->column[j];
    int                     p      = 0;

    while (p < column->count)
        p = column->ready[p] == step ? scheduler_update_run(s, j, p, step) : p + 1;
}

/* Returns the earliest step that a block of a column waits for and whose data are available, or
 * -1. */
static int64_t scheduler_column_step(Scheduler *s, int64_t j)
{
    struct lu_column *column = &s->column[j];
    int64_t           least  = -1;

    if (!column->waiting)
        return -1;
    for (int p = 0; p < column->count; p++) {
        int64_t step = column->ready[p];

        if (step < 0 || !s->step[step].here || (least >= 0 && step >= least))
            continue;
        if (column->row[p] == step || fetch_upper(s, step, j))
            least = step;
    }
    return least;
}

static void scheduler_work_on(Scheduler *s, int64_t j, int64_t step)
{
    struct lu_column *column = &s->column[j];

    for (int p = 0; p < column->count; p++)
        if (column->ready[p] == step && column->row[p] == step) {
            scheduler_solve(s, j, p, step);
            return;
        }
    scheduler_update(s, j, step);
}

/* Returns a column that waits for the oldest step, or -1. */
static int64_t scheduler_oldest(Scheduler *s, int64_t *step)
{
    int64_t best = -1;

    for (int64_t j = 0; j <= options.blocks; j++) {
        int64_t at = scheduler_column_step(s, j);

        if (at >= 0 && (best < 0 || at < *step)) {
            best  = j;
            *step = at;
        }
    }
    return best;
}

/* Returns the column to work on, or -1. It is the column of the next panel if that is urgent;
 * otherwise one of the oldest step, which is updated together with adjacent columns. */
static int64_t scheduler_choose(Scheduler *s, int64_t *step)
{
    int64_t oldest = scheduler_oldest(s, step), panel;

    if (oldest < 0 || !scheduler_is_urgent(s, s->next_panel, *step))
        return oldest;
    panel = scheduler_column_step(s, s->next_panel);
    if (panel < 0)
        return oldest;
    *step = panel;
    return s->next_panel;
}

void Scheduler_on_work(Scheduler *s)
{
    int64_t step = -1, j = s->shared || s->stopped ? -1 : scheduler_choose(s, &step);

    s->posted = false;
    if (j < 0)
        return;
    scheduler_work_on(s, j, step);
    scheduler_post(s);
}
