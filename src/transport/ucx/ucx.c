/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ucx.c - packets through UCX (transport/driver.h).
 *
 * One context a process, one worker a port, one endpoint a peer.  A packet is an
 * active message without header; UCX moves large ones by rendezvous, from the
 * sender's memory straight into what room() gave, or, over TCP, we cut them into
 * pieces (pieces.h).  Endpoints report errors, so a peer that is gone is noticed.
 *
 * UCX calls back with a request, in which we keep whose it is (struct note), and a
 * pointer of ours: the packet, or the cookie.  A request that is over when the call
 * returns has neither.
 *
 * Over TCP, UCX relies on the system to find out that a host has gone, which may take it
 * a quarter of an hour: so we look at UCX's sockets ourselves (transport/guard.h).  They
 * are known by the names that a port listens at, which go before UCX's own address:
 *
 *      | count (8) | names: sockaddr_in6 ... | UCX's |
 */
#include "transport/driver.h"

#include <glob.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#include "transport/ucx/pieces.h"
#include "transport/guard.h"
#include "transport/interface.h"

#define PACKET_ID     1
#define SENDS_MOST    1024 /* packets to a peer that UCX holds: each costs 300 bytes beside it */
#define CLOSE_SECONDS 5
#define NAMES         8                           /* of a port, at most */
#define LISTENERS     1024                        /* of the process     */
#define NAME_BYTES    sizeof(struct sockaddr_in6) /* on the way */

/* Where a port listens. */
struct names {
    uint64_t                count;
    struct sockaddr_storage name[NAMES];
};

struct ski_port {
    ucp_worker_h              worker;
    const struct ski_upcalls *up;
    void                     *owner;
    struct ski_peer          *peers;
    unsigned                  events; /* upcalls since progress() was called */
    struct ski_pieces         pieces;
    double                    looked_at;
    struct names              names;
    pthread_t                 opener;
    struct ski_port          *next; /* of the process */
};

struct ski_peer {
    struct ski_port *port;
    ucp_ep_h         ep;
    int              pe;
    bool             shared; /* reached through shared memory alone */
    unsigned         sends;  /* packets to it that UCX holds        */
    bool             by_tcp;
    struct names     names;
    struct ski_peer *next;
};

struct ski_memory {
    ucp_mem_h handle;
};

struct ski_key {
    ucp_rkey_h handle;
};

/* In a request that UCX holds. */
struct note {
    struct ski_port *port;
    struct ski_peer *peer;  /* of a send    */
    size_t           bytes; /* of a receive */
};

static struct {
    ucp_context_h    context;
    struct ski_net  *net;
    char             text[128];
    bool             hardware;
    pthread_mutex_t  lock; /* of the list */
    struct ski_port *ports;
} ucx = {.lock = PTHREAD_MUTEX_INITIALIZER};

static skua_status_t status_of(ucs_status_t status)
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

static skua_status_t refuse(const char *what, ucs_status_t status)
{
    snprintf(ucx.net->why(), SKI_WHY_MOST, "%s: %s", what, ucs_status_string(status));
    return status_of(status);
}

/* ---- the process ------------------------------------------------------------------ */

/* A setting of UCX that the user has not made. */
static ucs_status_t set(ucp_config_t *config, const char *name, const char *value)
{
    char variable[64];

    snprintf(variable, sizeof variable, "UCX_%s", name);
    return getenv(variable) ? UCS_OK : ucp_config_modify(config, name, value);
}

static const char *interfaces(const struct ski_net *net)
{
    if (strcmp(net->interfaces, "auto") != 0)
        return net->interfaces;
    return net->one_host ? "lo" : "all";
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

    if (strcmp(interfaces(net), "all") != 0)
        status = set(config, "NET_DEVICES", interfaces(net));
    /* Whom we reach is on another host.  Where UCX thinks otherwise, in containers, it may
     * take shared memory and never be woken. */
    if (status == UCS_OK && !net->one_host)
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
    glob_t      found;
    bool        any = glob("/sys/class/infiniband/*", GLOB_NOSORT, NULL, &found) == 0;

    if (any)
        globfree(&found);
    return any && !(tls && strncmp(tls, "tcp", 3) == 0);
}

