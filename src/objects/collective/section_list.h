/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section_list.h - the wire format of the members of a section, by delegate.
 *
 * A list is an array of 32-bit words: the PE of the delegate, the number of its members, the words
 * that follow; then for each member the bytes of its index, and the index in whole words.
 */
#ifndef SKI_SECTION_LIST_H
#define SKI_SECTION_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/object.h>

/* The words that a list begins with, and their number. */
enum {
    SKI_SECTION_LIST_PE,
    SKI_SECTION_LIST_MEMBERS,
    SKI_SECTION_LIST_WORDS,
    SKI_SECTION_LIST_HEAD
};

/** Returns the words that an index takes in a list. */
static inline uint32_t ski_section_list_index_words(const skua_index *index)
{
    return 1 + (index->bytes + 3) / 4;
}

/** Begins an empty list of delegate @p pe at @p list. */
void ski_section_list_begin(uint32_t *list, int pe);

/** Appends a member to @p list, which has room for it. */
void ski_section_list_append(uint32_t *list, const skua_index *index);

/** Reads the index at @p at of a valid list; returns where the next is. */
const uint32_t *ski_section_list_read(const uint32_t *at, skua_index *index);

/** Returns the list after @p list, which is valid. */
static inline const uint32_t *ski_section_list_next(const uint32_t *list)
{
    return list + SKI_SECTION_LIST_HEAD + list[SKI_SECTION_LIST_WORDS];
}

/** Returns whether @p words at @p lists are @p count lists, of PEs of a job of @p pes; they may
 * come from another PE. */
bool ski_section_lists_valid(const uint32_t *lists, size_t words, uint32_t count, int pes);

#endif
