/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backlog.c - long queues of messages to elements that migrate continuously: each message arrives
 * once, those of one PE at one priority in their order, and the runtime forwards a bounded number
 * of messages per message of the program.
 *
 * usage: backlog [MESSAGES-PER-PE]
 *
 * All PEs send to all elements at once, far more than can be delivered before the elements move. An
 * element migrates to a random PE after a number of messages that depends on the phase.  The bound
 * is a number of messages, so it holds on any machine under any load.
 */
#include <skua/skua.h>
#include <string.h>

#include "stats_now.h"
#include "tap.h"
#include "waits.h"

#define ELEMENTS  12
#define MOST_PES  16
#define UNORDERED (-1)

/* Bounds on the messages that PEs receive, per message of the program and per migration. */
#define PER_MESSAGE 5
#define PER_MOVE    12

struct element {
    uint64_t random, got;
    int32_t  every;
    int32_t  next[MOST_PES]; /* number of the next message of each PE */
};

/* The data of a message begin with this. */
struct hit {
    int32_t source;
    int32_t number; /* among those of the source to the element; UNORDERED: of another priority */
};

struct phase {
    skua_collection all;
    uint64_t        random;
    int32_t         each; /* messages of each PE */
};

static skua_class   element_class;
static skua_entry   hit_entry, keep_entry, count_entry;
static skua_handler send_handler, sum_handler;
static uint64_t     seed; /* used on PE 0 */

static skua_ref element(skua_collection all, int i)
{
    char name[40] = "elements may have long names";

    if (i % 3 > 0)
        memcpy(name + i % 3 * 10, &i, sizeof i);
    return skua_element(all, skua_index_bytes(i % 3 ? name : (void *)&i, i % 3 ? 40 : sizeof i));
}

/* ---- elements ---------------------------------------------------------------------------- */

static void construct(void *self, const void *data, size_t bytes)
{
    CHECK(bytes == sizeof(struct element));
    memcpy(self, data, bytes);
}

static void get_one(struct element *e, const void *data)
{
    struct hit hit;

    memcpy(&hit, data, sizeof hit);
    CHECK(hit.number == UNORDERED || hit.number == e->next[hit.source]);
    e->next[hit.source] += hit.number != UNORDERED;
    if (++e->got % (unsigned)e->every == 0)
        skua_migrate(e, (int)(tap_random(&e->random) % (unsigned)skua_pes()));
}

static void on_hit(void *self, const void *data, size_t bytes)
{
    CHECK(bytes == sizeof(struct hit) || bytes == 100);
    get_one(self, data);
}

static void on_keep(void *self, skua_msg *msg)
{
    CHECK(skua_msg_size(msg) == 300);
    get_one(self, skua_msg_data(msg));
    skua_msg_free(msg);
}

static void on_count(void *self, const void *data, size_t bytes)
{
    skua_completion to;

    CHECK(bytes == sizeof to);
    memcpy(&to, data, bytes);
    skua_contribute(self, SKUA_SUM, SKUA_UINT64, &((struct element *)self)->got, 1, to);
}

/* ---- PEs ---------------------------------------------------------------------------------- */

static void send_one(skua_ref ref, uint64_t draw, int32_t *next)
{
    int32_t    priority = draw % 8 == 1 ? (int32_t)(draw >> 8) % 5 - 2 : 0;
    struct hit data[13] = {{skua_pe(), priority ? UNORDERED : (*next)++}};
    skua_msg  *msg;

    switch (draw % 8) {
    case 0:
        msg = skua_msg_alloc(300);
        memcpy(skua_msg_data(msg), data, sizeof *data);
        skua_invoke(ref, keep_entry, msg);
        break;
    case 1: skua_invoke_copy_prio(ref, hit_entry, data, sizeof *data, priority); break;
    case 2: skua_invoke_copy(ref, hit_entry, data, 100); break;
    default: skua_invoke_copy(ref, hit_entry, data, sizeof *data);
    }
}

static void on_send(skua_msg *msg)
{
    struct phase phase          = *(struct phase *)skua_msg_data(msg);
    uint64_t     random         = phase.random + (unsigned)skua_pe();
    int32_t      next[ELEMENTS] = {0};

    skua_msg_free(msg);
    for (int i = 0; i < phase.each; i++)
        send_one(element(phase.all, i % ELEMENTS), tap_random(&random), &next[i % ELEMENTS]);
}

static void on_sum(skua_msg *msg)
{
    skua_completion to    = *(skua_completion *)skua_msg_data(msg);
    uint64_t        count = stats_now().received;

    skua_msg_free(msg);
    skua_reduce(0, SKUA_SUM, SKUA_UINT64, &count, 1, skua_pe() == 0 ? to : skua_done_nothing());
}

/* ---- PE 0 ----------------------------------------------------------------------------------- */

/* Returns the number of messages that all PEs have received. */
static uint64_t received(void)
{
    skua_future sum = SKUA_FUTURE_INIT;
    skua_msg   *msg = skua_msg_alloc(sizeof(skua_completion));

    *(skua_completion *)skua_msg_data(msg) = skua_done_future(&sum);
    skua_broadcast(sum_handler, msg, skua_done_nothing());
    return (uint64_t)future_take_int64(&sum);
}

static skua_collection make(int every)
{
    skua_array_def  def = {.flags = SKUA_ARRAY_OPEN};
    skua_collection all = skua_array_create(element_class, &def, NULL, 0);

    for (int i = 0; i < ELEMENTS; i++) {
        struct element like = {.random = tap_random(&seed) | 1, .every = every};

        skua_array_insert(element(all, i), SKUA_ANY_PE, &like, sizeof like);
    }
    wait_quiet();
    return all;
}

static void play(int each, int every)
{
    struct phase    phase  = {make(every), tap_random(&seed) | 1, each};
    skua_msg       *msg    = skua_msg_alloc(sizeof phase);
    uint64_t        before = received(), after, sent = (uint64_t)each * (unsigned)skua_pes();
    skua_future     got = SKUA_FUTURE_INIT;
    skua_completion to  = skua_done_future(&got);

    memcpy(skua_msg_data(msg), &phase, sizeof phase);
    skua_broadcast(send_handler, msg, skua_done_nothing());
    wait_quiet();
    after = received();
    printf("# migration every %d messages: %.1f messages received for each\n", every,
           (double)(after - before) / (double)sent);
    fflush(stdout);
    CHECK(after - before <= PER_MESSAGE * sent + PER_MOVE * sent / (unsigned)every + 1000);
    skua_invoke_all(phase.all, count_entry, &to, sizeof to);
    CHECK((uint64_t)future_take_int64(&got) == sent);
    skua_collection_destroy(phase.all);
}

static void start(int argc, char **argv)
{
    int each = argc > 1 ? atoi(argv[1]) : 2000;

    CHECK(skua_pes() <= MOST_PES);
    if (skua_pe() != 0)
        return;
    seed = tap_seed();
    for (int every = 1; every <= 64; every *= 8)
        play(each, every);
    skua_exit(0);
}

int main(int argc, char **argv)
{
    element_class = skua_class_register(&(skua_class_def){.name      = "element",
                                                          .bytes     = sizeof(struct element),
                                                          .construct = construct,
                                                          .pup       = skua_pup_plain});
    hit_entry     = skua_method_register(element_class, "hit", on_hit, 0);
    keep_entry    = skua_entry_register(element_class, "keep", on_keep, 0);
    count_entry   = skua_method_register(element_class, "count", on_count, 0);
    send_handler  = skua_handler_register("send", on_send);
    sum_handler   = skua_handler_register("sum", on_sum);
    return skua_main(argc, argv, start);
}
