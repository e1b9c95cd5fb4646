/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffers.c - gets and puts between buffers of any two PEs, of every size, kind of memory and mode:
 * both sides get the completion of the right transfer, registrations do not accumulate, freed
 * memory is reused, and misuse is reported.
 *
 * usage: buffers [transfers a PE] [buffers of the long run]
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"
#include "pattern.h"

#define ROOM   ((size_t)300000)
#define ROUNDS 4 /* rounds of the long run; each makes all buffers anew */

static skua_handler on_offer, on_finish;
static skua_pe_data state_key;
static int          transfers = 200, many = 25000;

struct state { /* the state of a PE */
    uint64_t     seed;
    int          started, heard, served, told;
    skua_counter over;
};

enum memory { HEAP, POOL, MEMORIES };

/* One side of a transfer, until its completion. */
struct side {
    skua_buffer buffer;
    enum memory memory;
    uint64_t    pattern; /* pattern expected at the end */
    size_t      bytes;   /* bytes of the buffer */
};

/* A request to another PE. */
struct offer {
    skua_buffer buffer;
    uint64_t    pattern; /* pattern of the data to get or to put */
    size_t      bytes;
    int32_t     memory, mode, put;
};

static struct state *self(void)
{
    return skua_pe_data_get(state_key);
}

static void *make(enum memory memory, size_t bytes)
{
    return memory == HEAP ? malloc(bytes + 1) : skua_buffer_alloc(bytes);
}

static void give_back(enum memory memory, void *at)
{
    if (memory == HEAP)
        free(at);
    else
        skua_buffer_free(at);
}

static size_t random_size(uint64_t *seed)
{
    size_t most = (size_t)1 << tap_random(seed) % 19;

    return tap_random(seed) % (most < ROOM ? most : ROOM);
}

/* ---- a transfer ------------------------------------------------------------------------------ */

/* Records that a side is complete; the buffer of its completion identifies it. */
static void over(void *arg, const void *data, size_t bytes)
{
    struct side       *side = arg;
    const skua_buffer *told = data;
    skua_buffer        copy = side->buffer;

    CHECK(bytes == sizeof *told);
    CHECK(told->at == side->buffer.at && told->bytes == side->buffer.bytes);
    CHECK(told->user == side->buffer.user && told->pe == skua_pe());
    CHECK(is_filled(told->at, side->bytes, side->pattern));
    skua_buffer_unregister(&copy);
    give_back(side->memory, told->at);
    self()->heard++;
    free(side);
    skua_complete(skua_done_count(&self()->over), NULL, 0);
}

static struct side *new_side(enum memory memory, size_t bytes, int mode, uint64_t user)
{
    struct side *side = malloc(sizeof *side);

    side->memory  = memory;
    side->bytes   = 0;
    side->pattern = 0;
    side->buffer  = skua_buffer_make(make(memory, bytes), bytes, (skua_registration)mode,
                                     skua_done_call(over, side), user);
    return side;
}

static size_t less(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Offers a buffer to another PE, to get from or to put into. */
static void offer(struct state *s, int pe)
{
    uint64_t     pattern = tap_random(&s->seed);
    struct offer o       = {.put     = (int)(tap_random(&s->seed) % 2),
                            .pattern = pattern,
                            .memory  = (int)(tap_random(&s->seed) % MEMORIES),
                            .mode    = (int)(tap_random(&s->seed) % 3)};
    size_t       bytes   = random_size(&s->seed);
    struct side *side    = new_side((enum memory)(tap_random(&s->seed) % MEMORIES), bytes,
                                    (int)(tap_random(&s->seed) % 3), pattern);

    o.bytes = tap_random(&s->seed) % 4 ? bytes : random_size(&s->seed);
    if (!o.put)
        fill(side->buffer.at, bytes, pattern);
    side->pattern = pattern;
    side->bytes   = o.put ? less(bytes, o.bytes) : bytes;
    o.buffer      = side->buffer;
    s->started++;
    skua_send_copy(pe, on_offer, &o, sizeof o);
}

/* The other side gets, or puts. */
static void take_offer(skua_msg *msg)
{
    const struct offer *o    = skua_msg_data(msg);
    struct side        *side = new_side((enum memory)o->memory, o->bytes, o->mode, o->pattern + 1);
    skua_status         status;

    side->pattern = o->pattern;
    side->bytes   = o->put ? o->bytes : less(o->bytes, o->buffer.bytes);
    if (o->put)
        fill(side->buffer.at, o->bytes, o->pattern);
    self()->served++;
    status = o->put ? skua_buffer_put(&side->buffer, &o->buffer)
                    : skua_buffer_get(&side->buffer, &o->buffer);
    CHECK(status == SKUA_OK || status == SKUA_PENDING);
    skua_msg_free(msg);
}

static void test_transfers(struct state *s)
{
    for (int i = 0; i < transfers; i++)
        offer(s, (int)(tap_random(&s->seed) % (unsigned)skua_pes()));
}

/* ---- registrations --------------------------------------------------------------------------- */

static skua_registration_stats registrations(void)
{
    skua_registration_stats stats;

    skua_registration_stats_get(&stats, sizeof stats);
    return stats;
}

/* Many buffers at many addresses, some repeatedly: few registrations are left. */
static void test_long_run(void)
{
    static _Thread_local char memory[1 << 16];

    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < many; i++) {
            skua_buffer b = skua_buffer_make(memory + i % (1 << 16), 100, SKUA_REGISTER_NOW,
                                             skua_done_nothing(), 0);
            if (b.held) {
                skua_buffer again =
                    skua_buffer_make(b.at, 100, SKUA_REGISTER_NOW, skua_done_nothing(), 0);

                CHECK(skua_gaddr_equal(again.where, b.where));
                skua_buffer_unregister(&again);
            }
            skua_buffer_unregister(&b);
            skua_buffer_unregister(&b); /* its registration has been dropped */
            CHECK(registrations().kept <= 1024);
        }
}

