/* SPDX-License-Identifier: Apache-2.0 */
/* inplace.c - the functions of the cells of inplace.ci. */
#include <skua/skua.h>

#include "inplace.ci.h"

/* Returns value i of the column that a cell sends to a side in a step. */
static float value(int cell, int step, int side, int i)
{
    return (float)(cell * 7 + step * 3 + side * 1000 + i);
}

static int neighbour(const Cell *c, int side)
{
    return (Cell_index(c) + (side == LEFT ? count - 1 : 1)) % count;
}

/* Columns of a matrix that is stored by rows. */
static skua_layout column(const float *at, int columns)
{
    return (skua_layout){.kind    = SKUA_LAYOUT_STRIDED,
                         .at      = (void *)(uintptr_t)at,
                         .bytes   = sizeof *at,
                         .strided = {1, {ROWS}, {columns * (ptrdiff_t)sizeof *at}}};
}

static skua_layout ghost(const Cell *c, int64_t step, int side)
{
    return column(c->ghost + step % 2 * SIDES * ROWS + side, SIDES);
}

void begin(Cell *c)
{
    c->random = seed + (uint64_t)Cell_index(c);
    c->random += c->random == 0;
}

/* Creates equal structs that differ in their padding bytes. */
static struct spot new_spot(int step)
{
    struct spot spot;

    memset(&spot, 1 + step, sizeof spot);
    spot.kind = 'k';
    spot.at   = 0.5;
    spot.n    = 7;
    return spot;
}

static void send_others(const Cell *c)
{
    Cell_element right = Cell_at(Cell_of(c), neighbour(c, RIGHT));
    float        x[4]  = {(float)c->step, 0, (float)c->step, 0};
    skua_layout  one   = skua_layout_contiguous(x, sizeof *x);
    skua_layout  empty = skua_layout_contiguous(NULL, 0);
    int          n     = c->step % 3 > 0 ? 2 : 0;
    skua_layout  apart = {.kind    = SKUA_LAYOUT_STRIDED,
                          .at      = x,
                          .bytes   = sizeof *x,
                          .strided = {1, {2}, {2 * sizeof *x}}};

    Cell_bare(right, c->step, &one);
    Cell_spot(Cell_self(c), c->step, new_spot(c->step), &one);
    Cell_plain(right, c->step, n, n > 0 ? &apart : &empty);
    Cell_body(right, (short)c->step, 'b', &apart);
    Cell_go_on(right, c->step);
}

void send_columns(Cell *c)
{
    float x[ROWS * 3];

    for (int side = 0; side < SIDES; side++) {
        skua_layout from = column(x + side, 3);

        for (int i = 0; i < ROWS; i++)
            x[3 * i + side] = value(Cell_index(c), c->step, side, i);
        Cell_column(Cell_at(Cell_of(c), neighbour(c, side)), c->step, 1 - side, ROWS, &from);
    }
    send_others(c);
}

void take_column(Cell *c, int side, int n, const skua_layout *x)
{
    skua_layout to = ghost(c, c->step, side);

    CHECK(n == ROWS);
    skua_layout_copy(&to, x);
}

void compare(const Cell *c)
{
    for (int side = 0; side < SIDES; side++)
        for (int i = 0; i < ROWS; i++)
            CHECK(c->ghost[c->step % 2 * SIDES * ROWS + SIDES * i + side] ==
                  value(neighbour(c, side), c->step, 1 - side, i));
}

bool moves(Cell *c)
{
    return tap_random(&c->random) % 10 == 0;
}

void hand_in(Cell *c, int64_t n)
{
    skua_contribute(c, SKUA_SUM, SKUA_INT64, &n, 1, Main_finished_done(main_proxy));
}

void Cell_on_plain(Cell *c, int step, int n, const skua_layout *x)
{
    CHECK(n == (step % 3 > 0 ? 2 : 0) && skua_layout_bytes(x) == (size_t)n * sizeof(float));
    CHECK(n == 0 || *(float *)x->at == (float)step);
    c->plain++;
}

static bool is_spot(struct spot at)
{
    return at.kind == 'k' && at.at == 0.5 && at.n == 7;
}

void Cell_on_spot(Cell *c, int step, struct spot at, const skua_layout *x)
{
    (void)c;
    CHECK(is_spot(at) && *(float *)x->at == (float)step);
}

/* Returns true if messages were learned although their heads have padding bytes. */
void check_asked(const Cell *c)
{
    const char *learns = getenv("SKUA_LEARNED_CHANNELS");

    CHECK(c->asked > 0 || !SKUAC_CLEARS_PADDING || !learns || !atoi(learns) || steps < 40);
}

/* ---- destinations of in-place delivery ------------------------------------------------------- */

bool Cell_land_column(Cell *c, int64_t step, int side, int n, skua_layout *x)
{
    CHECK(n == ROWS);
    if (step > c->step + 1)
        return false;
    *x = ghost(c, step, side);
    return true;
}

bool Cell_land_bare(Cell *c, int step, skua_layout *x)
{
    (void)c, (void)step, (void)x;
    return false;
}

bool Cell_land_spot(Cell *c, int step, struct spot at, skua_layout *x)
{
    (void)step, (void)x;
    CHECK(is_spot(at));
    c->asked++;
    return false;
}

bool Cell_land_plain(Cell *c, int step, int n, skua_layout *x)
{
    (void)c, (void)step, (void)n, (void)x;
    return false;
}

bool Cell_land_body(Cell *c, short step, char a, skua_layout *x)
{
    (void)c, (void)step, (void)x;
    CHECK(a == 'b');
    return false;
}
