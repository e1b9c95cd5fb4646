/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_process.c - the network of this process: the choice of its driver, the ports of its PEs, and
 * how a PE sleeps on its port (net.h, net_process.h).
 */
#include "core/net/net_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/config.h"
#include "base/memory.h"
#include "base/topology.h"
#include "core/net/address_exchange.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "transport/secret.h"
#include "transport/select.h"

#define NAP_NS          UINT64_C(200000)     /* sleep at most, if the driver cannot wake the PE   */
#define FLIGHT_NS       UINT64_C(1000000)    /* ... while it holds packets of this PE             */
#define LOOK_NS         UINT64_C(1000000000) /* ... to notice that a peer is lost                 */
#define SHARE_PROCESSES 32                   /* processes from which on PEs share connections     */

struct ski_net_process ski_net_here;

const struct ski_driver *ski_net_driver(void)
{
    return ski_net_here.driver;
}

const char *ski_net_reason(skua_status status)
{
    return ski_driver_last_error()[0] ? ski_driver_last_error() : skua_status_str(status);
}

size_t ski_net_packet_bytes(void)
{
    return ski_net_here.driver->preferred_packet ? ski_net_here.driver->preferred_packet()
                                                 : (size_t)1 << 20;
}

bool ski_net_has_io_threads(int pe)
{
    const struct ski_boot *boot = ski_net_here.boot;

    return ski_job_process_of(boot->job, pe) == boot->process
               ? ski_net_here.io_threads
               : ski_exchange_has_io_threads(boot, ski_net_here.driver, pe);
}

static struct ski_net_port *net_port_of(int pe)
{
    int number = ski_exchange_port_number(ski_net_here.boot->job, pe);

    ski_assert(number >= 0 && number < ski_net_here.count);
    return &ski_net_here.port[number];
}

/* ---- sleep -------------------------------------------------------------------------- */

/* Sleeps until a message arrives within the host or the driver has something to do. */
static void net_sleep_poll(struct ski_pe *self, struct ski_job *until_exit, uint64_t ns)
{
    struct ski_net_port *net = self->net;

    ski_host_sleep_poll(self->host, until_exit, self->index, &self->reader, net->bell, net->wait_fd,
                        ns);
    if (ski_net_here.driver->disarm)
        ski_net_here.driver->disarm(net->port);
}

void ski_net_sleep(struct ski_pe *self, uint64_t ns)
{
    struct ski_net_port *net        = self->net;
    struct ski_job      *until_exit = ski_pe_exiting(self) ? NULL : self->job; /* not again */

    if (net->waiting && ns > NAP_NS)
        ns = NAP_NS;
    else if (net->in_flight && !ski_net_here.driver->wakes_for_sends && ns > FLIGHT_NS)
        ns = FLIGHT_NS;                      /* the driver may want to go on with them */
    else if (net->count > 0 && ns > LOOK_NS) /* drivers look at their peers in progress() */
        ns = LOOK_NS;
    if (net->wait_fd < 0)
        ski_host_sleep(self->host, until_exit, self->index, &self->reader,
                       ns < NAP_NS ? ns : NAP_NS);
    else if (ski_net_here.driver->arm(net->port))
        net_sleep_poll(self, until_exit, ns);
}

/* ---- life --------------------------------------------------------------------------- */

/* Opens the port of a PE, and its wakeup socket if the driver has a descriptor to sleep on. */
static skua_status net_open_port(struct ski_net_port *net, int pe)
{
    bool        hidden = pe >= ski_net_here.boot->job->pes; /* a number that users do not know */
    skua_status status;

    ski_driver_last_error()[0] = '\0';
    status                     = ski_net_here.driver->open(pe, &ski_net_upcalls, net, &net->port);
    if (status != SKUA_OK)
        return ski_fail(status, "%s %d cannot use the network through %s: %s",
                        hidden ? "process" : "PE", hidden ? ski_net_here.boot->process : pe,
                        ski_net_here.driver->name, ski_net_reason(status));
    net->wait_fd = ski_net_here.driver->wait_fd(net->port);
    net->bell    = net->wait_fd < 0 ? -1
                                    : ski_host_wakeup_open(ski_net_here.boot->job->host,
                                                           ski_job_index(ski_net_here.boot->job, pe));
    net->room    = 16;
    net->table   = ski_calloc(net->room, sizeof *net->table);
    return net->wait_fd >= 0 && net->bell < 0 ? SKUA_ERR_SYSTEM : SKUA_OK;
}

/* Returns whether the PEs of a process share its connections.  All processes must decide alike. */
static bool net_shares(const struct ski_job *job)
{
    if (ski_config.shared_connections >= 0)
        return ski_config.shared_connections > 0;
    return job->processes >= SHARE_PROCESSES && job->pes > job->processes;
}

