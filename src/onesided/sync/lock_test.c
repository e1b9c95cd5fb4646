/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_test.c - a lock of one host that is acquired and released, and the queue that the owner of a
 * lock keeps for PEs of other hosts: the lock is granted in the order of asking.
 */
#include <skua/atomic.h>

#include "core/message/message.h"
#include "core/pe/handler.h"
#include "onesided/sync/lock_remote.h"
#include "tests/onesided_pe.h"

/* As lock_remote.c has it. */
struct lock_test_message {
    uint32_t kind, region;
    int32_t  pe, from;
    uint64_t lock, ticket;
};

enum { TEST_ACQUIRE, TEST_GRANT, TEST_RELEASE };

static void lock_test_send(struct ski_pe *self, uint32_t kind, uint64_t lock, uint64_t ticket)
{
    struct lock_test_message message = {.kind = kind, .region = 7, .lock = lock, .ticket = ticket};

    ski_on_lock(ski_msg_copy(self, SKI_HANDLER_LOCK, &message, sizeof message));
}

/* Returns the ticket of the next grant in the queue; 0: there is none. */
static uint64_t lock_test_granted(struct ski_pe *self)
{
    skua_msg                *msg = ski_queue_pop(&self->queue);
    struct lock_test_message message;

    if (!msg)
        return 0;
    message = *(struct lock_test_message *)skua_msg_data(msg);
    skua_msg_free(msg);
    return message.kind == TEST_GRANT ? message.ticket : 0;
}

static void lock_grants_in_order(struct ski_pe *self)
{
    bool good = true;

    for (uint64_t ticket = 1; ticket <= 20; ticket++) {
        lock_test_send(self, TEST_ACQUIRE, 5, ticket);
        lock_test_send(self, TEST_ACQUIRE, 6, 100 + ticket);
    }
    OK(lock_test_granted(self) == 1 && lock_test_granted(self) == 101 &&
           lock_test_granted(self) == 0,
       "each lock is granted to the first that asked");
    for (uint64_t ticket = 2; ticket <= 20; ticket++) {
        lock_test_send(self, TEST_RELEASE, 5, 0);
        good &= lock_test_granted(self) == ticket && lock_test_granted(self) == 0;
    }
    OK(good, "then to the others, in the order of asking");
    lock_test_send(self, TEST_RELEASE, 5, 0);
    OK(lock_test_granted(self) == 0, "the last one leaves it free");
    lock_test_send(self, TEST_ACQUIRE, 5, 77);
    OK(lock_test_granted(self) == 77, "for the next");
    lock_test_send(self, TEST_RELEASE, 5, 0);
    for (int i = 0; i < 20; i++)
        lock_test_send(self, TEST_RELEASE, 6, 0);
    while (lock_test_granted(self))
        ;
}

static void lock_forged(struct ski_pe *self)
{
    struct lock_test_message message = {.pe = TEST_PES};

    ski_on_lock(ski_msg_copy(self, SKI_HANDLER_LOCK, &message, sizeof message));
    message = (struct lock_test_message){.from = -1};
    ski_on_lock(ski_msg_copy(self, SKI_HANDLER_LOCK, &message, sizeof message));
    OK(lock_test_granted(self) == 0, "PEs that do not exist get nothing");
}

static void lock_on_host(struct ski_pe *self)
{
    skua_locks locks;

    self->pes = 1; /* the barrier of skua_locks_create() has no other PE to wait for */
    CHECK(skua_locks_create(3, &locks) == SKUA_OK);
    OK(skua_lock(locks, 0, 2) && skua_lock(locks, 0, 1), "two locks of one PE");
    skua_unlock(locks, 0, 2);
    OK(skua_lock(locks, 0, 2), "one of them again");
    skua_unlock(locks, 0, 2);
    skua_unlock(locks, 0, 1);
    skua_locks_destroy(locks);
    self->pes = TEST_PES;
}

int main(void)
{
    struct ski_pe *self = test_pe_begin();

    lock_grants_in_order(self);
    lock_forged(self);
    lock_on_host(self);
    test_pe_end(self);
    return tap_end();
}
