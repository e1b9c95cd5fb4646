/* SPDX-License-Identifier: Apache-2.0 */
/* msg_alloc.c - allocating, freeing and preparing messages. */
#include "core/message/msg_alloc.h"

#include <string.h>

#include <skua/skuac_flow.h>

#include "core/message/msg_share.h"
#include "core/message/ownership.h"
#include "core/pe/pe.h"

#define MSG_TOO_LARGE "a message of %zu bytes is larger than any memory"

/* ---- allocation ---------------------------------------------------------- */

/* Returns memory for @p bytes of data and @p extra bytes after it, or NULL. */
static SKI_COLD struct skua_msg *msg_try_new(struct ski_pe *self, size_t bytes, size_t extra)
{
    struct skua_msg *msg = NULL;

    if (bytes < PTRDIFF_MAX)
        msg = ski_pool_alloc(&self->pool, sizeof *msg + bytes + extra);
    else
        ski_error_fail(SKUA_ERR_NOMEM, MSG_TOO_LARGE, bytes);
    return msg ? ski_msg_init(msg, bytes) : NULL;
}

struct skua_msg *ski_msg_new_slow(struct ski_pe *self, size_t bytes, size_t extra)
{
    struct skua_msg *msg;

    if (bytes >= PTRDIFF_MAX)
        ski_misuse(MSG_TOO_LARGE, bytes);
    msg = msg_try_new(self, bytes, extra);
    ski_pe_note_pressure(self);
    if (!msg)
        ski_fatal("no memory for a message of %zu bytes: the arena is full; raise SKUA_ARENA_SIZE",
                  bytes);
    return msg;
}

skua_msg *skua_msg_alloc(size_t bytes)
{
    return ski_msg_new(SKI_SELF(), bytes);
}

skua_status skua_msg_try_alloc(size_t bytes, skua_msg **msg)
{
    struct ski_pe   *self = SKI_SELF();
    struct skua_msg *made = msg_try_new(self, bytes, 0);

    ski_pe_note_pressure(self);
    if (!made)
        return SKUA_ERR_NOMEM;
    *msg = made;
    return SKUA_OK;
}

skua_msg *skua_msg_alloc_bits(size_t bytes, size_t bits)
{
    size_t           words = bits / 32 + (bits % 32 != 0);
    struct skua_msg *msg;

    if (words > UINT16_MAX)
        ski_misuse("skua_msg_alloc_bits: a priority has at most %d bits, not %zu", 32 * UINT16_MAX,
                   bits);
    msg           = ski_msg_new_slow(SKI_SELF(), bytes, 4 * words + 3); /* 3: to align them */
    msg->bit_room = (uint16_t)words;
    return msg;
}

struct skua_msg *ski_msg_copy(struct ski_pe *self, uint32_t handler, const void *data, size_t bytes)
{
    return ski_msg_copy_inline(self, handler, data, bytes);
}

static __attribute__((noinline)) void msg_free_slow(struct ski_pe *self, skua_msg *msg,
                                                    enum ski_release_call call, const void *where)
{
    if (ski_ownership_checked(self))
        ski_ownership_free(self, call, msg, where);
    ski_pool_free_slow(&self->pool, msg);
}

static inline void msg_check_address(const struct ski_pe *self, const skua_msg *msg)
{
    if (SKI_UNLIKELY(!ski_arena_contains(self->pool.arena, msg)))
        ski_misuse("skua_msg_free: %p is not a message", (const void *)msg);
}

void skua_msg_free(skua_msg *msg)
{
    struct ski_pe *self = SKI_SELF();

    msg_check_address(self, msg);
    if (SKI_UNLIKELY(!ski_pool_put(&self->pool, msg)))
        msg_free_slow(self, msg, SKI_RELEASE_FREE, __builtin_return_address(0));
}

void skuac_msg_free_when(skua_msg *msg)
{
    struct ski_pe *self = SKI_SELF();

    msg_check_address(self, msg);
    if (ski_ownership_checked(self)) /* before its flags are read: it may have been freed */
        ski_ownership_use(self, ski_release_name(SKI_RELEASE_WHEN), msg);
    if (SKI_UNLIKELY(ski_msg_is_shared(msg)) && !ski_msg_unshare(msg))
        return;
    if (SKI_UNLIKELY(!ski_pool_put(&self->pool, msg)))
        msg_free_slow(self, msg, SKI_RELEASE_WHEN, NULL);
}

/* ---- attributes ---------------------------------------------------------- */

size_t skua_msg_size(const skua_msg *msg)
{
    return msg->bytes;
}

int skua_msg_source(const skua_msg *msg)
{
    return msg->source;
}

static void msg_set_flag(skua_msg *msg, unsigned flag, bool on)
{
    msg->flags = (uint8_t)(on ? msg->flags | flag : msg->flags & ~flag);
}

/* The calls below change a message, which must be the caller's. */
static inline void msg_check_use(const char *call, skua_msg *msg)
{
    if (ski_self && ski_ownership_checked(ski_self))
        ski_ownership_use(ski_self, call, msg);
}

void skua_msg_set_priority(skua_msg *msg, int32_t priority)
{
    msg_check_use(__func__, msg);
    ski_msg_set_priority(msg, priority);
}

/* Returns whether a bit string is 0.1000..., the priority 0 that messages have at first. */
static bool msg_bits_are_zero(const uint32_t *words, size_t n)
{
    if (n == 0 || words[0] != UINT32_C(1) << 31)
        return false;
    for (size_t i = 1; i < n; i++)
        if (words[i] != 0)
            return false;
    return true;
}

skua_status skua_msg_set_priority_bits(skua_msg *msg, const uint32_t *words, size_t bits)
{
    size_t    n  = bits / 32 + (bits % 32 != 0);
    uint32_t *to = ski_msg_words(msg);

    msg_check_use(__func__, msg);
    if (n > msg->bit_room)
        return ski_refuse(SKUA_ERR_INVAL,
                          "%s: a priority of %zu bits, but skua_msg_alloc_bits() made room for %d",
                          __func__, bits, 32 * msg->bit_room);
    ski_assert((char *)(to + n) <= (char *)msg + ski_msg_extent(msg));
    memcpy(to, words, n * sizeof *to);
    if (bits % 32)
        to[n - 1] &= ~(UINT32_MAX >> (bits % 32));
    msg->bit_words = (uint16_t)n;
    msg_set_flag(msg, SKI_MSG_INT, false);
    msg_set_flag(msg, SKI_MSG_BITS,
                 !msg_bits_are_zero(to, n)); /* equal ones wait in one queue: FIFO */
    return SKUA_OK;
}

void skua_msg_set_expedited(skua_msg *msg, bool expedited)
{
    msg_check_use(__func__, msg);
    msg_set_flag(msg, SKI_MSG_EXPEDITED, expedited);
}
