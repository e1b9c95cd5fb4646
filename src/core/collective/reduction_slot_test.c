/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduction_slot_test.c - slots between two PEs of a job of four in one process, without threads:
 * PE 0 receives, PE 1 sends, and the other PEs have not begun.
 */
#include "core/collective/reduction_slot.h"

#include <stdlib.h>
#include <string.h>

#include "core/collective/collective.h"
#include "core/data/msg.h"
#include "core/pe/pe.h"
#include "tests/slot_pe.h"
#include "tests/tap.h"

enum { RECEIVER, SENDER, LATE_PE, SLOT_TEST_PES = 4 };

static struct ski_pe *slot_test_pe(struct ski_job *job, int pe)
{
    struct ski_pe *self = slot_pe_create(job, pe);

    ski_collectives_init(self);
    return self;
}

static void slot_test_pe_free(struct ski_pe *self)
{
    ski_collectives_destroy(self->collectives);
    free(self);
}

/* Sends @p value as the contribution to a round of a call.  Returns false if there is no slot for
 * it. */
static bool slot_test_send(struct ski_pe *sender, uint32_t round, uint64_t call, uint64_t value)
{
    struct ski_reduction_slot *slot = ski_board_reserve(sender, RECEIVER, round, call);

    if (!slot)
        return false;
    memset(&slot->head, 0, sizeof slot->head);
    slot->head.number = call;
    memcpy(slot->elements, &value, sizeof value);
    ski_board_publish(sender, RECEIVER, slot, call);
    return true;
}

/* Returns whether the slot of a round and a call has @p value. */
static bool slot_test_has(struct ski_pe *receiver, uint32_t round, uint64_t call, uint64_t value)
{
    const struct ski_reduction_slot *slot = ski_board_find(receiver, round, call);

    return slot && slot->head.number == call && memcmp(slot->elements, &value, sizeof value) == 0;
}

static void slot_test_finish(struct ski_pe *receiver, uint64_t low)
{
    receiver->collectives->small_begun = low;
    ski_board_finish(receiver, low);
}

static void slot_test_publish(struct ski_pe *receiver, struct ski_pe *sender)
{
    uint64_t sent = sender->queue.pushed, pushed = receiver->queue.pushed;
    uint64_t popped = receiver->queue.popped;

    OK(receiver->collectives->board && sender->collectives->board && sender->collectives->peers,
       "both PEs have a board");
    OK(!ski_board_reserve(sender, LATE_PE, 0, 0), "a PE that has not begun has no slots");
    OK(!ski_board_find(receiver, 0, 0), "a new board is empty");
    OK(slot_test_send(sender, 0, 0, 17), "a slot of a new board is free");
    OK(slot_test_has(receiver, 0, 0, 17), "the receiver finds the contribution");
    OK(!ski_board_find(receiver, 1, 0) && !ski_board_find(receiver, 0, 1),
       "rounds and calls have slots of their own");
    OK(slot_test_send(sender, 1, 0, 18) && slot_test_has(receiver, 1, 0, 18) &&
           slot_test_has(receiver, 0, 0, 17),
       "two rounds of a call are filled at the same time");
    ski_board_count(receiver);
    ski_board_count(receiver);
    OK(sender->queue.pushed == sent && receiver->queue.pushed == pushed + 2 &&
           receiver->queue.popped == popped + 2,
       "a contribution that is read counts as a message of the receiver to itself");
}

static void slot_test_arm(struct ski_pe *receiver, struct ski_pe *sender)
{
    const struct ski_cell *cell;

    OK(!ski_board_arm(receiver, 0, 0), "a filled slot keeps the receiver awake");
    OK(slot_test_has(receiver, 0, 0, 17), "and stays filled");
    OK(slot_test_send(sender, 0, 1, 21) && !ski_reader_peek_sc(&receiver->reader),
       "a receiver that is awake gets no wakeup");
    OK(ski_board_arm(receiver, 0, 2) && !ski_board_find(receiver, 0, 2),
       "an empty slot lets the receiver sleep and stays empty");
    OK(ski_board_arm(receiver, 0, 2), "the receiver may arm the slot again");
    OK(slot_test_send(sender, 0, 2, 22) && slot_test_has(receiver, 0, 2, 22),
       "a sleeping receiver gets the contribution");
    cell = ski_reader_peek_sc(&receiver->reader);
    OK(cell && cell->flags & SKI_MSG_WAKEUP, "and a wakeup in its inbox");
    ski_reader_advance_sc(&receiver->reader);
    OK(slot_test_send(sender, 1, 2, 23) && !ski_reader_peek_sc(&receiver->reader),
       "an armed slot leads to one wakeup");
}

/* Calls 0 to 2 have been sent. */
static void slot_test_reuse(struct ski_pe *receiver, struct ski_pe *sender)
{
    bool sent = true, right = true;

    for (uint64_t call = 3; call < SKI_SLOT_DEPTH; call++)
        sent = sent && slot_test_send(sender, 0, call, call);
    OK(sent, "a round has slots for SKI_SLOT_DEPTH calls");
    OK(!ski_board_reserve(sender, RECEIVER, 0, SKI_SLOT_DEPTH), "and for no more");
    slot_test_finish(receiver, SKI_SLOT_DEPTH / 2 - 1);
    OK(!ski_board_reserve(sender, RECEIVER, 0, SKI_SLOT_DEPTH),
       "the receiver publishes nothing before half of the slots are free");
    slot_test_finish(receiver, SKI_SLOT_DEPTH / 2);
    OK(slot_test_send(sender, 0, SKI_SLOT_DEPTH, 31), "a slot of a finished call is free again");
    OK(slot_test_has(receiver, 0, SKI_SLOT_DEPTH, 31) && !ski_board_find(receiver, 0, 0),
       "its stamp is that of the new call alone");
    OK(!ski_board_reserve(sender, RECEIVER, 0, SKI_SLOT_DEPTH + SKI_SLOT_DEPTH / 2),
       "the slot of a call in flight is not reused");
    for (uint64_t call = SKI_SLOT_DEPTH + 1; call < 1000; call++) {
        slot_test_finish(receiver, call);
        right = right && slot_test_send(sender, 0, call, ~call) &&
                slot_test_has(receiver, 0, call, ~call);
    }
    OK(right, "a thousand calls reuse the slots");
}

int main(void)
{
    struct ski_job   *job      = slot_job_create(SLOT_TEST_PES);
    struct ski_arena *arena    = job->arena;
    struct ski_pe    *receiver = slot_test_pe(job, RECEIVER);
    struct ski_pe    *sender   = slot_test_pe(job, SENDER);

    slot_test_publish(receiver, sender);
    slot_test_arm(receiver, sender);
    slot_test_reuse(receiver, sender);
    slot_test_pe_free(sender);
    slot_test_pe_free(receiver);
    ski_arena_detach(arena);
    return tap_end();
}
