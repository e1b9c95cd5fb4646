/* SPDX-License-Identifier: Apache-2.0 */
/*
 * element_order.c - messages of one PE to one element run in the order in which they were sent,
 * wherever the element is inserted and however its senders learn where it is.
 *
 * usage: element_order [GAMES]
 *
 * A game has an open array, and two phases in which all PEs send numbered messages at random.
 * In the first, PEs insert the elements meanwhile, on random PEs.  So messages are sent before the
 * insertion of their element, while it is under way, by PEs that do not know where the element is,
 * and by the PE that it is inserted on.  Every fourth element migrates at random all the time.
 * Then all elements migrate to random PEs.  In the second phase no element migrates, and what most
 * PEs know of them is outdated.  What must hold:
 *   - an element that does not migrate in a phase gets the messages of each PE in their order;
 *   - every element gets each message once.
 *
 * At the end, an element returns to a PE that keeps many messages for it, and leaves again after
 * the first of them; another one is destroyed by a PE that has just sent messages to it.
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"

#define ELEMENTS 24
#define STEPS    40
#define MOST_PES 64

enum { HOME, KEEPER, OTHER, LAST }; /* PEs of the last part */

struct element {
    uint64_t random;
    int32_t  phase, next[MOST_PES];
    int64_t  got;
};

struct item {
    int32_t phase, number, source;
    char    fill[600]; /* of a part of the messages */
};

/* The order to send, from PE 0. */
struct phase {
    skua_collection all;
    uint64_t        seed;
    int32_t         number;
    skua_completion done;
};

/* An order to an element: migrate, after some time. */
struct hop {
    int32_t to;
    double  spin; /* seconds */
};

/* The order to LAST to send to an element. */
struct nudge {
    skua_ref element;
    int32_t  count;
};

/* The order to KEEPER to send to an element while it learns where the element is. */
struct chase {
    skua_ref   element;
    struct hop hop; /* of the element, meanwhile */
    bool       destroy;
};

struct player {
    struct phase phase;
    uint64_t     random;
    int32_t      step, next[ELEMENTS];
    double       chasing; /* since when; 0: not */
    int64_t      sent;
};

static skua_class element_class, player_class;
static skua_entry item_entry, move_entry, hop_entry, total_entry;
static skua_entry begin_entry, step_entry, chase_entry, nudge_entry;
static uint64_t   seed; /* on PE 0 */

static int pick(uint64_t *random, int count)
{
    return (int)(tap_random(random) % (unsigned)count);
}

static bool drifts(int index, int phase)
{
    return phase > 2 || (phase == 1 && index % 4 == 3);
}

/* ---- elements ------------------------------------------------------------------------ */

static void construct(void *self, const void *data, size_t bytes)
{
    CHECK(bytes == sizeof(uint64_t));
    memcpy(&((struct element *)self)->random, data, bytes);
}

static void on_item(void *self, const void *data, size_t bytes)
{
    struct element    *e = self;
    const struct item *i = data;
    bool               loose;

    CHECK(bytes == offsetof(struct item, fill) || bytes == sizeof *i);
    if (e->phase != i->phase) {
        e->phase = i->phase;
        memset(e->next, 0, sizeof e->next);
    }
    loose = drifts(skua_index_of(self).at.x[0], i->phase);
    CHECK(loose || i->number == e->next[i->source]);
    e->next[i->source]++;
    e->got++;
    if (i->phase == 3 && skua_pe() == KEEPER)
        skua_migrate(self, OTHER);
    else if (i->phase == 1 && loose && pick(&e->random, 3) == 0)
        skua_migrate(self, pick(&e->random, skua_pes()));
}

static void on_hop(void *self, const void *data, size_t bytes)
{
    const struct hop *hop   = data;
    double            begin = skua_time();

    CHECK(bytes == sizeof *hop);
    while (skua_time() - begin < hop->spin)
        ;
    skua_migrate(self, hop->to);
}

static void on_move(void *self, const void *data, size_t bytes)
{
    struct element *e = self;

    (void)data, (void)bytes;
    if (pick(&e->random, 3))
        skua_migrate(self, pick(&e->random, skua_pes()));
}

static void on_total(void *self, const void *data, size_t bytes)
{
    skua_completion to;

    CHECK(bytes == sizeof to);
    memcpy(&to, data, sizeof to);
    skua_contribute(self, SKUA_SUM, SKUA_INT64, &((struct element *)self)->got, 1, to);
}

