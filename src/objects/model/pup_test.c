/* SPDX-License-Identifier: Apache-2.0 */
/* pup_test.c - objects are packed and unpacked, with and without records; messages that are too
 * small grow; sizes are those of the fields; which objects move with their memory. */
#include "objects/model/pup.h"

#include "objects/model/collection.h"
#include "objects/model/object.h"
#include "tests/core_pe.h"

struct pup_test_part {
    int32_t x, y;
};

struct pup_test_thing {
    int32_t              n;
    double              *u; /* n of them */
    char                *name, *none;
    int16_t              end[3];
    struct pup_test_part part;
};

#define PUP_TEST_NUMBERS 1000

static int pup_test_packs, pup_test_sizings;

static void pup_test_part_pup(skua_pup *p, struct pup_test_part *part)
{
    skua_pup_value(p, &part->x);
    skua_pup_value(p, &part->y);
}

static void pup_test_pup(skua_pup *p, void *self)
{
    struct pup_test_thing *t = self;

    pup_test_packs += skua_pup_packing(p);
    pup_test_sizings += skua_pup_sizing(p);
    skua_pup_value(p, &t->n);
    skua_pup_memory(p, &t->u, (size_t)t->n * sizeof *t->u);
    skua_pup_string(p, &t->name);
    skua_pup_string(p, &t->none);
    skua_pup_values(p, t->end, 3);
    skua_pup_with(p, pup_test_part_pup, &t->part);
}

static struct ski_class pup_test_class = {
    .def = {.name = "thing", .bytes = sizeof(struct pup_test_thing), .pup = pup_test_pup}};
static struct ski_collection pup_test_all = {.class = &pup_test_class};

static struct pup_test_thing *pup_test_new(void)
{
    skua_index         index  = skua_index1(3);
    struct ski_object *object = ski_object_alloc(NULL, sizeof(struct pup_test_thing), &index);

    object->of = &pup_test_all;
    return (struct pup_test_thing *)(object + 1);
}

static void pup_test_free(struct pup_test_thing *t)
{
    free(t->u);
    free(t->name);
    ski_object_free(ski_object_of(t), NULL);
}

static bool pup_test_equal(const struct pup_test_thing *a, const struct pup_test_thing *b)
{
    return a->n == b->n && memcmp(a->u, b->u, (size_t)a->n * sizeof *a->u) == 0 &&
           strcmp(a->name, b->name) == 0 && !b->none &&
           memcmp(a->end, b->end, sizeof a->end) == 0 && a->part.x == b->part.x &&
           a->part.y == b->part.y;
}

/* Packs into a message with room for @p room bytes after @p used others, and unpacks. */
static void pup_test_round_trip(struct pup_test_thing *t, size_t used, size_t room, bool checked)
{
    struct pup_test_thing *copy = pup_test_new();
    skua_msg              *msg  = skua_msg_alloc(used + room);
    struct ski_pup_packed  packed;

    memset(skua_msg_data(msg), 7, used);
    pup_test_packs = 0;
    msg            = checked ? ski_pup_pack_checked(&pup_test_class, t, msg, used)
                             : ski_pup_pack(&pup_test_class, t, msg, used);
    packed = (struct ski_pup_packed){(char *)skua_msg_data(msg) + used, skua_msg_size(msg) - used,
                                     1, checked};
    ski_pup_unpack(&pup_test_class, copy, &packed);
    OK(pup_test_equal(t, copy) && pup_test_packs == 1, "%s, room for %zu bytes",
       checked ? "checked" : "packed", room);
    OK(used == 0 || ((char *)skua_msg_data(msg))[used - 1] == 7, "what precedes it stays");
    if (!checked)
        OK(packed.bytes == ski_pup_measure(&pup_test_class, t), "as many bytes as measured");
    skua_msg_free(msg);
    pup_test_free(copy);
}

