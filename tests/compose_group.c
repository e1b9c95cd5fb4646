/* SPDX-License-Identifier: Apache-2.0 */
/* compose_group.c - a group of workers that pass messages around the PEs, and a completion detector
 * that detects their end.  The result is the number of hops. */
#include <string.h>

#include "compose.h"
#include "tap.h"

#define TOKENS 10

struct worker {
    int64_t         hops;
    skua_detector   detector;
    skua_completion done;
};

static skua_class class;
static skua_entry token_entry, sum_entry;

static void pass_on(struct worker *w, int left)
{
    skua_detector_produce(w->detector, 1);
    skua_invoke_copy(skua_member(skua_collection_of(w), (skua_pe() + 1) % skua_pes()), token_entry,
                     &left, sizeof left);
}

static void construct(void *self, const void *data, size_t bytes)
{
    CHECK(bytes == sizeof(struct worker));
    memcpy(self, data, bytes);
}

static void on_token(void *self, const void *data, size_t bytes)
{
    struct worker *w = self;
    int            left;

    CHECK(bytes == sizeof left);
    memcpy(&left, data, sizeof left);
    w->hops++;
    if (left > 1)
        pass_on(w, left - 1);
    skua_detector_consume(w->detector, 1);
}

static void on_sum(void *self, const void *data, size_t bytes)
{
    struct worker *w = self;

    (void)data, (void)bytes;
    skua_contribute(self, SKUA_SUM, SKUA_INT64, &w->hops, 1, w->done);
}

void group_register(void)
{
    class       = skua_class_register(&(skua_class_def){
              .name = "worker", .bytes = sizeof(struct worker), .construct = construct});
    token_entry = skua_method_register(class, "token", on_token, 0);
    sum_entry   = skua_method_register(class, "sum", on_sum, 0);
}

void group_begin(int rounds, skua_completion done)
{
    struct worker   like = {.detector = skua_detector_create(), .done = done};
    skua_collection all  = skua_group_create(class, &like, sizeof like);

    for (int i = 0; i < TOKENS; i++) {
        skua_detector_produce(like.detector, 1);
        skua_invoke_copy(skua_member(all, i % skua_pes()), token_entry, &rounds, sizeof rounds);
    }
    skua_detector_done(like.detector);
    skua_detector_start(like.detector, 1, skua_done_invoke_all(all, sum_entry));
}
