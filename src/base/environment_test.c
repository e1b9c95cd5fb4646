/* SPDX-License-Identifier: Apache-2.0 */
/* environment_test.c - variables with given prefixes are restored, and no others. */
#include "base/environment.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static bool environment_test_is(const char *name, const char *value)
{
    const char *found = getenv(name);

    return found && value ? strcmp(found, value) == 0 : found == value;
}

int main(void)
{
    static const char *const prefix[] = {"SAVED_", "KEPT_", NULL};
    struct ski_environment   saved;

    setenv("SAVED_CHANGED", "before", 1);
    setenv("KEPT_REMOVED", "a=b", 1);
    setenv("OTHER", "before", 1);
    ski_environment_save(&saved, prefix);
    setenv("SAVED_CHANGED", "after", 1);
    setenv("SAVED_NEW", "1", 1);
    setenv("KEPT_NEW", "1", 1);
    unsetenv("KEPT_REMOVED");
    setenv("OTHER", "after", 1);
    ski_environment_restore(&saved);
    OK(environment_test_is("SAVED_CHANGED", "before"), "a variable has its value again");
    OK(environment_test_is("KEPT_REMOVED", "a=b"), "one that was removed is back");
    OK(environment_test_is("SAVED_NEW", NULL) && environment_test_is("KEPT_NEW", NULL),
       "those that were added are gone");
    OK(environment_test_is("OTHER", "after"), "others are as they are");
    return tap_end();
}
