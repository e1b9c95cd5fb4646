/* SPDX-License-Identifier: Apache-2.0 */
/* ucx.c - the process's side of the driver: see ucx.h. */
#include "transport/ucx/ucx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/accept.h"
#include "transport/adapter.h"
#include "transport/files.h"
#include "transport/interface.h"

struct ski_ucx ski_ucx = {.lock = PTHREAD_MUTEX_INITIALIZER};

skua_status_t ski_ucx_status(ucs_status_t status)
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

skua_status_t ski_ucx_refuse(const char *what, ucs_status_t status)
{
    snprintf(ski_ucx.net->why(), SKI_WHY_MOST, "%s: %s", what, ucs_status_string(status));
    return ski_ucx_status(status);
}

/* ---- the process ------------------------------------------------------------------ */

/* A setting of UCX that the user has not made. */
static ucs_status_t set(ucp_config_t *config, const char *name, const char *value)
{
    char variable[64];

    snprintf(variable, sizeof variable, "UCX_%s", name);
    return getenv(variable) ? UCS_OK : ucp_config_modify(config, name, value);
}

const char *ski_ucx_interfaces(const struct ski_net *net)
{
    return ski_interfaces_meant(net->interfaces, net->one_host);
}

/* Whether what the settings name is there and up: UCX does without what is not, and would
 * find later that nobody can be reached. */
static bool check_interfaces(struct ski_net *net)
{
    if (getenv("UCX_NET_DEVICES") || (net->one_host && strcmp(net->interfaces, "auto") == 0))
        return true;
    return ski_interfaces_fit(net->interfaces, net->why(), SKI_WHY_MOST);
}

/* Where it listens, and how soon it notices that nobody is there. */
static ucs_status_t set_network(ucp_config_t *config, const struct ski_net *net)
{
    char         seconds[32];
    ucs_status_t status = UCS_OK;

    if (strcmp(ski_ucx_interfaces(net), "all") != 0)
        status = set(config, "NET_DEVICES", ski_ucx_interfaces(net));
    /* PEs of this host share the arena, or are to be as if they were on others.  Where UCX
     * takes shared memory, in containers say, it may never be woken; and its segments have names,
     * of which some may be left when a job is killed. */
    if (status == UCS_OK)
        status = set(config, "TLS", "^sm");
    snprintf(seconds, sizeof seconds, "%gs", net->peer_timeout / 3);
    return status == UCS_OK ? set(config, "KEEPALIVE_INTERVAL", seconds) : status;
}

/* Settings of TCP alone, which UCX reads from the environment. */
static void set_tcp(const struct ski_net *net)
{
    char seconds[32];

    snprintf(seconds, sizeof seconds, "%gs", net->peer_timeout / 3);
    setenv("UCX_TCP_KEEPIDLE", seconds, 0);
    /* Or a PE would stand still for minutes where nobody answers, deaf to all others. */
    setenv("UCX_TCP_CONN_NB", "y", 0);
    /* The default of 8 KB costs large messages a third and more. */
    setenv("UCX_TCP_TX_SEG_SIZE", SKI_SEGMENT, 0);
    setenv("UCX_TCP_RX_SEG_SIZE", SKI_SEGMENT, 0);
    if (strcmp(net->port_range, "any") != 0)
        setenv("UCX_TCP_PORT_RANGE", net->port_range, 0);
}

/* Whether there is an adapter that may be used. */
static bool has_hardware(void)
{
    const char *tls = getenv("UCX_TLS");

    return ski_adapter_present() && !(tls && strncmp(tls, "tcp", 3) == 0);
}

/* Whether so many ports of the range are free: UCX would try for ever. */
bool ski_ucx_check_ports(struct ski_net *net, int wanted)
{
    return ski_ports_are_free(net->port_range, wanted, net->why(), SKI_WHY_MOST);
}

static skua_status_t start(struct ski_net *net)
{
    ucp_params_t  params = {.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_REQUEST_SIZE |
                                          UCP_PARAM_FIELD_MT_WORKERS_SHARED |
                                          UCP_PARAM_FIELD_ESTIMATED_NUM_EPS,
                            .features = UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_AMO32 |
                                        UCP_FEATURE_AMO64 | UCP_FEATURE_WAKEUP,
                            .request_size      = sizeof(struct ski_note),
                            .mt_workers_shared = 1,
                            .estimated_num_eps = (size_t)net->processes};
    unsigned      major, minor, release;
    char          what[96];
    ucp_config_t *config;
    ucs_status_t  status;

    ski_ucx.net = net;
    ski_files_raise();
    ski_accept_guard(net, "libucs.so");
    if (!ski_ucx_check_ports(net, net->ports) || !check_interfaces(net))
        return SKUA_ERR_INVAL;
    set_tcp(net);
    status = ucp_config_read(NULL, NULL, &config);
    if (status != UCS_OK)
        return ski_ucx_refuse("UCX's settings cannot be read", status);
    status = set_network(config, net);
    if (status == UCS_OK)
        status = ucp_init(&params, config, &ski_ucx.context);
    ucp_config_release(config);
    if (status != UCS_OK) {
        snprintf(what, sizeof what, "UCX cannot start on %.60s", ski_ucx_interfaces(net));
        return ski_ucx_refuse(what, status);
    }
    ski_ucx.hardware = has_hardware();
    ucp_get_version(&major, &minor, &release);
    snprintf(ski_ucx.text, sizeof ski_ucx.text, "UCX %u.%u.%u over %s on %s", major, minor, release,
             getenv("UCX_TLS") ? getenv("UCX_TLS") : "the transports it finds",
             ski_ucx_interfaces(net));
    return SKUA_OK;
}

static void stop(void)
{
    ucp_cleanup(ski_ucx.context);
    ski_accept_unguard();
}

static const char *describe(void)
{
    return ski_ucx.text;
}

/* One segment of TCP, so that it lies in UCX's memory whole. */
static size_t best_packet(void)
{
    return ski_ucx.hardware ? (size_t)1 << 20 : SKI_PIECE_BYTES;
}

/* Over TCP any packet does; adapters have rendezvous beyond a few KB. */
static size_t small_packet(void)
{
    return ski_ucx.hardware ? (size_t)8 << 10 : (size_t)64 << 10;
}

__attribute__((visibility("default"))) const struct ski_driver ski_driver = {
    .version     = SKI_DRIVER_VERSION,
    .name        = "ucx",
    .start       = start,
    .stop        = stop,
    .describe    = describe,
    .open        = ski_ucx_open,
    .close       = ski_ucx_close,
    .address     = ski_ucx_address,
    .connect     = ski_ucx_connect,
    .send        = ski_ucx_send,
    .send_split  = ski_ucx_send_split,
    .progress    = ski_ucx_progress,
    .wait_fd     = ski_ucx_wait_fd,
    .packet      = best_packet,
    .small       = small_packet,
    .arm         = ski_ucx_arm,
    .by_hardware = ski_ucx_by_hardware,
    .expose      = ski_ucx_expose,
    .conceal     = ski_ucx_conceal,
    .key         = ski_ucx_key,
    .take_key    = ski_ucx_take_key,
    .drop_key    = ski_ucx_drop_key,
    .put         = ski_ucx_put,
    .get         = ski_ucx_get,
    .atomic      = ski_ucx_atomic,
    .flush       = ski_ucx_flush,
    .fence       = ski_ucx_fence,
};
