/* SPDX-License-Identifier: Apache-2.0 */
/* ownership.c - see ownership.h. */
#include "core/message/ownership.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "core/pe/code_address.h"
#include "core/pe/handler.h"

#define SUM_WHOLE ((size_t)65536) /* of longer messages the checksum covers both ends */

static const char *const release_names[] = {
    [SKI_RELEASE_RUNTIME] = "the runtime",        [SKI_RELEASE_SEND] = "skua_send",
    [SKI_RELEASE_ENQUEUE] = "skua_enqueue",       [SKI_RELEASE_BROADCAST] = "skua_broadcast",
    [SKI_RELEASE_INVOKE] = "skua_invoke",         [SKI_RELEASE_FREE] = "skua_msg_free",
    [SKI_RELEASE_WHEN] = "the end of its `when'",
};

const char *ski_release_name(enum ski_release_call call)
{
    return release_names[call];
}

static skua_handler_fn *unchecked; /* the handlers that ski_ownership_wrap() found */

/* ---- lines --------------------------------------------------------------- */

/* Returns whether the call that released the block freed it. */
static bool ownership_freed(const struct ski_block_record *record)
{
    return record->call == SKI_RELEASE_FREE || record->call == SKI_RELEASE_WHEN ||
           record->call == SKI_RELEASE_RUNTIME;
}

/* Writes "freed by skua_msg_free on PE 1, in done at ring.c:12". */
static void ownership_history(const struct ski_block_record *record, char *text, size_t size)
{
    const char *call = record->call <= SKI_RELEASE_WHEN ? release_names[record->call] : "?";
    const char *how  = ownership_freed(record) ? "freed" : "sent";
    char        place[256];
    int         n = snprintf(text, size, "%s by %s", how, call);

    if (record->call != SKI_RELEASE_RUNTIME)
        n += snprintf(text + n, size - (size_t)n, " on PE %d", record->pe);
    if (record->where) {
        ski_code_describe(record->where, true, place, sizeof place);
        snprintf(text + n, size - (size_t)n, ", in %s", place);
    }
}

static const char *ownership_hint(const struct ski_block_record *record, const char *call)
{
    if (record->call == SKI_RELEASE_WHEN || strcmp(call, release_names[SKI_RELEASE_WHEN]) == 0)
        return "; set it to NULL in the body of the `when' to keep it or to give it away";
    return ownership_freed(record) ? "" : "; what was sent belongs to its receiver";
}

static _Noreturn void ownership_misuse(const char *call, const void *block,
                                       const struct ski_block_record *record)
{
    char history[384];

    if (!record)
        ski_misuse("%s: %p is not a message, or something was written past the end of one", call,
                   block);
    ownership_history(record, history, sizeof history);
    ski_misuse("%s: a message%s%s was %s before%s", call, record->handler ? " of handler " : "",
               record->handler ? ski_handler_name(record->handler) : "", history,
               ownership_hint(record, call));
}

/* Reports what the pool has found. */
static void ownership_on_pool(void *block, const struct ski_block_record *record, const char *what)
{
    char history[384];

    if (!record)
        ownership_misuse("the runtime", block, NULL);
    ownership_history(record, history, sizeof history);
    ski_misuse("a message%s%s %s %s", record->handler ? " of handler " : "",
               record->handler ? ski_handler_name(record->handler) : "", what, history);
}

/* ---- checks -------------------------------------------------------------- */

