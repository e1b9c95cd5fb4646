/* SPDX-License-Identifier: Apache-2.0 */
/* packet.c - see packet.h. */
#include "core/packet.h"

#include "core/builtin.h"
#include "core/handler.h"

/* ---- tokens -------------------------------------------------------------------- */

static inline uint64_t turn(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

/* SipHash's round, of Aumasson and Bernstein. */
static inline void mix(uint64_t v[4])
{
    v[0] += v[1], v[1] = turn(v[1], 13) ^ v[0], v[0] = turn(v[0], 32);
    v[2] += v[3], v[3] = turn(v[3], 16) ^ v[2];
    v[0] += v[3], v[3] = turn(v[3], 21) ^ v[0];
    v[2] += v[1], v[1] = turn(v[1], 17) ^ v[2], v[2] = turn(v[2], 32);
}

/* SipHash-2-4 of @p count words. */
static uint64_t hash(const uint64_t secret[2], const uint64_t *words, size_t count)
{
    uint64_t v[4] = {
        secret[0] ^ UINT64_C(0x736f6d6570736575), secret[1] ^ UINT64_C(0x646f72616e646f6d),
        secret[0] ^ UINT64_C(0x6c7967656e657261), secret[1] ^ UINT64_C(0x7465646279746573)};

    for (size_t i = 0; i <= count; i++) { /* the last one, which pads them, is their length */
        uint64_t word = i < count ? words[i] : (uint64_t)count << 59;

        v[3] ^= word;
        mix(v), mix(v);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    mix(v), mix(v), mix(v), mix(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static uint64_t both(int source, int target)
{
    return (uint64_t)(uint32_t)source << 32 | (uint32_t)target;
}

uint32_t ski_packet_token(const uint64_t secret[2], int source, int target)
{
    const uint64_t word   = both(source, target);
    uint64_t       hashed = hash(secret, &word, 1);

    return (uint32_t)(hashed ^ hashed >> 32);
}

uint64_t ski_packet_proof(const uint64_t secret[2], int source, int target, uint64_t nonce)
{
    const uint64_t words[] = {both(source, target), nonce};
    return hash(secret, words, 2);
}

/* ---- forms ---------------------------------------------------------------------- */

size_t ski_packet_head_bytes(const void *packet, size_t bytes)
{
    struct skua_msg half;

    if (SKI_UNLIKELY(bytes < SKI_PACKET_HALF))
        return 0;
    memcpy(&half, packet, SKI_PACKET_HALF);
    if (SKI_LIKELY(ski_packet_is_short(&half, bytes)))
        return SKI_PACKET_HALF;
    return bytes < sizeof half ? 0 : sizeof half;
}

/* ---- checks --------------------------------------------------------------------- */

/* Whether messages of this kind have one: broadcasts, and those to objects with long
 * indices. */
static bool has_tail(const struct skua_msg *msg)
{
    if (msg->flags & SKI_MSG_OBJECT)
        return ski_target_long(msg->target);
    return msg->handler == SKI_HANDLER_BROADCAST;
}

const char *ski_packet_wrong(const struct ski_job *job, uint32_t handlers,
                             const struct skua_msg *msg, size_t bytes)
{
    const unsigned known = SKI_MSG_SPECIAL | SKI_MSG_TAIL | SKI_MSG_OBJECT;

    if (bytes < sizeof *msg)
        return "it is too short";
    if (msg->bytes > bytes - sizeof *msg)
        return "its data is longer than itself";
    if (msg->flags & ~known)
        return "it has unknown flags";
    if (!(msg->flags & SKI_MSG_TAIL) != !has_tail(msg))
        return "it has a tail, or none, against its kind";
    if (msg->bit_words > msg->bit_room || ski_msg_extent(msg) != bytes)
        return "its parts are not as long as it is";
    if (msg->flags & SKI_MSG_OBJECT &&
        ski_target_bytes(msg->target) > SKI_MSG_INDEX_BYTES + SKI_MSG_TAIL_BYTES)
        return "the index of its object is longer than any";
    if (msg->handler >= handlers)
        return "its handler was never registered";
    if (msg->handler < SKI_HANDLERS && msg->bytes < ski_builtin[msg->handler].least)
        return "it is too short for its kind, or no such packet exists";
    if (msg->source < 0 || msg->source >= ski_job_all(job))
        return "its sender is no PE of the job";
    if (ski_job_index(job, msg->source) >= 0)
        return "its sender is on this host";
    return NULL;
}
