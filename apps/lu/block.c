/* SPDX-License-Identifier: Apache-2.0 */
/* block.c - the blocks of lu.ci: exchange of rows and backward substitution. */
#include <skua/skua.h>

#include "dense.h"
#include "lu.ci.h"

void Block_on_create(Block *b)
{
    Block_position          at        = Block_index(b);
    Scheduler              *scheduler = scheduler_here();
    const struct lu_column *column    = &scheduler->column[at.j];

    b->i     = at.i;
    b->j     = at.j;
    b->at    = scheduler->data + scheduler->offset[block_number(b->i, b->j)];
    b->pitch = scheduler->pitch[block_number(b->i, b->j)];
    while (column->row[b->place] != b->i)
        b->place++;
    if (b->i == b->j)
        b->sum = calloc((size_t)options.block, sizeof *b->sum);
}

void Block_on_destroy(Block *b)
{
    free(b->sum);
}

int64_t block_steps(const Block *b)
{
    return b->i < b->j ? b->i + 1 : b->j;
}

/* ---- rows --------------------------------------------------------------------------------- */

static const struct lu_exchange *block_exchange(const Block *b)
{
    return &scheduler_here()->step[b->step].exchange;
}

static int rows_outside(const struct lu_exchange *x, int64_t i)
{
    return x->first[i + 1] - x->first[i];
}

int rows_expected(const Block *b)
{
    const struct lu_exchange *x     = block_exchange(b);
    int                       count = 0;

    if (b->i > b->step)
        return rows_outside(x, b->i) > 0;
    for (int64_t i = b->step + 1; i < options.blocks; i++)
        count += rows_outside(x, i) > 0;
    return count;
}

static Rows *rows_new(const Block *b, int count)
{
    Rows *rows = Rows_new((size_t)(count * column_width(b->j)));

    rows->step = b->step;
    rows->from = b->i;
    return rows;
}

static void copy_row(double *to, const double *from, int64_t width)
{
    memcpy(to, from, (size_t)width * sizeof *to);
}

/* Returns true if a block of the same column is on this PE. Rows of such blocks are exchanged in
 * place: one message without rows tells the top block that the block is ready, and another one
 * tells the block that the exchange is complete. If all rows of a step are on this PE, the top
 * block exchanges them when the last block is ready: so few top blocks need memory for rows at a
 * time. */
static bool rows_are_here(const Block *b, int64_t i)
{
    return scheduler_here()->pe[block_number(i, b->j)] == skua_pe();
}

/* Returns true if all rows that the step exchanges with the top block are on this PE. */
static bool rows_are_all_here(const Block *b, const struct lu_exchange *x)
{
    for (int64_t i = b->step + 1; i < options.blocks; i++)
        if (rows_outside(x, i) && !rows_are_here(b, i))
            return false;
    return true;
}

static Block_element block_of_column(const Block *b, int64_t i)
{
    return Block_at(matrix, (int)i, (int)b->j);
}

/* Sends block (i, j) the rows of the top block that move to it. */
static void send_top(const Block *b, const struct lu_exchange *x, int64_t i)
{
    int64_t width = column_width(b->j);
    Rows   *rows  = rows_new(b, rows_outside(x, i));

    for (int o = x->first[i]; o < x->first[i + 1]; o++)
        copy_row(rows->at + (o - x->first[i]) * width, b->at + x->from_top[o] * b->pitch, width);
    Block_rows(block_of_column(b, i), rows);
}

/* Returns memory for the rows of a block. Memory that has been in use comes first: new memory would
 * cost page faults in each step. */
static double *rows_take(void)
{
    Scheduler *s    = scheduler_here();
    double    *rows = s->spare;

    if (rows) {
        memcpy(&s->spare, rows, sizeof s->spare);
        return rows;
    }
    rows = malloc((size_t)(options.block * options.block) * sizeof *rows + sizeof s->spare);
    if (!rows)
        skua_abort("no memory to exchange rows");
    return rows;
}

static void rows_give_back(double *rows)
{
    Scheduler *s = scheduler_here();

    memcpy(rows, &s->spare, sizeof s->spare);
    s->spare = rows;
}

/* Saves the rows of the top block, and moves those that stay in it. */
static void move_within(Block *b, const struct lu_exchange *x)
{
    int64_t width = column_width(b->j);

    b->old = rows_take();
    for (int c = 0; c < options.block; c++)
        copy_row(b->old + c * width, b->at + c * b->pitch, width);
    for (int c = 0; c < options.block; c++)
        if (x->within[c] >= 0 && x->within[c] != c)
            copy_row(b->at + c * b->pitch, b->old + x->within[c] * width, width);
}

