/* SPDX-License-Identifier: Apache-2.0 */
/* vector_test.c - the newest item comes out first, also after the vector has grown. */
#include "base/vector.h"

#include "tests/tap.h"

int main(void)
{
    struct ski_vector vector = {0};
    int               items[100], good = 1;

    OK(!ski_vector_pop(&vector), "an empty vector has no item");
    for (int i = 0; i < 100; i++)
        ski_vector_push(&vector, &items[i]);
    OK(vector.count == 100 && vector.room >= 100, "it grows");
    for (int i = 99; i >= 0; i--)
        good &= ski_vector_pop(&vector) == &items[i];
    OK(good && vector.count == 0, "the newest item comes out first");
    ski_vector_destroy(&vector);
    OK(!vector.item && vector.room == 0, "a destroyed vector is empty");
    return tap_end();
}