/* ---- players, one on each PE ----------------------------------------------------------- */

/* Inserts the elements that are this PE's to insert in this step; all PEs draw the same numbers. */
static void insert_mine(const struct player *p)
{
    uint64_t random = p->phase.seed;

    for (int i = 0; i < ELEMENTS; i++) {
        int      by = pick(&random, skua_pes()), step = pick(&random, STEPS);
        int      to    = pick(&random, skua_pes());
        uint64_t birth = tap_random(&random) | 1;

        if (by == skua_pe() && step == p->step)
            skua_array_insert(skua_element1(p->phase.all, i), to, &birth, sizeof birth);
    }
}

static void send_some(struct player *p)
{
    struct item item = {.phase = p->phase.number, .source = skua_pe()};
    int         to   = pick(&p->random, ELEMENTS);

    for (int i = pick(&p->random, 6); i >= 0; i--) {
        size_t bytes = pick(&p->random, 5) ? offsetof(struct item, fill) : sizeof item;

        item.number = p->next[to]++;
        p->sent++;
        skua_invoke_copy(skua_element1(p->phase.all, to), item_entry, &item, bytes);
    }
}

static void on_step(void *self, const void *data, size_t bytes)
{
    struct player *p = self;

    (void)data, (void)bytes;
    if (p->phase.number == 1)
        insert_mine(p);
    for (int i = pick(&p->random, 4); i >= 0; i--)
        send_some(p);
    if (++p->step < STEPS)
        skua_invoke_copy(skua_ref_of(self), step_entry, NULL, 0);
    else
        skua_contribute(self, SKUA_SUM, SKUA_INT64, &p->sent, 1, p->phase.done);
}

static void on_begin(void *self, const void *data, size_t bytes)
{
    struct player *p = self;

    CHECK(bytes == sizeof p->phase);
    memset(p, 0, sizeof *p);
    memcpy(&p->phase, data, bytes);
    p->random = p->phase.seed + 2 * (unsigned)skua_pe() + 1;
    skua_invoke_copy(skua_ref_of(self), step_entry, NULL, 0);
}

static void send_items(skua_ref to, int phase, int count)
{
    struct item item = {.phase = phase, .source = skua_pe()};

    for (; item.number < count; item.number++)
        skua_invoke_copy(to, item_entry, &item, offsetof(struct item, fill));
}

/* On KEEPER, which believes the element on OTHER.  The element is on LAST, and runs an order that
 * takes some time: the marker of this PE waits behind it, and so do the messages that this PE sends
 * when it has heard of LAST. */
static void on_chase(void *self, const void *data, size_t bytes)
{
    struct player *p = self;
    struct chase   chase;

    CHECK(bytes == sizeof chase);
    memcpy(&chase, data, sizeof chase);
    if (p->chasing == 0) {
        p->chasing = skua_time();
        skua_invoke_copy(chase.element, hop_entry, &chase.hop, sizeof chase.hop);
    }
    if (skua_location(chase.element) == OTHER && skua_time() - p->chasing < 1) {
        skua_invoke_copy(skua_ref_of(self), chase_entry, data, bytes);
        return;
    }
    p->chasing = 0;
    send_items(chase.element, 3, 100);
    if (chase.destroy)
        skua_object_destroy_ref(chase.element);
}

/* On LAST: sends messages to the element, wherever this PE believes it to be. */
static void on_nudge(void *self, const void *data, size_t bytes)
{
    struct nudge nudge;

    (void)self;
    CHECK(bytes == sizeof nudge);
    memcpy(&nudge, data, sizeof nudge);
    send_items(nudge.element, 4, nudge.count);
}

/* ---- PE 0 ---------------------------------------------------------------------------------- */

static void wait_quiet(void)
{
    skua_counter quiet = SKUA_COUNTER_INIT;

    skua_quiescence(skua_done_count(&quiet));
    CHECK(skua_counter_wait(&quiet, 1));
}

/* Returns the sum that arrives in a future, which is cleared. */
static int64_t wait_sum(skua_future *future)
{
    size_t         bytes;
    const int64_t *value = skua_future_wait(future, &bytes);
    int64_t        sum;

    CHECK(bytes == sizeof sum);
    sum = *value;
    skua_future_clear(future);
    return sum;
}

