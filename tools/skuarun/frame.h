/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.h - what the launcher and its agents tell each other.
 *
 * A frame is a head of two words, kind and bytes, and so many bytes.  Its kind says
 * which way it goes and how long it may be; anything else is no frame.  Both sides
 * are the same program on hosts of one kind, so numbers go as they lie in memory.
 *
 *   down  ORDER    what is to be run (order.h), at first, once all agents have said HELLO
 *         INPUT    standard input for process 0; nothing: its end.  The next one is
 *                  sent after a FED
 *         SIGNAL   a number: to all processes
 *         VALUE    a struct ski_control and the value that was asked for
 *         TAKEN    a number: so many bytes of OUTPUT and ERRORS have been written
 *   up    HELLO    a struct hello, at first
 *         OUTPUT   standard output of processes: whole lines, with their labels
 *         ERRORS   the same of standard error
 *         FED      process 0 has read its input
 *         PUT      a struct ski_control and a value, from one of the processes
 *         GET      a struct ski_control: its value is asked for
 *         JOINED   some process here has joined the job
 *         EXITING  a number: skua_exit() was called, with this code
 *         ENDED    a struct ended: a process has
 *         WHY      a number and a text: why that process ended badly
 *         REFUSED  a number and a text: an exit code, and why the job has to end;
 *                  no text: that has been said
 */
#ifndef SKUARUN_FRAME_H
#define SKUARUN_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "boot/boot.h"

enum frame_kind {
    FRAME_ORDER = 1,
    FRAME_INPUT,
    FRAME_SIGNAL,
    FRAME_VALUE,
    FRAME_TAKEN,
    FRAME_FIRST_UP,
    FRAME_HELLO = FRAME_FIRST_UP,
    FRAME_OUTPUT,
    FRAME_ERRORS,
    FRAME_FED,
    FRAME_PUT,
    FRAME_GET,
    FRAME_JOINED,
    FRAME_EXITING,
    FRAME_ENDED,
    FRAME_WHY,
    FRAME_REFUSED,
    FRAME_KINDS
};

#define FRAME_INPUT_MOST ((size_t)65536)
#define FRAME_TEXT_MOST  ((size_t)2 << 20) /* of OUTPUT and ERRORS */

struct frame_head {
    uint32_t kind, bytes;
};

struct frame {
    enum frame_kind kind;
    const char     *data; /* not aligned */
    size_t          bytes;
};

/* The machine that an agent runs on, whatever its host is called there, and the CPUs it may use:
 * agents for which it is the same, byte by byte, share those CPUs. */
struct machine {
    char          boot[40]; /* the kernel's identifier of this boot */
    unsigned char cpus[128];
};

/* Both sides must be of one version: what stands before `machine` is compared byte by byte. */
struct hello {
    char           magic[8];
    char           version[24];
    uint64_t       frames; /* changes with what they mean */
    struct machine machine;
};

struct hello frame_hello(void);

enum frame_way { FRAME_DOWN, FRAME_UP };

/** The frame that @p text begins with: 1; it is not complete yet: 0; there is none
 *  of that kind, way and length: -1. */
int frame_decode(enum frame_way way, const char *text, size_t bytes, struct frame *frame);

/** The bytes of a frame with its head. */
static inline size_t frame_extent(const struct frame *frame)
{
    return sizeof(struct frame_head) + frame->bytes;
}

/** The number that a frame begins with. */
int32_t frame_number(const struct frame *frame);

/** The head of a control record of @p kind, in a job of so many processes; false:
 *  it makes no sense. */
bool control_decode(uint32_t kind, int processes, const char *data, size_t bytes,
                    struct ski_control *head);

#endif