static void send_outside(const Block *b, const struct lu_exchange *x)
{
    int64_t width = column_width(b->j), top = b->i * options.block;
    bool    here = rows_are_here(b, b->step);
    Rows   *rows = rows_new(b, here ? 0 : rows_outside(x, b->i));

    for (int o = x->first[b->i]; o < x->first[b->i + 1] && !here; o++)
        copy_row(rows->at + (o - x->first[b->i]) * width, b->at + (x->outside[o] - top) * b->pitch,
                 width);
    Block_rows(block_of_column(b, b->step), rows);
}

static void rows_send(Block *b)
{
    const struct lu_exchange *x = block_exchange(b);

    if (b->i > b->step) {
        if (rows_outside(x, b->i))
            send_outside(b, x);
        return;
    }
    for (int64_t i = b->step + 1; i < options.blocks; i++)
        if (rows_outside(x, i) && !rows_are_here(b, i))
            send_top(b, x, i);
    if (x->count == 0 || !rows_are_all_here(b, x))
        move_within(b, x);
}

/* Exchanges rows of the top block with a block of this PE, which waits for the exchange. */
static void exchange_here(Block *b, const struct lu_exchange *x, int64_t i)
{
    Block_element other = block_of_column(b, i);
    const Block  *to    = Block_here(other);
    int64_t       width = column_width(b->j);

    for (int o = x->first[i]; o < x->first[i + 1]; o++) {
        double *row = to->at + (x->outside[o] - i * options.block) * to->pitch;

        copy_row(b->at + x->to_top[o] * b->pitch, row, width);
        copy_row(row, b->old + x->from_top[o] * width, width);
    }
    Block_rows(other, rows_new(b, 0));
}

/* Records that a block of this PE is ready; after the last one, exchanges the rows of all. */
static void exchange_all_here(Block *b, const struct lu_exchange *x)
{
    if (++b->met < rows_expected(b))
        return;
    b->met = 0;
    move_within(b, x);
    for (int64_t i = b->step + 1; i < options.blocks; i++)
        if (rows_outside(x, i))
            exchange_here(b, x, i);
}

/* Stores rows that another PE has sent. */
static void store_rows(Block *b, const struct lu_exchange *x, const Rows *rows)
{
    bool    top   = b->i == b->step;
    int64_t block = top ? rows->from : b->i, width = column_width(b->j);
    int     first = x->first[block], end = x->first[block + 1];

    if (rows->at_count != (size_t)((end - first) * width))
        skua_abort("block (%lld, %lld) received rows that do not match the pivots", (long long)b->i,
                   (long long)b->j);
    for (int o = first; o < end; o++) {
        int64_t to = top ? x->to_top[o] : x->outside[o] - b->i * options.block;

        copy_row(b->at + to * b->pitch, rows->at + (o - first) * width, width);
    }
}

static void rows_receive(Block *b, const Rows *rows)
{
    const struct lu_exchange *x   = block_exchange(b);
    bool                      top = b->i == b->step;

    if (!rows_are_here(b, top ? rows->from : b->step))
        store_rows(b, x, rows);
    else if (top && rows_are_all_here(b, x))
        exchange_all_here(b, x);
    else if (top)
        exchange_here(b, x, rows->from);
}

void send_rows(Block *b)
{
    double began = skua_time();

    rows_send(b);
    scheduler_here()->times.rows += skua_time() - began;
}

void receive_rows(Block *b, const Rows *rows)
{
    double began = skua_time();

    rows_receive(b, rows);
    scheduler_here()->times.rows += skua_time() - began;
}

void end_exchange(Block *b)
{
    if (b->old)
        rows_give_back(b->old);
    b->old = NULL;
}

/* ---- backward substitution ---------------------------------------------------------------- */

static Block_element diagonal_of(const Block *b)
{
    return Block_at(matrix, (int)b->i, (int)b->i);
}

void send_right_side(Block *b)
{
    double *part = malloc((size_t)options.block * sizeof *part);

    if (!part)
        skua_abort("no memory for the backward substitution");
    for (int64_t r = 0; r < options.block; r++)
        part[r] = b->at[r * b->pitch];
    Block_part(diagonal_of(b), (int)options.block, part);
    free(part);
}

void send_product(Block *b, const double *x)
{
    int     n       = (int)options.block;
    double *product = calloc((size_t)n, sizeof *product);

    if (!product)
        skua_abort("no memory for the backward substitution");
    dense_multiply_vector(n, b->at, b->pitch, x, product);
    Block_part(diagonal_of(b), n, product);
    free(product);
}

void solve_diagonal(Block *b)
{
    int n = (int)options.block;

    dense_solve_upper(n, b->at, b->pitch, b->sum);
    for (int64_t i = b->i - 1; i >= 0; i--) /* block (i, i) with the largest i is solved next */
        Block_solution(Block_at(matrix, (int)i, (int)b->j), n, b->sum);
    Main_solved(main_proxy, b->i, n, b->sum);
}
