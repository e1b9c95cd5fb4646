/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moving.c - elements that migrate at random under all kinds of traffic at once, compared with a
 * model.
 *
 * usage: moving [ROUNDS] [PUTS]
 *
 * The movers form a ring, with an object channel in each direction between neighbours.  Meanwhile
 * each takes random steps: it sends copied, owned, prioritised and nocopy messages (the latter into
 * memory of the receiver), contributes to reductions of the array, and migrates; PE 0 broadcasts,
 * and multicasts to a section whose members contribute to reductions of it and which rebuilds its
 * tree.  Guests are inserted, receive some messages, and destroy themselves.  Strips are delivered
 * in place where the pattern is learned, waiters (interface/waiter.ci) migrate while they wait in
 * `when`, and walkers (walkers.h) while user threads run in them.  What must hold:
 *   - each put arrives once, in order, with its data, wherever both ends are by then; both ends are
 *     notified when the channel is established again, and when the other end is destroyed;
 *   - each message arrives once; broadcasts and multicasts in order; each reduction counts every
 *     element once;
 *   - a thread finds its stack as it left it.
 */
#include <skua/skua.h>
#include <string.h>

#include "fixed_addresses.h"
#include "tap.h"
#include "waiter.ci.h"
#include "waits.h"
#include "walkers.h"

#define MOVERS  14 /* even */
#define STEPS   24
#define SUMS    4    /* reductions of the array, of each mover in a round */
#define CASTS   6    /* broadcasts, and multicasts, in a round */
#define NUMBERS 1300 /* numbers of the largest put: more than 8192 bytes */
#define BLOCK   3000 /* numbers of a nocopy argument */
#define STRIP   50   /* numbers of a strip */
#define STRIPS  4    /* strips that may be delivered at a time */
#define WAITS   10   /* steps of waiters in a round */

enum { LEFT, RIGHT };

/* The counts of a mover; the sums over all movers are compared. */
struct counts {
    int64_t hits_sent, hits_got, blocks_sent, blocks_got, puts, arrivals, casts, section_casts;
    int64_t strips_sent, strips_got;
};

struct mover {
    uint64_t            random;
    skua_collection     all;
    skua_object_channel in[2], out[2]; /* channels from and to the neighbour on each side */
    int32_t             wanted;        /* number of puts due on each channel so far */
    int32_t             made[2], came[2];
    bool                acked[2], sent[2]; /* the next put may be made */
    int32_t             established, ended;
    int32_t             steps, sums, casts, section_casts;
    bool                posted; /* `block` is in use */
    struct counts       counts;
    double              from[2][NUMBERS], to[2][NUMBERS];
    double              block[BLOCK];
    int64_t             strip_next; /* number of strips that it has sent */
    int64_t             strip_low;  /* all strips below have arrived */
    uint32_t            strip_seen; /* bit i: strip_low + i has arrived */
    double              strip[STRIPS][STRIP];
};

struct cast {
    skua_section    section;
    int32_t         number;
    skua_completion done;
};

static skua_class mover_class, guest_class;
static skua_entry offer_entry, ack_entry, go_entry, step_entry, hit_entry, owned_entry, block_entry,
    cast_entry, section_entry, tell_entry, leave_entry, guest_entry, strip_entry, square_entry;
static skua_channel_end in_end, out_end;
static skua_collection  movers, guests;
static Waiter_proxy     waiters;
static uint64_t         seed;
static double           shared_block[BLOCK]; /* equal in all processes */

static int number_of(const void *self)
{
    return skua_index_of(self).at.x[0];
}

static int draw(struct mover *m, int n)
{
    return (int)(tap_random(&m->random) % (unsigned)n);
}

static skua_ref neighbour(const struct mover *m, int side)
{
    return skua_element1(m->all, (number_of(m) + (side == LEFT ? MOVERS - 1 : 1)) % MOVERS);
}

