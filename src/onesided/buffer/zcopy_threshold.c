/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zcopy_threshold.c - the size from which a transfer by reference is faster than copying.
 *
 * A message that data are copied into and out of costs two copies.  A transfer by reference costs
 * one at most, and besides a message to the owner that its memory is free, a system call where
 * memory is not shared, and a round trip between hosts.  The cost of a byte in a copy and by the
 * system, of the system call, and of the round trip (round_trip.h) are measured.  Constants stand
 * for the cost of a message and for the factor of about three by which memory that another core has
 * used is slower to copy.  Between hosts a message is used where it arrives, so that one copy is
 * saved, of memory that this core has used.
 *
 * A process measures at the first use, so that programs which never need the threshold do not
 * start more slowly. If the log level is `info` PE 0 measures at the start, to log it.  The first
 * uses between hosts measure the round trip; until then one is assumed.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "core/net/net.h"
#include "onesided/buffer/buffer.h"
#include "onesided/buffer/round_trip.h"
#include "onesided/region/registration.h"

#define ROOM       ((size_t)256 << 10)
#define LEAST      ((size_t)1 << 10)
#define MOST       ((size_t)1 << 20)
#define TIMES      4
#define MESSAGE    100.0   /* ns */
#define ACROSS     3.0     /* a copy between cores relative to one in a cache */
#define ROUND_SOFT 20000.0 /* ns, assumed of a network that needs the CPU */
#define ROUND_HARD 4000.0

static double zcopy_threshold_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static bool zcopy_threshold_copy(char *to, char *from, size_t bytes)
{
    memcpy(to, from, bytes);
    __asm__ volatile("" : : "r"(to) : "memory");
    return true;
}