/* Writes the description of the job for the driver. */
static void net_describe_job(const struct ski_boot *boot)
{
    static int            io_cpu[SKI_IO_CPUS_MAX];
    const struct ski_job *job = boot->job;
    int io_cpus = ski_topology_parse_list(ski_config.io_cpus, io_cpu, SKI_IO_CPUS_MAX);

    ski_net_here.net = (struct ski_net){
        .process      = boot->process,
        .processes    = job->processes,
        .ports        = ski_net_here.count,
        .one_host     = job->one_host,
        .interfaces   = ski_config.net_interfaces,
        .port_range   = ski_config.ports,
        .peer_timeout = ski_config.peer_timeout,
        .share        = net_shares(job),
        .rails        = (unsigned)ski_config.rails,
        .io_cpu       = io_cpu,
        .io_cpus      = io_cpus > 0 ? io_cpus : 0,
        .progress_pe  = ski_config.progress_thread ? ski_job_progress_pe(job, boot->process) : 0,
        .log          = ski_log_write,
        .security     = (enum ski_security)ski_config.security,
        .prove        = ski_secret_prove,
        .derive       = ski_secret_derive,
        .last_error   = ski_driver_last_error};
}

/* Selects the driver, opens the ports of this process and publishes their addresses. */
static skua_status net_open(const struct ski_boot *boot)
{
    struct ski_job   *job    = boot->job;
    skua_status       status = SKUA_OK;
    int               pes    = ski_job_pes_of(job, boot->process);
    struct ski_port **ports;

    ski_net_here.boot  = boot;
    ski_net_here.count = pes + 2;
    ski_net_here.port  = ski_calloc_line((size_t)ski_net_here.count * sizeof *ski_net_here.port);
    net_describe_job(boot);
    status = ski_secret_begin(ski_net_here.net.security, job->secret, &ski_net_here.net.crypto);
    if (status != SKUA_OK)
        return status;
    ski_net_here.driver = ski_driver_select(&ski_net_here.net);
    if (!ski_net_here.driver)
        return SKUA_ERR_UNREACH;
    ski_net_here.io_threads =
        ski_net_here.driver->run_two && ski_net_allows_io_threads(&ski_net_here.net);
    ski_net_here.small    = ski_net_here.driver->eager_max();
    ski_net_here.coalesce = ski_net_here.small - sizeof(struct skua_msg);
    ski_net_here.burst    = ski_ns_to_ticks(SKI_NET_BURST_NS);
    ski_net_here.hold     = ski_ns_to_ticks(SKI_NET_HOLD_NS);
    ski_net_here.patience = ski_ns_to_ticks(SKI_NET_PATIENCE_NS);
    ports                 = ski_calloc((size_t)ski_net_here.count, sizeof *ports);
    for (int i = 0; status == SKUA_OK && i < ski_net_here.count; i++)
        status = net_open_port(&ski_net_here.port[i],
                               i < pes ? ski_job_first_pe(job, boot->process) + i
                                       : ski_job_progress_pe(job, boot->process) + i - pes);
    for (int i = 0; i < ski_net_here.count; i++)
        ports[i] = ski_net_here.port[i].port;
    if (status == SKUA_OK)
        status = ski_exchange_publish(boot, ski_net_here.driver, ports, ski_net_here.count,
                                      ski_net_here.io_threads);
    free(ports);
    return status;
}

skua_status ski_net_open(const struct ski_boot *boot)
{
    static const char *const prefix[] = {"UCX_", "FI_", "IPATH_", NULL};
    skua_status              status;

    if (!ski_job_is_distributed(boot->job))
        return SKUA_OK;
    ski_environment_save(&ski_net_here.environment, prefix);
    status = net_open(boot);
    if (!ski_net_here.driver)
        ski_environment_restore(&ski_net_here.environment);
    return status;
}

void ski_net_close(void)
{
    if (!ski_net_here.driver)
        return;
    for (int i = 0; i < ski_net_here.count; i++) {
        struct ski_net_port *net = &ski_net_here.port[i];

        ski_net_here.driver->close(net->port);
        if (net->bell >= 0)
            close(net->bell);
        for (uint32_t j = 0; j < net->room; j++)
            if (net->table[j])
                ski_net_peer_free(net->table[j]);
        free(net->table);
    }
    ski_net_here.driver->stop();
    ski_net_here.driver = NULL;
    ski_exchange_forget();
    ski_environment_restore(&ski_net_here.environment);
    free(ski_net_here.port);
}

void ski_net_begin(struct ski_pe *self)
{
    if (!ski_net_here.driver)
        return;
    self->net = net_port_of(self->pe);
    ski_assert(!self->net->self); /* a port has one PE */
    self->net->self     = self;
    self->net->handlers = ski_pe_hidden(self) ? SKI_HANDLERS : ski_handlers.count;
    self->net->sends = ski_ack_policy_make(ski_ns_to_ticks((uint64_t)(ski_config.ack_delay * 1e3)));
    self->net->acks  = (struct ski_deferred_ack){.policy = self->net->sends};
    ski_progress_register(&self->progress, &ski_net_source, ski_net_here.driver->wakes_for_sends,
                          ski_ns_to_ticks(SKI_PROGRESS_NS));
}

void ski_net_end(struct ski_pe *self)
{
    if (self->net)
        self->net->self = NULL;
}
