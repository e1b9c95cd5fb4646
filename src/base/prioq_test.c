/* SPDX-License-Identifier: Apache-2.0 */
/* prioq_test.c - order by priority, first in first out among equals. */
#include "base/prioq.h"

#include <string.h>

#include "tests/tap.h"

static int prioq_test_before(struct ski_prio a, struct ski_prio b)
{
    struct ski_prioq queue;
    int              x, y, result;

    ski_prioq_init(&queue);
    ski_prioq_push(&queue, b, &y);
    ski_prioq_push(&queue, a, &x);
    result = ski_prioq_pop(&queue) == &x;
    ski_prioq_destroy(&queue);
    return result;
}

static void test_prioq_order(void)
{
    static const uint32_t half[] = {0x80000000}, third[] = {0x55555555, 0x55555555};
    static const uint32_t long_a[] = {1, 2, 3, 4}, long_b[] = {1, 2, 3, 5}, stem[] = {1, 2, 3};

    OK(prioq_test_before(ski_prio_int(-1), ski_prio_int(0)), "-1 before 0");
    OK(prioq_test_before(ski_prio_int(INT32_MIN), ski_prio_int(INT32_MAX)),
       "the ends of the range");
    OK(!prioq_test_before(ski_prio_int(5), ski_prio_int(5)), "equals keep their order");
    OK(ski_prio_int(0).key == SKI_PRIO_ZERO, "the key of 0");
    OK(prioq_test_before(ski_prio_words(third, 2), ski_prio_words(half, 1)),
       "0.0101... before 0.1");
    OK(!prioq_test_before(ski_prio_words(half, 1), ski_prio_int(0)), "0.1 is the integer 0");
    OK(prioq_test_before(ski_prio_words(long_a, 4), ski_prio_words(long_b, 4)),
       "strings beyond 64 bits");
    OK(prioq_test_before(ski_prio_words(stem, 3), ski_prio_words(long_a, 4)),
       "a stem before its branches");
}

static void test_prioq_random(void)
{
    enum { ITEMS = 5000 };
    struct prioq_test_item {
        int32_t  prio;
        unsigned order;
    } item[ITEMS], last = {INT32_MIN, 0};
    struct ski_prioq queue;
    uint64_t         seed = tap_seed();
    int              bad  = 0;

    ski_prioq_init(&queue);
    for (unsigned i = 0; i < ITEMS; i++) {
        item[i] = (struct prioq_test_item){(int32_t)(tap_random(&seed) % 100) - 50, i};
        ski_prioq_push(&queue, ski_prio_int(item[i].prio), &item[i]);
    }
    for (int i = 0; i < ITEMS; i++) {
        struct prioq_test_item *next = ski_prioq_pop(&queue);
        bad += next->prio < last.prio || (next->prio == last.prio && next->order < last.order);
        last = *next;
    }
    OK(bad == 0 && queue.count == 0, "%d items come out sorted and stable", ITEMS);
    ski_prioq_destroy(&queue);
}

int main(void)
{
    test_prioq_order();
    test_prioq_random();
    return tap_end();
}
