/* SPDX-License-Identifier: Apache-2.0 */
/* seqnum_test.c - see seqnum.h. */
#include "objects/model/seqnum.h"

#include "tests/tap.h"

int main(void)
{
    OK(ski_seqnum_before(1, 2) && !ski_seqnum_before(2, 1), "numbers are ordered");
    OK(!ski_seqnum_before(5, 5), "a number is not before itself");
    OK(ski_seqnum_before(UINT32_MAX, 0) && ski_seqnum_before(UINT32_MAX - 3, 9) &&
           !ski_seqnum_before(9, UINT32_MAX - 3),
       "also where they wrap around");
    return tap_end();
}
