/* SPDX-License-Identifier: Apache-2.0 */
/* ucx.c - the context of the process, its settings, and the table of functions of the UCX driver:
 * see ucx.h. */
#include "transport/ucx/ucx.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transport/adapter.h"
#include "transport/fd_limit.h"
#include "transport/netif.h"

struct ski_ucx ski_ucx = {.lock = PTHREAD_MUTEX_INITIALIZER};

skua_status ski_ucx_status(ucs_status_t status)
{
    switch (status) {
    case UCS_OK: return SKUA_OK;
    case UCS_INPROGRESS: return SKUA_PENDING;
    case UCS_ERR_NO_RESOURCE: return SKUA_ERR_AGAIN;
    case UCS_ERR_NO_MEMORY: return SKUA_ERR_NOMEM;
    case UCS_ERR_UNSUPPORTED: return SKUA_ERR_UNSUPPORTED;
    case UCS_ERR_INVALID_PARAM: return SKUA_ERR_INVAL;
    default: return SKUA_ERR_UNREACH;
    }
}

skua_status ski_ucx_failed(const char *what, ucs_status_t status)
{
    snprintf(ski_ucx.net->last_error(), SKI_REASON_MAX, "%s: %s", what, ucs_status_string(status));
    return ski_ucx_status(status);
}

/* ---- the process ------------------------------------------------------------------ */

/* Changes a setting of UCX that the user has not set. */
static ucs_status_t ucx_config_set(ucp_config_t *config, const char *name, const char *value)
{
    char variable[64];

    snprintf(variable, sizeof variable, "UCX_%s", name);
    return getenv(variable) ? UCS_OK : ucp_config_modify(config, name, value);
}

const char *ski_ucx_interfaces(const struct ski_net *net)
{
    return ski_netif_resolve(net->interfaces, net->one_host);
}

/* Returns whether UCX can find the interfaces, in /sys, and the selected ones are up: it ignores
 * one that is not, and later reaches no peer. */
static bool ucx_check_interfaces(struct ski_net *net)
{
    if (access("/sys/class/net", R_OK) != 0) {
        snprintf(net->last_error(), SKI_REASON_MAX,
                 "UCX finds no interfaces: /sys/class/net: %s (is /sys mounted?)", strerror(errno));
        return false;
    }
    return getenv("UCX_NET_DEVICES") ||
           ski_netif_usable(ski_ucx_interfaces(net), net->last_error(), SKI_REASON_MAX);
}

/* Sets the interfaces, and how soon a silent peer is noticed. */
static ucs_status_t ucx_set_network(ucp_config_t *config, const struct ski_net *net)
{
    char         seconds[32];
    ucs_status_t status = UCS_OK;

    if (strcmp(ski_ucx_interfaces(net), "all") != 0)
        status = ucx_config_set(config, "NET_DEVICES", ski_ucx_interfaces(net));
    /* Without shared memory: PEs of this host share the arena, or are to behave as if they were on
     * several hosts. With it, in containers for example, UCX may never be woken, and segments with
     * names may be left when a job is killed. */
    if (status == UCS_OK)
        status = ucx_config_set(config, "TLS", "^sm");
    snprintf(seconds, sizeof seconds, "%gs", net->peer_timeout / 3);
    return status == UCS_OK ? ucx_config_set(config, "KEEPALIVE_INTERVAL", seconds) : status;
}

/* Sets what UCX reads from the environment for TCP alone. */
static void ucx_set_tcp(const struct ski_net *net)
{
    char seconds[32];

    snprintf(seconds, sizeof seconds, "%gs", net->peer_timeout / 3);
    setenv("UCX_TCP_KEEPIDLE", seconds, 0);
    /* Without it a PE would block for minutes where no peer answers. */
    setenv("UCX_TCP_CONN_NB", "y", 0);
    /* The default of 8 KB makes large messages a third slower and more. */
    setenv("UCX_TCP_TX_SEG_SIZE", SKI_UCX_SEGMENT, 0);
    setenv("UCX_TCP_RX_SEG_SIZE", SKI_UCX_SEGMENT, 0);
    if (strcmp(net->port_range, "any") != 0)
        setenv("UCX_TCP_PORT_RANGE", net->port_range, 0);
}

/* Returns whether there is an adapter that may be used. */
static bool ucx_find_adapter(void)
{
    const char *tls = getenv("UCX_TLS");

    return ski_adapter_present() && !(tls && strncmp(tls, "tcp", 3) == 0);
}

/* Returns whether @p wanted ports of the range are free: UCX would retry forever. */
bool ski_ucx_check_ports(struct ski_net *net, int wanted)
{
    return ski_port_range_has_free(net->port_range, wanted, net->last_error(), SKI_REASON_MAX);
}

