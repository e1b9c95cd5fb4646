/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion_tags.h - the tags of the completions that a PE makes (core/message/addr_tag.h).
 *
 * A program uses few completions, each of them often, so a PE remembers the tags that it made
 * lately: a direct-mapped cache, by a hash of the addresses in a completion.
 */
#ifndef SKI_COMPLETION_TAGS_H
#define SKI_COMPLETION_TAGS_H

#include <stdint.h>

#include <skua/completion.h>

struct ski_pe;

/** Allocates the cache of a PE. */
void ski_completion_tags_init(struct ski_pe *self);

/** Frees the cache of a PE. */
void ski_completion_tags_destroy(struct ski_pe *self);

/** Returns the tag of a completion of @p self, which is remembered or made. */
uint64_t ski_completion_tag(struct ski_pe *self, const skua_completion *done);

#endif
