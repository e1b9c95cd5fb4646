/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi.c - the driver that carries packets over MPI-3, with the MPI that it is compiled for.
 *
 * It is for machines where MPI knows the network best, and for programs that use MPI themselves.
 * Packets are messages in communicators of the driver (mpi_port.h), which do not meet those of the
 * program.
 *
 * start() is collective, as MPI_Comm_dup is.  So all processes first agree on whether each of them
 * can use the driver; if one cannot, all refuse.
 *
 * Threads.  With MPI_THREAD_MULTIPLE ports are independent, unless the library does not order data
 * between threads.  Then, and with MPI_THREAD_SERIALIZED, calls of MPI take turns (mpi_session.h),
 * of which a program that calls MPI on another thread does not know. With less there can be one
 * port, that of the main thread.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "transport/mpi/mpi_port.h"
#include "transport/mpi/mpi_session.h"

_Static_assert(SKI_MPI_REASON_MAX == SKI_REASON_MAX, "reasons are passed on");

static char mpi_description[96];

static bool mpi_check_size(struct ski_net *net)
{
    if (ski_mpi.size == net->processes)
        return true;
    snprintf(net->last_error(), SKI_REASON_MAX,
             "the job has %d processes, but MPI_COMM_WORLD has %d", net->processes, ski_mpi.size);
    return false;
}

static bool mpi_check_process(struct ski_net *net)
{
    if (ski_mpi.rank != net->process)
        snprintf(net->last_error(), SKI_REASON_MAX,
                 "process %d of the job is rank %d in MPI_COMM_WORLD", net->process, ski_mpi.rank);
    else if (ski_mpi.level < MPI_THREAD_SERIALIZED && net->ports > 1)
        snprintf(net->last_error(), SKI_REASON_MAX,
                 "MPI was initialised for one thread (%s), but a process of the job needs %d",
                 ski_mpi.level == MPI_THREAD_SINGLE ? "MPI_THREAD_SINGLE" : "MPI_THREAD_FUNNELED",
                 net->ports);
    else
        return true;
    return false;
}

/* Returns whether all processes can use the driver. */
static bool mpi_all_agree(struct ski_net *net)
{
    int mine = mpi_check_process(net), all = 0;

    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (mine && !all)
        snprintf(net->last_error(), SKI_REASON_MAX, "another process of the job cannot use it");
    return all;
}

static void mpi_create_comms(struct ski_net *net)
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
    ski_mpi_net.tag_most = found ? *tag_most : 32767; /* guaranteed by the standard */
    ski_mpi_net.net      = net;
    atomic_store(&ski_mpi_net.ports, 0);
}

static skua_status mpi_start(struct ski_net *net)
{
    if (!ski_mpi_session_begin(net->processes > 1, net->last_error()))
        return SKUA_ERR_UNSUPPORTED;
    if (!mpi_check_size(net) || !mpi_all_agree(net)) {
        ski_mpi_session_end();
        return SKUA_ERR_UNSUPPORTED;
    }
    if (strcmp(net->interfaces, "auto") != 0 || strcmp(net->port_range, "any") != 0)
        net->log(SKI_LOG_WARN, "%s selects interfaces and ports itself: set them there",
                 ski_mpi.label);
    mpi_create_comms(net);
    return SKUA_OK;
}

static void mpi_stop(void)
{
    MPI_Type_free(&ski_mpi_net.block);
    MPI_Comm_free(&ski_mpi_net.bulk);
    MPI_Comm_free(&ski_mpi_net.packets);
    MPI_Comm_free(&ski_mpi_net.first);
    ski_mpi_session_end();
}

static const char *mpi_describe(void)
{
    static const char *const threads[] = {
        [MPI_THREAD_SINGLE]     = ", for one thread",
        [MPI_THREAD_FUNNELED]   = ", for one thread",
        [MPI_THREAD_SERIALIZED] = "",
        [MPI_THREAD_MULTIPLE]   = "",
    };

    snprintf(mpi_description, sizeof mpi_description, "%s%s", ski_mpi.label,
             ski_mpi.serialized ? ", one thread at a time" : threads[ski_mpi.level]);
    return mpi_description;
}

static int mpi_wait_fd(struct ski_port *port)
{
    (void)port;
    return -1;
}

static bool mpi_arm(struct ski_port *port)
{
    (void)port;
    return false;
}

static size_t mpi_eager_max(void)
{
    return SKI_MPI_EAGER_MAX;
}

SKUA_API const struct ski_driver ski_driver = {
    .version      = SKI_DRIVER_VERSION,
    .name         = "mpi",
    .start        = mpi_start,
    .stop         = mpi_stop,
    .describe     = mpi_describe,
    .open         = ski_mpi_open,
    .close        = ski_mpi_close,
    .address      = ski_mpi_address,
    .connect      = ski_mpi_connect,
    .send         = ski_mpi_send,
    .send_split   = ski_mpi_send_split,
    .keeps_direct = true,
    .progress     = ski_mpi_progress,
    .wait_fd      = mpi_wait_fd,
    .eager_max    = mpi_eager_max,
    .arm          = mpi_arm,
};
