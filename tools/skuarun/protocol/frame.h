/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.h - the protocol between the launcher and its agents.
 *
 * A frame is a head of two words, kind and payload length in bytes, followed by the payload.  The
 * kind determines the direction and the permitted length; anything else is invalid and ends the
 * job. Both ends are one version of one program on hosts of one architecture (HELLO checks the
 * version), so numbers are sent as they are in memory.
 *
 *   to the agent
 *     SPEC         the job specification (job_spec.h): the first frame, once all agents said HELLO;
 *                  with --survive one for each epoch, after the IDLE of the epoch before
 *     STDIN        input for process 0; empty: its end.  The next one follows a STDIN_READY
 *     SIGNAL       a number: send this signal to all processes
 *     VALUE        a struct ski_control and the requested value
 *     CREDIT       a number: bytes of STDOUT and STDERR that have been written
 *     KEEP         a struct image_record: the agent has no processes in the next epoch; it keeps
 *                  its images of that generation alone
 *     PING         a number that the agent returns in a PONG: its host is alive
 *   to the launcher
 *     HELLO        a struct frame_hello: the first frame
 *     STDOUT       output of processes: complete lines where possible, with their labels
 *     STDERR       error output of processes, in the format of STDOUT
 *     STDIN_READY  process 0 has read its input
 *     PUT          a struct ski_control and a value, from a process of the agent
 *     GET          a struct ski_control: requests a value
 *     JOINED       a number: the latest phase that some process of the agent has joined
 *     ALL_JOINED   all processes of the agent have joined
 *     EXITING      a number: the code that skua_exit() was called with
 *     EXITED       a struct exit_report: a process has ended
 *     REASON       a process number and a text: why that process failed
 *     FAILED       an exit code and a text: why the job has to end; without text, the reason has
 *                  been printed
 *     GENERATION   a struct image_record: the newest generation that all its processes have
 *     IDLE         all processes of the epoch have ended and their output has been sent; an
 *                  array of struct image_record, the complete images of the host
 *     PONG         the number of a PING
 *     RESIZE       a number: the PEs that the program requests (skua_resize())
 */
#ifndef SKUARUN_FRAME_H
#define SKUARUN_FRAME_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

enum frame_kind {
    FRAME_SPEC = 1,
    FRAME_STDIN,
    FRAME_SIGNAL,
    FRAME_VALUE,
    FRAME_CREDIT,
    FRAME_PING,
    FRAME_KEEP,
    FRAME_FIRST_UP,
    FRAME_HELLO = FRAME_FIRST_UP,
    FRAME_STDOUT,
    FRAME_STDERR,
    FRAME_STDIN_READY,
    FRAME_PUT,
    FRAME_GET,
    FRAME_JOINED,
    FRAME_ALL_JOINED,
    FRAME_EXITING,
    FRAME_EXITED,
    FRAME_REASON,
    FRAME_FAILED,
    FRAME_GENERATION,
    FRAME_IDLE,
    FRAME_PONG,
    FRAME_RESIZE,
    FRAME_KINDS
};

/** The largest payload of a STDIN frame, in bytes. */
#define FRAME_STDIN_MAX ((size_t)65536)

/** The largest payload of a STDOUT or STDERR frame, in bytes. */
#define FRAME_OUTPUT_MAX ((size_t)2 << 20)

struct frame_head {
    uint32_t kind, bytes;
};

/** A decoded frame. */
struct frame {
    enum frame_kind kind;
    const char     *data; /* the payload; not aligned */
    size_t          bytes;
};

/** The machine that an agent runs on and the CPUs it may use.  Agents with equal ones, byte by
 * byte, share those CPUs, whatever the names of their hosts are. */
struct frame_machine {
    char          boot[40]; /* the kernel's identifier of this boot, or "" */
    unsigned char cpus[128];
};

/** The payload of HELLO.  The members before `machine` must be equal on both ends. */
struct frame_hello {
    char                 magic[8];
    char                 version[24];
    uint64_t             frames; /* version of this protocol */
    struct frame_machine machine;
};

/** Returns the HELLO of this program on this machine. */
struct frame_hello frame_make_hello(void);

/** To the agent, or to the launcher. */
enum frame_direction { FRAME_DOWN, FRAME_UP };

/** Decodes the frame that @p text begins with.  Returns 1 if there is one, 0 if it is not complete
 * yet, -1 if its kind, direction or length is invalid. */
int frame_decode(enum frame_direction direction, const char *text, size_t bytes,
                 struct frame *frame);

/** Returns the size of a frame with its head, in bytes. */
static inline size_t frame_size(const struct frame *frame)
{
    return sizeof(struct frame_head) + frame->bytes;
}

/** Returns the number that a payload begins with. */
int32_t frame_number(const struct frame *frame);

#endif
