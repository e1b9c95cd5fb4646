/* SPDX-License-Identifier: Apache-2.0 */
/* hostlist_test.c - lists of names, and lists that are refused. */
#include "base/hostlist.h"

#include <string.h>

#include "tests/tap.h"

static char hostlist_test_all[4096];

static bool hostlist_test_add(void *arg, const char *name)
{
    (void)arg;
    strcat(strcat(hostlist_test_all, name), " ");
    return strcmp(name, "stop") != 0;
}

static bool hostlist_test_run(const char *list, const char **why)
{
    hostlist_test_all[0] = 0;
    return ski_hostlist_expand(list, strlen(list), hostlist_test_add, NULL, why);
}

int main(void)
{
    static const char *const good[][2] = {
        {"a", "a "},
        {"n1,n2", "n1 n2 "},
        {"n[0-2]", "n0 n1 n2 "},
        {"n[08-10,2]x", "n08x n09x n10x n2x "},
        {"r[0-1]n[0-1],@[3-4]", "r0n0 r0n1 r1n0 r1n1 @3 @4 "},
    };
    static const char *const bad[][2] = {
        {"", "empty"},
        {"a,", "empty"},
        {"a,,b", "empty"},
        {"n[0-3", "not closed"},
        {"n0]", "no opening"},
        {"n[3-1]", "range"},
        {"n[]", "range"},
        {"n[1-]", "range"},
        {"n[-1]", "range"},
        {"n[1,]", "range"},
        {"n[a]", "range"},
        {"n[1[2]]", "range"},
        {"n[0-99999999999]", "range"},
    };
    char        longest[SKI_HOSTLIST_NAME + 8];
    const char *why;

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        OK(hostlist_test_run(good[i][0], &why) && strcmp(hostlist_test_all, good[i][1]) == 0,
           "%s is %s", good[i][0], hostlist_test_all);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        OK(!hostlist_test_run(bad[i][0], &why) && why && strstr(why, bad[i][1]), "\"%s\": %s",
           bad[i][0], why ? why : "accepted");
    OK(!hostlist_test_run("a,stop,b", &why) && !why && strcmp(hostlist_test_all, "a stop ") == 0,
       "the callback ends an expansion");
    memset(longest, 'x', sizeof longest);
    longest[SKI_HOSTLIST_NAME - 1] = 0;
    OK(hostlist_test_run(longest, &why), "the longest name");
    strcpy(longest + SKI_HOSTLIST_NAME - 3, "[1-2]yyy");
    OK(!hostlist_test_run(longest, &why) && strstr(why, "too long"), "a name that is too long");
    return tap_end();
}
