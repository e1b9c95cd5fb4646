/* SPDX-License-Identifier: Apache-2.0 */
/* frame.c - see frame.h. */
#include "frame.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <skua/version.h>

#include "order.h"
#include "spawn.h"

#define CONTROL sizeof(struct ski_control)

/* How long a frame may be. */
static const struct {
    size_t least, most;
} limits[FRAME_KINDS] = {
    [FRAME_ORDER]   = {sizeof(struct order_head), ORDER_MOST},
    [FRAME_INPUT]   = {0, FRAME_INPUT_MOST},
    [FRAME_SIGNAL]  = {4, 4},
    [FRAME_VALUE]   = {CONTROL, CONTROL + SKI_CONTROL_MOST},
    [FRAME_TAKEN]   = {4, 4},
    [FRAME_HELLO]   = {sizeof(struct hello), sizeof(struct hello)},
    [FRAME_OUTPUT]  = {1, FRAME_TEXT_MOST},
    [FRAME_ERRORS]  = {1, FRAME_TEXT_MOST},
    [FRAME_FED]     = {0, 0},
    [FRAME_PUT]     = {CONTROL, CONTROL + SKI_CONTROL_MOST},
    [FRAME_GET]     = {CONTROL, CONTROL},
    [FRAME_JOINED]  = {0, 0},
    [FRAME_EXITING] = {4, 4},
    [FRAME_ENDED]   = {sizeof(struct ended), sizeof(struct ended)},
    [FRAME_WHY]     = {4, 4 + WHY_BYTES},
    [FRAME_REFUSED] = {4, 4 + WHY_BYTES},
};

/* Where the kernel tells neither, all machines look alike; then hosts of one name share one. */
static struct machine frame_machine(void)
{
    struct machine machine = {0};
    FILE          *boot    = fopen("/proc/sys/kernel/random/boot_id", "re");
    cpu_set_t      cpus;

    _Static_assert(sizeof cpus >= sizeof machine.cpus, "the mask of CPUs is that long");
    if (boot && !fgets(machine.boot, sizeof machine.boot, boot))
        machine.boot[0] = '\0';
    if (boot)
        fclose(boot);
    CPU_ZERO(&cpus);
    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        memcpy(machine.cpus, &cpus, sizeof machine.cpus);
    return machine;
}

struct hello frame_hello(void)
{
    struct hello hello = {.magic = "skuarun", .frames = 2, .machine = frame_machine()};

    snprintf(hello.version, sizeof hello.version, "%s", SKUA_VERSION);
    return hello;
}

int frame_decode(enum frame_way way, const char *text, size_t bytes, struct frame *frame)
{
    struct frame_head head;

    if (bytes < sizeof head)
        return 0;
    memcpy(&head, text, sizeof head);
    if (head.kind == 0 || head.kind >= FRAME_KINDS || (head.kind >= FRAME_FIRST_UP) != way ||
        head.bytes < limits[head.kind].least || head.bytes > limits[head.kind].most)
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

bool control_decode(uint32_t kind, int processes, const char *data, size_t bytes,
                    struct ski_control *head)
{
    if (bytes < sizeof *head)
        return false;
    memcpy(head, data, sizeof *head);
    return head->kind == kind && head->bytes == bytes - sizeof *head &&
           head->bytes <= SKI_CONTROL_MOST && (kind != SKI_CONTROL_GET || head->bytes == 0) &&
           head->process >= 0 && head->process < processes && head->key[0] &&
           memchr(head->key, '\0', sizeof head->key);
}
