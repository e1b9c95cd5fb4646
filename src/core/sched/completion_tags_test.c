/* SPDX-License-Identifier: Apache-2.0 */
/* completion_tags_test.c - a tag depends on all that a completion is, remembered or not. */
#include "core/sched/completion_tags.h"

#include "core/message/addr_tag.h"
#include "core/pe/pe.h"
#include "tests/tap.h"

static uint64_t       key[2];
static struct ski_job job  = {.processes = 2, .tag_key = key}; /* in two arenas */
static struct ski_pe  self = {.job = &job, .pe = 3};

static skua_completion tags_test_call_of(uint16_t kind, uintptr_t address, uintptr_t arg)
{
    skua_completion done = {.kind = kind};

    done.what.counter = (skua_counter *)address;
    done.with.arg     = (void *)arg;
    return done;
}

static bool tags_test_is_right(uint16_t kind, uintptr_t address, uintptr_t arg)
{
    skua_completion done = tags_test_call_of(kind, address, arg);

    return ski_completion_tag(&self, &done) ==
           ski_addr_tag(&job, SKI_TAG_DONE + kind, self.pe, address, arg);
}

/* More completions than the cache has slots, in an order that evicts. */
static bool tags_test_all_are_right(uint64_t *seed)
{
    for (int i = 0; i < 10000; i++)
        if (!tags_test_is_right((uint16_t)(1 + tap_random(seed) % 5), 16 * (tap_random(seed) % 40),
                                16 * (tap_random(seed) % 3)))
            return false;
    return true;
}

int main(void)
{
    uint64_t        seed = tap_seed();
    skua_completion done = tags_test_call_of(1, 4096, 0);
    uint64_t        tag;

    key[0] = tap_random(&seed);
    ski_completion_tags_init(&self);
    OK(ski_job_is_distributed(&job), "the job is one that makes tags");
    OK(tags_test_all_are_right(&seed), "tags that are remembered are those that would be made");
    tag = ski_completion_tag(&self, &done);
    key[0]++;
    OK(ski_completion_tag(&self, &done) == tag, "a tag is remembered");
    ski_completion_tags_destroy(&self);
    ski_completion_tags_init(&self);
    OK(ski_completion_tag(&self, &done) != tag, "in the cache alone");
    ski_completion_tags_destroy(&self);
    return tap_end();
}
