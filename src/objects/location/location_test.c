/* SPDX-License-Identifier: Apache-2.0 */
/* location_test.c - what a PE believes of elements that are elsewhere: homes, updates by sequence
 * number, tombstones; claims and insertions of one element by several PEs. */
#include "objects/location/location.h"

#include <stdatomic.h>

#include "objects/location/closing.h"
#include "objects/zerocopy/object_channel_msg.h"
#include "tests/tap.h"
#include "tests/unit_job.h"

static skua_class      location_test_class;
static skua_entry      location_test_touch;
static skua_handler    location_test_handler;
static skua_collection location_test_array;
static _Atomic int     location_test_created, location_test_touched, location_test_open;

static struct ski_collection *location_test_all(void)
{
    return ski_collection_get(ski_self->objects, "location_test", location_test_array.id);
}

/* An index of the array from @p from on whose home is @p pe. */
static skua_index location_test_index(int pe, int from)
{
    skua_index index = skua_index1(from);

    while (ski_home(location_test_all(), &index) != pe)
        index.at.x[0]++;
    return index;
}

static void location_test_update(const skua_index *index, int pe, uint32_t moves)
{
    ski_location_update(location_test_all(), index, &(struct ski_location_update){pe, moves});
}

/* On PE 0: updates of an element whose home is PE 2. */
static void location_test_updates(void)
{
    struct ski_collection *all   = location_test_all();
    skua_index             index = location_test_index(2, 1000);
    uint64_t               key   = ski_directory_key(&all->directory, &index);

    CHECK(!ski_absent_find(all, &index) && ski_lookup_pe(all, &index) == 2);
    CHECK(ski_lookup_pe_cached(all, &index, key) == 2);
    location_test_update(&index, 1, 5);
    CHECK(ski_lookup_pe(all, &index) == 1 && ski_lookup_pe_cached(all, &index, key) == 1);
    location_test_update(&index, 2, 4); /* older */
    CHECK(ski_lookup_pe(all, &index) == 1 && ski_absent_find(all, &index)->route == 1);
    location_test_update(&index, 1, UINT32_C(0x70000000));
    location_test_update(&index, 1, UINT32_C(0xe0000000));
    location_test_update(&index, 2, 1); /* newer: numbers wrap around */
    CHECK(ski_lookup_believed(all, &index) == 2 && ski_absent_find(all, &index)->moves == 1);
    location_test_update(&index, 0, 9); /* it has not arrived yet */
    CHECK(ski_lookup_believed(all, &index) == 2 && ski_absent_find(all, &index)->moves == 1);
    /* The route changes: messages are kept until the marker that went to PE 1 is answered, by the
     * home, which knows of no such element. */
    CHECK(ski_lookup_pe_cached(all, &index, key) == 0 && ski_lookup_pe(all, &index) == 0);
    CHECK(ski_absent_find(all, &index)->changing);
    unit_job_settle();
    CHECK(!ski_absent_find(all, &index) && ski_lookup_noted(all, &index));
}

/* On PE 0: the destruction of an element, and another of its index. */
static void location_test_tombstones(int home)
{
    struct ski_collection *all    = location_test_all();
    skua_index             index  = location_test_index(home, 2000);
    uint32_t               before = all->tombstones;

    location_test_update(&index, 1, 3);
    CHECK(!ski_element_gone(all, &index) && all->tombstones == before);
    location_test_update(&index, SKI_ABSENT_DELETED, 3);
    CHECK(all->tombstones == before + 1 && ski_lookup_believed(all, &index) == home);
    CHECK(ski_element_died_here(all, &index));
    CHECK(ski_element_gone(all, &index) == (home == 0)); /* elsewhere it may be inserted again */
    location_test_update(&index, 1, 3);                  /* from before its end */
    CHECK(ski_lookup_believed(all, &index) == home && all->tombstones == before + 1);
    location_test_update(&index, 1, 4);
    CHECK(ski_lookup_believed(all, &index) == 1 && all->tombstones == before);
}

/* Many tombstones: the records of destroyed elements do not outnumber the others forever. */
static void location_test_limit(void)
{
    struct ski_collection *all = location_test_all();

    for (int i = 0; i < 5000; i++) {
        skua_index index = skua_index1(100000 + i);

        location_test_update(&index, SKI_ABSENT_DELETED, 1);
    }
    CHECK(all->tombstones <= 1100 && all->directory.count <= 1200);
}

