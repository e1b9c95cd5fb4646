/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insert.c - insertions take effect before everything that causally follows them: broadcasts, the
 * closing of the array, sections, messages and reductions, on whichever PE.
 *
 * usage: insert [GAMES]
 *
 * A game has an array, which a random PE creates, and stages.  In each stage random PEs insert
 * elements on random PEs, also under the indices of elements that were destroyed.  Then one PE,
 * which knows of the insertions only by a chain of messages or by a reduction over the inserting
 * PEs, acts: it may close the array, send to the new elements, or make a section of all elements
 * and multicast; and it broadcasts.  Elements migrate at random and some destroy themselves.  What
 * must hold:
 *   - each element gets the broadcasts from its own stage on, each once and in order;
 *   - the reduction of each stage counts the elements of the model, neither more nor fewer;
 *   - each member of a section contributes to it, each message reaches its element.
 *
 * Sparse games insert few elements and destroy many, so sometimes none is left.  No element
 * contributes then, so there is no reduction to wait for: the stage is over when the job is quiet.
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"
#include "waits.h"

#define STAGES 8
#define MOST   96 /* elements of a game */

enum { INSERT_HERE, INSERT_CHAIN, INSERT_REDUCE, WAYS };

/* The plan of a stage, made by PE 0. */
struct stage {
    skua_collection all;
    int32_t         number, way, actor, last;
    int32_t         end;         /* larger than all indices */
    bool            fresh[MOST]; /* inserted in this stage */
    bool            close, poke, section;
    int32_t         by[MOST], to[MOST]; /* of each element: the inserting PE, its first PE */
    bool            alive[MOST];        /* elements that exist, including the new ones */
    bool            doomed[MOST];       /* elements that are destroyed after this broadcast */
    skua_completion counted, gathered;
};

struct element {
    uint64_t random;
    int32_t  stage; /* stage of the last broadcast */
    int64_t  pokes;
};

struct birth {
    uint64_t random;
    int32_t  stage;
};

static skua_class element_class, player_class;
static skua_entry shout_entry, poke_entry, gather_entry, total_entry;
static skua_entry make_entry, insert_entry, chain_entry, act_entry;

/* The model, on PE 0. */
static uint64_t        seed;
static skua_collection players;
static bool            alive[MOST], poked[MOST];
static int             elements;
static bool            sparse; /* few elements are inserted, and many destroyed */
static int64_t         pokes;

static int pick(uint64_t *random, int count)
{
    return (int)(tap_random(random) % (unsigned)count);
}

/* ---- elements ------------------------------------------------------------------------ */

static void construct(void *self, const void *data, size_t bytes)
{
    struct element *e = self;
    struct birth    birth;

    CHECK(bytes == sizeof birth);
    memcpy(&birth, data, sizeof birth);
    e->random = birth.random;
    e->stage  = birth.stage - 1;
    if (pick(&e->random, 4) == 0)
        skua_migrate(self, pick(&e->random, skua_pes()));
}

static void wander(struct element *e)
{
    if (pick(&e->random, 2))
        skua_migrate(e, pick(&e->random, skua_pes()));
    if (pick(&e->random, 8) == 0)
        skua_poll(2);
}

static void on_shout(void *self, const void *data, size_t bytes)
{
    struct element     *e     = self;
    const struct stage *stage = data;
    int64_t             sum[] = {1, skua_index_of(self).at.x[0]};

    CHECK(bytes == sizeof *stage);
    CHECK(stage->number == ++e->stage);
    CHECK(sum[1] < stage->end && stage->alive[sum[1]]);
    skua_contribute(self, SKUA_SUM, SKUA_INT64, sum, 2, stage->counted);
    if (stage->doomed[sum[1]])
        skua_object_destroy(self);
    else
        wander(e);
}

static void on_poke(void *self, const void *data, size_t bytes)
{
    (void)data;
    CHECK(bytes == 0);
    ((struct element *)self)->pokes++;
    wander(self);
}

/* Receives a multicast. */
static void on_gather(void *self, const void *data, size_t bytes)
{
    struct {
        skua_section    section;
        skua_completion to;
    } order;
    int64_t one = 1;

    CHECK(bytes == sizeof order);
    memcpy(&order, data, sizeof order);
    skua_section_contribute(order.section, self,
                            skua_contribution_make(SKUA_SUM, SKUA_INT64, &one, 1), order.to);
    wander(self);
}

