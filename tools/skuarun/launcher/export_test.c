/* SPDX-License-Identifier: Apache-2.0 */
/* export_test.c - which environment variables are passed to other hosts. */
#include "launcher/export.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

/* Returns whether NAME=VALUE is among the selected variables, whose number is right. */
static bool export_test_has(const char *more, const char *setting)
{
    int    count = 0, listed = 0;
    char **variables = export_variables(more, &count);
    bool   found     = false;

    for (; variables[listed]; listed++)
        found |= strcmp(variables[listed], setting) == 0;
    free(variables);
    return found && listed == count;
}

int main(void)
{
    setenv("SKUA_EXPORT_TEST", "a=b", 1);
    setenv("EXPORT_TEST_ONE", "1", 1);
    setenv("EXPORT_TEST_TWO", "", 1);
    OK(export_test_has("", "SKUA_EXPORT_TEST=a=b"), "SKUA_* is exported");
    OK(!export_test_has("", "EXPORT_TEST_ONE=1"), "other variables are not");
    OK(export_test_has("X,EXPORT_TEST_ONE", "EXPORT_TEST_ONE=1"), "unless they are named");
    OK(!export_test_has("EXPORT_TEST", "EXPORT_TEST_ONE=1"), "a name matches as a whole");
    OK(export_test_has("EXPORT_TEST_*,Y", "EXPORT_TEST_TWO="), "a name may be a pattern");
    return tap_end();
}
