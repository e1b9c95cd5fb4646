/* SPDX-License-Identifier: Apache-2.0 */
/*
 * departed.c - messages to chares that were destroyed long ago and whose tombstones have been
 * dropped: each message is dropped and counted once, and nothing waits forever; messages that
 * arrive before the creation of their chare are delivered.
 */
#include <skua/skua.h>
#include <string.h>

#include "stats_now.h"
#include "tap.h"

#define MANY  3000 /* more than the tombstones that a home PE keeps */
#define POKES 5    /* messages of each PE to each destroyed object */

static skua_class   mayfly_class, keen_class;
static skua_entry   poke_entry, keen_entry;
static skua_handler poke_handler, keen_handler, count_handler, counted_handler;
static skua_ref     gone[2]; /* on PE 0: created on a PE, and created as a seed */
static int64_t      departed, reports;
static int          keen_seen;

/* Destroys itself in its constructor. */
static void mayfly(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_object_destroy(self);
}

static void on_poke(void *self, const void *data, size_t bytes)
{
    (void)self, (void)data, (void)bytes;
    skua_abort("delivered to a deleted object");
}

static void on_keen(void *self, const void *data, size_t bytes)
{
    (void)self, (void)data, (void)bytes;
    skua_send_copy(0, keen_handler, NULL, 0);
}

static void on_keen_seen(skua_msg *msg)
{
    skua_msg_free(msg);
    keen_seen++;
}

/* Runs on each PE: sends to the destroyed objects. */
static void on_poke_them(skua_msg *msg)
{
    skua_ref refs[2];

    memcpy(refs, skua_msg_data(msg), sizeof refs);
    skua_msg_free(msg);
    for (int i = 0; i < POKES; i++)
        for (int k = 0; k < 2; k++)
            skua_invoke_copy(refs[k], poke_entry, &i, sizeof i);
}

static void on_count(skua_msg *msg)
{
    int64_t mine = (int64_t)stats_now().dropped_messages;

    skua_msg_free(msg);
    skua_send_copy(0, counted_handler, &mine, sizeof mine);
}

static void on_counted(skua_msg *msg)
{
    departed += *(int64_t *)skua_msg_data(msg);
    skua_msg_free(msg);
    if (++reports < skua_pes())
        return;
    CHECK(departed == 2 * POKES * skua_pes());
    CHECK(keen_seen == MANY);
    skua_exit(0);
}

static void count_them(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
    skua_broadcast(count_handler, skua_msg_alloc(0), skua_done_nothing());
}

/* Creations and messages race: all messages are delivered. */
static void poke_them(void *arg, const void *data, size_t bytes)
{
    skua_msg *msg = skua_msg_alloc(sizeof gone);

    (void)arg, (void)data, (void)bytes;
    memcpy(skua_msg_data(msg), gone, sizeof gone);
    skua_broadcast(poke_handler, msg, skua_done_nothing());
    for (int i = 0; i < MANY; i++) {
        int pe = i % (skua_pes() + 1);

        skua_invoke_copy(skua_chare_create(keen_class, pe < skua_pes() ? pe : SKUA_ANY_PE, NULL, 0),
                         keen_entry, NULL, 0);
    }
    skua_quiescence(skua_done_call(count_them, NULL));
}

/* Destroys them, and so many others that their home PEs drop the tombstones. */
static void create_many(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
    for (int i = 0; i < MANY; i++) {
        skua_chare_create(mayfly_class, skua_pes() - 1, NULL, 0);
        skua_chare_create(mayfly_class, SKUA_ANY_PE, NULL, 0);
    }
    skua_quiescence(skua_done_call(poke_them, NULL));
}

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    if (skua_pe() != 0)
        return;
    gone[0] = skua_chare_create(mayfly_class, skua_pes() - 1, NULL, 0);
    gone[1] = skua_chare_create(mayfly_class, SKUA_ANY_PE, NULL, 0);
    skua_quiescence(skua_done_call(create_many, NULL));
}

int main(int argc, char **argv)
{
    mayfly_class    = skua_class_register(&(skua_class_def){.name = "mayfly", .construct = mayfly});
    keen_class      = skua_class_register(&(skua_class_def){.name = "keen"});
    poke_entry      = skua_method_register(mayfly_class, "poke", on_poke, 0);
    keen_entry      = skua_method_register(keen_class, "keen", on_keen, 0);
    poke_handler    = skua_handler_register("poke them", on_poke_them);
    keen_handler    = skua_handler_register("keen seen", on_keen_seen);
    count_handler   = skua_handler_register("count", on_count);
    counted_handler = skua_handler_register("counted", on_counted);
    return skua_main(argc, argv, start);
}
