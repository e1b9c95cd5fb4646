/* SPDX-License-Identifier: Apache-2.0 */
/* section_list_test.c - lists are read as they were written, and a damaged one is found. */
#include "objects/collective/section_list.h"

#include <string.h>

#include "tests/tap.h"

#define SECTION_LIST_TEST_WORDS 64
#define SECTION_LIST_TEST_PES   8

static skua_index section_list_test_index(uint32_t bytes, int seed)
{
    skua_index index = {.bytes = bytes};

    for (uint32_t i = 0; i < bytes; i++)
        ((unsigned char *)&index.at)[i] = (unsigned char)(seed + (int)i);
    return index;
}

static bool section_list_test_same(const skua_index *a, const skua_index *b)
{
    return a->bytes == b->bytes && memcmp(&a->at, &b->at, a->bytes) == 0;
}

/* Two lists: of PE 3 with indices of 4 and 5 bytes, of PE 1 with none. */
static size_t section_list_test_make(uint32_t *lists)
{
    skua_index first = section_list_test_index(4, 1), second = section_list_test_index(5, 9);
    uint32_t  *behind;

    ski_section_list_begin(lists, 3);
    ski_section_list_append(lists, &first);
    ski_section_list_append(lists, &second);
    behind = lists + (ski_section_list_next(lists) - lists);
    ski_section_list_begin(behind, 1);
    return (size_t)(ski_section_list_next(behind) - lists);
}

static void section_list_test_reads(void)
{
    uint32_t        lists[SECTION_LIST_TEST_WORDS];
    skua_index      first = section_list_test_index(4, 1), second = section_list_test_index(5, 9);
    skua_index      read;
    size_t          words = section_list_test_make(lists);
    const uint32_t *at    = lists + SKI_SECTION_LIST_HEAD;

    OK(lists[SKI_SECTION_LIST_PE] == 3 && lists[SKI_SECTION_LIST_MEMBERS] == 2,
       "a list names its delegate and counts its members");
    at = ski_section_list_read(at, &read);
    OK(section_list_test_same(&read, &first), "the first index is read as it was written");
    at = ski_section_list_read(at, &read);
    OK(section_list_test_same(&read, &second), "an index of no whole words, too");
    OK(at == ski_section_list_next(lists), "the next list follows the last index");
    OK(at[SKI_SECTION_LIST_PE] == 1 && at[SKI_SECTION_LIST_MEMBERS] == 0, "it is the second");
    OK(ski_section_list_next(at) == lists + words, "and ends the lists");
}

static bool section_list_test_valid_with(size_t word, uint32_t value)
{
    uint32_t lists[SECTION_LIST_TEST_WORDS];
    size_t   words = section_list_test_make(lists);

    lists[word] = value;
    return ski_section_lists_valid(lists, words, 2, SECTION_LIST_TEST_PES);
}

static void section_list_test_checks(void)
{
    uint32_t lists[SECTION_LIST_TEST_WORDS] = {0};
    size_t   words                          = section_list_test_make(lists);
    bool     cut                            = false;

    OK(ski_section_lists_valid(lists, words, 2, SECTION_LIST_TEST_PES), "two lists are valid");
    OK(!ski_section_lists_valid(lists, words, 1, SECTION_LIST_TEST_PES), "as one they are not");
    OK(!ski_section_lists_valid(lists, words, 3, SECTION_LIST_TEST_PES), "nor as three");
    for (size_t less = 0; less < words; less++)
        cut = cut || ski_section_lists_valid(lists, less, 2, SECTION_LIST_TEST_PES);
    OK(!cut, "lists that are cut short are not valid");
    OK(!section_list_test_valid_with(SKI_SECTION_LIST_PE, SECTION_LIST_TEST_PES),
       "a delegate is a PE of the job");
    OK(!section_list_test_valid_with(SKI_SECTION_LIST_MEMBERS, 3) &&
           !section_list_test_valid_with(SKI_SECTION_LIST_MEMBERS, UINT32_MAX),
       "a list has no more members than indices");
    OK(!section_list_test_valid_with(SKI_SECTION_LIST_MEMBERS, 1), "and no fewer");
    OK(!section_list_test_valid_with(SKI_SECTION_LIST_WORDS, UINT32_MAX),
       "a list ends within the message");
    OK(!section_list_test_valid_with(SKI_SECTION_LIST_HEAD, SKUA_INDEX_MAX + 1) &&
           !section_list_test_valid_with(SKI_SECTION_LIST_HEAD, UINT32_MAX),
       "an index is no longer than indices are");
}

int main(void)
{
    section_list_test_reads();
    section_list_test_checks();
    return tap_end();
}