static void migrate(struct mover *m)
{
    skua_migrate(m, draw(m, skua_pes()));
}

/* ---- channels -------------------------------------------------------------------------------- */

/* Both ends of a channel have the same length, which depends on the left and the right element. */
static size_t numbers_of(const struct mover *m, int side)
{
    static const size_t sizes[] = {1, 6, 200, NUMBERS};
    int                 left = side == LEFT ? (number_of(m) + MOVERS - 1) % MOVERS : number_of(m);

    return sizes[left % 4];
}

static double value(int sender, int put, size_t i)
{
    return sender * 1e6 + put * 1e4 + (double)i;
}

static void in_buffer(void *self, uint64_t side, skua_layout *at)
{
    struct mover *m = self;

    *at = skua_layout_contiguous(m->to[side], numbers_of(m, (int)side) * sizeof(double));
}

static void out_buffer(void *self, uint64_t side, skua_layout *at)
{
    struct mover *m = self;

    *at = skua_layout_contiguous(m->from[side], numbers_of(m, (int)side) * sizeof(double));
}

/* Puts as long as the receiver is ready and the buffer is free. */
static void put_next(struct mover *m, int side)
{
    if (!m->acked[side] || !m->sent[side] || m->made[side] == m->wanted)
        return;
    for (size_t i = 0; i < numbers_of(m, side); i++)
        m->from[side][i] = value(number_of(m), m->made[side], i);
    m->made[side]++;
    m->counts.puts++;
    m->acked[side] = false;
    m->sent[side]  = skua_object_channel_put(m, m->out[side]);
    CHECK(skua_object_channel_count(m, m->out[side]) == (uint64_t)m->made[side]);
}

static void on_sent(void *self, uint64_t side)
{
    struct mover *m = self;

    CHECK(!m->sent[side]);
    m->sent[side] = true;
    put_next(m, (int)side);
}

static void on_arrived(void *self, uint64_t side)
{
    struct mover *m     = self;
    int           from  = neighbour(m, (int)side).index.at.x[0];
    int32_t       other = side == LEFT ? RIGHT : LEFT;

    for (size_t i = 0; i < numbers_of(m, (int)side); i++)
        CHECK(m->to[side][i] == value(from, m->came[side], i));
    m->came[side]++;
    m->counts.arrivals++;
    if (draw(m, 4) == 0)
        migrate(m);
    skua_object_channel_ready(m, m->in[side]);
    skua_invoke_copy(neighbour(m, (int)side), ack_entry, &other, sizeof other);
    if (draw(m, 4) == 0)
        migrate(m);
}

static void on_established(void *self, uint64_t side)
{
    struct mover *m = self;

    (void)side;
    m->established++;
}

static void on_ended(void *self, uint64_t side)
{
    struct mover *m = self;

    (void)side;
    m->ended++;
}

static void on_ack(void *self, const void *data, size_t bytes)
{
    struct mover *m = self;
    int32_t       side;

    CHECK(bytes == sizeof side);
    memcpy(&side, data, sizeof side);
    CHECK(!m->acked[side]);
    m->acked[side] = true;
    put_next(m, side);
}

struct offer {
    int32_t             side; /* side of the receiver, from the sender's point of view */
    skua_object_channel channel;
};

