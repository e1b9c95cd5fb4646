/* SPDX-License-Identifier: Apache-2.0 */
/* strmap_test.c - keys are found while the table grows. */
#include "support/strmap.h"

#include "support/bump.h"
#include "tests/tap.h"

#define KEYS 5000

int main(void)
{
    struct strmap map = {0};
    static int    value[KEYS];
    unsigned      wrong = 0;

    OK(!strmap_find(&map, text_of("a")), "an empty map finds nothing");
    for (int i = 0; i < KEYS; i++) {
        char *key = bump_printf("key%d", i);

        wrong += strmap_put(&map, text_of(key), &value[i]) != NULL;
        wrong += 2 * map.used > map.size || (map.size & (map.size - 1)) != 0;
    }
    OK(wrong == 0, "new keys are stored; the table stays half empty");
    for (int i = 0; i < KEYS; i++)
        wrong += strmap_find(&map, text_of(bump_printf("key%d", i))) != &value[i];
    OK(wrong == 0 && map.used == KEYS, "all keys are found");
    OK(!strmap_find(&map, text_of("key")) && !strmap_find(&map, text_of("")), "no others are");
    OK(strmap_put(&map, text_of("key7"), &value[0]) == &value[7] &&
           strmap_find(&map, text_of("key7")) == &value[7],
       "a key that is present keeps its value");
    bump_free_all();
    return tap_end();
}