/* Allows other processes to monitor this one, where UCX uses TCP (transport/liveness.h). */
static bool ucx_listen(const struct ski_net *net)
{
    struct sockaddr_storage addrs[SKI_SOCKADDRS_MAX];
    int n = ski_netif_addresses(ski_ucx_interfaces(net), addrs, SKI_SOCKADDRS_MAX);

    return ski_ucx.has_adapter || ski_liveness_start(net, addrs, n);
}

static skua_status ucx_start(struct ski_net *net)
{
    ucp_params_t  params = {.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_REQUEST_SIZE |
                                          UCP_PARAM_FIELD_MT_WORKERS_SHARED |
                                          UCP_PARAM_FIELD_ESTIMATED_NUM_EPS,
                            .features = UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_AMO32 |
                                        UCP_FEATURE_AMO64 | UCP_FEATURE_WAKEUP,
                            .request_size      = sizeof(struct ski_ucx_request),
                            .mt_workers_shared = 1,
                            .estimated_num_eps = (size_t)net->processes};
    unsigned      major, minor, release;
    char          what[96];
    ucp_config_t *config;
    ucs_status_t  status;

    ski_ucx.net = net;
    ski_fd_limit_raise();
    ski_ucx.has_adapter = ucx_find_adapter();
    if (!ski_ucx_check_ports(net, net->ports + !ski_ucx.has_adapter) || !ucx_check_interfaces(net))
        return SKUA_ERR_INVAL;
    ucx_set_tcp(net);
    status = ucp_config_read(NULL, NULL, &config);
    if (status != UCS_OK)
        return ski_ucx_failed("UCX's settings cannot be read", status);
    status = ucx_set_network(config, net);
    if (status == UCS_OK)
        status = ucp_init(&params, config, &ski_ucx.context);
    ucp_config_release(config);
    if (status != UCS_OK) {
        snprintf(what, sizeof what, "UCX cannot start on %.60s", ski_ucx_interfaces(net));
        return ski_ucx_failed(what, status);
    }
    if (!ucx_listen(net)) {
        ucp_cleanup(ski_ucx.context);
        return SKUA_ERR_SYSTEM;
    }
    ucp_get_version(&major, &minor, &release);
    snprintf(ski_ucx.text, sizeof ski_ucx.text, "UCX %u.%u.%u over %s on %s", major, minor, release,
             getenv("UCX_TLS") ? getenv("UCX_TLS") : "the transports it finds",
             ski_ucx_interfaces(net));
    return SKUA_OK;
}

static void ucx_stop(void)
{
    ucp_cleanup(ski_ucx.context);
    ski_liveness_stop();
}

static const char *ucx_describe(void)
{
    return ski_ucx.text;
}

/* Over TCP the size of a segment, so that a packet is complete in the memory of UCX. */
static size_t ucx_preferred_packet(void)
{
    return ski_ucx.has_adapter ? (size_t)1 << 20 : SKI_FRAGMENT_BYTES;
}

/* Over TCP any size would do; adapters use a rendezvous above a few KB. */
static size_t ucx_eager_max(void)
{
    return ski_ucx.has_adapter ? (size_t)8 << 10 : (size_t)64 << 10;
}

__attribute__((visibility("default"))) const struct ski_driver ski_driver = {
    .version          = SKI_DRIVER_VERSION,
    .name             = "ucx",
    .start            = ucx_start,
    .stop             = ucx_stop,
    .describe         = ucx_describe,
    .open             = ski_ucx_open,
    .close            = ski_ucx_close,
    .address          = ski_ucx_address,
    .connect          = ski_ucx_connect,
    .send             = ski_ucx_send,
    .send_split       = ski_ucx_send_split,
    .split_max        = SKI_FRAGMENT_BYTES,
    .progress         = ski_ucx_progress,
    .wait_fd          = ski_ucx_wait_fd,
    .preferred_packet = ucx_preferred_packet,
    .eager_max        = ucx_eager_max,
    .arm              = ski_ucx_arm,
    .rma_offload      = ski_ucx_rma_offload,
    .mem_reg          = ski_ucx_mem_reg,
    .mem_dereg        = ski_ucx_mem_dereg,
    .rkey_pack        = ski_ucx_rkey_pack,
    .rkey_unpack      = ski_ucx_rkey_unpack,
    .rkey_destroy     = ski_ucx_rkey_destroy,
    .put              = ski_ucx_put,
    .get              = ski_ucx_get,
    .atomic           = ski_ucx_atomic,
    .flush            = ski_ucx_flush,
    .fence            = ski_ucx_fence,
};