static void on_total(void *self, const void *data, size_t bytes)
{
    skua_completion to;

    CHECK(bytes == sizeof to);
    memcpy(&to, data, sizeof to);
    skua_contribute(self, SKUA_SUM, SKUA_INT64, &((struct element *)self)->pokes, 1, to);
}

/* ---- players, one on each PE ------------------------------------------------------------ */

static void on_make(void *self, const void *data, size_t bytes)
{
    skua_array_def  def = {.dims = 1, .flags = SKUA_ARRAY_OPEN};
    skua_collection all = skua_array_create(element_class, &def, NULL, 0);

    (void)self, (void)data, (void)bytes;
    skua_reply(&all, sizeof all);
}

static void insert_mine(const struct stage *stage)
{
    for (int i = 0; i < stage->end; i++) {
        struct birth birth = {.random = UINT64_C(7919) * (unsigned)(i + 1) + 1,
                              .stage  = stage->number};

        if (stage->fresh[i] && stage->by[i] == skua_pe())
            skua_array_insert(skua_element1(stage->all, i), stage->to[i], &birth, sizeof birth);
    }
}

static void multicast(const struct stage *stage)
{
    struct {
        skua_section    section;
        skua_completion to;
    } order = {.to = stage->gathered};
    skua_index index[MOST];
    size_t     count = 0;

    for (int i = 0; i < stage->end; i++)
        if (stage->alive[i])
            index[count++] = skua_index1(i);
    order.section = skua_section_create(stage->all, index, count);
    skua_section_invoke(order.section, gather_entry, &order, sizeof order);
}

static void act(const struct stage *stage)
{
    if (stage->close)
        skua_array_close(stage->all);
    for (int i = 0; i < stage->end && stage->poke; i++)
        if (stage->fresh[i])
            skua_invoke_copy(skua_element1(stage->all, i), poke_entry, NULL, 0);
    if (stage->section)
        multicast(stage);
    skua_invoke_all(stage->all, shout_entry, stage, sizeof *stage);
}

static void on_act(void *self, const void *data, size_t bytes)
{
    (void)self;
    CHECK(bytes == sizeof(struct stage));
    act(data);
}

/* PEs insert one after another; the last one notifies the actor. */
static void on_chain(void *self, const void *data, size_t bytes)
{
    const struct stage *stage = data;
    int                 next  = (skua_pe() + 1) % skua_pes();

    CHECK(bytes == sizeof *stage);
    insert_mine(stage);
    if (skua_pe() == stage->last)
        skua_invoke_copy(skua_member(skua_collection_of(self), stage->actor), act_entry, data,
                         bytes);
    else
        skua_invoke_copy(skua_member(skua_collection_of(self), next), chain_entry, data, bytes);
}

/* PEs insert concurrently; a reduction notifies the actor. Its result is the action. */
static void on_insert(void *self, const void *data, size_t bytes)
{
    const struct stage *stage = data;
    skua_ref            actor = skua_member(skua_collection_of(self), stage->actor);

    CHECK(bytes == sizeof *stage);
    insert_mine(stage);
    skua_contribute(self, SKUA_CONCAT, SKUA_BYTE, data, skua_pe() == stage->last ? bytes : 0,
                    skua_done_invoke(actor, act_entry));
}

/* ---- PE 0 ---------------------------------------------------------------------------------- */

static void insert_later(struct stage *stage, int i)
{
    alive[i] = stage->fresh[i] = true;
    poked[i]                   = stage->poke;
    pokes += stage->poke;
    stage->by[i] = stage->way == INSERT_HERE ? 0 : pick(&seed, skua_pes());
    stage->to[i] = pick(&seed, skua_pes() + 1) - 1;
}

static void choose(struct stage *stage, skua_collection all, int number)
{
    int  first = elements;
    bool again = pick(&seed, 3) == 0; /* some that were destroyed are inserted again */

    elements += (sparse ? pick(&seed, 4) == 0 : pick(&seed, MOST / STAGES)) + (elements == 0);
    *stage = (struct stage){.all     = all,
                            .number  = number,
                            .way     = pick(&seed, WAYS),
                            .actor   = pick(&seed, skua_pes()),
                            .end     = elements,
                            .close   = number == STAGES,
                            .poke    = pick(&seed, sparse ? 8 : 2) == 0,
                            .section = pick(&seed, 3) == 0};

    stage->last = stage->way == INSERT_CHAIN ? skua_pes() - 1 : pick(&seed, skua_pes());
    if (again)
        wait_quiet(); /* waits until their home PEs know of the destruction */
    for (int i = 0; i < elements; i++)
        if (i >= first || (!alive[i] && again && pick(&seed, 2)))
            insert_later(stage, i);
    memcpy(stage->alive, alive, sizeof alive);
    for (int i = 0; i < first; i++)
        stage->doomed[i] = alive[i] && !stage->fresh[i] && !poked[i] && !stage->section &&
                           pick(&seed, sparse ? 2 : 4) == 0;
}