/* Whether so many ports of the range are free: UCX would try for ever. */
static bool check_ports(struct ski_net *net, int wanted)
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
                            .request_size      = sizeof(struct note),
                            .mt_workers_shared = 1,
                            .estimated_num_eps = (size_t)net->processes};
    unsigned      major, minor, release;
    char          what[96];
    ucp_config_t *config;
    ucs_status_t  status;

    ucx.net = net;
    if (!check_ports(net, net->ports) || !check_interfaces(net))
        return SKUA_ERR_INVAL;
    set_tcp(net);
    status = ucp_config_read(NULL, NULL, &config);
    if (status != UCS_OK)
        return refuse("UCX's settings cannot be read", status);
    status = set_network(config, net);
    if (status == UCS_OK)
        status = ucp_init(&params, config, &ucx.context);
    ucp_config_release(config);
    if (status != UCS_OK) {
        snprintf(what, sizeof what, "UCX cannot start on %.60s", interfaces(net));
        return refuse(what, status);
    }
    ucx.hardware = has_hardware();
    ucp_get_version(&major, &minor, &release);
    snprintf(ucx.text, sizeof ucx.text, "UCX %u.%u.%u over %s on %s", major, minor, release,
             getenv("UCX_TLS") ? getenv("UCX_TLS") : "the transports it finds", interfaces(net));
    return SKUA_OK;
}

static void stop(void)
{
    ucp_cleanup(ucx.context);
}

static const char *describe(void)
{
    return ucx.text;
}

/* One segment of TCP, so that it lies in UCX's memory whole. */
static size_t best_packet(void)
{
    return ucx.hardware ? (size_t)1 << 20 : SKI_PIECE_BYTES;
}

/* ---- packets that come ------------------------------------------------------------- */

static void on_received(void *request, ucs_status_t status, size_t bytes, void *packet)
{
    struct note     *note = request;
    struct ski_port *port = note->port;

    (void)bytes;
    port->events++;
    if (status == UCS_OK)
        port->up->arrived(port->owner, packet, note->bytes);
    else
        port->up->spoilt(port->owner, packet);
    ucp_request_free(request);
}

/* A large packet: fetch it.  UCX forgets the data if we do not ask for it. */
static ucs_status_t fetch(struct ski_port *port, void *data, size_t bytes)
{
    ucp_request_param_t param  = {.op_attr_mask =
                                      UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                  .cb.recv_am = on_received};
    void               *packet = port->up->room(port->owner, bytes);
    struct note        *request;

    if (!packet)
        return UCS_OK;
    param.user_data = packet;
    request         = ucp_am_recv_data_nbx(port->worker, data, packet, bytes, &param);
    if (!UCS_PTR_IS_PTR(request)) {
        if (UCS_PTR_STATUS(request) == UCS_OK)
            port->up->arrived(port->owner, packet, bytes);
        else
            port->up->spoilt(port->owner, packet);
        return UCS_OK;
    }
    *request = (struct note){.port = port, .bytes = bytes};
    return UCS_INPROGRESS;
}

static ucs_status_t on_packet(void *arg, const void *header, size_t header_bytes, void *data,
                              size_t bytes, const ucp_am_recv_param_t *param)
{
    struct ski_port *port = arg;
    void            *packet;

    (void)header, (void)header_bytes;
    port->events++;
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)
        return fetch(port, data, bytes);
    if (port->up->taken && port->up->taken(port->owner, data, bytes))
        return UCS_OK;
    packet = port->up->room(port->owner, bytes);
    if (packet) {
        memcpy(packet, data, bytes);
        port->up->arrived(port->owner, packet, bytes);
    }
    return UCS_OK;
}

/* ---- names ------------------------------------------------------------------------- */

/* The names that the process listens at now and has not before. */
static void find_names(struct names *names, const struct sockaddr_storage *before, int count)
{
    struct sockaddr_storage after[LISTENERS];
    int                     n = ski_guard_listeners(after, LISTENERS), j;

    for (int i = 0; i < n && names->count < NAMES; i++) {
        for (j = 0; j < count && !ski_guard_same(&after[i], &before[j]); j++)
            ;
        if (j == count)
            names->name[names->count++] = after[i];
    }
}

static size_t pack_names(const struct names *names, char *to)
{
    memcpy(to, &names->count, sizeof names->count);
    for (size_t i = 0; i < names->count; i++)
        memcpy(to + sizeof names->count + i * NAME_BYTES, &names->name[i], NAME_BYTES);
    return sizeof names->count + names->count * NAME_BYTES;
}

