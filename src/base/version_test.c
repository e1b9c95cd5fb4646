/* SPDX-License-Identifier: Apache-2.0 */
/* version_test.c - the version at run time, and which headers a library serves. */
#include "base/version.h"

#include <stdio.h>
#include <string.h>

#include <skua/version.h>

#include "tests/tap.h"

static void test_version_numbers(void)
{
    int  major = -1, minor = -1, patch = -1;
    char text[64];

    OK(strcmp(skua_version(&major, &minor, &patch), SKUA_VERSION) == 0, "the text");
    OK(major == SKUA_VERSION_MAJOR && minor == SKUA_VERSION_MINOR && patch == SKUA_VERSION_PATCH,
       "the numbers");
    snprintf(text, sizeof text, "%d.%d.%d", major, minor, patch);
    OK(strcmp(text, skua_version(NULL, NULL, NULL)) == 0, "the text says the numbers");
}

static void test_version_serves(void)
{
    OK(ski_version_serves(1002003, 1002003), "the same version");
    OK(ski_version_serves(1002003, 1002009), "another patch");
    OK(ski_version_serves(1002003, 1000000), "older headers");
    OK(!ski_version_serves(1002003, 1003000), "newer headers");
    OK(!ski_version_serves(2000000, 1002003), "headers of an older major version");
    OK(!ski_version_serves(1002003, 2000000), "headers of a newer major version");
    OK(!ski_version_serves(2000, 1000) && ski_version_serves(2001, 2000),
       "before version 1 minor versions must be equal");
}

static void test_version_check(void)
{
    OK(ski_version_check() == SKUA_OK, "a program that says nothing is served");
    skua_version_expect(SKUA_VERSION_NUMBER + 1000000);
    OK(ski_version_check() == SKUA_ERR_MISMATCH, "headers of the next major version are not");
    skua_version_expect(SKUA_VERSION_NUMBER);
    OK(ski_version_check() == SKUA_OK, "those of this version are");
}

int main(void)
{
    test_version_numbers();
    test_version_serves();
    test_version_check();
    return tap_end();
}
