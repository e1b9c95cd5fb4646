/* SPDX-License-Identifier: Apache-2.0 */
/* refnum_index_test.c - lists are found by reference number while others are added and removed. */
#include "flow/refnum_index.h"

#include "tests/tap.h"

#define NUMBERS_MAX 3000

/* Returns a reference number that collides with many others: its home is one of 40 neighbouring
 * slots.  The factor is the inverse of that in refnum_index.c. */
static int64_t refnum_test_colliding(int number)
{
    uint64_t wanted = (uint64_t)(number % 40) << 32 | (uint64_t)number << 40;

    return (int64_t)(wanted * UINT64_C(0xf1de83e19937733d));
}

static int64_t refnum_test_spread(int number)
{
    return number;
}

static void refnum_test_random(const char *what, int64_t (*reference)(int), int most, uint64_t seed)
{
    static char             present[NUMBERS_MAX];
    struct ski_refnum_index index = {NULL, 0, 0};
    uint32_t                count = 0;
    int                     wrong = 0;

    for (int i = 0; i < 30 * most; i++) {
        int                     number = (int)(tap_random(&seed) % (uint64_t)most);
        struct ski_refnum_list *list   = ski_refnum_find(&index, reference(number));

        wrong += (list != NULL) != present[number];
        if (list) {
            wrong += list->first != &present[number];
            ski_refnum_remove(&index, list);
            count--;
        } else {
            ski_refnum_add(&index, reference(number))->first = &present[number];
            count++;
        }
        present[number] = !present[number];
        wrong += index.lists != count;
    }
    OK(wrong == 0, "%d %s reference numbers are added and removed", most, what);
    ski_refnum_index_destroy(&index);
    for (int i = 0; i < most; i++)
        present[i] = 0;
}

int main(void)
{
    uint64_t                seed  = tap_seed();
    struct ski_refnum_index empty = {NULL, 0, 0};

    OK(!ski_refnum_find(&empty, 0), "an empty index finds nothing");
    refnum_test_random("spread", refnum_test_spread, NUMBERS_MAX, seed);
    refnum_test_random("colliding", refnum_test_colliding, 500, seed);
    refnum_test_random("few colliding", refnum_test_colliding, 30, seed);
    return tap_end();
}
