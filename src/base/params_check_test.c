/* SPDX-License-Identifier: Apache-2.0 */
/* params_check_test.c - structs of programs that were compiled against another version: which sizes
 * are known, and what a program takes of a result that is shorter or longer than its own. */
#include <stdint.h>

#include "base/params_check.h"
#include "tests/tap.h"

static void params_test_give(void)
{
    const uint32_t now[2]   = {1, 2};
    uint32_t       older[2] = {9, 9}, newer[4] = {9, 9, 9, 9};

    ski_params_give(older, sizeof older[0], now, sizeof now);
    OK(older[0] == 1 && older[1] == 9, "an older program takes the members that it knows");
    ski_params_give(newer, 3 * sizeof newer[0], now, sizeof now);
    OK(newer[0] == 1 && newer[1] == 2 && newer[2] == 0 && newer[3] == 9,
       "a newer program finds zero in members that the library does not know");
}

static void params_test_refused(void)
{
    OK(ski_params_status("params_test", "struct", 8, 16) == SKUA_OK, "an older struct is accepted");
    OK(ski_params_status("params_test", "struct", 24, 16) == SKUA_ERR_UNSUPPORTED,
       "a newer one is not supported");
    OK(ski_params_status("params_test", "struct", (size_t)0x41 << 56, 16) == SKUA_ERR_INVAL,
       "a size that no struct has is invalid");
    OK(ski_params_status("params_test", "struct", 3, 16) == SKUA_ERR_INVAL, "so is an odd one");
}

int main(void)
{
    OK(ski_params_known(0, 16) && ski_params_known(8, 16) && ski_params_known(16, 16),
       "no size, an older one and that of today are known");
    OK(!ski_params_known(24, 16) && !ski_params_known(3, 16),
       "a larger one and an odd one are not");
    ski_params_check("params_test", "struct", 16, 16);
    params_test_refused();
    params_test_give();
    return tap_end();
}
