/* SPDX-License-Identifier: Apache-2.0 */
/* number_table_test.c - a window of numbers moves over a table; each is found until it is removed.
 */
#include "core/data/number_table.h"

#include "tests/tap.h"

#define NUMBERS 2000
#define WINDOW  100 /* numbers in flight */

static char     record[NUMBERS];
static bool     present[NUMBERS];
static unsigned freed;

static void number_test_free(void *data)
{
    freed += (char *)data >= record && (char *)data < record + NUMBERS;
}

/* Returns whether the table has exactly the numbers that are present. */
static bool number_test_agrees(const struct ski_number_table *table, uint64_t first)
{
    for (uint64_t i = 0; i < NUMBERS; i++)
        if (ski_number_find(table, first + i) != (present[i] ? &record[i] : NULL))
            return false;
    return true;
}

/* Adds numbers in a random order within a moving window, and removes them likewise. */
static bool number_test_window(struct ski_number_table *table, uint64_t first, uint64_t *seed)
{
    for (uint64_t low = 0; low + WINDOW < NUMBERS; low += WINDOW / 4) {
        for (int i = 0; i < WINDOW; i++) {
            uint64_t n = low + tap_random(seed) % WINDOW;

            if (present[n])
                ski_number_remove(table, first + n);
            else
                ski_number_add(table, first + n, &record[n]);
            present[n] = !present[n];
        }
        for (uint64_t n = low; n < low + WINDOW / 4; n++) {
            if (present[n])
                ski_number_remove(table, first + n);
            present[n] = false;
        }
        if (!number_test_agrees(table, first))
            return false;
    }
    return true;
}

static bool number_test_any(const void *item)
{
    return item != NULL;
}

static bool number_test_second(const void *item)
{
    return *(const int *)item == 2;
}

static bool number_test_first(void)
{
    static int              one = 1, two = 2;
    struct ski_number_table table = {NULL, 0};
    bool                    found = !ski_number_first(&table, number_test_any);

    ski_number_add(&table, 11, &two);
    ski_number_add(&table, 5, &one);
    ski_number_add(&table, 7, &two);
    found &= ski_number_first(&table, number_test_any) == &one &&
             ski_number_first(&table, number_test_second) == &two;
    ski_number_remove(&table, 5);
    ski_number_remove(&table, 7);
    ski_number_remove(&table, 11);
    ski_number_clear(&table, NULL);
    return found;
}

int main(void)
{
    struct ski_number_table table = {NULL, 0};
    uint64_t                seed  = tap_seed();
    unsigned                left  = 0;

    OK(!ski_number_find(&table, 0), "an empty table has no record");
    OK(number_test_window(&table, UINT64_MAX - NUMBERS / 2, &seed),
       "numbers that wrap around are found until they are removed");
    OK(table.size <= 4 * WINDOW, "the table is as large as the window of numbers needs");
    for (int i = 0; i < NUMBERS; i++)
        left += present[i];
    ski_number_clear(&table, number_test_free);
    OK(number_test_first(), "the least number of those that are looked for is found");
    OK(freed == left && table.size == 0, "clearing frees each record once");
    return tap_end();
}
