/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learned_pattern.h - the sender's side of learned channels: which messages follow a pattern.
 *
 * A sender keeps a *pattern* for each kind of message for in-place delivery: to one entry of one
 * element, with one head.  Messages of a kind whose reference grows by the same step, with the same
 * number of bytes, follow the pattern: the next one can be expected.
 */
#ifndef SKI_LEARNED_PATTERN_H
#define SKI_LEARNED_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include <skua/object.h>

#include "core/message/message.h"
#include "objects/model/hash_table.h"

struct ski_learned_channel;

#define SKI_LEARNED_STREAK 1     /* equal steps before the next message is expected */
#define SKI_LEARNED_MAX    16384 /* patterns of a PE */
#define SKI_LEARNED_HEAD   64    /* bytes: messages with longer heads are not learned */
#define SKI_LEARNED_LINES  2     /* cache lines of a channel that the next message needs */

#define SKI_LEARNED_KEY_WORDS (2 + (SKI_MSG_INDEX_BYTES + SKI_LEARNED_HEAD) / 8)

/* The key of a kind of messages: collection, entry, index and head, in words. */
struct ski_learned_key {
    uint64_t word[SKI_LEARNED_KEY_WORDS];
    uint32_t words;
};

/* The pattern of the messages of one kind, at their sender. */
struct ski_learned_pattern {
    struct ski_hash_link        link;
    int64_t                     reference, step; /* of the last message */
    uint64_t                    bytes;           /* of its data */
    uint64_t                    number;          /* of messages on the channel */
    struct ski_learned_channel *channel;         /* or NULL */
    bool                        numbered;        /* messages have numbers, also without a channel */
    uint32_t                    streak;          /* how often the step was the same */
    uint32_t                    words;           /* of its key */
    struct ski_learned_pattern *next_sent;    /* the pattern of the message sent next, last time */
    struct ski_learned_channel *next_channel; /* the channel of next_sent */
    uint64_t                    key[];
};

/* The patterns of a PE. */
struct ski_learned_patterns {
    struct ski_hash_table       table;
    struct ski_learned_pattern *recent; /* of the message sent last, or NULL */
};

/** Makes the key of messages to @p entry of @p ref with @p bytes of @p head: SKI_LEARNED_HEAD at
 * most, and an index of SKI_MSG_INDEX_BYTES at most. */
void ski_learned_key_make(struct ski_learned_key *key, const skua_ref *ref, uint32_t entry,
                          const void *head, uint32_t bytes);

/** Returns the pattern of messages of @p key, which is added if it is new; NULL: there are too
 * many. Messages tend to follow each other as they did before, so the last pattern says which is
 * next, and what the message after this one needs is prefetched. */
struct ski_learned_pattern *ski_learned_pattern_get(struct ski_learned_patterns  *patterns,
                                                    const struct ski_learned_key *key);

/** Records a message of @p reference with @p bytes of data.  Returns whether the next one can be
 * expected. */
bool ski_learned_pattern_note(struct ski_learned_pattern *pattern, int64_t reference,
                              uint64_t bytes);

/** Frees all patterns. */
void ski_learned_patterns_free(struct ski_learned_patterns *patterns);

#endif