/* An object of which the class packs the ends, and what `pup_test_more` names. */
struct pup_test_block {
    double   first;
    char    *transient;
    int32_t  middle[10];
    uint32_t last;
};

static enum {
    PUP_TEST_WITHIN,
    PUP_TEST_OUTSIDE,
    PUP_TEST_OWNED,
    PUP_TEST_DESCENDING,
    PUP_TEST_ASKS
} pup_test_more;

static void pup_test_block_pup(skua_pup *p, void *self)
{
    struct pup_test_block *block = self;
    int32_t                other = 3;

    skua_pup_value(p, &block->first);
    if (pup_test_more == PUP_TEST_OUTSIDE)
        skua_pup_value(p, &other);
    if (pup_test_more == PUP_TEST_OWNED)
        skua_pup_memory(p, &block->transient, sizeof block->middle);
    if (pup_test_more == PUP_TEST_ASKS && skua_pup_packing(p))
        return;
    skua_pup_value(p, &block->last);
    if (pup_test_more == PUP_TEST_DESCENDING)
        skua_pup_value(p, &block->middle);
}

/* An object that packs only its own memory moves with it; all else is zeroed. */
static void pup_test_within(void)
{
    static struct ski_class of    = {.def = {.name  = "block",
                                             .bytes = sizeof(struct pup_test_block),
                                             .pup   = pup_test_block_pup}};
    struct pup_test_block   block = {1.5, (char *)&of, {1, 2, 3}, 4},
                          as_new  = {.first = 1.5, .last = 4};
    struct ski_pup_gaps gaps;

    OK(ski_pup_within(&of, &block, &gaps) && gaps.packed == 12 && gaps.count >= 1 &&
           gaps.gap[0].at == 8 && gaps.gap[0].bytes == 48,
       "an object of fields in ascending order moves with its memory");
    ski_pup_unpack_within(&of, &block, &gaps, 0);
    OK(memcmp(&block, &as_new, sizeof block) == 0, "what is not packed is zeroed");
    gaps.packed = 0;
    OK(ski_pup_gaps_set(&of, &gaps) && gaps.packed == 12, "the bytes of fields follow from gaps");
    gaps.gap[0].bytes = sizeof block;
    OK(!ski_pup_gaps_set(&of, &gaps), "a gap beyond the object is refused");
    gaps = (struct ski_pup_gaps){.count = 2, .gap = {{8, 8}, {12, 8}}};
    OK(!ski_pup_gaps_set(&of, &gaps), "gaps that overlap are refused");
    block.transient = (char *)block.middle;
    for (pup_test_more = PUP_TEST_OUTSIDE; pup_test_more <= PUP_TEST_ASKS; pup_test_more++)
        OK(!ski_pup_within(&of, &block, &gaps), "an object is packed, reason %d", pup_test_more);
}

int main(void)
{
    struct pup_test_thing *t;
    size_t                 bytes;

    core_pes_begin(64);
    t       = pup_test_new();
    t->n    = PUP_TEST_NUMBERS;
    t->u    = calloc(PUP_TEST_NUMBERS, sizeof *t->u);
    t->name = strdup("a name");
    for (int i = 0; i < PUP_TEST_NUMBERS; i++)
        t->u[i] = i;
    t->end[2] = 5;
    t->part   = (struct pup_test_part){1, 2};
    bytes     = ski_pup_measure(&pup_test_class, t);
    OK(bytes == 4 + 8 * PUP_TEST_NUMBERS + 8 + 7 + 8 + 6 + 8 && pup_test_sizings == 1,
       "the size is that of the fields: %zu", bytes);
    for (int checked = 0; checked < 2; checked++) {
        pup_test_round_trip(t, 0, bytes, checked);
        pup_test_round_trip(t, 40, 0, checked);
        pup_test_round_trip(t, 40, bytes - 1, checked);
        pup_test_round_trip(t, 40, 2 * bytes, checked);
    }
    pup_test_free(t);
    pup_test_within();
    core_pes_end();
    return tap_end();
}
