/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet_test.c - tokens; and packets whose headers are damaged at random: what is taken
 * is consistent, and nothing beyond it is read, which AddressSanitizer would see.
 */
#include "core/net/packet.h"

#include <stdlib.h>
#include <string.h>

#include "core/pe/builtin.h"
#include "core/pe/handler.h"
#include "tests/tap.h"

#define PES      4 /* of two processes; the second is far */
#define USERS    3 /* handlers of the program             */
#define HANDLERS (SKI_HANDLERS + USERS)
#define SECONDS  2.0
#define TIMES    4000000

static struct ski_job *packet_test_make_job(void)
{
    static int32_t  place[] = {0, -1};
    struct ski_job *job     = calloc(1, sizeof *job);

    *job = (struct ski_job){.pes             = PES,
                            .pes_per_process = 2,
                            .processes       = 2,
                            .local_processes = 1,
                            .local_pes       = 2,
                            .local_index     = place};
    return job;
}

/* ---- tokens ------------------------------------------------------------------------ */

static int packet_test_compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void packet_test_test_tokens(void)
{
    const uint64_t secret[2] = {1, 2}, others[][2] = {{2, 1}, {1, 3}, {0, 2}};
    uint32_t       all[64 * 64], *at = all, again = 0;
    int            same = 0;

    for (int source = 0; source < 64; source++)
        for (int target = 0; target < 64; target++)
            *at++ = ski_packet_token(secret, source, target);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        same += ski_packet_token(others[i], 5, 6) == ski_packet_token(secret, 5, 6);
    OK(same == 0, "another secret has another token");
    OK(ski_packet_token(secret, 5, 6) != ski_packet_token(secret, 6, 5), "each way has its own");
    qsort(all, 64 * 64, sizeof *all, packet_test_compare);
    for (int i = 1; i < 64 * 64; i++)
        again += all[i] == all[i - 1];
    OK(again <= 1, "so has each pair"); /* by chance, one time in 500 */
}

/* ---- packets ------------------------------------------------------------------------ */

/* A packet that is right, of @p bytes in all, in memory of just that size. */
static struct skua_msg *packet_test_make_packet(uint64_t *seed, size_t *bytes)
{
    struct skua_msg  head = {.source  = (int32_t)(tap_random(seed) % 2) + 2,
                             .handler = (uint16_t)(SKI_HANDLERS + tap_random(seed) % USERS),
                             .bytes   = tap_random(seed) % 200};
    struct skua_msg *msg;

    if (tap_random(seed) % 4 == 0) {
        head.handler = SKI_HANDLER_BROADCAST;
        head.flags   = SKI_MSG_TAIL;
    }
    if (head.handler >= SKI_HANDLERS && tap_random(seed) % 2 == 0) {
        head.flags  = SKI_MSG_OBJECT;
        head.target = tap_random(seed) << 8 | tap_random(seed) % 49;
        if (ski_target_long(head.target))
            head.flags |= SKI_MSG_TAIL;
    }
    if (tap_random(seed) % 3 == 0) {
        head.flags |= SKI_MSG_BITS;
        head.bit_room  = (uint16_t)(tap_random(seed) % 5);
        head.bit_words = (uint16_t)(tap_random(seed) % (head.bit_room + 1u));
    }
    *bytes = ski_msg_extent(&head);
    msg    = malloc(*bytes);
    memset(msg, 0, *bytes);
    *msg = head;
    return msg;
}

/* Changes a few bytes of @p head, to something near or to anything. */
static void packet_test_damage(uint64_t *seed, void *packet, size_t head)
{
    unsigned char *bytes = packet;

    for (unsigned n = (unsigned)(tap_random(seed) % 4) + 1; n > 0; n--) {
        size_t at = tap_random(seed) % head;

        switch (tap_random(seed) % 4) {
        case 0: bytes[at] ^= (unsigned char)(1u << tap_random(seed) % 8); break;
        case 1: bytes[at]++; break;
        case 2: bytes[at] = 0xff; break;
        default: bytes[at] = (unsigned char)tap_random(seed);
        }
    }
}

/* A copy of the packet, or of its beginning, in memory of just that size. */
static struct skua_msg *packet_test_cut(uint64_t *seed, struct skua_msg *msg, size_t *bytes)
{
    struct skua_msg *shorter;

    if (tap_random(seed) % 8 != 0)
        return msg;
    *bytes  = tap_random(seed) % *bytes + 1;
    shorter = malloc(*bytes);
    memcpy(shorter, msg, *bytes);
    free(msg);
    return shorter;
}