static uint64_t ownership_sum_bytes(uint64_t sum, const char *at, size_t bytes)
{
    uint64_t word = 0;

    for (; bytes >= sizeof word; bytes -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 29;
    }
    word = bytes;
    memcpy(&word, at, bytes);
    return (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Returns the checksum of the data of a message, or of both ends of much data; never 0. */
static uint64_t ownership_sum_of(skua_msg *msg)
{
    const char *data  = skua_msg_data(msg);
    size_t      bytes = msg->bytes;

    if (bytes <= SUM_WHOLE)
        return ownership_sum_bytes(1, data, bytes) | 1;
    return ownership_sum_bytes(ownership_sum_bytes(1, data, SUM_WHOLE / 2),
                               data + bytes - SUM_WHOLE / 2, SUM_WHOLE / 2) |
           1;
}

/* Returns the record of a message that the caller owns; ends the job if it does not. */
static struct ski_block_record *ownership_check(struct ski_pe *self, const char *call,
                                                skua_msg *msg)
{
    struct ski_block_record *record = ski_pool_record(&self->pool, msg);
    bool                     theirs;

    if (!record)
        ownership_misuse(call, msg, NULL);
    /* A thread that has migrated here owns what it owned before (core/isomalloc/isomalloc.h). */
    theirs =
        record->owner >= 0 && record->owner != self->pe && record->pe == self->pe && !self->iso;
    if (record->state != SKI_BLOCK_HELD || theirs)
        ownership_misuse(call, msg, record);
    return record;
}

void ski_ownership_send(struct ski_pe *self, enum ski_release_call call, skua_msg *msg,
                        uint32_t handler, const void *where, bool watch)
{
    struct ski_block_record *record = ownership_check(self, release_names[call], msg);

    ski_assert(record->state == SKI_BLOCK_HELD);
    record->state   = SKI_BLOCK_SENT;
    record->call    = (uint8_t)call;
    record->handler = (uint16_t)handler;
    record->pe      = self->pe;
    record->where   = ski_code_address(where);
    record->sum     = watch ? ownership_sum_of(msg) : 0;
}

void ski_ownership_free(struct ski_pe *self, enum ski_release_call call, skua_msg *msg,
                        const void *where)
{
    struct ski_block_record *record = ski_pool_record(&self->pool, msg);

    if (record && record->state == SKI_BLOCK_SENT && self->queue.events & SKI_EVENT_EXIT)
        return; /* at the end of the job, queued messages are freed where they are */
    record        = ownership_check(self, release_names[call], msg);
    record->call  = (uint8_t)call;
    record->pe    = self->pe;
    record->where = ski_code_address(where);
}

void ski_ownership_use(struct ski_pe *self, const char *call, skua_msg *msg)
{
    ownership_check(self, call, msg);
}

/* ---- delivery ------------------------------------------------------------ */

static void ownership_changed(const struct ski_block_record *record)
{
    char history[384];

    ownership_history(record, history, sizeof history);
    ski_misuse("a message of handler %s was changed after it was %s; what was sent belongs to its "
               "receiver",
               ski_handler_name(record->handler), history);
}

/* Stands in for every handler of a job whose messages are checked. */
static void ownership_deliver(skua_msg *msg)
{
    struct ski_block_record *record;

    if (msg->handler == SKI_HANDLER_THREAD) { /* part of a user thread, and no block */
        unchecked[msg->handler](msg);
        return;
    }
    record = ski_pool_record(&ski_self->pool, msg);
    if (!record)
        ownership_misuse(ski_handler_name(msg->handler), msg, NULL);
    if (record->state == SKI_BLOCK_SENT && record->sum && record->sum != ownership_sum_of(msg))
        ownership_changed(record);
    record->state = SKI_BLOCK_HELD;
    record->owner = ski_self->pe;
    if (!record->handler)
        record->handler = msg->handler;
    unchecked[msg->handler](msg);
}

/* ---- life ---------------------------------------------------------------- */

void ski_ownership_begin(struct ski_pe *self)
{
    ski_pool_check_begin(&self->pool);
    self->sendable = 0;
}

void ski_ownership_wrap(skua_handler_fn *handlers, uint32_t count)
{
    ski_assert(!unchecked); /* once in a job */
    ski_pool_misuse = ownership_on_pool;
    unchecked       = ski_malloc(count * sizeof *unchecked);
    memcpy(unchecked, handlers, count * sizeof *unchecked);
    for (uint32_t i = 0; i < count; i++)
        handlers[i] = ownership_deliver;
}

void ski_ownership_unwrap(skua_handler_fn *handlers, uint32_t count)
{
    if (!unchecked)
        return;
    memcpy(handlers, unchecked, count * sizeof *unchecked);
    free(unchecked);
    unchecked = NULL;
}
