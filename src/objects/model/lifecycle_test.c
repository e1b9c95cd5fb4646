/* SPDX-License-Identifier: Apache-2.0 */
/* lifecycle_test.c - observers are told in the order of their addition, of what they observe. */
#include "objects/model/lifecycle.h"

#include "tests/tap.h"

static const uint32_t lifecycle_test_late[] = {SKI_HANDLER_INSERTION_CHECK, 0};

static int lifecycle_test_told[8], lifecycle_test_count;

static void lifecycle_test_tell(int observer)
{
    lifecycle_test_told[lifecycle_test_count++] = observer;
}

static void lifecycle_test_first(struct ski_object *object)
{
    (void)object;
    lifecycle_test_tell(1);
}

static void lifecycle_test_third(struct ski_object *object)
{
    (void)object;
    lifecycle_test_tell(3);
}

static void lifecycle_test_arrived(struct ski_object *object, int from)
{
    (void)object;
    lifecycle_test_tell(from);
}

int main(void)
{
    static const struct ski_baggage   baggage, always = {.least = 4};
    static const struct ski_lifecycle one   = {.element_deleted = lifecycle_test_first,
                                               .baggage         = &baggage},
                                      two   = {.element_arrived = lifecycle_test_arrived,
                                               .baggage         = &always,
                                               .late            = lifecycle_test_late},
                                      three = {.element_deleted = lifecycle_test_third};
    struct ski_lifecycle_table table        = {0};

    ski_lifecycle_add(&table, &one);
    ski_lifecycle_add(&table, &two);
    ski_lifecycle_add(&table, &three);
    ski_notify_element_deleted(&table, NULL);
    OK(lifecycle_test_count == 2 && lifecycle_test_told[0] == 1 && lifecycle_test_told[1] == 3,
       "those that observe an event are told, in order");
    ski_notify_element_arrived(&table, NULL, 7);
    OK(lifecycle_test_count == 3 && lifecycle_test_told[2] == 7, "with its arguments");
    ski_notify_element_removed(&table, NULL);
    OK(lifecycle_test_count == 3, "an event without observers reaches none");
    OK(table.module[1] == &two && !table.module[3] && table.baggage[0] == &baggage &&
           table.baggage[1] == &always && !table.baggage[2],
       "modules and baggage are listed");
    OK(table.baggages == 2 && table.baggage_required == 2, "baggage of all elements is known");
    OK(table.late[SKI_HANDLER_INSERTION_CHECK] && !table.late[SKI_HANDLER_INSERT],
       "handlers whose messages may be late are known");
    return tap_end();
}
