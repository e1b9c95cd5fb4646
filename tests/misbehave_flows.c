/* SPDX-License-Identifier: Apache-2.0 */
/* misbehave_flows.c - packed flows that are invalid. */
#include "misbehave.h"

#include <skua/skuac_flow.h>

static skua_class flowing_class;
static skua_entry flow_entry;

static void never_go(skuac_frame *frame)
{
    skuac_flow_end(frame);
}

static const skuac_frame_type never_type = {"flowing.never", sizeof(skuac_frame), 0, 0, never_go};
static const skuac_frame_type *const flowing_types[] = {&never_type};
static const char *const             flowing_names[] = {"a"};
static const skuac_flow_class flowing_flow = {"flowing", 16, 1, 1, flowing_types, flowing_names};

enum { FORGED_WORDS = 16 };

static uint64_t forged[][FORGED_WORDS] = {
    {0, UINT64_C(1) << 40},                        /* too many frames */
    {0, 1, 7},                                     /* a frame of an unknown type */
    {0, 1, 0, UINT64_C(1) << 32},                  /* a waiting frame without waits */
    {0, 1, 0, 3},                                  /* a frame with an unknown parent */
    {0, 0, 1, UINT64_C(1) << 40, 0, ~UINT64_C(0)}, /* a message that is too long */
    {0, 0, 1},                                     /* a missing message */
};

static void pup_flowing(skua_pup *p, void *self)
{
    int *which = self;

    skua_pup_value(p, which);
    if (skua_pup_unpacking(p))
        skuac_flow_pup(&flowing_flow, p, self);
    else
        skua_pup_bytes(p, forged[*which], sizeof forged[*which]);
}

static void on_flow(void *self, const void *data, size_t bytes)
{
    (void)bytes;
    *(int *)self = *(const int *)data;
    skua_migrate(self, (skua_pe() + 1) % skua_pes());
}

static void forge(int which)
{
    skua_invoke_copy(skua_element1(skua_array_create1(flowing_class, 20, NULL, 0), 19), flow_entry,
                     &which, sizeof which);
}

static void many_frames(void)
{
    forge(0);
}

static void strange_frame(void)
{
    forge(1);
}

static void strange_waits(void)
{
    forge(2);
}

static void strange_parent(void)
{
    forge(3);
}

static void long_message(void)
{
    forge(4);
}

static void no_message(void)
{
    forge(5);
}

static void register_flowing(void)
{
    static const skua_class_def def = {
        .name = "flowing", .bytes = SKUAC_FLOW_BYTES(16, 1), .pup = pup_flowing};

    flowing_class = skua_class_register(&def);
    flow_entry    = skua_method_register(flowing_class, "flow", on_flow, 0);
}

static const struct misbehave_act acts[] = {
    {"flow-frames", many_frames, NULL},   {"flow-frame", strange_frame, NULL},
    {"flow-waits", strange_waits, NULL},  {"flow-parent", strange_parent, NULL},
    {"flow-message", long_message, NULL}, {"flow-none", no_message, NULL},
};

const struct misbehave_subject misbehave_flows = {acts, sizeof acts / sizeof *acts,
                                                  register_flowing};
