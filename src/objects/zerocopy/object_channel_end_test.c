/* SPDX-License-Identifier: Apache-2.0 */
/* object_channel_end_test.c - records of channel ends: found by channel and by object, removed in
 * any order, taken along by a migrating object, and refused if another PE sends nonsense. */
#include "objects/zerocopy/object_channel_end.h"

#include <stdlib.h>
#include <string.h>

#include "core/pe/pe.h"
#include "tests/tap.h"

enum { END_TEST_ENDS = 300 };

static struct ski_objects   *end_test_objects;
static struct ski_collection end_test_all;
static struct ski_object     end_test_object[2];
static skua_channel_end      end_test_kind;

static void end_test_buffer(void *self, uint64_t tag, skua_layout *at)
{
    (void)self, (void)tag, (void)at;
}

/* Kinds are registered before jobs begin, which other tests of this program run. */
__attribute__((constructor)) static void end_test_register(void)
{
    end_test_kind = skua_channel_end_register(
        &(skua_channel_end_def){.name = "end of a test", .buffer = end_test_buffer});
}

static struct ski_object_end_state end_test_state(uint32_t number, bool sends)
{
    return (struct ski_object_end_state){
        .id = number, .tag = number * 2, .kind = end_test_kind.id, .sends = sends, .epoch = 7};
}

static struct ski_object_end *end_test_add(int object, uint32_t number, bool sends)
{
    struct ski_object_end_state state = end_test_state(number, sends);

    return ski_object_end_add(&end_test_object[object], &state);
}

static void test_end_kinds(void)
{
    OK(ski_channel_end_find(end_test_kind.id)->buffer == end_test_buffer, "a kind is found");
    OK(!ski_channel_end_find(0) && !ski_channel_end_find(end_test_kind.id + 1) &&
           !ski_channel_end_find(UINT32_MAX),
       "kinds that do not exist are not");
}

static void test_end_records(void)
{
    struct ski_object_end *in = end_test_add(0, 1, false), *out = end_test_add(0, 1, true),
                          *far = end_test_add(1, 2, false);

    OK(ski_object_end_find(end_test_objects, 1, false) == in &&
           ski_object_end_find(end_test_objects, 1, true) == out &&
           ski_object_end_find(end_test_objects, 2, false) == far,
       "both sides of a channel are found");
    OK(!ski_object_end_find(end_test_objects, 2, true), "a side that is elsewhere is not");
    OK(ski_object_ends_find(&end_test_object[0])->count == 2 && in->of == out->of &&
           in->of->object == &end_test_object[0],
       "an object has a list of its ends");
    ski_object_end_remove(in);
    OK(!ski_object_end_find(end_test_objects, 1, false) &&
           ski_object_ends_find(&end_test_object[0])->first == out,
       "an end is removed");
    out->of->draining = true;
    ski_object_end_remove(out);
    OK(ski_object_ends_find(&end_test_object[0])->count == 0, "a list stays while it is drained");
    ski_object_ends_find(&end_test_object[0])->draining = false;
    ski_object_ends_release(ski_object_ends_find(&end_test_object[0]));
    OK(!ski_object_ends_find(&end_test_object[0]), "and goes then");
    ski_object_ends_remove(&end_test_object[1]);
    ski_object_ends_remove(&end_test_object[0]); /* has none */
    OK(!ski_object_ends_find(&end_test_object[1]) &&
           !ski_object_end_find(end_test_objects, 2, false),
       "all ends of an object are removed");
}

/* Many ends, removed in a random order, against a list of those that remain. */
static void test_end_many(void)
{
    uint64_t seed = tap_seed();
    bool     there[END_TEST_ENDS], right = true;

    for (uint32_t i = 0; i < END_TEST_ENDS; i++)
        there[i] = end_test_add((int)(i % 2), i + 1, i % 3 == 0) != NULL;
    for (int left = END_TEST_ENDS; left > 0; left--) {
        uint32_t i = (uint32_t)(tap_random(&seed) % END_TEST_ENDS);

        while (!there[i])
            i = (i + 1) % END_TEST_ENDS;
        there[i] = false;
        ski_object_end_remove(ski_object_end_find(end_test_objects, i + 1, i % 3 == 0));
        for (uint32_t k = 0; k < END_TEST_ENDS; k++)
            right = right && !!ski_object_end_find(end_test_objects, k + 1, k % 3 == 0) == there[k];
    }
    OK(right && !ski_object_ends_find(&end_test_object[0]) &&
           !ski_object_ends_find(&end_test_object[1]),
       "%d ends are removed in any order", END_TEST_ENDS);
}

static void test_end_migration(void)
{
    const struct ski_baggage    *baggage = &ski_object_end_baggage;
    struct ski_object_end_state *packed;
    size_t                       bytes;

    OK(baggage->bytes(&end_test_object[0]) == 0, "an object without ends takes nothing along");
    end_test_add(0, 5, false);
    end_test_add(0, 6, true)->state.puts = 11;
    bytes                                = baggage->bytes(&end_test_object[0]);
    packed                               = malloc(bytes);
    baggage->pack(&end_test_object[0], packed);
    OK(!baggage->valid(&end_test_all, packed, bytes), "ends that are here do not arrive");
    ski_object_ends_remove(&end_test_object[0]);
    OK(baggage->valid(&end_test_all, packed, bytes), "ends that have left do");
    baggage->unpack(&end_test_object[1], packed, bytes);
    OK(ski_object_ends_find(&end_test_object[1])->count == 2 &&
           ski_object_end_find(end_test_objects, 6, true)->state.puts == 11 &&
           ski_object_end_find(end_test_objects, 6, true)->state.tag == 12 &&
           ski_object_end_find(end_test_objects, 5, false)->state.epoch == 8,
       "they are what they were, an epoch later");
    ski_object_ends_remove(&end_test_object[1]);
    free(packed);
}

static void test_end_nonsense(void)
{
    const struct ski_baggage   *baggage = &ski_object_end_baggage;
    struct ski_object_end_state good    = end_test_state(9, true), bad[5];

    for (int i = 0; i < 5; i++)
        bad[i] = good;
    bad[0].kind             = 0;
    bad[1].id               = UINT64_C(7) << 32 | 1; /* of a PE that does not exist */
    bad[2].id               = 0;
    bad[3].sends            = 2;
    bad[4].peer.index.bytes = SKUA_INDEX_MAX + 1;
    OK(baggage->valid(&end_test_all, &good, sizeof good), "a valid end");
    OK(!baggage->valid(&end_test_all, &good, sizeof good - 1), "a part of an end is refused");
    for (int i = 0; i < 5; i++)
        OK(!baggage->valid(&end_test_all, &bad[i], sizeof bad[i]), "nonsense %d is refused", i);
}

int main(void)
{
    struct ski_pe *self = NULL;

    if (posix_memalign((void **)&self, 128, sizeof *self) != 0)
        return 1;
    memset(self, 0, sizeof *self);
    end_test_objects           = calloc(1, sizeof *end_test_objects);
    end_test_objects->self     = self;
    end_test_objects->creators = 2;
    self->objects              = end_test_objects;
    self->pes                  = 2;
    end_test_all.self          = self;
    end_test_object[0].of = end_test_object[1].of = &end_test_all;
    ski_object_channels_begin(end_test_objects);
    test_end_kinds();
    test_end_records();
    test_end_many();
    test_end_migration();
    test_end_nonsense();
    end_test_add(0, 1, true); /* what is left is freed with the PE */
    ski_object_channels_end(end_test_objects);
    free(end_test_objects);
    free(self);
    return tap_end();
}