static void on_offer(void *self, const void *data, size_t bytes)
{
    struct mover *m = self;
    struct offer  offer;

    CHECK(bytes == sizeof offer);
    memcpy(&offer, data, sizeof offer);
    m->out[offer.side] = offer.channel;
    skua_object_channel_open(m, neighbour(m, offer.side), offer.channel, out_end,
                             (uint64_t)offer.side);
    m->acked[offer.side] = m->sent[offer.side] = true;
    put_next(m, offer.side);
    if (draw(m, 2))
        migrate(m);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void send_block(struct mover *m, skua_ref to)
{
    skua_nocopy_argument part = {shared_block, sizeof shared_block, skua_done_nothing(), 0};

    m->counts.blocks_sent++;
    skua_invoke(to, block_entry, skua_nocopy_alloc(skua_location(to), 0, &part, 1));
}

static void post_block(void *self, skua_msg *msg, void **to)
{
    struct mover *m = self;

    (void)msg;
    if (m->posted)
        return;
    m->posted = true;
    to[0]     = m->block;
}

static void on_block(void *self, skua_msg *msg)
{
    struct mover *m = self;
    const double *x;

    if (!skua_nocopy_ready_entry(msg, self, block_entry, post_block))
        return;
    x = skua_nocopy_data(msg, 0);
    CHECK(memcmp(x, shared_block, sizeof shared_block) == 0);
    if (x == m->block) {
        memset(m->block, 0, sizeof m->block);
        m->posted = false;
    }
    skua_nocopy_free(msg);
    m->counts.blocks_got++;
}

/* Sends strips of a mover to its right neighbour, which receives them in one of STRIPS slots in
 * turn. */
static void send_strip(struct mover *m)
{
    double      x[STRIP];
    int64_t     from = number_of(m);
    skua_layout at   = skua_layout_contiguous(x, sizeof x);

    for (size_t i = 0; i < STRIP; i++)
        x[i] = value((int)from, (int)m->strip_next, i);
    m->counts.strips_sent++;
    skua_invoke_inplace(neighbour(m, RIGHT), strip_entry, m->strip_next++, &from, sizeof from, &at);
}

/* A strip may be delivered in place if no strip that is still missing uses its slot. */
static bool land_strip(void *self, int64_t reference, const void *head, skua_layout *to)
{
    struct mover *m     = self;
    int64_t       ahead = reference - m->strip_low;

    (void)head;
    if (ahead < 0 || ahead >= STRIPS || m->strip_seen >> ahead & 1)
        return false;
    *to = skua_layout_contiguous(m->strip[reference % STRIPS], sizeof m->strip[0]);
    return true;
}

static void on_strip(void *self, skua_msg *msg)
{
    struct mover      *m         = self;
    int64_t            reference = skua_inplace_reference(msg), ahead = reference - m->strip_low;
    const skua_layout *at = skua_inplace_data(msg);
    const double      *x  = at->at;

    CHECK(at->bytes == STRIP * sizeof *x && ahead >= 0 && ahead < 32);
    CHECK(!(m->strip_seen >> ahead & 1)); /* once */
    for (size_t i = 0; i < STRIP; i++)
        CHECK(x[i] == value(neighbour(m, LEFT).index.at.x[0], (int)reference, i));
    skua_msg_free(msg);
    m->counts.strips_got++;
    for (m->strip_seen |= 1u << ahead; m->strip_seen & 1; m->strip_seen >>= 1)
        m->strip_low++;
    if (draw(m, 8) == 0)
        migrate(m);
}

/* What walkers ask for. */
static void on_square(void *self, const void *data, size_t bytes)
{
    uint64_t x;

    CHECK(bytes == sizeof x);
    memcpy(&x, data, sizeof x);
    x *= x;
    skua_reply(&x, sizeof x);
    if (draw(self, 8) == 0)
        migrate(self);
}

static void on_hit(void *self, const void *data, size_t bytes)
{
    struct mover *m = self;

    (void)data;
    CHECK(bytes <= 600);
    m->counts.hits_got++;
    if (draw(m, 8) == 0)
        migrate(m);
}

static void on_owned(void *self, skua_msg *msg)
{
    on_hit(self, skua_msg_data(msg), skua_msg_size(msg));
    skua_msg_free(msg);
}

static void hit_one(struct mover *m, skua_ref to)
{
    char      data[600] = {0};
    skua_msg *msg;

    m->counts.hits_sent++;
    switch (draw(m, 4)) {
    case 0: skua_invoke_copy(to, hit_entry, data, (size_t)draw(m, 600)); break;
    case 1: skua_invoke_copy_prio(to, hit_entry, data, 40, draw(m, 100) - 50); break;
    case 2: skua_invoke_now(to, hit_entry, data, 8); break;
    default:
        msg = skua_msg_alloc(300);
        skua_msg_set_priority(msg, draw(m, 100) - 50);
        skua_invoke(to, owned_entry, msg);
    }
}

static void on_sum(void *arg, const void *data, size_t bytes)
{
    CHECK(bytes == sizeof(int64_t) && *(const int64_t *)data == MOVERS);
    (*(int *)arg)++;
}

static int sums, section_sums; /* used on PE 0 */

static void contribute(struct mover *m, const skua_completion *done)
{
    int64_t one = 1;

    m->sums++;
    skua_contribute(m, SKUA_SUM, SKUA_INT64, &one, 1, *done);
}

static void on_step(void *self, const void *data, size_t bytes)
{
    struct mover   *m = self;
    skua_completion done;
    skua_ref        other = skua_element1(m->all, draw(m, MOVERS));

    CHECK(bytes == sizeof done);
    memcpy(&done, data, sizeof done);
    switch (draw(m, 8)) {
    case 0: send_block(m, other); break;
    case 1:
    case 2: hit_one(m, other); break;
    case 3:
        if (m->sums < SUMS)
            contribute(m, &done);
        break;
    case 4: skua_poll(2); break;
    case 5:
    case 6: send_strip(m); break;
    default: migrate(m);
    }
    if (++m->steps < STEPS) {
        skua_invoke_copy(skua_ref_of(self), step_entry, &done, sizeof done);
        return;
    }
    while (m->sums < SUMS)
        contribute(m, &done);
}

/* ---- broadcasts, multicasts, reports --------------------------------------------------------- */

static void on_cast(void *self, const void *data, size_t bytes)
{
    struct mover *m = self;
    int32_t       number;

    CHECK(bytes == sizeof number);
    memcpy(&number, data, sizeof number);
    CHECK(number == m->casts);
    m->casts++;
    m->counts.casts++;
    if (draw(m, 4) == 0)
        migrate(m);
}

static void on_section(void *self, const void *data, size_t bytes)
{
    struct mover *m   = self;
    int64_t       two = 2;
    struct cast   cast;

    CHECK(bytes == sizeof cast);
    memcpy(&cast, data, sizeof cast);
    CHECK(cast.number == m->section_casts);
    m->section_casts++;
    m->counts.section_casts++;
    skua_section_contribute(cast.section, self,
                            skua_contribution_make(SKUA_SUM, SKUA_INT64, &two, 1), cast.done);
    if (draw(m, 3) == 0)
        migrate(m);
}

/* The first round: each mover offers its neighbours a channel. */
static void make_channels(struct mover *m)
{
    for (int side = 0; side < 2; side++) {
        struct offer offer = {.side = side == LEFT ? RIGHT : LEFT};

        offer.channel = m->in[side] = skua_object_channel_create(m, in_end, (uint64_t)side);
        skua_invoke_copy(neighbour(m, side), offer_entry, &offer, sizeof offer);
    }
}

struct go {
    int32_t         puts;
    skua_completion done;
};

static void on_go(void *self, const void *data, size_t bytes)
{
    struct mover *m = self;
    struct go     go;
    bool          first = m->wanted == 0;

    CHECK(bytes == sizeof go);
    memcpy(&go, data, sizeof go);
    m->wanted += go.puts;
    m->steps = m->sums = 0;
    if (first)
        make_channels(m);
    for (int side = 0; side < 2; side++)
        put_next(m, side); /* unless no channel was offered yet */
    skua_invoke_copy(skua_ref_of(self), step_entry, &go.done, sizeof go.done);
}

static void on_tell(void *self, const void *data, size_t bytes)
{
    struct mover   *m = self;
    skua_completion done;

    CHECK(bytes == sizeof done);
    memcpy(&done, data, sizeof done);
    for (int side = 0; side < 2; side++)
        CHECK(m->made[side] == m->wanted && m->came[side] == m->wanted);
    CHECK(m->established >= 4);
    skua_contribute(self, SKUA_SUM, SKUA_INT64, &m->counts, sizeof m->counts / sizeof(int64_t),
                    done);
}

/* Odd movers destroy themselves, even ones migrate meanwhile. */
static void on_leave(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    if (number_of(self) % 2)
        skua_object_destroy(self);
    else
        migrate(self);
}

static void construct(void *self, const void *data, size_t bytes)
{
    struct mover *m = self;

    (void)bytes;
    memcpy(&m->random, data, sizeof m->random);
    m->random = m->random * 31 + (uint64_t)number_of(self) + 1;
    m->all    = skua_collection_of(self);
}

/* ---- guests ---------------------------------------------------------------------------------- */

struct guest {
    int32_t got; /* messages */
};

static void on_guest(void *self, const void *data, size_t bytes)
{
    struct guest *g = self;

    (void)data, (void)bytes;
    if (++g->got == 3)
        skua_object_destroy(self);
    else
        skua_migrate(self, (skua_pe() + number_of(self)) % skua_pes());
}

/* ---- PE 0 ------------------------------------------------------------------------------------ */

static void on_section_sum(void *arg, const void *data, size_t bytes)
{
    (void)arg;
    CHECK(bytes == sizeof(int64_t) && *(const int64_t *)data == MOVERS);
    section_sums++;
}

static int waiter_sums; /* used on PE 0 */

static void on_waiters(void *rounds, const void *data, size_t bytes)
{
    CHECK(bytes == sizeof(int64_t) &&
          *(const int64_t *)data == 2 * WAITS * WAITERS * (int64_t)(intptr_t)rounds);
    waiter_sums++;
}

static void check_counts(int rounds)
{
    skua_future     future = SKUA_FUTURE_INIT;
    skua_completion done   = skua_done_future(&future);
    struct counts   c;

    skua_invoke_all(movers, tell_entry, &done, sizeof done);
    future_take(&future, &c, sizeof c);
    CHECK(c.hits_sent == c.hits_got && c.blocks_sent == c.blocks_got);
    CHECK(c.puts == c.arrivals && c.strips_sent == c.strips_got);
    CHECK(c.casts == (int64_t)rounds * CASTS * MOVERS);
    CHECK(c.section_casts == (int64_t)rounds * CASTS * MOVERS / 2);
}

static void play(int round, int puts, skua_section section)
{
    struct go go = {puts, skua_done_call(on_sum, &sums)};

    sums = section_sums = waiter_sums = 0;
    skua_invoke_all(movers, go_entry, &go, sizeof go);
    walkers_run();
    Waiter_run_all(waiters, WAITS, skua_done_call(on_waiters, (void *)(intptr_t)(round + 1)));
    for (int i = 0; i < CASTS; i++) {
        struct cast cast   = {section, round * CASTS + i, skua_done_call(on_section_sum, NULL)};
        skua_index  guest  = skua_index1(round * CASTS + i);
        skua_ref    member = skua_element(guests, guest);

        skua_invoke_all(movers, cast_entry, &cast.number, sizeof cast.number);
        skua_section_invoke(section, section_entry, &cast, sizeof cast);
        if (tap_random(&seed) % 3 == 0)
            skua_section_rebuild(section);
        skua_array_insert(member, (int)(tap_random(&seed) % (unsigned)skua_pes()), NULL, 0);
        for (int k = 0; k < 3; k++)
            skua_invoke_copy(member, guest_entry, NULL, 0);
        skua_poll(tap_random(&seed) % 40);
    }
    wait_quiet();
    CHECK(sums == SUMS && section_sums == CASTS && waiter_sums == 1);
    check_counts(round + 1);
    walkers_check(round + 1);
}

/* The remaining ends are notified of the destroyed ones. */
static void on_check_ended(void *self, const void *data, size_t bytes)
{
    struct mover *m = self;

    (void)data, (void)bytes;
    CHECK(number_of(self) % 2 == 0 && m->ended == 4);
    CHECK(skua_object_channel_put(m, m->out[LEFT])); /* dropped */
    skua_object_channel_close(m, m->in[LEFT]);
}

static skua_entry ended_entry;

static void start(int argc, char **argv)
{
    int            rounds = argc > 1 ? atoi(argv[1]) : 4, puts = argc > 2 ? atoi(argv[2]) : 12;
    skua_range     range = {.dims = 1, .upper = {MOVERS}};
    skua_array_def open  = {.dims = 1, .flags = SKUA_ARRAY_OPEN};
    skua_section   section;

    if (skua_pe() != 0)
        return;
    seed    = tap_seed();
    movers  = skua_array_create1(mover_class, MOVERS, &seed, sizeof seed);
    guests  = skua_array_create(guest_class, &open, NULL, 0);
    waiters = Waiter_new(WAITERS, seed);
    walkers_create(seed, movers, MOVERS, square_entry);
    section = skua_section_create_range(movers, &range, (int32_t[]){2});
    for (int i = 0; i < rounds; i++)
        play(i, puts, section);
    skua_section_destroy(section);
    skua_invoke_all(movers, leave_entry, NULL, 0);
    wait_quiet();
    skua_invoke_all(movers, ended_entry, NULL, 0);
    wait_quiet();
    skua_collection_destroy(movers);
    wait_quiet();
    skua_exit(0);
}

int main(int argc, char **argv)
{
    skua_class_def mover = {.name      = "mover",
                            .bytes     = sizeof(struct mover),
                            .construct = construct,
                            .pup       = skua_pup_plain};
    skua_class_def guest = {.name = "guest", .bytes = sizeof(struct guest), .pup = skua_pup_plain};
    skua_channel_end_def in  = {.name        = "in",
                                .buffer      = in_buffer,
                                .arrived     = on_arrived,
                                .established = on_established,
                                .ended       = on_ended};
    skua_channel_end_def out = {.name        = "out",
                                .buffer      = out_buffer,
                                .sent        = on_sent,
                                .established = on_established,
                                .ended       = on_ended};

    for (int i = 0; i < BLOCK; i++)
        shared_block[i] = i * 1.5;
    fix_addresses(argv);
    waiter_register();
    walkers_register();
    mover_class   = skua_class_register(&mover);
    guest_class   = skua_class_register(&guest);
    offer_entry   = skua_method_register(mover_class, "offer", on_offer, 0);
    ack_entry     = skua_method_register(mover_class, "ack", on_ack, 0);
    go_entry      = skua_method_register(mover_class, "go", on_go, 0);
    step_entry    = skua_method_register(mover_class, "step", on_step, 0);
    hit_entry     = skua_method_register(mover_class, "hit", on_hit, 0);
    owned_entry   = skua_entry_register(mover_class, "owned", on_owned, 0);
    block_entry   = skua_entry_register(mover_class, "block", on_block, 0);
    cast_entry    = skua_method_register(mover_class, "cast", on_cast, 0);
    section_entry = skua_method_register(mover_class, "section", on_section, 0);
    tell_entry    = skua_method_register(mover_class, "tell", on_tell, 0);
    leave_entry   = skua_method_register(mover_class, "leave", on_leave, 0);
    ended_entry   = skua_method_register(mover_class, "ended", on_check_ended, 0);
    strip_entry   = skua_inplace_register(mover_class, "strip", on_strip, land_strip, 0);
    square_entry  = skua_method_register(mover_class, "square", on_square, SKUA_ENTRY_SYNC);
    guest_entry   = skua_method_register(guest_class, "guest", on_guest, 0);
    in_end        = skua_channel_end_register(&in);
    out_end       = skua_channel_end_register(&out);
    return skua_main(argc, argv, start);
}
