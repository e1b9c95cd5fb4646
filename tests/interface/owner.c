/* SPDX-License-Identifier: Apache-2.0 */
/* owner.c - see owner.ci. */
#include "owner.ci.h"

#define SEEDS 20
#define SIDE  6 /* sides of the array that is created at once */
#define SLOW  5
#define FAR   100 /* an index of elements that are created later */

void see(int kind, int64_t value)
{
    Census_here(Census_at(census, skua_pe()))->seen[kind] += value;
}

Load *new_load(int k)
{
    Load *load = Load_new(k % 7 + 1);

    load->k = k;
    for (int i = 0; i < load->n; i++)
        load->x[i] = k + i;
    return load;
}

void use(int kind, const Load *load)
{
    int n = load->k % 7 + 1;

    CHECK(load->n == n && load->x[0] == load->k && load->x[n - 1] == load->k + n - 1);
    see(kind, load->k);
}

static void spoil(Load *load)
{
    for (int i = 0; i < load->n; i++)
        load->x[i] = -1;
    load->k = -1;
}

/* Checks the message, overwrites it, and frees it. */
static void use_up(int kind, Load *load)
{
    use(kind, load);
    spoil(load);
    Load_free(load);
}

/* Overwrites the memory of a message that has been freed too early. */
void use_new(int k)
{
    Load *load = new_load(k);

    spoil(load);
    Load_free(load);
}

/* ---- the objects ----------------------------------------------------------------------------- */

void Seed_on_create(Seed *self, Load *load)
{
    use_up(load->k > SEEDS ? SAW_ON : SAW_SEED, load);
    skua_object_destroy(self);
}

/* Keeps the message, and frees it later. */
void Kept_on_create(Kept *self, Load *load)
{
    self->mine = load;
    Kept_free(Kept_self(self));
}

void Kept_on_free(Kept *self)
{
    use_up(SAW_KEPT, self->mine);
    skua_object_destroy(self);
}

void Member_on_create(Member *self, Load *load)
{
    use_up(SAW_MEMBER, load);
    (void)self;
}

void Process_on_create(Process *self, Load *load)
{
    use_up(SAW_PROCESS, load);
    (void)self;
}

void Cell_on_create(Cell *self, Load *load)
{
    use_up(SAW_CELL, load);
    (void)self;
}

int Oracle_on_ask(Oracle *self, Load *load)
{
    int k = load->k;

    use_up(SAW_ASKED, load);
    (void)self;
    return k;
}

int Oracle_on_peek(Oracle *self, Load *load)
{
    (void)self;
    return load->k;
}

void Asker_on_ask(Asker *self, Oracle_proxy oracle)
{
    CHECK(Oracle_ask(oracle, new_load(6)) == 6);
    CHECK(Oracle_peek(oracle, new_load(8)) == 8);
    (void)self;
}

/* ---- the main chare ------------------------------------------------------------------------- */

static Cell_proxy cells;

void create_all(void)
{
    skua_array_def def;

    for (int k = 1; k <= SEEDS; k++) {
        Seed_new(new_load(k));
        Seed_new_on(k % skua_pes(), new_load(SEEDS + k));
        Kept_new(new_load(k));
        Taker_new(new_load(k));
        Passer_new(new_load(k));
    }
    Defaults_look(Defaults_new(new_load(3)));
    Member_new(new_load(9));
    Process_new(new_load(11));
    Slow_new(SLOW, new_load(5));

    memset(&def, 0, sizeof def);
    def.dims           = 2;
    def.range.dims     = 2;
    def.range.upper[0] = def.range.upper[1] = SIDE;
    def.flags                               = SKUA_ARRAY_OPEN | SKUA_ARRAY_ON_DEMAND;
    cells                                   = Cell_new_with(&def, new_load(4));
    for (int i = 0; i < SIDE; i++)
        Cell_insert(Cell_at(cells, i, FAR), i % skua_pes(), new_load(13));
}

/* Creates elements by messages, and checks answers. */
void invoke_all(void)
{
    for (int i = 0; i < SIDE; i++) {
        Cell_at_home(Cell_at(cells, i, FAR + 1));
        Cell_at_hand(Cell_at(cells, i, FAR + 2));
    }
    Asker_ask_all(Asker_new(), Oracle_new());
}

void check_all(int n, const int64_t *seen)
{
    const int64_t sum = SEEDS * (SEEDS + 1) / 2, pes = skua_pes();
    const int64_t all_cells = 4 * SIDE * SIDE + 13 * SIDE + 2 * 4 * SIDE;

    CHECK(n == KINDS);
    CHECK(seen[SAW_SEED] == sum && seen[SAW_ON] == sum + SEEDS * SEEDS);
    CHECK(seen[SAW_KEPT] == sum && seen[SAW_TAKEN] == sum);
    CHECK(seen[SAW_PASSED] == sum + 2 * 2 * SEEDS);
    CHECK(seen[SAW_DEFAULTS] == 3 + 3 + 3);
    CHECK(seen[SAW_MEMBER] == 9 * pes && seen[SAW_ASKED] == 6 * pes);
    CHECK(seen[SAW_PROCESS] % 11 == 0 && seen[SAW_PROCESS] > 0);
    CHECK(seen[SAW_CELL] == all_cells && seen[SAW_HOME] == SIDE && seen[SAW_HAND] == SIDE);
    CHECK(seen[SAW_BEGUN] == 5 * SLOW && seen[SAW_SLOW] == 5 * SLOW);
    printf("messages have one owner each\n");
    skua_exit(0);
}
