/* SPDX-License-Identifier: Apache-2.0 */
/* section_list.c - see section_list.h. */
#include "objects/collective/section_list.h"

#include <string.h>

#include "base/assert.h"

void ski_section_list_begin(uint32_t *list, int pe)
{
    ski_assert(pe >= 0);
    list[SKI_SECTION_LIST_PE]      = (uint32_t)pe;
    list[SKI_SECTION_LIST_MEMBERS] = list[SKI_SECTION_LIST_WORDS] = 0;
}

void ski_section_list_append(uint32_t *list, const skua_index *index)
{
    uint32_t *at    = list + SKI_SECTION_LIST_HEAD + list[SKI_SECTION_LIST_WORDS];
    uint32_t  words = ski_section_list_index_words(index);

    ski_assert(index->bytes <= SKUA_INDEX_MAX);
    at[words - 1] = 0; /* the bytes after the index */
    at[0]         = index->bytes;
    memcpy(at + 1, &index->at, index->bytes);
    list[SKI_SECTION_LIST_MEMBERS]++;
    list[SKI_SECTION_LIST_WORDS] += words;
}

const uint32_t *ski_section_list_read(const uint32_t *at, skua_index *index)
{
    ski_assert(at[0] <= SKUA_INDEX_MAX);
    *index = (skua_index){.bytes = at[0]};
    memcpy(&index->at, at + 1, index->bytes);
    return at + ski_section_list_index_words(index);
}

/* Returns whether a list fills @p words. */
static bool section_list_valid(const uint32_t *list, size_t words, int pes)
{
    const uint32_t *at = list + SKI_SECTION_LIST_HEAD, *end = list + words;

    if (list[SKI_SECTION_LIST_PE] >= (uint32_t)pes)
        return false;
    for (uint32_t i = 0; i < list[SKI_SECTION_LIST_MEMBERS]; i++) {
        if (at == end || at[0] > SKUA_INDEX_MAX || (at[0] + 3) / 4 >= (size_t)(end - at))
            return false;
        at += 1 + (at[0] + 3) / 4;
    }
    return at == end;
}

bool ski_section_lists_valid(const uint32_t *lists, size_t words, uint32_t count, int pes)
{
    for (uint32_t i = 0; i < count; i++) {
        size_t length;

        if (words < SKI_SECTION_LIST_HEAD)
            return false;
        length = SKI_SECTION_LIST_HEAD + (size_t)lists[SKI_SECTION_LIST_WORDS];
        if (length > words || !section_list_valid(lists, length, pes))
            return false;
        lists += length;
        words -= length;
    }
    return words == 0;
}
