/* SPDX-License-Identifier: Apache-2.0 */
/* handler_table_test.c - every number has an entry; an entry that is written is no other's. */
#include "core/pe/handler_table.h"

#include "tests/tap.h"

static void table_test_rest(skua_msg *msg)
{
    (void)msg;
}

static void table_test_first(skua_msg *msg)
{
    (void)msg;
}

static void table_test_last(skua_msg *msg)
{
    (void)msg;
}

/* Returns the number of entries from @p from to @p to that hold @p fn. */
static int table_test_count(skua_handler_fn *const table, int from, int to, skua_handler_fn fn)
{
    int count = 0;

    for (int i = from; i < to; i++)
        count += table[i] == fn;
    return count;
}

int main(void)
{
    skua_handler_fn *one   = ski_handler_table_create(table_test_rest),
                    *other = ski_handler_table_create(table_test_last);
    int all                = SKI_HANDLERS_MAX;

    OK(table_test_count(one, 0, all, table_test_rest) == all, "all entries hold the function");
    one[3]       = table_test_first;
    one[all - 1] = table_test_last;
    OK(one[3] == table_test_first && one[all - 1] == table_test_last &&
           table_test_count(one, 0, all, table_test_rest) == all - 2,
       "entries are written one by one");
    OK(table_test_count(other, 0, all, table_test_last) == all, "another table is not changed");
    ski_handler_table_destroy(other);
    OK(one[4] == table_test_rest, "a table outlives another");
    ski_handler_table_destroy(one);
    ski_handler_table_destroy(NULL);
    return tap_end();
}