static int64_t play_phase(skua_collection players, skua_collection all, int number)
{
    skua_future  done  = SKUA_FUTURE_INIT;
    struct phase phase = {.all    = all,
                          .seed   = tap_random(&seed) | 1,
                          .number = number,
                          .done   = skua_done_future(&done)};
    int64_t      sent;

    skua_invoke_all(players, begin_entry, &phase, sizeof phase);
    sent = wait_sum(&done);
    wait_quiet();
    return sent;
}

static void play(skua_collection players)
{
    skua_array_def  def   = {.dims = 1, .flags = SKUA_ARRAY_OPEN};
    skua_collection all   = skua_array_create(element_class, &def, NULL, 0);
    skua_future     total = SKUA_FUTURE_INIT;
    skua_completion to    = skua_done_future(&total);
    int64_t         sent  = play_phase(players, all, 1);

    skua_invoke_all(all, move_entry, NULL, 0);
    wait_quiet();
    sent += play_phase(players, all, 2);
    skua_invoke_all(all, total_entry, &to, sizeof to);
    CHECK(wait_sum(&total) == sent);
    skua_collection_destroy(all);
}

static void order_hop(skua_ref element, int to)
{
    skua_invoke_copy(element, hop_entry, &(struct hop){to, 0}, sizeof(struct hop));
    wait_quiet();
}

static void order_nudge(skua_collection players, skua_ref element, int count)
{
    struct nudge nudge = {element, count};

    skua_invoke_copy(skua_member(players, LAST), nudge_entry, &nudge, sizeof nudge);
    wait_quiet();
}

/* Makes KEEPER forward messages, since LAST believes the element there, and then keep its own until
 * it knows that the element is on LAST.  The home notifies KEEPER since many messages to the
 * element have arrived. */
static void play_chase(skua_collection players, bool destroy)
{
    skua_array_def  def   = {.dims = 1, .flags = SKUA_ARRAY_OPEN};
    skua_collection all   = skua_array_create(element_class, &def, NULL, 0);
    skua_future     total = SKUA_FUTURE_INIT;
    skua_completion to    = skua_done_future(&total);
    uint64_t        birth = 1;
    struct chase    chase = {.hop = {destroy ? LAST : KEEPER, 0.02}, .destroy = destroy};
    int             i     = 0;

    while (skua_location(skua_element1(all, i)) != HOME)
        i++;
    chase.element = skua_element1(all, i);
    skua_array_insert(chase.element, KEEPER, &birth, sizeof birth);
    wait_quiet();
    order_nudge(players, chase.element, 1);
    order_hop(chase.element, OTHER);
    order_nudge(players, chase.element, 100);
    order_hop(chase.element, LAST);
    skua_invoke_copy(skua_member(players, KEEPER), chase_entry, &chase, sizeof chase);
    wait_quiet();
    if (!destroy) {
        skua_invoke_all(all, total_entry, &to, sizeof to);
        CHECK(wait_sum(&total) == 201);
    }
    skua_collection_destroy(all);
}

static void start(int argc, char **argv)
{
    int             games = argc > 1 ? atoi(argv[1]) : 40;
    skua_collection players;

    CHECK(skua_pes() <= MOST_PES);
    if (skua_pe() != 0)
        return;
    seed    = tap_seed();
    players = skua_group_create(player_class, NULL, 0);
    for (int i = 0; i < games; i++)
        play(players);
    for (int destroy = 0; skua_pes() > LAST && destroy < 2; destroy++)
        play_chase(players, destroy);
    skua_exit(0);
}

int main(int argc, char **argv)
{
    element_class = skua_class_register(&(skua_class_def){.name      = "element",
                                                          .bytes     = sizeof(struct element),
                                                          .construct = construct,
                                                          .pup       = skua_pup_plain});
    player_class =
        skua_class_register(&(skua_class_def){.name = "player", .bytes = sizeof(struct player)});
    item_entry  = skua_method_register(element_class, "item", on_item, 0);
    move_entry  = skua_method_register(element_class, "move", on_move, 0);
    hop_entry   = skua_method_register(element_class, "hop", on_hop, 0);
    total_entry = skua_method_register(element_class, "total", on_total, 0);
    begin_entry = skua_method_register(player_class, "begin", on_begin, 0);
    step_entry  = skua_method_register(player_class, "step", on_step, 0);
    chase_entry = skua_method_register(player_class, "chase", on_chase, 0);
    nudge_entry = skua_method_register(player_class, "nudge", on_nudge, 0);
    return skua_main(argc, argv, start);
}