/* Takes them from an address; the bytes that they were, 0 if that makes no sense. */
static size_t unpack_names(struct names *names, const char *from, size_t bytes)
{
    memset(names, 0, sizeof *names);
    if (bytes < sizeof names->count)
        return 0;
    memcpy(&names->count, from, sizeof names->count);
    if (names->count > NAMES || bytes - sizeof names->count < names->count * NAME_BYTES)
        return 0;
    for (size_t i = 0; i < names->count; i++)
        memcpy(&names->name[i], from + sizeof names->count + i * NAME_BYTES, NAME_BYTES);
    return sizeof names->count + names->count * NAME_BYTES;
}

static bool is_among(const struct names *names, const struct sockaddr_storage *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (ski_guard_same(&names->name[i], name))
            return true;
    return false;
}

static bool is_ours(void *arg, const struct sockaddr_storage *here,
                    const struct sockaddr_storage *there, bool dead)
{
    const struct ski_port *port = arg;

    (void)dead; /* UCX sees it */
    if (is_among(&port->names, here))
        return true;
    for (const struct ski_peer *peer = port->peers; peer; peer = peer->next)
        if (is_among(&peer->names, there))
            return true;
    return false;
}

/* ---- ports -------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void enlist(struct ski_port *port)
{
    port->opener = pthread_self();
    pthread_mutex_lock(&ucx.lock);
    port->next = ucx.ports;
    ucx.ports  = port;
    pthread_mutex_unlock(&ucx.lock);
}

static void strike_off(struct ski_port *port)
{
    struct ski_port **at = &ucx.ports;

    pthread_mutex_lock(&ucx.lock);
    while (*at != port)
        at = &(*at)->next;
    *at = port->next;
    pthread_mutex_unlock(&ucx.lock);
}

static skua_status_t open_port(int pe, const struct ski_upcalls *up, void *owner,
                               struct ski_port **out)
{
    ucp_worker_params_t     params  = {.field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                       .thread_mode = UCS_THREAD_MODE_SERIALIZED};
    ucp_am_handler_param_t  handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                                                     UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                     UCP_AM_HANDLER_PARAM_FIELD_ARG,
                                       .id = PACKET_ID,
                                       .cb = on_packet};
    struct ski_port        *port    = calloc(1, sizeof *port);
    struct sockaddr_storage before[LISTENERS];
    int                     listeners = ski_guard_listeners(before, LISTENERS);
    ucs_status_t            status;

    if (!port)
        return SKUA_ERR_NOMEM;
    if (!check_ports(ucx.net, 1)) {
        free(port);
        return SKUA_ERR_SYSTEM;
    }
    port->up    = up;
    port->owner = owner;
    handler.arg = port;
    status      = ucp_worker_create(ucx.context, &params, &port->worker);
    if (status != UCS_OK) {
        free(port);
        return refuse("a worker cannot be made (is the interface up?)", status);
    }
    status = ucp_worker_set_am_recv_handler(port->worker, &handler);
    if (status == UCS_OK)
        status = ski_pieces_open(&port->pieces, port->worker, pe, up, owner);
    if (status != UCS_OK) {
        ucp_worker_destroy(port->worker);
        free(port);
        return refuse("a worker takes no active messages", status);
    }
    find_names(&port->names, before, listeners);
    enlist(port);
    *out = port;
    return SKUA_OK;
}

/* Moves on all ports that this thread has opened: nobody uses them when it closes one. */
static void progress_all(void)
{
    pthread_mutex_lock(&ucx.lock);
    for (struct ski_port *port = ucx.ports; port; port = port->next)
        if (pthread_equal(port->opener, pthread_self()))
            ucp_worker_progress(port->worker);
    pthread_mutex_unlock(&ucx.lock);
}

/* Progress until UCX is done with @p request, or it takes too long. */
static void finish(void *request, double until)
{
    if (!UCS_PTR_IS_PTR(request))
        return;
    while (ucp_request_check_status(request) == UCS_INPROGRESS && now() < until) {
        progress_all();
        sched_yield();
    }
    ucp_request_free(request);
}

/* What an endpoint waits for may have to come from a port of another process whose thread
 * closes a port before, and waits for one of ours: hence progress_all(). */
static void close_port(struct ski_port *port)
{
    ucp_request_param_t gently = {0};
    ucp_request_param_t force  = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                  .flags        = UCP_EP_CLOSE_FLAG_FORCE};
    double              until  = now() + CLOSE_SECONDS;

    finish(ucp_worker_flush_nbx(port->worker, &gently), until);
    for (struct ski_peer *peer = port->peers, *next; peer; peer = next) {
        next = peer->next;
        finish(ucp_ep_close_nbx(peer->ep, now() < until ? &gently : &force), until + 1);
        free(peer);
    }
    strike_off(port);
    ucp_worker_destroy(port->worker);
    ski_pieces_lost(&port->pieces, -1);
    free(port);
}

