/* SPDX-License-Identifier: Apache-2.0 */
/* seed_test.c - each object of a seed is created once, on any PE, and its home knows. */
#include "objects/chare/seed.h"

#include <stdatomic.h>

#include "core/pe/pe.h"
#include "tests/tap.h"
#include "tests/unit_job.h"

#define SEED_TEST_DEPTH 9
#define SEED_TEST_ROW   300

static skua_class  seed_test_class;
static _Atomic int seed_test_created, seed_test_on[UNIT_JOB_PES];

/* A tree of objects: each submits two more. */
static void seed_test_construct(void *self, const void *data, size_t bytes)
{
    int depth = *(const int *)data - 1;

    (void)bytes;
    atomic_fetch_add(&seed_test_created, 1);
    atomic_fetch_add(&seed_test_on[skua_pe()], 1);
    for (int i = 0; i < 2 && depth > 0; i++)
        skua_chare_create(seed_test_class, SKUA_ANY_PE, &depth, sizeof depth);
    skua_object_destroy(self);
}

static void seed_test_set_up(void)
{
    seed_test_class = skua_class_register(
        &(skua_class_def){.name = "seed_test", .construct = seed_test_construct});
}

static void seed_test_start(int argc, char **argv)
{
    int depth = SEED_TEST_DEPTH, leaf = 1, sum = 0, here;

    (void)argc, (void)argv;
    if (skua_pe() != 0)
        return;
    skua_chare_create(seed_test_class, SKUA_ANY_PE, &depth, sizeof depth);
    unit_job_settle();
    CHECK(atomic_load(&seed_test_created) == (1 << SEED_TEST_DEPTH) - 1);
    here = atomic_load(&seed_test_on[0]);
    for (int i = 0; i < SEED_TEST_ROW; i++)
        skua_chare_create(seed_test_class, SKUA_ANY_PE, &leaf, sizeof leaf);
    CHECK(atomic_load(&seed_test_on[0]) == here); /* none is created inside the call */
    unit_job_settle();
    for (int pe = 0; pe < UNIT_JOB_PES; pe++)
        sum += atomic_load(&seed_test_on[pe]);
    CHECK(sum == (1 << SEED_TEST_DEPTH) - 1 + SEED_TEST_ROW);
    CHECK(!ski_seeds_awaited(ski_self->objects, NULL)); /* all are known to be created */
    skua_exit(0);
}

int main(void)
{
    OK(unit_job(seed_test_set_up, seed_test_start), "the object of each seed is created once");
    return tap_end();
}
