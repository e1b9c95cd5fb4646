/* SPDX-License-Identifier: Apache-2.0 */
/* nocopy_msg_test.c - messages with nocopy arguments, and what a sender might damage in them. */
#include "objects/zerocopy/nocopy_msg.h"

#include <string.h>

#include "tests/tap.h"

#define MOST_ARGS  6
#define MOST_BYTES 1000
#define ROOM       (MOST_ARGS * (MOST_BYTES + 256) + 4096)

/* A message that a test has laid out, and what should be found in it. */
struct test_message {
    _Alignas(16) unsigned char data[ROOM];
    size_t                 bytes, whole; /* as they are given, and as they were written */
    uint32_t               count;
    struct ski_nocopy_arg *at[MOST_ARGS];
};

static void message_make(struct test_message *m, uint64_t *random)
{
    size_t first = tap_random(random) % 200, at = ski_nocopy_align(first);

    memset(m, 0, sizeof *m);
    m->count = (uint32_t)(tap_random(random) % (MOST_ARGS + 1));
    for (uint32_t i = 0; i < m->count; i++) {
        struct ski_nocopy_arg *arg = (struct ski_nocopy_arg *)(void *)(m->data + at);

        *arg = (struct ski_nocopy_arg){.bytes = tap_random(random) % MOST_BYTES,
                                       .kind  = (uint32_t)(tap_random(random) % 2)};
        if (arg->kind == SKI_NOCOPY_BUFFER)
            ski_nocopy_buffer(arg)->bytes = arg->bytes;
        m->at[i] = arg;
        at += ski_nocopy_extent(arg->kind, arg->bytes);
    }
    m->bytes = m->whole = at + sizeof(struct ski_nocopy_trailer);
    *ski_nocopy_trailer_at(m->data, m->bytes) =
        (struct ski_nocopy_trailer){.magic = SKI_NOCOPY_MAGIC, .first = first, .count = m->count};
}

/* Returns whether a walk visits all arguments, and one over buffers just those. */
static bool message_is_walked(const struct test_message *m)
{
    const struct ski_nocopy_trailer *trailer = ski_nocopy_trailer(m->data, m->bytes);
    struct ski_nocopy_walk           all, some;
    const struct ski_nocopy_arg     *arg;
    uint32_t                         i = 0;

    if (!trailer)
        return false;
    all = some = ski_nocopy_walk_in(m->data, trailer);
    for (; (arg = ski_nocopy_walk_next(&all)); i++)
        if (i >= m->count || arg != m->at[i] ||
            (arg->kind == SKI_NOCOPY_BUFFER && ski_nocopy_walk_buffer(&some) != arg))
            return false;
    return i == m->count && !ski_nocopy_walk_buffer(&some);
}

/* Returns whether all that a walk visits is inside of the message. */
static bool message_is_contained(const struct test_message *m)
{
    const struct ski_nocopy_trailer *trailer = ski_nocopy_trailer(m->data, m->bytes);
    struct ski_nocopy_walk           walk;
    const struct ski_nocopy_arg     *arg;

    if (!trailer)
        return true;
    walk = ski_nocopy_walk_in(m->data, trailer);
    while ((arg = ski_nocopy_walk_next(&walk)))
        if ((const unsigned char *)arg < m->data ||
            (const void *)ski_nocopy_next(arg) > (const void *)trailer ||
            (arg->kind == SKI_NOCOPY_BUFFER && ski_nocopy_buffer(arg)->bytes != arg->bytes))
            return false;
    return true;
}

/* Overwrites a field of the layout with a number that is near another one, or huge. */
static void message_damage(struct test_message *m, uint64_t *random)
{
    struct ski_nocopy_trailer *trailer = ski_nocopy_trailer_at(m->data, m->whole);
    uint64_t                   value = tap_random(random) % 4 ? tap_random(random) % (2 * m->whole)
                                                              : UINT64_MAX - tap_random(random) % 64;
    struct ski_nocopy_arg     *arg   = m->count ? m->at[tap_random(random) % m->count] : NULL;

    switch (tap_random(random) % 6) {
    case 0: trailer->first = value; break;
    case 1: trailer->count = (uint32_t)value; break;
    case 2: m->bytes = value % ROOM; break;
    case 3: trailer->magic ^= (uint64_t)1 << value % 64; break;
    case 4:
        if (arg)
            arg->bytes = value;
        break;
    case 5:
        if (arg)
            arg->kind = (uint32_t)value;
        break;
    }
}

int main(void)
{
    static struct test_message m;
    uint64_t                   random = tap_seed();
    bool                       walked = true, contained = true;

    for (int i = 0; i < 2000 && walked; i++) {
        message_make(&m, &random);
        walked = message_is_walked(&m);
    }
    OK(walked, "a walk visits the arguments that were written");
    for (int i = 0; i < 50000 && contained; i++) {
        message_make(&m, &random);
        for (uint64_t n = 1 + tap_random(&random) % 3; n > 0; n--)
            message_damage(&m, &random);
        contained = message_is_contained(&m);
    }
    OK(contained, "arguments of a damaged message lie inside of it, or it is not valid");
    message_make(&m, &random);
    OK(!ski_nocopy_trailer(m.data, 0) && !ski_nocopy_trailer(m.data, sizeof(uint64_t)) &&
           !ski_nocopy_trailer(m.data, m.bytes - 1),
       "neither is one that is too short, or not aligned");
    return tap_end();
}
