/* SPDX-License-Identifier: Apache-2.0 */
/* frame_test.c - frames and their connection: valid frames pass, truncated and random ones are
 * rejected without reading beyond their memory. */
#include "protocol/frame.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "protocol/frame_conn.h"
#include "tests/tap.h"

#define ROUNDS 20000
#define BYTES  512

static uint64_t frame_test_seed;

static size_t frame_test_below(size_t n)
{
    return tap_random(&frame_test_seed) % n;
}

/* A copy in memory of exactly that size, so that a sanitizer sees a read beyond it. */
static char *frame_test_copy(const char *text, size_t bytes)
{
    return memcpy(ski_malloc(bytes + !bytes), text, bytes);
}

static int frame_test_decode(enum frame_direction direction, const char *text, size_t bytes,
                             struct frame *frame)
{
    char *copy  = frame_test_copy(text, bytes);
    int   found = frame_decode(direction, copy, bytes, frame);

    free(copy);
    return found;
}

static void frame_test_limits(void)
{
    struct {
        struct frame_head head;
        int32_t           number;
    } one             = {{FRAME_SIGNAL, 4}, 15};
    const char  *text = (const char *)&one;
    struct frame frame;

    OK(frame_decode(FRAME_DOWN, text, sizeof one, &frame) == 1, "a complete frame is decoded");
    OK(frame.kind == FRAME_SIGNAL && frame_number(&frame) == 15, "its number is the one sent");
    for (size_t n = 0; n < sizeof one; n++)
        if (frame_test_decode(FRAME_DOWN, text, n, &frame) != 0)
            OK(false, "%zu bytes of a frame are not complete", n);
    OK(frame_test_decode(FRAME_UP, text, sizeof one, &frame) == -1,
       "a frame of the other direction is invalid");
    one.head.bytes = 5;
    OK(frame_test_decode(FRAME_DOWN, text, sizeof one, &frame) == -1, "too long is invalid");
    one.head.bytes = 3;
    OK(frame_test_decode(FRAME_DOWN, text, sizeof one, &frame) == -1, "too short is invalid");
    one.head.kind = FRAME_KINDS;
    OK(frame_test_decode(FRAME_DOWN, text, sizeof one, &frame) == -1, "an unknown kind is invalid");
    one.head = (struct frame_head){FRAME_SPEC, UINT32_MAX};
    OK(frame_test_decode(FRAME_DOWN, text, sizeof one, &frame) == -1, "4 GiB are invalid");
}

/* A decoded frame never reaches beyond the received bytes. */
static void frame_test_random(void)
{
    char text[BYTES];
    int  valid = 0;

    for (int round = 0; round < ROUNDS; round++) {
        size_t            n    = frame_test_below(BYTES);
        struct frame_head head = {(uint32_t)frame_test_below(FRAME_KINDS + 3),
                                  (uint32_t)frame_test_below(BYTES)};
        struct frame      frame;
        char             *copy;

        for (size_t i = 0; i < n; i++)
            text[i] = (char)tap_random(&frame_test_seed);
        if (n >= sizeof head && frame_test_below(8))
            memcpy(text, &head, sizeof head);
        copy = frame_test_copy(text, n);
        if (frame_decode(frame_test_below(2) ? FRAME_UP : FRAME_DOWN, copy, n, &frame) > 0) {
            valid++;
            if (frame.data != copy + sizeof head || frame_size(&frame) > n)
                OK(false, "a frame reaches beyond the received bytes");
        }
        free(copy);
    }
    OK(valid > 0 && valid < ROUNDS, "random bytes: %d of %d were frames", valid, ROUNDS);
}

static void frame_test_closed(void)
{
    struct frame_conn conn = {.in = -1, .out = -1, .direction = FRAME_UP};
    struct frame      frame;
    char              text[] = "no frame of an agent";

    buffer_add(&conn.received, text, sizeof text);
    OK(frame_conn_next(&conn, &frame) == -1, "a text is no frame");
    frame_conn_send(&conn, FRAME_STDIN_READY, NULL, 0, NULL, 0);
    OK(!frame_conn_has_unsent(&conn), "a closed connection queues nothing");
    frame_conn_close(&conn);
}

/* Frames that do not fit the pipe are queued, and arrive whole and in order. */
static void frame_test_order(void)
{
    enum { FRAMES = 3000 };
    struct frame_conn from, to;
    struct frame      frame;
    int               ends[2], unused[2], next = 0, right = 0;

    if (pipe2(ends, O_CLOEXEC) < 0 || pipe2(unused, O_CLOEXEC) < 0) {
        OK(false, "pipes");
        return;
    }
    frame_conn_open(&from, unused[0], ends[1], FRAME_DOWN);
    frame_conn_open(&to, ends[0], unused[1], FRAME_UP);
    for (int i = 0; i < FRAMES; i++)
        frame_conn_send_number(&from, FRAME_REASON, i, "a process failed");
    OK(frame_conn_has_unsent(&from), "what does not fit the pipe is queued");
    while (next < FRAMES && frame_conn_read(&to) > 0) {
        while (frame_conn_next(&to, &frame) > 0)
            right += frame.kind == FRAME_REASON && frame_number(&frame) == next++;
        frame_conn_flush(&from);
    }
    OK(right == FRAMES && frame_conn_read(&to) == 0, "%d frames arrive in order", FRAMES);
    frame_conn_close(&from);
    OK(frame_conn_read(&to) < 0, "the end of the connection is reported");
    frame_conn_close(&to);
}

int main(void)
{
    frame_test_seed = tap_seed();
    frame_test_limits();
    frame_test_random();
    frame_test_closed();
    frame_test_order();
    return tap_end();
}
