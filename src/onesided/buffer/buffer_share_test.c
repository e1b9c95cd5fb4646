/* SPDX-License-Identifier: Apache-2.0 */
/* buffer_share_test.c - completions that other PEs may call too often, and counts of users. */
#include "onesided/buffer/buffer_share.h"

#include "onesided/buffer/buffer_fetch.h"
#include "onesided/buffer/buffer_pe.h"
#include "tests/onesided_pe.h"

#define SHARES 200

static int share_calls[SHARES];

static void share_on_free(void *arg, const void *data, size_t bytes)
{
    const skua_buffer *buffer = data;

    if (bytes == sizeof *buffer && buffer->user == (uint64_t)((int *)arg - share_calls))
        ++*(int *)arg;
}

static void share_complete(const skua_buffer *buffer)
{
    skua_complete(buffer->done, buffer, sizeof *buffer);
}

static void share_on_once(void *handle, const void *data, size_t bytes)
{
    int *count = ski_buffer_once_take(ski_self, handle);

    (void)data, (void)bytes;
    if (count)
        ++*count;
}

/* A completion that was called once has no effect, also when another has its slot. */
static void share_once(struct ski_pe *self)
{
    int             first = 0, second = 0;
    skua_completion old = ski_buffer_once(self, share_on_once, &first), new;

    skua_complete(old, NULL, 0);
    skua_complete(old, NULL, 0);
    new = ski_buffer_once(self, share_on_once, &second);
    skua_complete(old, NULL, 0);
    OK(first == 1 && second == 0, "a completion is called once");
    skua_complete(new, NULL, 0);
    OK(first == 1 && second == 1, "and another one that has its slot, too");
    OK(!ski_buffer_once_take(self, (void *)(uintptr_t)0x7fffffff00001234) &&
           !ski_buffer_once_take(self, NULL),
       "a forged handle names nothing");
}

/* Users that come and go in any order, against a plain array of counts. */
static bool share_counts_random(struct ski_pe *self)
{
    uint64_t    random = tap_seed();
    uint32_t    users[SHARES];
    skua_buffer buffer[SHARES];
    int         open = SHARES;

    for (int i = 0; i < SHARES; i++) {
        buffer[i] = skua_buffer_make(&buffer[i], 8, SKUA_REGISTER_NEVER,
                                     skua_done_call(share_on_free, &share_calls[i]), (uint64_t)i);
        users[i]  = 1 + (uint32_t)(tap_random(&random) % 4);
        ski_buffer_share(self, &buffer[i], users[i]);
    }
    for (int step = 0; open > 0; step++) {
        int i = (int)(tap_random(&random) % SHARES);

        if (users[i] > 0 && step < 20 * SHARES && tap_random(&random) % 2) {
            ski_buffer_share_add(self, &buffer[i]);
            users[i]++;
        } else {
            share_complete(&buffer[i]); /* without effect where there is no user left */
            open -= users[i] == 1;
            users[i] -= users[i] > 0;
        }
        if (share_calls[i] != (users[i] == 0))
            return false;
    }
    return true;
}

/* A share of a share: each level is complete when the one below is. */
static void share_nested(struct ski_pe *self)
{
    skua_buffer buffer = skua_buffer_make(share_calls, 8, SKUA_REGISTER_NEVER,
                                          skua_done_call(share_on_free, &share_calls[7]), 7);
    skua_buffer inner;

    share_calls[7] = 0;
    ski_buffer_share(self, &buffer, 2);
    inner = buffer;
    ski_buffer_share(self, &inner, 2);
    share_complete(&inner);
    share_complete(&buffer);
    OK(share_calls[7] == 0, "a user is left");
    share_complete(&inner);
    OK(share_calls[7] == 1, "and was the last");
}

static void fetch_on_done(struct ski_buffer_fetch *fetch)
{
    ++*(int *)fetch->arg;
}

/* The description follows the data; its completion then frees the memory that they came to. */
static void fetch_moves(struct ski_pe *self)
{
    char        data[] = "twelve bytes", place[sizeof data];
    int         came   = 0;
    skua_buffer buffer =
        skua_buffer_make(data, sizeof data, SKUA_REGISTER_NEVER,
                         skua_done_call(share_on_free, &share_calls[9]), (uint64_t)9);
    struct ski_buffer_fetch fetch = {.done = fetch_on_done, .arg = &came};

    share_calls[9] = 0;
    OK(ski_buffer_fetch(self, &fetch, &buffer, NULL) == SKUA_OK && came == 1 && share_calls[9] == 1,
       "the data are fetched, and their owner notified");
    OK(buffer.at != data && buffer.at == fetch.block && buffer.bytes == sizeof data &&
           buffer.user == 9 && ski_arena_contains(self->job->arena, buffer.at) &&
           memcmp(buffer.at, data, sizeof data) == 0,
       "to memory of the runtime, which the buffer describes");
    OK(ski_buffer_fetch(self, &fetch, &buffer, place) == SKUA_OK && came == 2 &&
           buffer.at == place && !fetch.block && memcmp(place, data, sizeof data) == 0,
       "and from there to a place");
    share_complete(&buffer); /* nothing is left to be freed */
    OK(share_calls[9] == 1, "the owner is notified once");
}

/* A buffer that its PE did not make is refused, and leaves no handle. */
static void fetch_refused(struct ski_pe *self)
{
    int                     came  = 0;
    struct ski_buffer_fetch fetch = {.done = fetch_on_done, .arg = &came};
    skua_buffer             buffer =
        skua_buffer_make(&came, sizeof came, SKUA_REGISTER_NEVER, skua_done_nothing(), 0);
    uint32_t free_slot = ski_buffer_pe(self)->once.free;

    buffer.pe = TEST_PES;
    OK(ski_buffer_fetch(self, &fetch, &buffer, NULL) < 0 && came == 0, "a wrong buffer is refused");
    OK(ski_buffer_pe(self)->once.free == free_slot && buffer.pe == TEST_PES,
       "and no completion is left of it");
}

int main(void)
{
    struct ski_pe *self;

    setenv("SKUA_LOG_LEVEL", "fatal", 1); /* a refusal is logged */
    self = test_pe_begin();
    share_once(self);
    OK(share_counts_random(self), "%d buffers, whose users come and go", SHARES);
    share_nested(self);
    fetch_moves(self);
    fetch_refused(self);
    test_pe_end(self);
    unsetenv("SKUA_LOG_LEVEL");
    return tap_end();
}
