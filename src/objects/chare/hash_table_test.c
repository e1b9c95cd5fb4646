/* SPDX-License-Identifier: Apache-2.0 */
/* hash_table_test.c - see hash_table.h. */
#include "objects/chare/hash_table.h"

#include "tests/tap.h"

#define MOST 1000

struct thing {
    struct ski_link link;
    int             name;
};

static struct ski_chains chains;
static struct thing      things[MOST];
static int               seen[MOST];

/* Three share each hash. */
static uint64_t hash_of(int name)
{
    return (uint64_t)name / 3;
}

static struct thing *find(int name)
{
    struct ski_link *link = ski_chain_first(&chains, hash_of(name));

    while (link && ((struct thing *)link)->name != name)
        link = link->next;
    return (struct thing *)link;
}

static void see(struct ski_link *link, void *arg)
{
    seen[((struct thing *)link)->name]++;
    if (arg)
        ski_chain_remove(&chains, link);
}

/* Those that are there are the ones from @p first on, by @p step. */
static bool has_those(int first, int step)
{
    bool right = true;

    for (int i = 0; i < MOST; i++)
        right = right && (find(i) == &things[i]) == (i >= first && (i - first) % step == 0);
    return right;
}

int main(void)
{
    int once = 0;

    OK(!find(5), "nothing is in an empty table");
    for (int i = 0; i < MOST; i++) {
        things[i].name = i;
        ski_chain_add(&chains, &things[i].link, hash_of(i));
    }
    OK(chains.count == MOST && has_those(0, 1), "all are found");
    for (int i = 0; i < MOST; i += 2)
        ski_chain_remove(&chains, &things[i].link);
    OK(chains.count == MOST / 2 && has_those(1, 2), "half of them were taken out");
    ski_chains_each(&chains, see, &chains);
    for (int i = 0; i < MOST; i++)
        once += seen[i] == i % 2;
    OK(once == MOST && chains.count == 0, "each was visited once, and taken out meanwhile");
    ski_chains_clear(&chains);
    OK(!find(5), "it is empty again");
    return tap_end();
}
