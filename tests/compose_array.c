/* SPDX-License-Identifier: Apache-2.0 */
/* compose_array.c - an array of workers; in each round all send to their neighbours, and a
 * reduction ends it.  The result is rounds * elements. */
#include <string.h>

#include "compose.h"
#include "tap.h"

#define WORKERS 50

struct worker {
    int             round, rounds, got;
    skua_completion done;
};

static skua_class class;
static skua_entry go_entry, token_entry;

static void begin_round(struct worker *w)
{
    int next = (skua_index_of(w).at.x[0] + 1) % WORKERS;

    skua_invoke_copy(skua_element1(skua_collection_of(w), next), token_entry, &w->round,
                     sizeof w->round);
}

static void construct(void *self, const void *data, size_t bytes)
{
    CHECK(bytes == sizeof(struct worker));
    memcpy(self, data, bytes);
    begin_round(self);
}

/* The neighbour may have begun the next round already. */
static void on_token(void *self, const void *data, size_t bytes)
{
    struct worker *w   = self;
    int64_t        one = 1, all = ++w->got;
    int            round;

    CHECK(bytes == sizeof round);
    memcpy(&round, data, sizeof round);
    CHECK(round == all - 1 && (round == w->round || round == w->round + 1));
    if (round + 1 < w->rounds)
        skua_contribute(self, SKUA_SUM, SKUA_INT64, &one, 1,
                        skua_done_invoke_all(skua_collection_of(self), go_entry));
    else
        skua_contribute(self, SKUA_SUM, SKUA_INT64, &all, 1, w->done);
}

static void on_go(void *self, const void *data, size_t bytes)
{
    struct worker *w = self;

    CHECK(bytes == sizeof(int64_t) && *(const int64_t *)data == WORKERS);
    w->round++;
    begin_round(w);
}

void array_register(void)
{
    class       = skua_class_register(&(skua_class_def){
              .name = "worker", .bytes = sizeof(struct worker), .construct = construct});
    go_entry    = skua_method_register(class, "go", on_go, 0);
    token_entry = skua_method_register(class, "token", on_token, 0);
}

void array_begin(int rounds, skua_completion done)
{
    struct worker first = {.rounds = rounds, .done = done};

    skua_array_create1(class, WORKERS, &first, sizeof first);
}
