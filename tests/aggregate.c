/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aggregate.c - messages to objects that travel in streams, as those to [aggregate] entries do:
 * members of a group, and elements of arrays, which may have migrated or may not exist yet.
 *
 * An item names its object and carries the arguments of the entry method.  It is put to the PE that
 * is believed to have the object.  That PE calls the entry method, or turns the item into a message
 * that is forwarded.  So an item is delivered in every case, even if that PE does not know the
 * collection yet.
 *
 * usage: aggregate [ITEMS]
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"
#include "waits.h"

#define CELLS 40

struct tally {
    int64_t count, sum;
};

/* An item for the group member on the PE where it arrives. */
struct member_item {
    skua_collection of;
    int64_t         value;
};

struct element_item {
    skua_collection of;
    int32_t         index[2];
    int64_t         value;
};

struct work {
    skua_collection group, array, sparse;
};

static skua_class   tally_class;
static skua_entry   add_entry, create_entry, move_entry, report_entry;
static skua_stream  member_stream, element_stream;
static skua_handler work_handler;
static int          items = 2000;

/* ---- objects ------------------------------------------------------------------------- */

static void on_add(void *self, const void *data, size_t bytes)
{
    struct tally *tally = self;
    int64_t       value;

    CHECK(bytes == sizeof value);
    memcpy(&value, data, sizeof value);
    tally->count++;
    tally->sum += value;
}

/* The object may migrate; the batch of the stream continues with others. */
static void on_move(void *self, const void *data, size_t bytes)
{
    (void)data;
    CHECK(bytes == 0);
    skua_migrate(self, (skua_pe() + 1) % skua_pes());
}

static void on_report(void *self, const void *data, size_t bytes)
{
    skua_completion to;

    CHECK(bytes == sizeof to);
    memcpy(&to, data, sizeof to);
    skua_contribute(self, SKUA_SUM, SKUA_INT64, self, 2, to);
}

/* ---- code as the translator generates it ---------------------------------------------------- */

static void add_to_member(skua_collection group, int pe, int64_t value)
{
    struct member_item item = {group, value};

    skua_stream_put(member_stream, pe, &item);
}

static void on_members(void *arg, const void *data, size_t count)
{
    const struct member_item *item = data;

    (void)arg;
    for (size_t i = 0; i < count; i++)
        skua_invoke_now(skua_member(item[i].of, skua_pe()), add_entry, &item[i].value,
                        sizeof item[i].value);
}

static void add_to_element(skua_collection array, int i, int j, int64_t value)
{
    struct element_item item = {array, {i, j}, value};

    skua_stream_put(element_stream, skua_location(skua_element2(array, i, j)), &item);
}

static void on_elements(void *arg, const void *data, size_t count)
{
    const struct element_item *item = data;

    (void)arg;
    for (size_t i = 0; i < count; i++)
        skua_invoke_now(skua_element2(item[i].of, item[i].index[0], item[i].index[1]),
                        item[i].value % 2 ? add_entry : create_entry, &item[i].value,
                        sizeof item[i].value);
}

/* ---- the test ---------------------------------------------------------------------------- */

static void put_all(const struct work *work)
{
    for (int i = 0; i < items; i++) {
        add_to_member(work->group, i % skua_pes(), i);
        add_to_element(work->array, i % CELLS, i % 2, i);
        add_to_element(work->sparse, i % CELLS, 0, i);
    }
    for (int i = 0; i < CELLS; i++)
        skua_invoke_copy(skua_element2(work->array, i, 0), move_entry, NULL, 0);
    for (int i = 0; i < items; i++)
        add_to_element(work->array, i % CELLS, i % 2, i);
}

static void on_work(skua_msg *msg)
{
    put_all(skua_msg_data(msg));
    skua_msg_free(msg);
}

static void check(skua_collection all, int64_t times)
{
    skua_future     sums = SKUA_FUTURE_INIT;
    skua_completion to   = skua_done_future(&sums);
    int64_t         sum[2];

    skua_invoke_all(all, report_entry, &to, sizeof to);
    future_take(&sums, sum, sizeof sum);
    CHECK(sum[0] == times * items * skua_pes());
    CHECK(sum[1] == times * items * (items - 1) / 2 * skua_pes());
}

static void start(int argc, char **argv)
{
    skua_array_def def   = {.dims = 2, .range = {.dims = 2, .upper = {CELLS, 2}}};
    skua_array_def empty = {.dims = 2, .flags = SKUA_ARRAY_OPEN};
    struct work    work;

    if (argc > 1)
        items = atoi(argv[1]);
    if (skua_pe() != 0)
        return;
    work.group  = skua_group_create(tally_class, NULL, 0);
    work.array  = skua_array_create(tally_class, &def, NULL, 0);
    work.sparse = skua_array_create(tally_class, &empty, NULL, 0);
    for (int pe = skua_pes() - 1; pe >= 0; pe--) /* before those PEs know the collections */
        skua_send_copy(pe, work_handler, &work, sizeof work);
    for (int i = 1; i < CELLS; i += 2) /* elements that items do not create */
        skua_array_insert(skua_element2(work.sparse, i, 0), SKUA_ANY_PE, NULL, 0);
    wait_quiet();
    check(work.group, 1);
    check(work.array, 2);
    check(work.sparse, 1);
    skua_exit(0);
}

int main(int argc, char **argv)
{
    skua_class_def def = {.name = "tally", .bytes = sizeof(struct tally), .pup = skua_pup_plain};

    tally_class   = skua_class_register(&def);
    add_entry     = skua_method_register(tally_class, "add", on_add, 0);
    create_entry  = skua_method_register(tally_class, "create", on_add, SKUA_ENTRY_CREATE_HERE);
    move_entry    = skua_method_register(tally_class, "move", on_move, 0);
    report_entry  = skua_method_register(tally_class, "report", on_report, 0);
    work_handler  = skua_handler_register("work", on_work);
    member_stream = skua_stream_register(
        "tally.add",
        &(skua_stream_def){.item_bytes = sizeof(struct member_item), .batch = on_members});
    element_stream = skua_stream_register(
        "tally.create",
        &(skua_stream_def){.item_bytes = sizeof(struct element_item), .batch = on_elements});
    return skua_main(argc, argv, start);
}
