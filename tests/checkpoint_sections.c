/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint_sections.c - a checkpoint contains reductions of a section to which only some members
 * have contributed; a restarted job completes them, once and in order.
 *
 * usage: checkpoint_sections DIR [stay] [die] [move] [rebuild] [callback] [leave]
 *
 * All members contribute to a reduction.  Then each member gets ahead by a different number of
 * reductions, and a checkpoint is made; with `move` members have migrated before, and with
 * `rebuild` the section has another tree.  Then all contribute until they have made the same number
 * of contributions.  The job ends after the checkpoint; with `stay` it continues; with `die` the
 * process of the last PE kills itself.  With `callback` results go to a function, so the checkpoint
 * is refused.  With `leave` some members are destroyed after the checkpoint: in a restarted job at
 * once, while the tree is built.
 */
#include <inttypes.h>
#include <signal.h>
#include <skua/skua.h>
#include <string.h>

#include "tap.h"

#define ITEMS  14
#define ROUNDS 7 /* reductions */

struct item {
    int32_t next;
};

struct counter {
    int32_t  results;
    int32_t  saved; /* a checkpoint was made, or refused */
    uint64_t hash;
};

/* The number of contributions of a member: `base`, plus `spread` times its index modulo 4. */
struct order {
    int32_t base, spread, move;
};

static skua_class      item_class, counter_class;
static skua_entry      go_entry, leave_entry, sum_entry, saved_entry;
static skua_handler    die_handler, flushed_handler;
static skua_collection items;                                     /* read-only */
static skua_section    section;                                   /* read-only */
static skua_ref        counter;                                   /* read-only */
static int             stay, die, move, rebuild, callback, leave; /* read-only */
static char            dir[4000];                                 /* read-only */

static bool is_member(int i)
{
    return i % 5 != 4;
}

/* A member that is destroyed has contributed to 1 + i % 4 reductions. */
static bool leaves(int i)
{
    return leave && i % 4 >= 2;
}

static bool contributes(int i, int reduction)
{
    return is_member(i) && (!leaves(i) || reduction < 1 + i % 4);
}

static void on_called(void *arg, const void *data, size_t bytes)
{
    (void)arg;
    skua_invoke_copy(counter, sum_entry, data, bytes);
}

/* The value grows with each contribution, so that a lost or doubled one is detected. */
static void on_go(void *self, const void *data, size_t bytes)
{
    struct item *item = self;
    struct order order;
    int          index = skua_index_of(self).at.x[0];

    CHECK(bytes == sizeof order);
    memcpy(&order, data, sizeof order);
    while (is_member(index) && item->next < order.base + order.spread * (index % 4)) {
        int64_t value = (int64_t)(index + 1) << 5 * item->next;

        item->next++;
        skua_section_contribute(section, self,
                                skua_contribution_make(SKUA_SUM, SKUA_INT64, &value, 1),
                                callback && !order.move ? skua_done_call(on_called, NULL)
                                                        : skua_done_invoke(counter, sum_entry));
    }
    if (order.move)
        skua_migrate(self, (index * 3 + 1) % skua_pes());
}

static void on_leave(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    if (leaves(skua_index_of(self).at.x[0]))
        skua_object_destroy(self);
}

static void on_restart(void *arg)
{
    (void)arg;
    if (leave && skua_pe() == 0)
        skua_invoke_all(items, leave_entry, NULL, 0);
}

static void go(int base, int spread, bool moves)
{
    struct order order = {base, spread, moves};

    skua_invoke_all(items, go_entry, &order, sizeof order);
}

/* Receives a result; results arrive in the order of the reductions. */
static void on_sum(void *self, const void *data, size_t bytes)
{
    struct counter *c = self;
    int64_t         sum, expected = 0;

    CHECK(bytes == sizeof sum);
    memcpy(&sum, data, sizeof sum);
    for (int i = 0; i < ITEMS; i++)
        expected += contributes(i, c->results) ? (int64_t)(i + 1) << 5 * c->results : 0;
    CHECK(sum == expected);
    c->hash = (c->hash ^ (uint64_t)sum) * UINT64_C(0x100000001b3);
    if (++c->results == 1) {
        if (rebuild)
            skua_section_rebuild(section);
        go(1, 1, false);
        skua_checkpoint(die ? NULL : dir, skua_done_invoke(counter, saved_entry));
    }
    if (c->results == ROUNDS) {
        CHECK(c->saved);
        printf("result %016" PRIx64 "\n", c->hash);
        skua_exit(0);
    }
}