static bool zcopy_threshold_cma(char *to, char *from, size_t bytes)
{
    struct iovec here = {to, bytes}, there = {from, bytes};

    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

/* Returns the shortest time of several; 1e9: it is not possible. */
static double zcopy_threshold_time(bool (*way)(char *, char *, size_t), char *to, char *from,
                                   size_t bytes)
{
    double least = 1e9;

    for (int i = 0; i < TIMES; i++) {
        double began = zcopy_threshold_clock(), took;

        if (!way(to, from, bytes))
            return 1e9;
        took  = zcopy_threshold_clock() - began;
        least = took < least ? took : least;
    }
    return least;
}

/* Returns the power of two from which on @p per_byte saves a fixed cost of @p ns. */
static size_t zcopy_threshold_break_even(double ns, double per_byte)
{
    size_t bytes = LEAST;

    ski_assert(ns >= 0);
    while (bytes < MOST && (double)bytes * per_byte < ns)
        bytes *= 2;
    return bytes;
}

/* Returns the threshold between hosts for the round trip that is known, or assumed, now. */
static size_t zcopy_threshold_net_of(const struct ski_zcopy_threshold *measured)
{
    double round = (double)ski_round_trip_ns();

    if (round == 0)
        round = ski_registration_pins() ? ROUND_HARD : ROUND_SOFT;
    return zcopy_threshold_break_even(round, measured->per_byte);
}

/* Measures the costs of copies and computes the thresholds from them. */
static struct ski_zcopy_threshold zcopy_threshold_probe(void)
{
    struct ski_zcopy_threshold found;
    char                      *to = ski_malloc(ROOM), *from = ski_malloc(ROOM);
    double                     copied, call, attached;

    memset(from, 1, ROOM);
    memset(to, 1, ROOM);
    copied   = ACROSS * zcopy_threshold_time(zcopy_threshold_copy, to, from, ROOM) / (double)ROOM;
    call     = zcopy_threshold_time(zcopy_threshold_cma, to, from, 1);
    attached = (zcopy_threshold_time(zcopy_threshold_cma, to, from, ROOM) - call) / (double)ROOM;
    found    = (struct ski_zcopy_threshold){
           .shared   = zcopy_threshold_break_even(MESSAGE, copied),
           .host     = zcopy_threshold_break_even(MESSAGE + call, 2 * copied - attached),
           .per_byte = copied / ACROSS,
    };
    found.net = zcopy_threshold_net_of(&found);
    free(to);
    free(from);
    return found;
}

struct ski_zcopy_threshold ski_zcopy_threshold_measure(void)
{
    struct ski_zcopy_threshold is = {ski_config.zcopy_threshold_host,
                                     ski_config.zcopy_threshold_host,
                                     ski_config.zcopy_threshold_net, 0};

    if (!is.host || !is.net) {
        struct ski_zcopy_threshold found = zcopy_threshold_probe();

        if (!is.host)
            is.shared = found.shared, is.host = found.host;
        if (!is.net)
            is.net = found.net, is.per_byte = found.per_byte;
    }
    return is;
}

const char *ski_zcopy_threshold_str(char                              text[SKI_ZCOPY_THRESHOLD_STR],
                                    const struct ski_zcopy_threshold *from)
{
    snprintf(text, SKI_ZCOPY_THRESHOLD_STR,
             "from %zu bytes inside a process and in shared memory, %zu between processes (%s), "
             "%zu between hosts (%s)",
             from->shared, from->host, ski_config.zcopy_threshold_host ? "set" : "measured",
             from->net,
             ski_config.zcopy_threshold_net ? "set"
             : ski_round_trip_ns()          ? "measured"
                                            : "of an assumed round trip");
    return text;
}

/* ---- in a job ------------------------------------------------------------------------------- */

static struct ski_zcopy_threshold of_process;

static void zcopy_threshold_init(void)
{
    char text[SKI_ZCOPY_THRESHOLD_STR];

    of_process = ski_zcopy_threshold_measure();
    ski_log(SKI_LOG_INFO, "zero copy %s", ski_zcopy_threshold_str(text, &of_process));
}

static pthread_once_t                           zcopy_threshold_once = PTHREAD_ONCE_INIT;
static _Thread_local struct ski_zcopy_threshold zcopy_threshold_here; /* net == 0: not yet known */

/* Returns the thresholds of the process; each thread caches them. */
static const struct ski_zcopy_threshold *zcopy_threshold_get(void)
{
    if (zcopy_threshold_here.net == 0) {
        pthread_once(&zcopy_threshold_once, zcopy_threshold_init);
        zcopy_threshold_here = of_process;
    }
    return &zcopy_threshold_here;
}

/* Returns the threshold to PEs of other hosts, which the first calls measure by means of @p pe; -1:
 * by none. */
static size_t zcopy_threshold_net(struct ski_pe *self, int pe)
{
    const struct ski_zcopy_threshold *is = zcopy_threshold_get();

    if (is->per_byte == 0) /* it is set */
        return is->net;
    if (pe >= 0)
        ski_round_trip_probe(self, pe);
    return zcopy_threshold_net_of(is);
}

void ski_zcopy_threshold_reset(void)
{
    zcopy_threshold_once     = (pthread_once_t)PTHREAD_ONCE_INIT;
    zcopy_threshold_here.net = 0;
    ski_round_trip_reset();
}

void ski_zcopy_threshold_begin(const struct ski_pe *self)
{
    if (self->pe == 0 && ski_log_level >= SKI_LOG_INFO)
        (void)zcopy_threshold_get();
}

size_t skua_zero_copy_bytes(int pe)
{
    struct ski_pe *self = SKI_SELF();

    if (pe < 0 || pe >= self->pes)
        ski_misuse("%s: PE %d does not exist", __func__, pe);
    if (ski_job_index(self->job, pe) < 0)
        return zcopy_threshold_net(self, pe);
    return ski_job_process_of(self->job, pe) == self->process ? zcopy_threshold_get()->shared
                                                              : zcopy_threshold_get()->host;
}

bool ski_zcopy_pays(const struct ski_pe *self, int pe, const void *at, size_t bytes)
{
    if (ski_job_index(self->job, pe) >= 0 && ski_arena_contains(self->job->arena, at))
        return bytes >= zcopy_threshold_get()->shared;
    return bytes >= skua_zero_copy_bytes(pe);
}

/* Other hosts fetch the data, so that the copies which are saved here must pay for that. */
bool ski_zcopy_pays_all(struct ski_pe *self, const void *at, size_t bytes)
{
    if (!ski_zcopy_pays(self, self->pe, at, bytes))
        return false;
    return !ski_job_is_distributed(self->job) || bytes >= zcopy_threshold_net(self, -1);
}
