/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c - from how many bytes on it pays not to copy.
 *
 * A message that data are copied into and out of costs two copies.  A transfer without costs
 * one, and besides: a message to the owner that its memory is free, and the call of the system
 * where memory is not shared; between hosts a round trip.  The copies and the call are measured,
 * a few times each and at sizes that double, until the one way is faster; what a message or a
 * round trip costs is known well enough.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/far.h"
#include "onesided/buffer.h"
#include "onesided/registration.h"

#define SIZES_FROM ((size_t)256)
#define SIZES_TO   ((size_t)256 << 10)
#define TIMES      3
#define MESSAGE    150.0   /* ns */
#define ROUND_SOFT 40000.0 /* ns, of a network that needs CPUs */
#define ROUND_HARD 4000.0

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static bool copy(char *to, char *from, size_t bytes)
{
    memcpy(to, from, bytes);
    __asm__ volatile("" : : "r"(to) : "memory");
    return true;
}

static bool attach(char *to, char *from, size_t bytes)
{
    struct iovec here = {to, bytes}, there = {from, bytes};

    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

/* The shortest of a few; 1e9: it cannot be done. */
static double time_of(bool (*way)(char *, char *, size_t), char *to, char *from, size_t bytes)
{
    double least = 1e9;

    for (int i = 0; i < TIMES; i++) {
        double began = now(), took;

        if (!way(to, from, bytes))
            return 1e9;
        took  = now() - began;
        least = took < least ? took : least;
    }
    return least;
}

/* Those that are not set: 0. */
static struct ski_zero_copy measure(void)
{
    struct ski_zero_copy found = {0};
    char                *to = ski_malloc(SIZES_TO), *from = ski_malloc(SIZES_TO);
    double               copied = 1;
    size_t               bytes;

    memset(from, 1, SIZES_TO);
    memset(to, 1, SIZES_TO);
    for (bytes = SIZES_FROM; bytes < SIZES_TO && !(found.shared && found.host); bytes *= 2) {
        copied = time_of(copy, to, from, bytes);
        if (!found.shared && copied > MESSAGE)
            found.shared = bytes;
        if (!found.host && time_of(attach, to, from, bytes) + MESSAGE < 2 * copied)
            found.host = bytes;
    }
    if (!found.shared)
        found.shared = SIZES_TO;
    if (!found.host)
        found.host = SIZES_TO;
    copied    = time_of(copy, to, from, SIZES_TO / 4) / (double)(SIZES_TO / 4);
    found.net = (size_t)((ski_registration_pins() ? ROUND_HARD : ROUND_SOFT) / (2 * copied));
    free(to);
    free(from);
    return found;
}

struct ski_zero_copy ski_zero_copy_measure(void)
{
    struct ski_zero_copy is = {ski_config.zero_copy_host, ski_config.zero_copy_host,
                               ski_config.zero_copy_net};

    if (!is.host || !is.net) {
        struct ski_zero_copy found = measure();

        if (!is.host)
            is.shared = found.shared, is.host = found.host;
        if (!is.net)
            is.net = found.net;
    }
    return is;
}

/* Each PE remembers it: 0 is not known. */
static const struct ski_zero_copy *known(void)
{
    static _Thread_local struct ski_zero_copy here;

    if (here.net == 0)
        here = ski_zero_copy_measure();
    return &here;
}

size_t skua_zero_copy_bytes(int pe)
{
    struct ski_pe *self = SKI_SELF();

    if (pe < 0 || pe >= self->pes)
        ski_misuse("%s: there is no PE %d", __func__, pe);
    if (ski_job_index(self->job, pe) < 0)
        return known()->net;
    return ski_job_process_of(self->job, pe) == self->process ? known()->shared : known()->host;
}

bool ski_zero_copy_pays(const struct ski_pe *self, int pe, const void *at, size_t bytes)
{
    if (bytes < SIZES_FROM && !ski_config.zero_copy_host)
        return false;
    if (ski_job_index(self->job, pe) >= 0 && ski_arena_contains(self->job->arena, at))
        return bytes >= known()->shared;
    return bytes >= skua_zero_copy_bytes(pe);
}
