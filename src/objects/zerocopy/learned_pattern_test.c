/* SPDX-License-Identifier: Apache-2.0 */
/* learned_pattern_test.c - messages of equal steps and sizes are expected, others are not; kinds of
 * messages are told apart. */
#include "objects/zerocopy/learned_pattern.h"

#include <string.h>

#include "tests/tap.h"

static skua_ref learned_pattern_test_ref(uint64_t collection, int32_t x)
{
    skua_ref ref = {.of = {collection}, .index = {.bytes = 4}};

    ref.index.at.x[0] = x;
    return ref;
}

static struct ski_learned_pattern *learned_pattern_test_get(struct ski_learned_patterns *patterns,
                                                            skua_ref ref, uint32_t entry,
                                                            const char *head)
{
    struct ski_learned_key key;

    ski_learned_key_make(&key, &ref, entry, head, (uint32_t)strlen(head));
    return ski_learned_pattern_get(patterns, &key);
}

static void learned_pattern_test_kinds(void)
{
    struct ski_learned_patterns patterns = {0};
    skua_ref                    ref      = learned_pattern_test_ref(7, 1);
    struct ski_learned_pattern *pattern  = learned_pattern_test_get(&patterns, ref, 3, "north");

    OK(learned_pattern_test_get(&patterns, ref, 3, "north") == pattern, "one kind, one pattern");
    OK(learned_pattern_test_get(&patterns, ref, 3, "south") != pattern, "another head");
    OK(learned_pattern_test_get(&patterns, ref, 3, "") != pattern, "no head");
    OK(learned_pattern_test_get(&patterns, ref, 4, "north") != pattern, "another entry");
    OK(learned_pattern_test_get(&patterns, learned_pattern_test_ref(7, 2), 3, "north") != pattern,
       "another element");
    OK(learned_pattern_test_get(&patterns, learned_pattern_test_ref(8, 1), 3, "north") != pattern,
       "another collection");
    OK(learned_pattern_test_get(&patterns, ref, 3, "north") == pattern, "the first is found again");
    OK(patterns.table.count == 6, "six kinds");
    ski_learned_patterns_free(&patterns);
}

static void learned_pattern_test_steps(void)
{
    struct ski_learned_pattern pattern = {0};

    OK(!ski_learned_pattern_note(&pattern, 10, 64), "a first message");
    OK(!ski_learned_pattern_note(&pattern, 12, 64), "a second one has a step");
    OK(ski_learned_pattern_note(&pattern, 14, 64) && pattern.step == 2,
       "an equal step makes a pattern");
    OK(ski_learned_pattern_note(&pattern, 16, 64), "which continues");
    OK(!ski_learned_pattern_note(&pattern, 19, 64), "another step breaks it");
    OK(ski_learned_pattern_note(&pattern, 22, 64), "and may be the next pattern");
    OK(!ski_learned_pattern_note(&pattern, 25, 65), "another size breaks it");
    OK(ski_learned_pattern_note(&pattern, 28, 65), "two of that size are one");
    OK(!ski_learned_pattern_note(&pattern, 28, 65) && !ski_learned_pattern_note(&pattern, 28, 65),
       "equal references are none");
    pattern = (struct ski_learned_pattern){0};
    ski_learned_pattern_note(&pattern, INT64_MAX - 1, 8);
    ski_learned_pattern_note(&pattern, INT64_MAX, 8);
    OK(ski_learned_pattern_note(&pattern, INT64_MIN, 8), "references may wrap around");
}

static void learned_pattern_test_order(void)
{
    struct ski_learned_patterns patterns = {0};
    skua_ref                    ref      = learned_pattern_test_ref(7, 1);
    struct ski_learned_pattern *a, *b;

    a = learned_pattern_test_get(&patterns, ref, 3, "a");
    b = learned_pattern_test_get(&patterns, ref, 3, "b");
    OK(a->next_sent == b && patterns.recent == b, "the order of messages is remembered");
    learned_pattern_test_get(&patterns, ref, 3, "a");
    OK(b->next_sent == a, "also around the end");
    learned_pattern_test_get(&patterns, ref, 3, "a");
    OK(a->next_sent == a, "and changed when it changes");
    ski_learned_patterns_free(&patterns);
}

static void learned_pattern_test_most(void)
{
    struct ski_learned_patterns patterns = {0};
    bool                        all      = true;

    for (int32_t i = 0; i < SKI_LEARNED_MAX; i++)
        all = all && learned_pattern_test_get(&patterns, learned_pattern_test_ref(1, i), 3, "");
    OK(all, "%d patterns", SKI_LEARNED_MAX);
    OK(!learned_pattern_test_get(&patterns, learned_pattern_test_ref(1, SKI_LEARNED_MAX), 3, ""),
       "and no more");
    OK(learned_pattern_test_get(&patterns, learned_pattern_test_ref(1, 0), 3, "") != NULL,
       "those that there are stay");
    ski_learned_patterns_free(&patterns);
}

int main(void)
{
    learned_pattern_test_kinds();
    learned_pattern_test_steps();
    learned_pattern_test_order();
    learned_pattern_test_most();
    return tap_end();
}
