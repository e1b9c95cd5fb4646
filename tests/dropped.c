/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dropped.c - messages that wait for elements that never exist are freed with all of their memory
 * when their array is destroyed; here those whose data had been delivered in place and was moved
 * into a second message because the receiver migrated (objects/zerocopy/inplace.h).  A program
 * cannot provoke that state reliably, so the test constructs the messages itself.
 *
 * Messages with nocopy arguments complete them when they are dropped: those that wait, and those
 * that are sent to a collection that was destroyed.  Plain data that look alike complete nothing.
 */
#include <skua/skua.h>
#include <string.h>

#include "objects/zerocopy/inplace.h"
#include "objects/zerocopy/nocopy_msg.h"
#include "onesided/rma/layout.h"
#include "tap.h"

#define MESSAGES 50
#define BYTES    ((size_t)200000)
#define SLACK    (MESSAGES * BYTES / 10) /* size of memory that may be cached ... */
#define KEPT     ((size_t)256 << 10)     /* ... and of the large block that each PE keeps */

#define ARGUMENT ((size_t)1 << 20)

static skua_class      box_class;
static skua_entry      take_entry, plain_entry, group_entry;
static skua_collection boxes, group;
static size_t          before;
static int             arguments, freed, wrong;
static char           *argument;

static void take(void *self, skua_msg *msg)
{
    (void)self, (void)msg;
    skua_abort("an element that does not exist received a message");
}

/* Members of a group may receive a message before they are destroyed. */
static void group_take(void *self, skua_msg *msg)
{
    if (skua_nocopy_ready_entry(msg, self, group_entry, NULL))
        skua_nocopy_free(msg);
}

static size_t head_bytes(const struct ski_inplace *inplace)
{
    size_t end = (size_t)((char *)(ski_inplace_view(inplace) + 1) - (const char *)inplace);

    return (end + 15) & ~(size_t)15;
}

/* As learned_channel.c leaves a message whose receiver has migrated. */
static skua_msg *make_left(void)
{
    struct ski_inplace like = {.reference = 1, .bytes = BYTES};
    size_t             head = head_bytes(&like);
    skua_msg          *msg  = skua_msg_alloc(head);

    memset(skua_msg_data(msg), 0, head);
    like.whole           = skua_msg_alloc(head + BYTES);
    *ski_inplace_of(msg) = like;
    return msg;
}

static size_t free_now(void)
{
    return ski_arena_free_bytes(ski_self->job->arena);
}

static void argument_free(void *arg, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    ++*(int *)arg;
}

/* Returns a message with an argument that is not copied. */
static skua_msg *make_nocopy(int pe)
{
    skua_nocopy_argument arg = {argument, ARGUMENT, skua_done_call(argument_free, &freed), 0};
    skua_msg            *msg = skua_nocopy_alloc(pe, 16, &arg, 1);

    CHECK(skua_msg_size(msg) < ARGUMENT); /* it is not copied */
    memset(skua_msg_data(msg), 0, 16);
    arguments++;
    return msg;
}

/* Returns a message of the program with the same layout. */
static skua_msg *make_alike(void)
{
    size_t bytes = 16 + ski_nocopy_extent(SKI_NOCOPY_BUFFER, 8) + sizeof(struct ski_nocopy_trailer);
    skua_msg              *msg = skua_msg_alloc(bytes);
    struct ski_nocopy_arg *arg = (struct ski_nocopy_arg *)((char *)skua_msg_data(msg) + 16);

    memset(skua_msg_data(msg), 0, bytes);
    *arg                    = (struct ski_nocopy_arg){.bytes = 8, .kind = SKI_NOCOPY_BUFFER};
    *ski_nocopy_buffer(arg) = skua_buffer_make(argument, 8, SKUA_REGISTER_LATER,
                                               skua_done_call(argument_free, &wrong), 0);
    *ski_nocopy_trailer_at(skua_msg_data(msg), bytes) =
        (struct ski_nocopy_trailer){.magic = SKI_NOCOPY_MAGIC, .first = 16, .count = 1};
    CHECK(ski_nocopy_trailer(skua_msg_data(msg), bytes));
    return msg;
}

static void deleted(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
    CHECK(freed == arguments && wrong == 0);
    CHECK(!tap_all_near() || free_now() + SLACK + (size_t)skua_pes() * KEPT >= before);
    skua_exit(0);
}

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    if (skua_pe() != 0)
        return;
    boxes    = skua_array_create(box_class, &(skua_array_def){.dims = 1, .flags = SKUA_ARRAY_OPEN},
                                 NULL, 0);
    group    = skua_group_create(box_class, NULL, 0);
    argument = skua_buffer_alloc(ARGUMENT);
    before   = free_now();
    for (int i = 0; i < MESSAGES && tap_all_near(); i++)
        skua_invoke(skua_element1(boxes, i), take_entry, make_left());
    CHECK(!tap_all_near() || free_now() + MESSAGES * BYTES <= before);
    for (int i = 0; i < 10; i++) {
        skua_invoke(skua_element1(boxes, MESSAGES + i), plain_entry, make_nocopy(0));
        skua_invoke(skua_element1(boxes, MESSAGES + i), plain_entry, make_alike());
    }
    skua_collection_destroy(boxes);
    for (int i = 0; i < 10; i++) /* this PE does not know yet that they have no receiver */
        skua_invoke(skua_element1(boxes, MESSAGES + i), plain_entry, make_nocopy(0));
    skua_collection_destroy(group);
    skua_nocopy_invoke_all(group, group_entry, make_nocopy(SKUA_ALL_PES));
    skua_quiescence(skua_done_call(deleted, NULL)); /* only after no message waits any longer */
}

int main(int argc, char **argv)
{
    box_class   = skua_class_register(&(skua_class_def){.name = "Box", .bytes = 8});
    take_entry  = skua_inplace_register(box_class, "take", take, NULL, 0);
    plain_entry = skua_entry_register(box_class, "plain", take, 0);
    group_entry = skua_entry_register(box_class, "group", group_take, 0);
    return skua_main(argc, argv, start);
}
