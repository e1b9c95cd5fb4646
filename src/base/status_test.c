/* SPDX-License-Identifier: Apache-2.0 */
/* status_test.c - every status has a text. */
#include <skua/status.h>

#include <string.h>

#include "tests/tap.h"

int main(void)
{
    OK(strcmp(skua_status_str(SKUA_OK), "success") == 0, "the text of success");
    OK(strcmp(skua_status_str(SKUA_ERR_NOMEM), "out of memory") == 0, "the text of a failure");
    OK(strcmp(skua_status_str((skua_status)-99), "unknown status") == 0,
       "the text of a number that is not a status");
    return tap_end();
}