/* What may be relied on in a packet that was taken. */
static bool packet_test_is_consistent(const struct ski_job *job, const struct skua_msg *msg,
                                      size_t bytes)
{
    return bytes >= sizeof *msg && msg->bytes <= bytes - sizeof *msg &&
           ski_msg_extent(msg) == bytes && msg->bit_words <= msg->bit_room &&
           msg->handler < HANDLERS &&
           (msg->handler >= SKI_HANDLERS || msg->bytes >= ski_builtin[msg->handler].least) &&
           !(msg->flags & (SKI_MSG_POINTER | SKI_MSG_WAKEUP)) &&
           (!(msg->flags & SKI_MSG_OBJECT) || ski_target_bytes(msg->target) <= 48) &&
           msg->source >= 0 && msg->source < ski_job_all(job) &&
           ski_job_index(job, msg->source) < 0;
}

static void packet_test_test_right(const struct ski_job *job, uint64_t *seed)
{
    int bad = 0;

    for (int i = 0; i < 10000; i++) {
        size_t           bytes;
        struct skua_msg *msg = packet_test_make_packet(seed, &bytes);

        bad += ski_packet_error(job, HANDLERS, msg, bytes) != NULL;
        free(msg);
    }
    OK(bad == 0, "what is right is taken");
}

/* The shortest form of a packet, in memory of just its size. */
static void *packet_test_shorten(struct skua_msg *msg, size_t *bytes)
{
    void *made = malloc(ski_packet_least(msg));

    *bytes = ski_packet_least(msg);
    return memcpy(made, ski_packet_shorten(msg), *bytes);
}

static bool packet_test_is_same(const struct skua_msg *msg, const char *packet, size_t head)
{
    return memcmp(msg, packet, head) == 0 &&
           memcmp(msg + 1, packet + head, ski_msg_extent(msg) - sizeof *msg) == 0;
}

static void packet_test_test_forms(uint64_t *seed)
{
    int bad = 0;

    for (int i = 0; i < 10000; i++) {
        size_t           bytes;
        struct skua_msg *msg   = packet_test_make_packet(seed, &bytes);
        size_t           whole = ski_packet_head_bytes(msg, bytes), head;
        char            *packet;

        packet = packet_test_shorten(msg, &bytes);
        head   = ski_packet_head_bytes(packet, bytes);
        bad += whole != sizeof *msg || !packet_test_is_same(msg, packet, head) ||
               head != (msg->flags & SKI_MSG_OBJECT ? sizeof *msg : SKI_PACKET_HALF);
        free(packet);
        free(msg);
    }
    OK(bad == 0, "both forms of a packet are told from each other, and say the same");
}

/* As far as its header is there, that is all of it that is looked at. */
static void packet_test_test_damaged_forms(uint64_t *seed)
{
    int bad = 0;

    for (int i = 0; i < 100000; i++) {
        size_t           bytes;
        struct skua_msg *msg = packet_test_make_packet(seed, &bytes), *packet;
        size_t           head;

        packet = packet_test_shorten(msg, &bytes);
        packet_test_damage(seed, packet, SKI_PACKET_HALF);
        packet = packet_test_cut(seed, packet, &bytes);
        head   = ski_packet_head_bytes(packet, bytes);
        bad += head > bytes || (head == 0 && bytes >= sizeof *msg);
        free(packet);
        free(msg);
    }
    OK(bad == 0, "a packet has as much of its header as it is said to have");
}

static void packet_test_test_damaged(const struct ski_job *job, uint64_t *seed)
{
    clock_t until = clock() + (clock_t)(SECONDS * CLOCKS_PER_SEC);
    long    bad = 0, taken = 0, times = 0;

    while (times < TIMES && (times % 256 || clock() < until)) {
        size_t           bytes;
        struct skua_msg *msg = packet_test_make_packet(seed, &bytes);

        packet_test_damage(seed, msg, sizeof *msg);
        msg = packet_test_cut(seed, msg, &bytes);
        if (!ski_packet_error(job, HANDLERS, msg, bytes)) {
            taken++;
            bad += !packet_test_is_consistent(job, msg, bytes);
        }
        free(msg);
        times++;
    }
    printf("# %ld packets, %ld taken\n", times, taken);
    OK(bad == 0, "what is damaged is dropped, or consistent all the same");
    OK(taken > 0 && taken < times, "some of both were seen");
}

int main(void)
{
    struct ski_job *job  = packet_test_make_job();
    uint64_t        seed = tap_seed();

    packet_test_test_tokens();
    packet_test_test_right(job, &seed);
    packet_test_test_damaged(job, &seed);
    packet_test_test_forms(&seed);
    packet_test_test_damaged_forms(&seed);
    free(job);
    return tap_end();
}
