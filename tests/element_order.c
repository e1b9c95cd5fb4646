/* SPDX-License-Identifier: Apache-2.0 */
/*
 * element_order.c - messages of one PE to one element run in the order in which they were sent,
 * wherever the element is inserted, however its senders learn where it is, and while it migrates.
 *
 * usage: element_order [GAMES]
 *
 * A game has an open array, and three phases in which all PEs send numbered messages at random.
 * In the first, PEs insert the elements meanwhile, on random PEs.  So messages are sent before the
 * insertion of their element, while it is under way, by PEs that do not know where the element is,
 * and by the PE that it is inserted on.  Every fourth element migrates at random all the time.
 * Then all elements migrate to random PEs.  In the second phase no element migrates, and what most
 * PEs know of them is outdated.  In the third all elements migrate, each after a number of messages
 * of its own, one of them after each message, to random PEs or between its home and another PE, and
 * a third of those that arrive leave at once.  Expedited orders make elements leave that hold
 * messages, also their homes.
 * The elements of every second game are of a class by pointer.  PEs yield their cores now and then,
 * so that many interleavings occur where there are fewer cores than PEs.  What must hold:
 *   - an element gets the messages of each PE in their order;
 *   - every element gets each message once.
 *
 * At the end, an element returns to a PE that keeps many messages for it, and leaves again after
 * the first of them; another one is destroyed by a PE that has just sent messages to it.
 */
#include <sched.h>
#include <skua/skua.h>
#include <string.h>

#include "tap.h"
#include "waits.h"

#define ELEMENTS 24
#define STEPS    40
#define MOST_PES 64
#define YIELDING 2.0 /* seconds */

enum { HOME, KEEPER, OTHER, LAST }; /* PEs of the last part     */
enum { CHASE = 4, NUDGE };          /* phases of the last part  */

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
    int32_t         number, kind;
    skua_completion done;
};

/* An order to an element: migrate, after some time. */
struct hop {
    int32_t to;
    double  spin; /* seconds */
};