static void on_saved(void *self, const void *data, size_t bytes)
{
    struct counter        *c = self;
    skua_checkpoint_result result;

    CHECK(bytes == sizeof result && c->results == 1);
    memcpy(&result, data, sizeof result);
    CHECK(result.status == (callback ? SKUA_ERR_UNSUPPORTED : SKUA_OK));
    c->saved = 1;
    if (leave && stay)
        skua_invoke_all(items, leave_entry, NULL, 0);
    if (stay || result.restarted)
        go(ROUNDS, 0, false);
    else if (die)
        skua_send_copy(skua_pes() - 1, die_handler, NULL, 0);
    else
        skua_checkpoint_flush(skua_done_send(0, flushed_handler));
}

static void on_die(skua_msg *msg)
{
    skua_msg_free(msg);
    (void)raise(SIGKILL);
}

static void on_flushed(skua_msg *msg)
{
    skua_msg_free(msg);
    skua_exit(0);
}

static void begin(int argc, char **argv)
{
    skua_index members[ITEMS];
    size_t     count = 0;

    CHECK(argc > 1);
    snprintf(dir, sizeof dir, "%s", argv[1]);
    for (int i = 2; i < argc; i++) {
        stay     = stay || strcmp(argv[i], "stay") == 0;
        die      = die || strcmp(argv[i], "die") == 0;
        move     = move || strcmp(argv[i], "move") == 0;
        rebuild  = rebuild || strcmp(argv[i], "rebuild") == 0;
        callback = callback || strcmp(argv[i], "callback") == 0;
        leave    = leave || strcmp(argv[i], "leave") == 0;
    }
    for (int i = 0; i < ITEMS; i++)
        if (is_member(i))
            members[count++] = skua_index1(i);
    items   = skua_array_create1(item_class, ITEMS, NULL, 0);
    section = skua_section_create(items, members, count);
    counter = skua_chare_create_local(counter_class, NULL, 0);
    go(1, 0, move || rebuild || callback);
}

static void register_variables(void)
{
    skua_readonly_register("items", &items, sizeof items);
    skua_readonly_register("section", &section, sizeof section);
    skua_readonly_register("counter", &counter, sizeof counter);
    skua_readonly_register("stay", &stay, sizeof stay);
    skua_readonly_register("die", &die, sizeof die);
    skua_readonly_register("callback", &callback, sizeof callback);
    skua_readonly_register("leave", &leave, sizeof leave);
    skua_readonly_register("rebuild", &rebuild, sizeof rebuild);
    skua_readonly_register("dir", dir, sizeof dir);
}

int main(int argc, char **argv)
{
    item_class      = skua_class_register(&(skua_class_def){.size  = sizeof(skua_class_def),
                                                            .name  = "item",
                                                            .bytes = sizeof(struct item),
                                                            .pup   = skua_pup_plain});
    counter_class   = skua_class_register(&(skua_class_def){.size  = sizeof(skua_class_def),
                                                            .name  = "counter",
                                                            .bytes = sizeof(struct counter),
                                                            .pup   = skua_pup_plain});
    go_entry        = skua_method_register(item_class, "go", on_go, 0);
    leave_entry     = skua_method_register(item_class, "leave", on_leave, 0);
    sum_entry       = skua_method_register(counter_class, "sum", on_sum, 0);
    saved_entry     = skua_method_register(counter_class, "saved", on_saved, 0);
    die_handler     = skua_handler_register("die", on_die);
    flushed_handler = skua_handler_register("flushed", on_flushed);
    register_variables();
    skua_checkpoint_hook(SKUA_CHECKPOINT_RESTART, on_restart, NULL);
    return skua_program(argc, argv, begin);
}
