/* SPDX-License-Identifier: Apache-2.0 */
/* hash_table_test.c - see hash_table.h. */
#include "objects/model/hash_table.h"

#include "tests/tap.h"

#define MOST 1000

struct hash_test_item {
    struct ski_hash_link link;
    int                  name;
};

static struct ski_hash_table table;
static struct hash_test_item things[MOST];
static int                   seen[MOST];

/* Three share each hash. */
static uint64_t hash_test_hash(int name)
{
    return (uint64_t)name / 3;
}

static struct hash_test_item *hash_test_find(int name)
{
    struct ski_hash_link *link = ski_hash_first(&table, hash_test_hash(name));

    while (link && ((struct hash_test_item *)link)->name != name)
        link = link->next;
    return (struct hash_test_item *)link;
}

static void hash_test_see(struct ski_hash_link *link, void *arg)
{
    seen[((struct hash_test_item *)link)->name]++;
    if (arg)
        ski_hash_remove(&table, link);
}

/* Returns whether the table has the items from @p first on, by @p step, and no others. */
static bool hash_test_holds(int first, int step)
{
    bool right = true;

    for (int i = 0; i < MOST; i++)
        right =
            right && (hash_test_find(i) == &things[i]) == (i >= first && (i - first) % step == 0);
    return right;
}

int main(void)
{
    int once = 0;

    OK(!hash_test_find(5), "nothing is in an empty table");
    for (int i = 0; i < MOST; i++) {
        things[i].name = i;
        ski_hash_add(&table, &things[i].link, hash_test_hash(i));
    }
    OK(table.count == MOST && hash_test_holds(0, 1), "all are found");
    for (int i = 0; i < MOST; i += 2)
        ski_hash_remove(&table, &things[i].link);
    OK(table.count == MOST / 2 && hash_test_holds(1, 2), "half of them were removed");
    ski_hash_each(&table, hash_test_see, &table);
    for (int i = 0; i < MOST; i++)
        once += seen[i] == i % 2;
    OK(once == MOST && table.count == 0, "each was visited once, and removed meanwhile");
    ski_hash_clear(&table);
    OK(!hash_test_find(5), "it is empty again");
    return tap_end();
}
