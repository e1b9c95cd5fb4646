/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi.c - the driver that carries packets over MPI-3, whichever MPI it is built with.
 *
 * For machines where the MPI is what knows the network best, and for programs that use
 * MPI themselves.  Packets go as messages in communicators of our own (port.h), so
 * that they do not meet those of the program.
 *
 * Starting is a matter of all processes together: MPI_Comm_dup waits for them.  So
 * before that they agree on whether all of them can; one that cannot makes all refuse.
 *
 * Threads.  With MPI_THREAD_MULTIPLE ports are independent.  With MPI_THREAD_SERIALIZED
 * calls of MPI take turns (session.h), which a program that calls MPI itself on another
 * thread knows nothing of.  With less there can be one port, the main thread's.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "transport/mpi/port.h"
#include "transport/mpi/session.h"

_Static_assert(SKI_MPI_WHY == SKI_WHY_MOST, "reasons are passed on");

static char words[96];

static bool is_of_size(struct ski_net *net)
{
    if (ski_mpi.size == net->processes)
        return true;
    snprintf(net->why(), SKI_WHY_MOST, "the job has %d processes, but MPI_COMM_WORLD has %d",
             net->processes, ski_mpi.size);
    return false;
}

static bool is_fit(struct ski_net *net)
{
    if (ski_mpi.rank != net->process)
        snprintf(net->why(), SKI_WHY_MOST, "process %d of the job is rank %d in MPI_COMM_WORLD",
                 net->process, ski_mpi.rank);
    else if (ski_mpi.level < MPI_THREAD_SERIALIZED && net->ports > 1)
        snprintf(net->why(), SKI_WHY_MOST,
                 "MPI was initialised for one thread (%s), but a process of the job needs %d",
                 ski_mpi.level == MPI_THREAD_SINGLE ? "MPI_THREAD_SINGLE" : "MPI_THREAD_FUNNELED",
                 net->ports);
    else
        return true;
    return false;
}

/* Whether all are fit. */
static bool agree(struct ski_net *net)
{
    int mine = is_fit(net), all = 0;

    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (mine && !all)
        snprintf(net->why(), SKI_WHY_MOST, "another process of the job cannot use it");
    return all;
}

static void set_up(struct ski_net *net)
{
    MPI_Comm *const comms[] = {&ski_mpi_net.first, &ski_mpi_net.packets, &ski_mpi_net.bulk};
    int            *tag_most, found;

    for (size_t i = 0; i < sizeof comms / sizeof *comms; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, comms[i]);
        MPI_Comm_set_errhandler(*comms[i], MPI_ERRORS_RETURN);
    }
    MPI_Type_contiguous(SKI_MPI_BLOCK, MPI_BYTE, &ski_mpi_net.block);
    MPI_Type_commit(&ski_mpi_net.block);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_most, &found);
    ski_mpi_net.tag_most = found ? *tag_most : 32767; /* which every MPI has */
    ski_mpi_net.net      = net;
    atomic_store(&ski_mpi_net.ports, 0);
}

static skua_status_t start(struct ski_net *net)
{
    if (!ski_mpi_session_begin(net->processes > 1, net->why()))
        return SKUA_ERR_UNSUPPORTED;
    if (!is_of_size(net) || !agree(net)) {
        ski_mpi_session_end();
        return SKUA_ERR_UNSUPPORTED;
    }
    if (strcmp(net->interfaces, "auto") != 0 || strcmp(net->port_range, "any") != 0)
        net->log(SKI_LOG_WARN, "interfaces and ports are up to %s: set them there", ski_mpi.label);
    set_up(net);
    return SKUA_OK;
}

static void stop(void)
{
    MPI_Type_free(&ski_mpi_net.block);
    MPI_Comm_free(&ski_mpi_net.bulk);
    MPI_Comm_free(&ski_mpi_net.packets);
    MPI_Comm_free(&ski_mpi_net.first);
    ski_mpi_session_end();
}

static const char *describe(void)
{
    static const char *const threads[] = {
        [MPI_THREAD_SINGLE]     = ", for one thread",
        [MPI_THREAD_FUNNELED]   = ", for one thread",
        [MPI_THREAD_SERIALIZED] = ", one thread at a time",
        [MPI_THREAD_MULTIPLE]   = "",
    };

    snprintf(words, sizeof words, "%s%s", ski_mpi.label, threads[ski_mpi.level]);
    return words;
}

static int no_fd(struct ski_port *port)
{
    (void)port;
    return -1;
}

static bool cannot_arm(struct ski_port *port)
{
    (void)port;
    return false;
}

static size_t small_packet(void)
{
    return SKI_MPI_SMALL;
}

SKUA_API const struct ski_driver ski_driver = {
    .version  = SKI_DRIVER_VERSION,
    .name     = "mpi",
    .start    = start,
    .stop     = stop,
    .describe = describe,
    .open     = ski_mpi_open,
    .close    = ski_mpi_close,
    .address  = ski_mpi_address,
    .connect  = ski_mpi_connect,
    .send     = ski_mpi_send,
    .progress = ski_mpi_progress,
    .wait_fd  = no_fd,
    .small    = small_packet,
    .arm      = cannot_arm,
};