/* The order to LAST to send messages to an element. */
struct nudge {
    skua_ref element;
    int32_t  first, count; /* their numbers */
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

/* A class of elements. */
struct kind {
    skua_class element;
    skua_entry item, move, kick, hop, total;
};

static struct kind kinds[2]; /* plain bytes, which move by pointer or packed; a class by pointer */
static skua_class  player_class;
static skua_entry  begin_entry, step_entry, chase_entry, nudge_entry;
static uint64_t    seed; /* on PE 0 */

static int pick(uint64_t *random, int count)
{
    return (int)(tap_random(random) % (unsigned)count);
}

/* Returns after how many messages of a phase an element migrates, on average; 0: never. */
static int drift_of(int index, int phase)
{
    if (phase == 3)
        return 1 + index % 8 * 3;
    return phase == 1 && index % 4 == 3 ? 3 : 0;
}

/* Returns the PE that an element migrates to: every third one moves within two PEs. */
static int drift_to(struct element *e, int index)
{
    return index % 3 ? pick(&e->random, skua_pes()) : pick(&e->random, 2) * (skua_pes() - 1);
}

/* Lets other PEs run, with a probability of 1 / @p often.  Beside programs that compute, each call
 * of sched_yield() may last for some 10 ms: a PE spends at most YIELDING seconds in them. */
static void yield_some(int often)
{
    static _Thread_local uint64_t random = 1;
    static _Thread_local double   spent;
    double                        begin;

    if (pick(&random, often) != 0 || spent > YIELDING)
        return;
    begin = skua_time();
    sched_yield();
    spent += skua_time() - begin;
}

/* ---- elements ------------------------------------------------------------------------ */

static void construct(void *self, const void *data, size_t bytes)
{
    CHECK(bytes == sizeof(uint64_t));
    memcpy(&((struct element *)self)->random, data, bytes);
}

static void on_item(void *self, const void *data, size_t bytes)
{
    struct element    *e     = self;
    const struct item *i     = data;
    int                index = skua_index_of(self).at.x[0];
    int                drift = drift_of(index, i->phase);

    CHECK(bytes == offsetof(struct item, fill) || bytes == sizeof *i);
    if (e->phase != i->phase) {
        e->phase = i->phase;
        memset(e->next, 0, sizeof e->next);
    }
    CHECK(i->number == e->next[i->source]);
    e->next[i->source]++;
    e->got++;
    yield_some(4);
    if (i->phase == CHASE && skua_pe() == KEEPER)
        skua_migrate(self, OTHER);
    else if (drift && pick(&e->random, drift) == 0)
        skua_migrate(self, drift_to(e, index));
}

/* In the third phase an element that has arrived may leave at once, also its home, before it gets
 * any message there. */
static void on_moved(void *self)
{
    struct element *e = self;

    yield_some(4);
    if (e->phase == 3 && pick(&e->random, 3) == 0)
        skua_migrate(self, drift_to(e, skua_index_of(self).at.x[0]));
}

/* An expedited order, which overtakes messages: the element leaves before it gets those that it
 * holds. */
static void on_kick(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_migrate(self, drift_to(self, skua_index_of(self).at.x[0]));
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
        skua_invoke_copy(skua_element1(p->phase.all, to), kinds[p->phase.kind].item, &item, bytes);
        yield_some(8);
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
    if (p->phase.number == 3)
        skua_invoke_copy(skua_element1(p->phase.all, pick(&p->random, ELEMENTS)),
                         kinds[p->phase.kind].kick, NULL, 0);
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

static void send_items(skua_ref to, int phase, int first, int count)
{
    struct item item = {.phase = phase, .number = first, .source = skua_pe()};

    for (; item.number < first + count; item.number++)
        skua_invoke_copy(to, kinds[0].item, &item, offsetof(struct item, fill));
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
        skua_invoke_copy(chase.element, kinds[0].hop, &chase.hop, sizeof chase.hop);
    }
    if (skua_location(chase.element) == OTHER && skua_time() - p->chasing < 1) {
        skua_invoke_copy(skua_ref_of(self), chase_entry, data, bytes);
        return;
    }
    p->chasing = 0;
    send_items(chase.element, CHASE, 0, 100);
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
    send_items(nudge.element, NUDGE, nudge.first, nudge.count);
}

/* ---- PE 0 ---------------------------------------------------------------------------------- */

static int64_t play_phase(skua_collection players, skua_collection all, int number, int kind)
{
    skua_future  done  = SKUA_FUTURE_INIT;
    struct phase phase = {.all    = all,
                          .seed   = tap_random(&seed) | 1,
                          .number = number,
                          .kind   = kind,
                          .done   = skua_done_future(&done)};
    int64_t      sent;

    skua_invoke_all(players, begin_entry, &phase, sizeof phase);
    sent = future_take_int64(&done);
    wait_quiet();
    return sent;
}

static void play(skua_collection players, int kind)
{
    skua_array_def  def   = {.dims = 1, .flags = SKUA_ARRAY_OPEN};
    skua_collection all   = skua_array_create(kinds[kind].element, &def, NULL, 0);
    skua_future     total = SKUA_FUTURE_INIT;
    skua_completion to    = skua_done_future(&total);
    int64_t         sent  = play_phase(players, all, 1, kind);

    skua_invoke_all(all, kinds[kind].move, NULL, 0);
    wait_quiet();
    sent += play_phase(players, all, 2, kind);
    sent += play_phase(players, all, 3, kind);
    skua_invoke_all(all, kinds[kind].total, &to, sizeof to);
    CHECK(future_take_int64(&total) == sent);
    skua_collection_destroy(all);
}

static void order_hop(skua_ref element, int to)
{
    skua_invoke_copy(element, kinds[0].hop, &(struct hop){to, 0}, sizeof(struct hop));
    wait_quiet();
}

static void order_nudge(skua_collection players, skua_ref element, int first, int count)
{
    struct nudge nudge = {element, first, count};

    skua_invoke_copy(skua_member(players, LAST), nudge_entry, &nudge, sizeof nudge);
    wait_quiet();
}

/* Makes KEEPER forward messages, since LAST believes the element there, and then keep its own until
 * it knows that the element is on LAST.  The home notifies KEEPER since many messages to the
 * element have arrived. */
static void play_chase(skua_collection players, bool destroy)
{
    skua_array_def  def   = {.dims = 1, .flags = SKUA_ARRAY_OPEN};
    skua_collection all   = skua_array_create(kinds[0].element, &def, NULL, 0);
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
    order_nudge(players, chase.element, 0, 1);
    order_hop(chase.element, OTHER);
    order_nudge(players, chase.element, 1, 100);
    order_hop(chase.element, LAST);
    skua_invoke_copy(skua_member(players, KEEPER), chase_entry, &chase, sizeof chase);
    wait_quiet();
    if (!destroy) {
        skua_invoke_all(all, kinds[0].total, &to, sizeof to);
        CHECK(future_take_int64(&total) == 201);
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
        play(players, i % 2);
    for (int destroy = 0; skua_pes() > LAST && destroy < 2; destroy++)
        play_chase(players, destroy);
    skua_exit(0);
}

static void register_kind(struct kind *kind, const char *name, uint32_t flags)
{
    kind->element = skua_class_register(&(skua_class_def){.name      = name,
                                                          .bytes     = sizeof(struct element),
                                                          .construct = construct,
                                                          .pup       = skua_pup_plain,
                                                          .moved     = on_moved,
                                                          .flags     = flags});
    kind->item    = skua_method_register(kind->element, "item", on_item, 0);
    kind->move    = skua_method_register(kind->element, "move", on_move, 0);
    kind->kick    = skua_method_register(kind->element, "kick", on_kick, SKUA_ENTRY_EXPEDITED);
    kind->hop     = skua_method_register(kind->element, "hop", on_hop, 0);
    kind->total   = skua_method_register(kind->element, "total", on_total, 0);
}

int main(int argc, char **argv)
{
    register_kind(&kinds[0], "element", 0);
    register_kind(&kinds[1], "pointer", SKUA_CLASS_BY_POINTER);
    player_class =
        skua_class_register(&(skua_class_def){.name = "player", .bytes = sizeof(struct player)});
    begin_entry = skua_method_register(player_class, "begin", on_begin, 0);
    step_entry  = skua_method_register(player_class, "step", on_step, 0);
    chase_entry = skua_method_register(player_class, "chase", on_chase, 0);
    nudge_entry = skua_method_register(player_class, "nudge", on_nudge, 0);
    return skua_main(argc, argv, start);
}
