/* SPDX-License-Identifier: Apache-2.0 */
/* inbox.c - the slow paths of the inbox: a full ring, sleep, wake-up. */
#include "base/inbox.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/futex.h"

bool ski_inbox_refresh_mp(struct ski_inbox *inbox, uint32_t cells, struct ski_credit *credit)
{
    ski_assert((cells & (cells - 1)) == 0);
    /* Pairs with the release in ski_reader_tell_sc(): the consumer has read the cells that this
     * producer is about to overwrite. */
    credit->head = atomic_load_explicit(&inbox->head, memory_order_acquire);
    return (atomic_load_explicit(&inbox->tail, memory_order_relaxed) >> 1) - credit->head <
           cells / 2;
}

void ski_inbox_await_mp(struct ski_inbox *inbox, uint32_t cells, struct ski_credit *credit,
                        uint64_t ticket)
{
    /* The consumer has published such a head already: other producers saw it before this one got
     * its ticket.  Pairs with the release in ski_reader_tell_sc(). */
    do
        credit->head = atomic_load_explicit(&inbox->head, memory_order_acquire);
    while (ticket - credit->head >= cells);
    ski_assert(credit->head <= ticket);
}

/* The read-modify-writes of the sleep bit are sequentially consistent.  So a consumer may set it
 * and then check other reasons to stay awake, such as the exit flag of the job: a thread that
 * writes such a reason and then clears the bit cannot be missed. */

bool ski_inbox_clear_sleep(struct ski_inbox *inbox)
{
    return atomic_fetch_and(&inbox->tail, ~SKI_INBOX_ASLEEP) & SKI_INBOX_ASLEEP;
}

/* A consumer sleeps on the low half of `tail`: both supported CPUs are little-endian. */
static _Atomic uint32_t *inbox_sleep_word(struct ski_inbox *inbox)
{
    return (_Atomic uint32_t *)(void *)&inbox->tail;
}

void ski_inbox_wake_mp(struct ski_inbox *inbox)
{
    ski_futex_wake(inbox_sleep_word(inbox), 1);
}

bool ski_reader_prepare_sleep_sc(struct ski_reader *reader)
{
    uint64_t tail = atomic_fetch_or(&reader->inbox->tail, SKI_INBOX_ASLEEP);

    ski_assert((tail >> 1) + 1 >= reader->stamp &&
               (tail >> 1) + 1 - reader->stamp <= reader->cells);
    return (tail >> 1) + 1 == reader->stamp;
}

void ski_reader_sleep_sc(struct ski_reader *reader, uint64_t ns)
{
    struct ski_inbox *inbox = reader->inbox;
    uint64_t          start = ski_ticks(), spent = 0;
    uint64_t          tail = atomic_load_explicit(&inbox->tail, memory_order_relaxed);

    while ((tail & SKI_INBOX_ASLEEP) && spent < ns) {
        ski_futex_wait(inbox_sleep_word(inbox), (uint32_t)tail,
                       ns == SKI_FOREVER ? ns : ns - spent);
        tail  = atomic_load_explicit(&inbox->tail, memory_order_relaxed);
        spent = ski_ticks_to_ns(ski_ticks() - start);
    }
}
