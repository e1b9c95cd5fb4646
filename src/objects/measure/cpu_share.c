/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_share.c - see cpu_share.h. */
#include "objects/measure/cpu_share.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"

#define CPU_SHARE_FILE "/proc/thread-self/schedstat"
#define CPU_SHARE_MIN  (1.0 / 64)
#define CPU_SHARE_AGE  10000000 /* nanoseconds that a sample is used for */

/* Reads how long the thread has run and waited. Returns false if that is not known. */
static bool cpu_share_read(const struct ski_cpu_share *cpu, uint64_t *ran, uint64_t *waited)
{
    char    text[64], *end;
    ssize_t bytes = cpu->file < 0 ? -1 : pread(cpu->file, text, sizeof text - 1, 0);

    if (bytes <= 0)
        return false;
    text[bytes] = 0;
    *ran        = strtoull(text, &end, 10);
    if (end == text || *end != ' ')
        return false;
    *waited = strtoull(end, &end, 10);
    return *end == ' ' || *end == '\n' || *end == 0;
}

void ski_cpu_share_open(struct ski_cpu_share *cpu)
{
    cpu->file = open(CPU_SHARE_FILE, O_RDONLY | O_CLOEXEC);
    ski_cpu_share_reset(cpu);
}

void ski_cpu_share_close(struct ski_cpu_share *cpu)
{
    if (cpu->file >= 0)
        close(cpu->file);
    cpu->file = -1;
}

void ski_cpu_share_reset(struct ski_cpu_share *cpu)
{
    cpu->share   = 1;
    cpu->sampled = ski_ticks();
    if (!cpu_share_read(cpu, &cpu->ran, &cpu->waited))
        cpu->ran = cpu->waited = 0;
}

double ski_cpu_share_get(struct ski_cpu_share *cpu)
{
    uint64_t now = ski_ticks(), ran, waited;

    if (ski_ticks_to_ns(now - cpu->sampled) < CPU_SHARE_AGE)
        return cpu->share;
    cpu->sampled = now;
    if (cpu_share_read(cpu, &ran, &waited) && ran > cpu->ran && waited >= cpu->waited) {
        double running = (double)(ran - cpu->ran), waiting = (double)(waited - cpu->waited);

        cpu->share = running / (running + waiting);
        if (cpu->share < CPU_SHARE_MIN)
            cpu->share = CPU_SHARE_MIN;
    }
    return cpu->share;
}
