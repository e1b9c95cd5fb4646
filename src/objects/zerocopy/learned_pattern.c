/* SPDX-License-Identifier: Apache-2.0 */
/* learned_pattern.c - see learned_pattern.h. */
#include "objects/zerocopy/learned_pattern.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "objects/model/index.h"

static void learned_pattern_append(struct ski_learned_key *key, const void *data, size_t bytes)
{
    if (bytes == 0)
        return;
    key->words += (uint32_t)(bytes + 7) / 8;
    ski_assert(key->words <= SKI_LEARNED_KEY_WORDS);
    key->word[key->words - 1] = 0; /* the bytes of the last word after the data */
    memcpy((char *)(key->word + key->words) - (bytes + 7) / 8 * 8, data, bytes);
}

void ski_learned_key_make(struct ski_learned_key *key, const skua_ref *ref, uint32_t entry,
                          const void *head, uint32_t bytes)
{
    ski_assert(ref->index.bytes <= SKI_MSG_INDEX_BYTES && bytes <= SKI_LEARNED_HEAD);
    key->words   = 2;
    key->word[0] = ref->of.id;
    key->word[1] = (uint64_t)bytes << 32 | entry << 8 | ref->index.bytes;
    learned_pattern_append(key, &ref->index.at, ref->index.bytes);
    learned_pattern_append(key, head, bytes);
}

static uint64_t learned_pattern_hash(const struct ski_learned_key *key)
{
    uint64_t hash = key->words;

    for (uint32_t i = 0; i < key->words; i++) {
        hash = (hash ^ key->word[i]) * SKI_GOLDEN;
        hash ^= hash >> 29;
    }
    return hash;
}

static struct ski_learned_pattern *learned_pattern_new(struct ski_learned_patterns  *patterns,
                                                       uint64_t                      hash,
                                                       const struct ski_learned_key *key)
{
    size_t                      bytes = key->words * sizeof *key->word;
    struct ski_learned_pattern *pattern;

    if (patterns->table.count >= SKI_LEARNED_MAX)
        return NULL;
    pattern  = ski_malloc(sizeof *pattern + bytes);
    *pattern = (struct ski_learned_pattern){.words = key->words};
    memcpy(pattern->key, key->word, bytes);
    ski_hash_add(&patterns->table, &pattern->link, hash);
    return pattern;
}

static bool learned_pattern_matches(const struct ski_learned_pattern *pattern,
                                    const struct ski_learned_key     *key)
{
    bool same = pattern->words == key->words;

    for (uint32_t i = 0; same && i < key->words; i++)
        same = pattern->key[i] == key->word[i];
    return same;
}

static struct ski_learned_pattern *learned_pattern_find(struct ski_learned_patterns  *patterns,
                                                        const struct ski_learned_key *key)
{
    uint64_t hash = learned_pattern_hash(key);

    for (struct ski_hash_link *link = ski_hash_first(&patterns->table, hash); link;
         link                       = link->next)
        if (link->hash == hash && learned_pattern_matches((struct ski_learned_pattern *)link, key))
            return (struct ski_learned_pattern *)link;
    return learned_pattern_new(patterns, hash, key);
}

/* Prefetches what the message after this one needs. */
static void learned_pattern_prefetch(const struct ski_learned_pattern *pattern)
{
    __builtin_prefetch(pattern->next_sent);
    __builtin_prefetch((const char *)pattern->next_sent + SKI_CACHE_LINE);
    for (int i = 0; pattern->next_channel && i < SKI_LEARNED_LINES; i++)
        __builtin_prefetch((const char *)pattern->next_channel + i * SKI_CACHE_LINE, 1);
}

struct ski_learned_pattern *ski_learned_pattern_get(struct ski_learned_patterns  *patterns,
                                                    const struct ski_learned_key *key)
{
    struct ski_learned_pattern *before  = patterns->recent,
                               *pattern = before ? before->next_sent : NULL;

    if (!pattern || !learned_pattern_matches(pattern, key))
        pattern = learned_pattern_find(patterns, key);
    if (before && pattern) {
        before->next_sent    = pattern;
        before->next_channel = pattern->channel;
    }
    patterns->recent = pattern;
    if (pattern && pattern->next_sent)
        learned_pattern_prefetch(pattern);
    return pattern;
}

bool ski_learned_pattern_note(struct ski_learned_pattern *pattern, int64_t reference,
                              uint64_t bytes)
{
    int64_t step = (int64_t)((uint64_t)reference - (uint64_t)pattern->reference);

    if (step != 0 && step == pattern->step && bytes == pattern->bytes)
        pattern->streak++;
    else
        pattern->streak = 0;
    pattern->step      = step;
    pattern->reference = reference;
    pattern->bytes     = bytes;
    return pattern->streak >= SKI_LEARNED_STREAK;
}

static void learned_pattern_free(struct ski_hash_link *link, void *arg)
{
    (void)arg;
    free(link);
}

void ski_learned_patterns_free(struct ski_learned_patterns *patterns)
{
    ski_hash_each(&patterns->table, learned_pattern_free, NULL);
    ski_hash_clear(&patterns->table);
    patterns->recent = NULL;
}
