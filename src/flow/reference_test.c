/* SPDX-License-Identifier: Apache-2.0 */
/* reference_test.c - lists are found by their reference while others come and go. */
#include "flow/reference.h"

#include "tests/tap.h"

#define MOST 3000

/* References that begin at the same few slots, so that they are in each other's way: what a
 * multiplication by the inverse of reference.c's makes of small numbers. */
static int64_t crowded(int number)
{
    uint64_t wanted = (uint64_t)(number % 40) << 32 | (uint64_t)number << 40;

    return (int64_t)(wanted * UINT64_C(0xf1de83e19937733d));
}

static int64_t spread(int number)
{
    return number;
}

static void come_and_go(const char *what, int64_t (*reference)(int), int most, uint64_t seed)
{
    static char           there[MOST];
    struct ski_references all   = {NULL, 0, 0};
    uint32_t              count = 0;
    int                   wrong = 0;

    for (int i = 0; i < 30 * most; i++) {
        int                   number = (int)(tap_random(&seed) % (uint64_t)most);
        struct ski_reference *list   = ski_reference_find(&all, reference(number));

        wrong += (list != NULL) != there[number];
        if (list) {
            wrong += list->first != &there[number];
            ski_reference_remove(&all, list);
            count--;
        } else {
            ski_reference_add(&all, reference(number))->first = &there[number];
            count++;
        }
        there[number] = !there[number];
        wrong += all.lists != count;
    }
    OK(wrong == 0, "%d %s references come and go", most, what);
    ski_references_destroy(&all);
    for (int i = 0; i < most; i++)
        there[i] = 0;
}

int main(void)
{
    uint64_t              seed = tap_seed();
    struct ski_references none = {NULL, 0, 0};

    OK(!ski_reference_find(&none, 0), "nothing is found where there is nothing");
    come_and_go("spread", spread, MOST, seed);
    come_and_go("crowded", crowded, 500, seed);
    come_and_go("few", crowded, 30, seed);
    return tap_end();
}
