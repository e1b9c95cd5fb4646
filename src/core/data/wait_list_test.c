/* SPDX-License-Identifier: Apache-2.0 */
/* wait_list_test.c - waiters come out in the order of coming, whichever of them give up. */
#include "core/data/wait_list.h"

#include "tests/tap.h"

#define WAITERS 20

static struct ski_waiter waiter[WAITERS];

static void *wait_test_fill(void)
{
    void *list = NULL;

    for (int i = 0; i < WAITERS; i++) {
        waiter[i] = (struct ski_waiter){NULL, NULL, false};
        ski_wait_list_append(&list, &waiter[i]);
    }
    return list;
}

/* Removes a random set; returns whether the others come out in order. */
static bool wait_test_keeps_order(uint64_t *seed)
{
    void    *list = wait_test_fill();
    uint64_t gone = tap_random(seed);

    for (int i = 0; i < WAITERS; i++)
        if (gone >> i & 1)
            ski_wait_list_remove(&list, &waiter[i]);
    for (int i = 0; i < WAITERS; i++)
        if (!(gone >> i & 1) && ski_wait_list_take(&list) != &waiter[i])
            return false;
    return !list && !ski_wait_list_take(&list);
}

int main(void)
{
    uint64_t seed  = tap_seed();
    bool     right = true;
    void    *list  = wait_test_fill();

    for (int i = 0; i < WAITERS; i++)
        right &= ski_wait_list_take(&list) == &waiter[i];
    OK(right && !list, "first in, first out");
    for (int i = 0; i < 10000 && right; i++)
        right = wait_test_keeps_order(&seed);
    OK(right, "those that give up leave the order of the others");
    return tap_end();
}
