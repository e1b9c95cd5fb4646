/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ofi.c - what the libfabric driver has once per process, and its table of functions.
 *
 * All ports share a fabric and a domain, so memory is registered once.  A port is a reliable
 * datagram endpoint with its own completion queue and address vector (ofi_port.c); threads of
 * different ports share only the domain, which is FI_THREAD_SAFE.
 *
 * Most providers, tcp among them, move data only while a port is in progress(), also for puts and
 * gets that target it.
 */
#include <stdio.h>
#include <string.h>

#include "transport/fd_limit.h"
#include "transport/ofi/ofi.h"

struct ski_ofi ski_ofi = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void ofi_stop(void)
{
    if (ski_ofi.domain)
        fi_close(&ski_ofi.domain->fid);
    if (ski_ofi.fabric)
        fi_close(&ski_ofi.fabric->fid);
    if (ski_ofi.info)
        fi_freeinfo(ski_ofi.info);
    ski_liveness_stop();
    ski_ofi = (struct ski_ofi){.lock = PTHREAD_MUTEX_INITIALIZER};
}

static skua_status ofi_start_failed(struct ski_net *net, const char *what, int error)
{
    snprintf(net->last_error(), SKI_REASON_MAX, "%s of %s on %s: %s", what,
             ski_ofi.info->fabric_attr->prov_name, ski_ofi.info->domain_attr->name,
             fi_strerror(-error));
    ofi_stop();
    return SKUA_ERR_SYSTEM;
}

static void ofi_format_description(char *to, size_t size)
{
    const struct fi_info *info    = ski_ofi.info;
    uint32_t              version = fi_version();

    snprintf(to, size, "libfabric %u.%u over %s on %s", FI_MAJOR(version), FI_MINOR(version),
             info->fabric_attr->prov_name, info->domain_attr->name);
}

bool ski_ofi_is_tcp(void)
{
    return strncmp(ski_ofi.info->fabric_attr->prov_name, "tcp", 3) == 0;
}

/* Allows other processes to monitor this one at the IP address of the provider, if that is tcp. */
static bool ofi_listen(const struct ski_net *net)
{
    const struct fi_info   *info = ski_ofi.info;
    struct sockaddr_storage addr = {0};

    if (!ski_ofi_is_tcp())
        return true;
    if (info->src_addr && info->src_addrlen <= sizeof addr)
        memcpy(&addr, info->src_addr, info->src_addrlen);
    return ski_liveness_start(net, &addr, 1);
}

static skua_status ofi_start(struct ski_net *net)
{
    skua_status status = ski_ofi_provider_select(net, &ski_ofi.info);
    int         error;

    if (status != SKUA_OK)
        return status;
    ski_fd_limit_raise();
    ski_ofi.net                     = net;
    ski_ofi.rma                     = ski_ofi.info->caps & FI_RMA;
    ski_ofi.atomics                 = ski_ofi.info->caps & FI_ATOMIC;
    ski_ofi.info->tx_attr->op_flags = 0; /* delivery is for puts alone */
    error                           = fi_fabric(ski_ofi.info->fabric_attr, &ski_ofi.fabric, NULL);
    if (error)
        return ofi_start_failed(net, "fi_fabric", error);
    error = fi_domain(ski_ofi.fabric, ski_ofi.info, &ski_ofi.domain, NULL);
    if (error)
        return ofi_start_failed(net, "fi_domain", error);
    if (!ofi_listen(net)) {
        ofi_stop();
        return SKUA_ERR_SYSTEM;
    }
    ofi_format_description(ski_ofi.about, sizeof ski_ofi.about);
    return SKUA_OK;
}

static const char *ofi_describe(void)
{
    return ski_ofi.about;
}

static bool ofi_rma_offload(void)
{
    return !ski_ofi_is_tcp();
}

static size_t ofi_eager_max(void)
{
    return SKI_OFI_EAGER_MAX;
}

extern const struct ski_driver ski_driver;

__attribute__((visibility("default"))) const struct ski_driver ski_driver = {
    .version      = SKI_DRIVER_VERSION,
    .name         = "ofi",
    .start        = ofi_start,
    .stop         = ofi_stop,
    .describe     = ofi_describe,
    .open         = ski_ofi_open,
    .close        = ski_ofi_close,
    .address      = ski_ofi_address,
    .connect      = ski_ofi_connect,
    .send         = ski_ofi_send,
    .send_split   = ski_ofi_send_split,
    .progress     = ski_ofi_progress,
    .rma_offload  = ofi_rma_offload,
    .wait_fd      = ski_ofi_wait_fd,
    .eager_max    = ofi_eager_max,
    .arm          = ski_ofi_arm,
    .mem_reg      = ski_ofi_mem_reg,
    .mem_dereg    = ski_ofi_mem_dereg,
    .rkey_pack    = ski_ofi_rkey_pack,
    .rkey_unpack  = ski_ofi_rkey_unpack,
    .rkey_destroy = ski_ofi_rkey_destroy,
    .put          = ski_ofi_put,
    .get          = ski_ofi_get,
    .atomic       = ski_ofi_atomic,
    .flush        = ski_ofi_flush,
};