/* On each PE: a message that creates the element here.  The PEs race; one element is created. */
static void location_test_on_claim(skua_msg *msg)
{
    skua_ref ref = {location_test_array, *(skua_index *)skua_msg_data(msg)};

    skua_msg_free(msg);
    skua_invoke_copy(ref, location_test_touch, NULL, 0);
    atomic_fetch_add(&location_test_open, location_test_all()->open);
}

static void location_test_claims(void)
{
    for (int i = 0; i < 50; i++) {
        skua_index index = skua_index1(5000 + i);

        atomic_store(&location_test_created, 0);
        atomic_store(&location_test_touched, 0);
        for (int pe = 0; pe < UNIT_JOB_PES; pe++)
            skua_send_copy(pe, location_test_handler, &index, sizeof index);
        unit_job_settle();
        CHECK(atomic_load(&location_test_created) == 1);
        CHECK(atomic_load(&location_test_touched) == UNIT_JOB_PES);
    }
}

/* On PE 0: an insertion is under way until its element has arrived. */
static void location_test_insertions(void)
{
    struct ski_collection *all   = location_test_all();
    skua_index             index = location_test_index(1, 9000);
    skua_index             any   = skua_index1(5000);

    CHECK(!ski_closing_inserting(all));
    atomic_store(&location_test_created, 0);
    skua_array_insert((skua_ref){location_test_array, index}, 2, NULL, 0);
    CHECK(ski_closing_inserting(all));
    unit_job_settle();
    CHECK(!ski_closing_inserting(all) && atomic_load(&location_test_created) == 1);
    skua_array_close(location_test_array);
    unit_job_settle();
    atomic_store(&location_test_open, 0);
    for (int pe = 0; pe < UNIT_JOB_PES; pe++)
        skua_send_copy(pe, location_test_handler, &any, sizeof any);
    unit_job_settle();
    CHECK(!all->open && atomic_load(&location_test_open) == 0);
}

static void location_test_construct(void *self, const void *data, size_t bytes)
{
    (void)self, (void)data, (void)bytes;
    atomic_fetch_add(&location_test_created, 1);
}

/* On PE 0: an index that a packet or a file names and that no member of a group has is not routed.
 */
static void location_test_no_member(void)
{
    static const int               index[] = {3, -1, INT32_MIN, INT32_MAX};
    struct ski_object_channel_head head    = {.id = 1, .kind = SKI_OBJECT_CHANNEL_STOP};
    skua_collection                group   = skua_group_create(location_test_class, NULL, 0);
    struct ski_collection         *all;

    unit_job_settle();
    all = ski_collection_get(ski_self->objects, "location_test", group.id);
    CHECK(ski_index_valid(all, &(skua_index){.bytes = 4, .at.x = {2}}));
    CHECK(!ski_index_valid(all, &(skua_index){.bytes = 8, .at.x = {2}}));
    for (size_t i = 0; i < sizeof index / sizeof *index; i++) {
        skua_ref to = {group, skua_index1(index[i])};

        CHECK(!ski_index_valid(all, &to.index));
        ski_object_channel_post_to(ski_self, &to, &head);
    }
    unit_job_settle();
}

static void location_test_on_touch(void *self, const void *data, size_t bytes)
{
    (void)self, (void)data, (void)bytes;
    atomic_fetch_add(&location_test_touched, 1);
}

static void location_test_set_up(void)
{
    location_test_class = skua_class_register(
        &(skua_class_def){.name = "location_test", .construct = location_test_construct});
    location_test_touch = skua_method_register(location_test_class, "touch", location_test_on_touch,
                                               SKUA_ENTRY_CREATE_HERE);
    location_test_handler = skua_handler_register("location_test claim", location_test_on_claim);
}

static void location_test_start(int argc, char **argv)
{
    skua_array_def def = {.dims = 1, .flags = SKUA_ARRAY_OPEN};

    (void)argc, (void)argv;
    if (skua_pe() != 0)
        return;
    location_test_array = skua_array_create(location_test_class, &def, NULL, 0);
    unit_job_settle();
    location_test_updates();
    location_test_tombstones(0);
    location_test_tombstones(2);
    location_test_claims();
    location_test_insertions();
    location_test_limit();
    location_test_no_member();
    skua_exit(0);
}

int main(void)
{
    OK(unit_job(location_test_set_up, location_test_start), "locations, claims and insertions");
    return tap_end();
}
