/* SPDX-License-Identifier: Apache-2.0 */
/* frame.c - see frame.h. */
#include "protocol/frame.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <skua/version.h>

#include "boot/boot.h"
#include "protocol/job_spec.h"
#include "common/exit_report.h"
#include "survive/host_images.h"

#define CONTROL sizeof(struct ski_control)

/* The smallest and largest payload of each kind, in bytes. */
static const struct {
    size_t least, most;
} frame_limits[FRAME_KINDS] = {
    [FRAME_SPEC]        = {sizeof(struct job_spec_head), JOB_SPEC_MAX},
    [FRAME_STDIN]       = {0, FRAME_STDIN_MAX},
    [FRAME_SIGNAL]      = {4, 4},
    [FRAME_VALUE]       = {CONTROL, CONTROL + SKI_CONTROL_MAX},
    [FRAME_CREDIT]      = {4, 4},
    [FRAME_PING]        = {4, 4},
    [FRAME_KEEP]        = {sizeof(struct image_record), sizeof(struct image_record)},
    [FRAME_HELLO]       = {sizeof(struct frame_hello), sizeof(struct frame_hello)},
    [FRAME_STDOUT]      = {1, FRAME_OUTPUT_MAX},
    [FRAME_STDERR]      = {1, FRAME_OUTPUT_MAX},
    [FRAME_STDIN_READY] = {0, 0},
    [FRAME_PUT]         = {CONTROL, CONTROL + SKI_CONTROL_MAX},
    [FRAME_GET]         = {CONTROL, CONTROL},
    [FRAME_JOINED]      = {4, 4},
    [FRAME_ALL_JOINED]  = {0, 0},
    [FRAME_EXITING]     = {4, 4},
    [FRAME_EXITED]      = {sizeof(struct exit_report), sizeof(struct exit_report)},
    [FRAME_REASON]      = {4, 4 + REASON_BYTES},
    [FRAME_FAILED]      = {4, 4 + REASON_BYTES},
    [FRAME_GENERATION]  = {sizeof(struct image_record), sizeof(struct image_record)},
    [FRAME_IDLE]        = {0, JOB_SPEC_MAX},
    [FRAME_PONG]        = {4, 4},
    [FRAME_RESIZE]      = {4, 4},
};

/* Identifies this machine.  Where the kernel has no identifier of its boot, boot is "". */
static struct frame_machine frame_read_machine(void)
{
    struct frame_machine machine = {0};
    FILE                *boot    = fopen("/proc/sys/kernel/random/boot_id", "re");
    cpu_set_t            cpus;

    _Static_assert(sizeof cpus >= sizeof machine.cpus, "a cpu_set_t fills frame_machine.cpus");
    if (boot && !fgets(machine.boot, sizeof machine.boot, boot))
        machine.boot[0] = '\0';
    if (boot)
        fclose(boot);
    CPU_ZERO(&cpus);
    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        memcpy(machine.cpus, &cpus, sizeof machine.cpus);
    return machine;
}

struct frame_hello frame_make_hello(void)
{
    struct frame_hello hello = {.magic = "skuarun", .frames = 7, .machine = frame_read_machine()};

    snprintf(hello.version, sizeof hello.version, "%s", SKUA_VERSION);
    return hello;
}

int frame_decode(enum frame_direction direction, const char *text, size_t bytes,
                 struct frame *frame)
{
    struct frame_head head;

    if (bytes < sizeof head)
        return 0;
    memcpy(&head, text, sizeof head);
    if (head.kind == 0 || head.kind >= FRAME_KINDS || (head.kind >= FRAME_FIRST_UP) != direction ||
        head.bytes < frame_limits[head.kind].least || head.bytes > frame_limits[head.kind].most)
        return -1;
    if (bytes - sizeof head < head.bytes)
        return 0;
    *frame = (struct frame){head.kind, text + sizeof head, head.bytes};
    return 1;
}

int32_t frame_number(const struct frame *frame)
{
    int32_t number;

    memcpy(&number, frame->data, sizeof number);
    return number;
}
