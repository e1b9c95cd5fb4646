/* SPDX-License-Identifier: Apache-2.0 */
/* callback_table_test.c - one callback for each object and entry, however often it is asked for. */
#include "objects/chare/callback_table.h"

#include "tests/tap.h"

#define CALLBACK_TEST_OBJECTS 200

static skua_ref callback_test_ref(uint64_t collection, int object)
{
    skua_ref ref = {{collection}, {.bytes = 40}};

    memcpy(ref.index.at.raw + 36, &object, sizeof object); /* the last four bytes */
    return ref;
}

int main(void)
{
    struct ski_hash_table      table = {0};
    const struct ski_callback *first[CALLBACK_TEST_OBJECTS], *other;
    bool                       same = true;
    skua_ref                   ref;

    for (int i = 0; i < CALLBACK_TEST_OBJECTS; i++) {
        ref      = callback_test_ref(5, i);
        first[i] = ski_callback_get(&table, &ref, (skua_entry){90});
    }
    for (int i = 0; i < CALLBACK_TEST_OBJECTS; i++) {
        ref  = callback_test_ref(5, i);
        same = same && ski_callback_get(&table, &ref, (skua_entry){90}) == first[i] &&
               ski_index_equal(&first[i]->ref.index, &ref.index) && first[i]->entry.id == 90;
    }
    OK(same && table.count == CALLBACK_TEST_OBJECTS, "an object and entry have one callback");
    ref   = callback_test_ref(5, 0);
    other = ski_callback_get(&table, &ref, (skua_entry){91});
    OK(other != first[0] && other->entry.id == 91, "another entry has another");
    ref   = callback_test_ref(6, 0);
    other = ski_callback_get(&table, &ref, (skua_entry){90});
    OK(other != first[0] && other->ref.of.id == 6, "and another collection");
    ski_callbacks_free(&table);
    OK(table.count == 0 && !table.head, "all are freed");
    return tap_end();
}