static size_t address(struct ski_port *port, void *to)
{
    size_t         names = pack_names(&port->names, to);
    ucp_address_t *mine;
    size_t         bytes;

    if (ucp_worker_get_address(port->worker, &mine, &bytes) != UCS_OK)
        return 0;
    if (names + bytes <= SKI_ADDRESS_MOST)
        memcpy((char *)to + names, mine, bytes);
    else
        names = bytes = 0;
    ucp_worker_release_address(port->worker, mine);
    return names + bytes;
}

/* Why a peer is lost, for people. */
static const char *reason(ucs_status_t status)
{
    switch (status) {
    case UCS_ERR_ENDPOINT_TIMEOUT:
    case UCS_ERR_TIMED_OUT: return "it does not answer any more";
    case UCS_ERR_CONNECTION_RESET: return "the connection broke";
    case UCS_ERR_UNREACHABLE: return "no way leads there";
    default: return ucs_status_string(status);
    }
}

static void on_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    struct ski_peer *peer = arg;

    (void)ep;
    peer->port->events++;
    ski_pieces_lost(&peer->port->pieces, peer->pe);
    peer->port->up->lost(peer->port->owner, peer->pe, reason(status));
}

/* Which addresses could not be reached: the first few of them. */
static void say_no_way(const struct names *names, ucs_status_t status)
{
    char   list[128] = "", text[INET6_ADDRSTRLEN];
    size_t n         = 0;

    for (size_t i = 0; i < names->count && n + sizeof text + 4 < sizeof list; i++)
        if (!ski_address_is_loopback(&names->name[i]) || ucx.net->one_host)
            n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", n ? " or " : "",
                                  ski_address_text(&names->name[i], text, sizeof text));
    snprintf(ucx.net->why(), SKI_WHY_MOST, SKI_NO_WAY, n ? list : "it", interfaces(ucx.net),
             ucs_status_string(status));
}

static skua_status_t connect_peer(struct ski_port *port, int pe, const void *to, size_t bytes,
                                  struct ski_peer **out)
{
    struct ski_peer *peer   = calloc(1, sizeof *peer);
    ucp_ep_params_t  params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                             UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                             UCP_EP_PARAM_FIELD_ERR_HANDLER,
                               .err_mode    = UCP_ERR_HANDLING_MODE_PEER,
                               .err_handler = {on_error, peer}};
    ucs_status_t     status;
    size_t           names = peer ? unpack_names(&peer->names, to, bytes) : 0;

    if (names == 0 || names == bytes) {
        free(peer);
        return SKUA_ERR_INVAL;
    }
    peer->port     = port;
    peer->pe       = pe;
    peer->next     = port->peers;
    params.address = (const ucp_address_t *)((const char *)to + names);
    status         = ucp_ep_create(port->worker, &params, &peer->ep);
    if (status == UCS_ERR_UNREACHABLE) { /* shared memory alone, which tells of no errors */
        params.err_mode = UCP_ERR_HANDLING_MODE_NONE;
        peer->shared    = true;
        status          = ucp_ep_create(port->worker, &params, &peer->ep);
    }
    if (status != UCS_OK) {
        say_no_way(&peer->names, status);
        free(peer);
        return status_of(status);
    }
    peer->by_tcp = !peer->shared && !ucx.hardware;
    port->peers  = peer;
    *out         = peer;
    return SKUA_OK;
}

static void on_sent(void *request, ucs_status_t status, void *packet)
{
    struct note     *note = request;
    struct ski_port *port = note->port;

    (void)status; /* a failure is told by on_error() */
    port->events++;
    note->peer->sends--;
    port->up->sent(port->owner, packet);
    ucp_request_free(request);
}

