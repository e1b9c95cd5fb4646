/* SPDX-License-Identifier: Apache-2.0 */
/* code_map_test.c - a process has the code map that it has, and no other. */
#include "core/pe/code_map.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

/* Memory that points into the program and a library needs these two, and no others. */
static void test_scan(void)
{
    uintptr_t               words[4] = {1, (uintptr_t)test_scan, 2, (uintptr_t)stdout};
    struct ski_code_scan    scan;
    struct ski_code_object *map = calloc(SKI_CODE_MAX, sizeof *map), ours;

    ski_code_scan_begin(&scan);
    ski_code_scan_add(&scan, words, sizeof *words);
    OK(ski_code_scan_map(&scan, NULL) == 0, "a number points into no code object");
    ski_code_scan_add(&scan, words, 2 * sizeof *words);
    OK(ski_code_scan_map(&scan, map) == 1 && !map[0].name[0], "a function is in the program");
    ski_code_scan_add(&scan, words, sizeof words);
    OK(ski_code_scan_map(&scan, map) == 2 && map[1].name[0], "a variable may be in a library");
    OK(!ski_code_map_differs(map, 2, &ours), "both are here");
    free(map);
}

int main(void)
{
    size_t                        count = ski_code_map(NULL, 0);
    struct ski_code_object       *map   = calloc(count, sizeof *map), ours;
    const struct ski_code_object *differs;

    OK(count > 0 && ski_code_map(map, count) == count, "the program and its libraries are found");
    OK(!map[0].name[0], "the program comes first");
    OK(!ski_code_map_differs(map, count, &ours), "a process agrees with itself");
    map[count - 1].base += 4096;
    differs = ski_code_map_differs(map, count, &ours);
    OK(differs == &map[count - 1] && ours.base == map[count - 1].base - 4096,
       "another address is found, and the own one told");
    map[count - 1].base -= 4096;
    map[0].contents++;
    OK(ski_code_map_differs(map, count, &ours) == &map[0],
       "another program at the same address, too");
    map[0].contents--;
    map[0].canary++;
    OK(ski_code_map_differs(map, count, &ours) == &map[0], "another canary in its frames, too");
    map[0].canary--;
    strcpy(map[count - 1].name, "libnone.so");
    OK(ski_code_map_differs(map, count, &ours) == &map[count - 1] && !ours.base && !ours.contents,
       "a library that is not loaded here, as well");
    free(map);
    test_scan();
    return tap_end();
}