static void begin_stage(const struct stage *stage)
{
    switch (stage->way) {
    case INSERT_HERE:
        insert_mine(stage);
        act(stage);
        break;
    case INSERT_CHAIN:
        skua_invoke_copy(skua_member(players, 0), chain_entry, stage, sizeof *stage);
        break;
    default: skua_invoke_all(players, insert_entry, stage, sizeof *stage);
    }
}

/* Returns the number of elements of the model, and the sum of their indices. */
struct census {
    int64_t count, sum;
};

static struct census count_alive(void)
{
    struct census census = {0, 0};

    for (int i = 0; i < elements; i++) {
        census.count += alive[i];
        census.sum += alive[i] ? i : 0;
    }
    return census;
}

static void bury(const struct stage *stage)
{
    for (int i = 0; i < elements; i++)
        alive[i] = alive[i] && !stage->doomed[i];
}

static void wait_gathered(skua_future *gathered, const struct census *census)
{
    CHECK(future_take_int64(gathered) == census->count);
}

static void wait_counted(skua_future *counted, const struct census *census)
{
    int64_t values[2];

    future_take(counted, values, sizeof values);
    CHECK(values[0] == census->count && values[1] == census->sum);
}

static void play_stage(skua_collection all, int number)
{
    static struct stage stage;
    skua_future         counted = SKUA_FUTURE_INIT, gathered = SKUA_FUTURE_INIT;
    struct census       census;

    choose(&stage, all, number);
    stage.counted  = skua_done_future(&counted);
    stage.gathered = skua_done_future(&gathered);
    begin_stage(&stage);
    census = count_alive();
    bury(&stage);
    if (census.count == 0) {
        wait_quiet();
        return;
    }
    if (stage.section)
        wait_gathered(&gathered, &census);
    wait_counted(&counted, &census);
}

static void check_pokes(skua_collection all)
{
    skua_future     total = SKUA_FUTURE_INIT;
    skua_completion to    = skua_done_future(&total);

    wait_quiet();
    if (count_alive().count == 0)
        return;
    skua_invoke_all(all, total_entry, &to, sizeof to);
    CHECK(future_take_int64(&total) == pokes);
}

static void play(void)
{
    skua_future     made = SKUA_FUTURE_INIT;
    skua_collection all;

    skua_invoke_reply(skua_member(players, pick(&seed, skua_pes())), make_entry, NULL, 0,
                      skua_done_future(&made));
    future_take(&made, &all, sizeof all);
    memset(alive, 0, sizeof alive);
    elements = 0;
    pokes    = 0;
    sparse   = pick(&seed, 4) == 0;
    for (int number = 1; number <= STAGES; number++)
        play_stage(all, number);
    check_pokes(all);
    skua_collection_destroy(all);
}

static void start(int argc, char **argv)
{
    int games = argc > 1 ? atoi(argv[1]) : 20;

    if (skua_pe() != 0)
        return;
    seed    = tap_seed();
    players = skua_group_create(player_class, NULL, 0);
    for (int i = 0; i < games; i++)
        play();
    skua_exit(0);
}

int main(int argc, char **argv)
{
    element_class = skua_class_register(&(skua_class_def){.name      = "element",
                                                          .bytes     = sizeof(struct element),
                                                          .construct = construct,
                                                          .pup       = skua_pup_plain});
    player_class  = skua_class_register(&(skua_class_def){.name = "player"});
    shout_entry   = skua_method_register(element_class, "shout", on_shout, 0);
    poke_entry    = skua_method_register(element_class, "poke", on_poke, 0);
    gather_entry  = skua_method_register(element_class, "gather", on_gather, 0);
    total_entry   = skua_method_register(element_class, "total", on_total, 0);
    make_entry    = skua_method_register(player_class, "make", on_make, SKUA_ENTRY_SYNC);
    insert_entry  = skua_method_register(player_class, "insert", on_insert, 0);
    chain_entry   = skua_method_register(player_class, "chain", on_chain, 0);
    act_entry     = skua_method_register(player_class, "act", on_act, 0);
    return skua_main(argc, argv, start);
}