static skua_status_t send_packet(struct ski_peer *peer, void *packet, size_t bytes)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                 UCP_OP_ATTR_FIELD_USER_DATA |
                                                 UCP_OP_ATTR_FIELD_FLAGS,
                                 .flags     = peer->by_tcp ? UCP_AM_SEND_FLAG_EAGER : 0,
                                 .cb.send   = on_sent,
                                 .user_data = packet};
    struct note        *request;

    if (peer->by_tcp && bytes > SKI_PIECE_BYTES)
        return status_of(ski_pieces_send(&peer->port->pieces, peer->ep, packet, bytes));
    if (peer->sends >= SENDS_MOST) /* UCX would take any number */
        return SKUA_ERR_AGAIN;
    request = ucp_am_send_nbx(peer->ep, PACKET_ID, NULL, 0, packet, bytes, &param);
    if (!UCS_PTR_IS_PTR(request))
        return UCS_PTR_STATUS(request) == UCS_OK
                   ? SKUA_OK
                   : refuse("a packet cannot be sent", UCS_PTR_STATUS(request));
    *request = (struct note){.port = peer->port, .peer = peer};
    peer->sends++;
    return SKUA_PENDING;
}

/* What UCX reads, and we need, until a packet in two parts is sent. */
struct split {
    struct ski_port *port;
    void            *cookie;
    ucp_dt_iov_t     part[2];
};

static void on_split_sent(void *request, ucs_status_t status, void *arg)
{
    struct split *split = arg;

    (void)status; /* a failure is told by on_error() */
    split->port->events++;
    split->port->up->done(split->port->owner, split->cookie, SKUA_OK);
    free(split);
    ucp_request_free(request);
}

/* Over TCP both parts go to the system from where they are; others would have to
 * register them. */
static skua_status_t send_split(struct ski_peer *peer, void *packet, size_t bytes, const void *rest,
                                size_t rest_bytes, void *cookie)
{
    ucp_request_param_t param = {.op_attr_mask =
                                     UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                                     UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_DATATYPE,
                                 .flags    = UCP_AM_SEND_FLAG_EAGER,
                                 .datatype = UCP_DATATYPE_IOV,
                                 .cb.send  = on_split_sent};
    struct split       *split;
    void               *request;

    if (!peer->by_tcp || bytes + rest_bytes > SKI_PIECE_BYTES)
        return SKUA_ERR_UNSUPPORTED;
    split = malloc(sizeof *split);
    if (!split)
        return SKUA_ERR_AGAIN;
    *split = (struct split){
        peer->port, cookie, {{packet, bytes}, {(void *)(uintptr_t)rest, rest_bytes}}};
    param.user_data = split;
    request         = ucp_am_send_nbx(peer->ep, PACKET_ID, NULL, 0, split->part, 2, &param);
    if (UCS_PTR_IS_PTR(request))
        return SKUA_PENDING;
    free(split);
    return status_of(UCS_PTR_STATUS(request));
}

static unsigned progress(struct ski_port *port)
{
    unsigned n;

    port->events = port->pieces.events = 0;
    n = ucp_worker_progress(port->worker) + port->events + port->pieces.events;
    if (n == 0 && ski_guard_is_time(&port->looked_at, now(), ucx.net->peer_timeout))
        ski_guard_look(ucx.net->peer_timeout, is_ours, port);
    return n;
}

static int wait_fd(struct ski_port *port)
{
    int fd;
    return ucp_worker_get_efd(port->worker, &fd) == UCS_OK ? fd : -1;
}

static bool arm(struct ski_port *port)
{
    return ucp_worker_arm(port->worker) == UCS_OK;
}

/* ---- one-sided ---------------------------------------------------------------------- */

static bool by_hardware(void)
{
    return ucx.hardware;
}

static skua_status_t expose(void *base, size_t bytes, struct ski_memory **out)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                                                 UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = base,
                                   .length  = bytes};
    struct ski_memory   *memory = malloc(sizeof *memory);
    ucs_status_t         status = UCS_ERR_NO_MEMORY;

    if (memory)
        status = ucp_mem_map(ucx.context, &params, &memory->handle);
    if (status != UCS_OK) {
        free(memory);
        return refuse("ucp_mem_map", status);
    }
    *out = memory;
    return SKUA_OK;
}

static void conceal(struct ski_memory *memory)
{
    ucp_mem_unmap(ucx.context, memory->handle);
    free(memory);
}

static size_t pack_key(struct ski_memory *memory, void *to)
{
    void  *packed;
    size_t bytes;

    if (ucp_rkey_pack(ucx.context, memory->handle, &packed, &bytes) != UCS_OK)
        return 0;
    if (bytes <= SKI_KEY_MOST)
        memcpy(to, packed, bytes);
    else
        bytes = 0;
    ucp_rkey_buffer_release(packed);
    return bytes;
}