/* Memory that stays mapped keeps its registration, also where the driver pins memory. */
static void test_kept(void)
{
    char       *memory = skua_channel_alloc(100000);
    skua_buffer b     = skua_buffer_make(memory, 100000, SKUA_REGISTER_NOW, skua_done_nothing(), 0);
    skua_gaddr  where = b.where;

    skua_buffer_unregister(&b);
    CHECK(registrations().kept > 0);
    b = skua_buffer_make(memory, 100000, SKUA_REGISTER_NOW, skua_done_nothing(), 0);
    CHECK(skua_gaddr_equal(b.where, where));
    skua_buffer_unregister(&b);
    skua_channel_free(memory);
}

/* Blocks of the pool are distinct and usable. */
static void test_pool(uint64_t *seed)
{
    void  *block[64] = {NULL};
    size_t bytes[64] = {0};

    for (int i = 0; i < 4000; i++) {
        unsigned k = (unsigned)(tap_random(seed) % 64);

        if (block[k]) {
            CHECK(is_filled(block[k], bytes[k], k));
            skua_buffer_free(block[k]);
        }
        bytes[k] = random_size(seed) / 16;
        block[k] = skua_buffer_alloc(bytes[k]);
        CHECK((uintptr_t)block[k] % 64 == 0);
        fill(block[k], bytes[k], k);
    }
    for (unsigned k = 0; k < 64; k++)
        skua_buffer_free(block[k]);
    skua_buffer_free(NULL);
}

/* Memory that is registered after its buffer was made, once and repeatedly. */
static void test_register(void)
{
    char        x[8];
    skua_buffer b      = skua_buffer_make(x, 8, SKUA_REGISTER_LATER, skua_done_nothing(), 0);
    size_t      before = registrations().used;

    CHECK(!b.held);
    CHECK(skua_buffer_register(&b) == SKUA_OK && b.held);
    CHECK(skua_buffer_register(&b) == SKUA_OK && registrations().used == before + 1);
    skua_buffer_unregister(&b);
    CHECK(!b.held && registrations().used == before);
    b.pe = skua_pes();
    CHECK(skua_buffer_register(&b) == SKUA_ERR_INVAL);
}

static void test_errors(void)
{
    char        x[8], y[8];
    skua_buffer a = skua_buffer_make(x, 8, SKUA_REGISTER_LATER, skua_done_nothing(), 0);
    skua_buffer b = skua_buffer_make(y, 8, SKUA_REGISTER_LATER, skua_done_nothing(), 0);

    CHECK(skua_buffer_local(&a) == x);
    b.pe = skua_pes();
    CHECK(skua_buffer_get(&a, &b) == SKUA_ERR_INVAL);
    CHECK(skua_buffer_put(&b, &a) == SKUA_ERR_INVAL);
    CHECK(skua_buffer_local(&b) == NULL);
    CHECK(skua_zero_copy_bytes(skua_pe()) > 0);
    CHECK(skua_zero_copy_bytes(skua_pes() - 1) > 0);
}

/* ---- all ------------------------------------------------------------------------------------ */

static void quiet(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
    skua_exit(0);
}

/* At quiescence each PE checks that all completions have arrived. */
static void finish(skua_msg *msg)
{
    struct state *s = self();

    skua_msg_free(msg);
    CHECK(s->heard == s->started + s->served);
    CHECK(s->over.value == s->heard);
    /* If the driver pins memory, the pool stays registered. */
    CHECK(registrations().used == 0 || getenv("SKUA_RMA"));
    skua_barrier(skua_done_call(quiet, NULL));
}

static void all_quiet(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
    for (int pe = 0; pe < skua_pes(); pe++)
        skua_send(pe, on_finish, skua_msg_alloc(0));
}

static void start(int argc, char **argv)
{
    struct state *s = self();

    (void)argc, (void)argv;
    s->seed = tap_seed() + 7919 * (uint64_t)skua_pe() + 1;
    test_register();
    test_errors();
    test_pool(&s->seed);
    test_long_run();
    test_kept();
    test_transfers(s);
    if (skua_pe() == 0)
        skua_quiescence(skua_done_call(all_quiet, NULL));
}

int main(int argc, char **argv)
{
    if (argc > 1)
        transfers = atoi(argv[1]);
    if (argc > 2)
        many = atoi(argv[2]);
    on_offer  = skua_handler_register("offer", take_offer);
    on_finish = skua_handler_register("finish", finish);
    state_key = skua_pe_data_register(sizeof(struct state));
    return skua_main(argc, argv, start);
}
