/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.c - the unit tests in one program, which is built once, and in which leaks are looked
 * for once: each *_test.c beside the code has a main(), which the build renames to the name of
 * its file; unit_table.h, made by the build, lists them.
 *
 * usage: test_unit [NAME...]     all of them, one after the other, without a name
 */
#include <stdio.h>
#include <string.h>

#include "unit_table.h"

static const struct {
    const char *name;
    int (*run)(void);
} tests[] = {
#undef UNIT
#define UNIT(name) {#name, name},
#include "unit_table.h"
};

#define TESTS (sizeof tests / sizeof *tests)

static int run(size_t i)
{
    int bad;

    printf("# %s\n", tests[i].name);
    fflush(stdout);
    bad = tests[i].run() != 0;
    if (bad)
        printf("# %s failed\n", tests[i].name);
    return bad;
}

static int run_named(const char *name)
{
    for (size_t i = 0; i < TESTS; i++)
        if (strcmp(tests[i].name, name) == 0)
            return run(i);
    printf("# %s: there is no such test\n", name);
    return 1;
}

int main(int argc, char **argv)
{
    int bad = 0;

    for (int i = 1; i < argc; i++)
        bad += run_named(argv[i]);
    for (size_t i = 0; argc < 2 && i < TESTS; i++)
        bad += run(i);
    return bad != 0;
}