static skua_status_t take_key(struct ski_peer *peer, const void *from, size_t bytes,
                              struct ski_key **out)
{
    struct ski_key *key = malloc(sizeof *key);
    ucs_status_t    status =
        key && bytes ? ucp_ep_rkey_unpack(peer->ep, from, &key->handle) : UCS_ERR_NO_MEMORY;

    if (status == UCS_OK)
        *out = key;
    else
        free(key);
    return status_of(status);
}

static void drop_key(struct ski_key *key)
{
    ucp_rkey_destroy(key->handle);
    free(key);
}

static void on_done(void *request, ucs_status_t status, void *cookie)
{
    struct ski_port *port = ((struct note *)request)->port;

    port->events++;
    port->up->done(port->owner, cookie, status_of(status));
    ucp_request_free(request);
}

static ucp_request_param_t with_cookie(void *cookie)
{
    return (ucp_request_param_t){.op_attr_mask =
                                     UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                 .cb.send   = on_done,
                                 .user_data = cookie};
}

static skua_status_t started(struct ski_peer *peer, void *request)
{
    if (!UCS_PTR_IS_PTR(request))
        return status_of(UCS_PTR_STATUS(request));
    ((struct note *)request)->port = peer->port;
    return SKUA_PENDING;
}

static skua_status_t put(struct ski_peer *peer, const void *local, size_t bytes, uint64_t remote,
                         struct ski_key *key, void *cookie)
{
    ucp_request_param_t param = with_cookie(cookie);
    return started(peer, ucp_put_nbx(peer->ep, local, bytes, remote, key->handle, &param));
}

static skua_status_t get(struct ski_peer *peer, void *local, size_t bytes, uint64_t remote,
                         struct ski_key *key, void *cookie)
{
    ucp_request_param_t param = with_cookie(cookie);
    return started(peer, ucp_get_nbx(peer->ep, local, bytes, remote, key->handle, &param));
}

static skua_status_t atomic(struct ski_peer *peer, enum ski_net_op op, unsigned bytes,
                            uint64_t value, uint64_t *result, uint64_t remote, struct ski_key *key,
                            void *cookie)
{
    static const ucp_atomic_op_t ops[] = {
        [SKI_NET_ADD] = UCP_ATOMIC_OP_ADD,   [SKI_NET_AND] = UCP_ATOMIC_OP_AND,
        [SKI_NET_OR] = UCP_ATOMIC_OP_OR,     [SKI_NET_XOR] = UCP_ATOMIC_OP_XOR,
        [SKI_NET_SWAP] = UCP_ATOMIC_OP_SWAP, [SKI_NET_CSWAP] = UCP_ATOMIC_OP_CSWAP};
    ucp_request_param_t param  = with_cookie(cookie);
    uint64_t            before = *result; /* to compare with */

    /* UCX wants the new value where it puts the old one, and the other as argument. */
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER;
    param.datatype     = ucp_dt_make_contig(bytes);
    param.reply_buffer = result;
    if (op == SKI_NET_CSWAP)
        *result = value;
    return started(peer,
                   ucp_atomic_op_nbx(peer->ep, ops[op], op == SKI_NET_CSWAP ? &before : &value, 1,
                                     remote, key->handle, &param));
}

static skua_status_t flush(struct ski_peer *peer, void *cookie)
{
    ucp_request_param_t param = with_cookie(cookie);
    return started(peer, ucp_ep_flush_nbx(peer->ep, &param));
}

/* Copies through the system, which UCX does where all it has is shared memory, are not
 * ordered by its fence. */
static bool fence(struct ski_peer *peer)
{
    return !peer->shared && ucp_worker_fence(peer->port->worker) == UCS_OK;
}

__attribute__((visibility("default"))) const struct ski_driver ski_driver = {
    .version     = SKI_DRIVER_VERSION,
    .name        = "ucx",
    .start       = start,
    .stop        = stop,
    .describe    = describe,
    .open        = open_port,
    .close       = close_port,
    .address     = address,
    .connect     = connect_peer,
    .send        = send_packet,
    .send_split  = send_split,
    .progress    = progress,
    .wait_fd     = wait_fd,
    .packet      = best_packet,
    .arm         = arm,
    .by_hardware = by_hardware,
    .expose      = expose,
    .conceal     = conceal,
    .key         = pack_key,
    .take_key    = take_key,
    .drop_key    = drop_key,
    .put         = put,
    .get         = get,
    .atomic      = atomic,
    .flush       = flush,
    .fence       = fence,
};
