/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.c - messages between two PEs with one priority arrive in the order of sending, however they
 * are transferred: inline in a cell, by pointer, large; also when inboxes are full and senders
 * wait.
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"

#define EACH 3000 /* messages of a pair at a priority: many times an inbox */

static const int priorities[] = {0, 7, -3};

#define PRIORITIES 3

struct item {
    int  number, priority;
    char fill[];
};

static skua_handler item_handler, done_handler;

/* The state of each PE: the next number that it expects from every other PE. */
struct seen {
    int *next; /* [source * PRIORITIES + priority] */
    int  arrived;
};

static skua_pe_data seen_key;
static int          finished; /* used on PE 0 */

static void on_done(skua_msg *msg)
{
    skua_msg_free(msg);
    if (++finished == skua_pes())
        skua_exit(0);
}

static void on_item(skua_msg *msg)
{
    struct seen *seen = skua_pe_data_get(seen_key);
    struct item *item = skua_msg_data(msg);
    int         *next = &seen->next[skua_msg_source(msg) * PRIORITIES + item->priority];
    size_t       fill = skua_msg_size(msg) - sizeof *item;

    CHECK(item->number == *next);
    for (size_t i = 0; i < fill; i++)
        CHECK(item->fill[i] == (char)item->number);
    ++*next;
    skua_msg_free(msg);
    if (++seen->arrived == EACH * PRIORITIES * skua_pes()) {
        free(seen->next);
        skua_send_copy(0, done_handler, NULL, 0);
    }
}

static void send_one(int pe, int number, int priority, uint64_t *seed)
{
    size_t       fill  = tap_random(seed) % 4 ? tap_random(seed) % 60 : tap_random(seed) % 3000;
    size_t       bytes = sizeof(struct item) + fill;
    skua_msg    *msg   = skua_msg_alloc(bytes);
    struct item *item  = skua_msg_data(msg);

    item->number   = number;
    item->priority = priority;
    memset(item->fill, number, fill);
    if (tap_random(seed) % 2) { /* by copy, which uses a cell for small messages */
        skua_send_copy_prio(pe, item_handler, item, bytes, priorities[priority]);
        skua_msg_free(msg);
    } else {
        skua_msg_set_priority(msg, priorities[priority]);
        skua_send(pe, item_handler, msg);
    }
}

static uint64_t test_seed; /* of this process */

static void start(int argc, char **argv)
{
    struct seen *seen = skua_pe_data_get(seen_key);
    uint64_t     seed = test_seed + (uint64_t)skua_pe();

    (void)argc, (void)argv;
    seen->next = calloc((size_t)skua_pes() * PRIORITIES, sizeof *seen->next);
    for (int i = 0; i < EACH; i++)
        for (int pe = 0; pe < skua_pes(); pe++)
            for (int p = 0; p < PRIORITIES; p++)
                send_one(pe, i, p, &seed);
}

int main(int argc, char **argv)
{
    test_seed    = tap_seed();
    item_handler = skua_handler_register("item", on_item);
    done_handler = skua_handler_register("done", on_done);
    seen_key     = skua_pe_data_register(sizeof(struct seen));
    return skua_main(argc, argv, start);
}
