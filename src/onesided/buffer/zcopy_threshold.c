/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zcopy_threshold.c - from how many bytes on it pays not to copy.
 *
 * A message that data are copied into and out of costs two copies.  A transfer without costs
 * one at most, and besides: a message to the owner that its memory is free, and the call of the
 * system where memory is not shared; between hosts a round trip.  What a byte costs in a copy
 * and through the system, and the call itself, are measured; that memory which another core has
 * used costs some three times as much to copy, and what a message or a round trip costs, is known
 * well enough.
 *
 * A process measures when it is first asked, which most programs never do: their start is not
 * made longer.  Who looks at the log wants to know, so then PE 0 does it at the start.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "core/net/net.h"
#include "onesided/buffer/buffer.h"
#include "onesided/region/registration.h"

#define ROOM       ((size_t)256 << 10)
#define LEAST      ((size_t)1 << 10)
#define MOST       ((size_t)1 << 20)
#define TIMES      4
#define MESSAGE    100.0   /* ns */
#define ACROSS     3.0     /* a copy between cores to one that stays in a cache */
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

/* Where a fixed cost of @p ns is made up for by @p per_byte: the next power of two. */
static size_t even_at(double ns, double per_byte)
{
    size_t bytes = LEAST;

    while (bytes < MOST && (double)bytes * per_byte < ns)
        bytes *= 2;
    return bytes;
}

static struct ski_zero_copy measure(void)
{
    struct ski_zero_copy found;
    char                *to = ski_malloc(ROOM), *from = ski_malloc(ROOM);
    double               copied, call, attached;

    memset(from, 1, ROOM);
    memset(to, 1, ROOM);
    copied   = ACROSS * time_of(copy, to, from, ROOM) / (double)ROOM;
    call     = time_of(attach, to, from, 1);
    attached = (time_of(attach, to, from, ROOM) - call) / (double)ROOM;
    found    = (struct ski_zero_copy){
           .shared = even_at(MESSAGE, copied),
           .host   = even_at(MESSAGE + call, 2 * copied - attached),
           .net    = even_at(ski_registration_pins() ? ROUND_HARD : ROUND_SOFT, 2 * copied),
    };
    free(to);
    free(from);
    return found;
}

struct ski_zero_copy ski_zero_copy_measure(void)
{
    struct ski_zero_copy is = {ski_config.zcopy_threshold_host, ski_config.zcopy_threshold_host,
                               ski_config.zcopy_threshold_net};

    if (!is.host || !is.net) {
        struct ski_zero_copy found = measure();

        if (!is.host)
            is.shared = found.shared, is.host = found.host;
        if (!is.net)
            is.net = found.net;
    }
    return is;
}

const char *ski_zero_copy_text(char text[SKI_ZERO_COPY_TEXT], const struct ski_zero_copy *from)
{
    snprintf(text, SKI_ZERO_COPY_TEXT,
             "from %zu bytes inside a process and in shared memory, %zu between processes (%s), "
             "%zu between hosts (%s)",
             from->shared, from->host, ski_config.zcopy_threshold_host ? "set" : "measured",
             from->net, ski_config.zcopy_threshold_net ? "set" : "measured");
    return text;
}

/* ---- in a job ---------------------------------------------------------------------------------
 */

static struct ski_zero_copy of_process;

static void measure_once(void)
{
    char text[SKI_ZERO_COPY_TEXT];

    of_process = ski_zero_copy_measure();
    ski_log(SKI_LOG_INFO, "zero copy %s", ski_zero_copy_text(text, &of_process));
}

/* Of the process; each PE remembers it: 0 is not known. */
static const struct ski_zero_copy *known(void)
{
    static _Thread_local struct ski_zero_copy here;
    static pthread_once_t                     once = PTHREAD_ONCE_INIT;

    if (here.net == 0) {
        pthread_once(&once, measure_once);
        here = of_process;
    }
    return &here;
}

void ski_zero_copy_begin(const struct ski_pe *self)
{
    if (self->pe == 0 && ski_log_level >= SKI_LOG_INFO)
        (void)known();
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
    if (ski_job_index(self->job, pe) >= 0 && ski_arena_contains(self->job->arena, at))
        return bytes >= known()->shared;
    return bytes >= skua_zero_copy_bytes(pe);
}
