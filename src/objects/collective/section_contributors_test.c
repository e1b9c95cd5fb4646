/* SPDX-License-Identifier: Apache-2.0 */
/* section_contributors_test.c - contributors that leave or begin late are expected by the
 * reductions that they contribute to, also where the numbers wrap around. */
#include "objects/collective/section_contributors.h"

#include <stdlib.h>

#include "tests/tap.h"

#define SECTION_CONTRIBUTORS_TEST_SPAN 40

/* Four contributors from reduction @p first on: one contributes to all, one leaves at + 10, one
 * begins at + 5, one begins at + 20 and leaves at + 30. */
static struct ski_section_reduction section_contributors_test_make(uint32_t first)
{
    struct ski_section_reduction reduction = {.first = first, .contributors = 4};

    ski_section_contributors_leave(&reduction, first + 10);
    ski_section_contributors_begin_late(&reduction, first + 5);
    ski_section_contributors_begin_late(&reduction, first + 20);
    ski_section_contributors_leave(&reduction, first + 30);
    return reduction;
}

static void section_contributors_test_free(struct ski_section_reduction *reduction)
{
    free(reduction->left_from);
    free(reduction->late_from);
}

/* The contributors of section_contributors_test_make() to reduction @p i after the first. */
static size_t section_contributors_test_count(uint32_t i)
{
    return (size_t)1 + (i < 10) + (i >= 5) + (i >= 20 && i < 30);
}

/* Returns whether every reduction from @p from on expects its contributors. */
static bool section_contributors_test_agree(const struct ski_section_reduction *reduction,
                                            uint32_t begin, uint32_t from)
{
    for (uint32_t i = from; i < SECTION_CONTRIBUTORS_TEST_SPAN; i++)
        if (ski_section_contributors_expected(reduction, begin + i) !=
            section_contributors_test_count(i))
            return false;
    return true;
}

static void section_contributors_test_at(uint32_t begin)
{
    struct ski_section_reduction reduction = section_contributors_test_make(begin);

    OK(section_contributors_test_agree(&reduction, begin, 0),
       "from %u on, each reduction expects its contributors", (unsigned)begin);
    reduction.first += 5;
    ski_section_contributors_prune_late(&reduction);
    OK(reduction.late == 1 && section_contributors_test_agree(&reduction, begin, 5),
       "one that has begun is not late any more");
    reduction.first += 15;
    ski_section_contributors_prune_late(&reduction);
    OK(reduction.late == 0 && section_contributors_test_agree(&reduction, begin, 20),
       "nor is the other");
    section_contributors_test_free(&reduction);
}

static void section_contributors_test_last(uint32_t begin)
{
    struct ski_section_reduction reduction = {.first = begin, .contributors = 3};

    ski_section_contributors_leave(&reduction, begin + 7);
    ski_section_contributors_leave(&reduction, begin + 9);
    OK(!ski_section_contributors_all_left(&reduction), "a contributor is left over");
    ski_section_contributors_leave(&reduction, begin + 8);
    OK(ski_section_contributors_all_left(&reduction), "all have left");
    OK(ski_section_contributors_last(&reduction) == begin + 9, "at the latest of their numbers");
    section_contributors_test_free(&reduction);
}

int main(void)
{
    struct ski_section_reduction none = {.first = 17};

    section_contributors_test_at(0);
    section_contributors_test_at(UINT32_MAX - 12);
    section_contributors_test_last(3);
    section_contributors_test_last(UINT32_MAX - 8);
    OK(ski_section_contributors_last(&none) == 17,
       "without a contributor, reductions end at the first");
    return tap_end();
}
