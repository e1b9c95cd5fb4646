/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learned_move.c - a learned channel to an element that comes to the host of its sender.
 *
 * The sender, on PE 0, sends blocks with consecutive references, each when the one before was
 * received.  The receiver begins on another host, where the messages are numbered and the channel
 * is the receiver's.  Then it migrates to PE 1, of the host of PE 0: the channel that the sender
 * makes now has to continue the numbers, or no block of it is delivered in place.
 *
 * The job has four PEs on two hosts.
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"

#define BYTES 20000
#define STEPS 60 /* blocks on either host */

enum { SENDER = 0, RECEIVER = 2 }; /* elements, of which PE i has element i at first */

struct learned_end {
    int64_t step; /* blocks sent or received */
};

static skua_class end_class;
static skua_entry block_entry, next_entry;
static char       block[BYTES], room[2][BYTES]; /* of this process */

static bool land(void *self, int64_t reference, const void *head, skua_layout *to)
{
    (void)self, (void)head;
    *to = skua_layout_contiguous(room[reference % 2], BYTES);
    return true;
}

static void send(struct learned_end *end)
{
    skua_layout from = skua_layout_contiguous(block, BYTES);

    memset(block, (int)++end->step, BYTES);
    skua_invoke_inplace(skua_element1(skua_collection_of(end), RECEIVER), block_entry, end->step,
                        NULL, 0, &from);
}

static void on_next(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    send(self);
}

/* Blocks on the other host are counted there. */
static void finish(void)
{
    uint64_t here = skua_inplace_count();

    printf("# %llu of %d blocks were delivered in place\n", (unsigned long long)here, STEPS);
    CHECK(skua_pe() == 1 && here > STEPS / 2);
    skua_exit(0);
}

static void on_block(void *self, skua_msg *msg)
{
    struct learned_end *end = self;
    const char         *at  = room[++end->step % 2];
    skua_layout         to  = skua_layout_contiguous(room[end->step % 2], BYTES);

    CHECK(skua_inplace_reference(msg) == end->step);
    skua_layout_copy(&to, skua_inplace_data(msg));
    skua_msg_free(msg);
    CHECK(at[0] == (char)end->step && at[BYTES - 1] == (char)end->step);
    if (end->step == 2 * STEPS) {
        finish();
        return;
    }
    CHECK(skua_pe() == (end->step <= STEPS ? 2 : 1));
    if (end->step == STEPS)
        skua_migrate(end, 1);
    skua_invoke_copy(skua_element1(skua_collection_of(end), SENDER), next_entry, NULL, 0);
}

static void start(int argc, char **argv)
{
    skua_collection ends;

    (void)argc, (void)argv;
    CHECK(skua_pes() == 4 && skua_hosts() == 2);
    if (skua_pe() != 0)
        return;
    ends = skua_array_create1(end_class, skua_pes(), NULL, 0);
    skua_invoke_copy(skua_element1(ends, SENDER), next_entry, NULL, 0);
}

int main(int argc, char **argv)
{
    skua_class_def def = {
        .name = "end", .bytes = sizeof(struct learned_end), .pup = skua_pup_plain};

    end_class   = skua_class_register(&def);
    block_entry = skua_inplace_register(end_class, "block", on_block, land, 0);
    next_entry  = skua_method_register(end_class, "next", on_next, 0);
    return skua_main(argc, argv, start);
}
