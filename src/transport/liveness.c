/* SPDX-License-Identifier: Apache-2.0 */
/*
 * liveness.c - see liveness.h.
 *
 * One lock guards everything.  A monitor has a socket for each address that it tries; once one is
 * connected the others are closed.  When none is left, the last reason decides: refused, or silent.
 */
#include "transport/liveness.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/seconds.h"
#include "transport/driver.h"
#include "transport/fd_limit.h"
#include "transport/keepalive.h"
#include "transport/listener.h"
#include "transport/netif.h"
#include "transport/sockaddr.h"

#define LIVENESS_SPARE      64   /* accepted connections beyond the processes of the job */
#define LIVENESS_NOTES      1024 /* bytes that are read from a connection at once        */
#define LIVENESS_PORTS_MAX  65536
#define LIVENESS_READS_MAX  16 /* reads from one connection in a check */
#define LIVENESS_OWN_IP_MAX 64

/* The PEs whose ports a process has closed. */
struct liveness_closed {
    int32_t *pe;
    size_t   count;
};

struct ski_monitor {
    struct ski_sockaddrs   addrs;
    int                    fd[SKI_SOCKADDRS_MAX]; /* -1: not open */
    enum ski_liveness      state;
    enum ski_liveness      failure; /* why the last address was given up */
    unsigned               uses;
    struct liveness_closed closed;                /* ports of the other process */
    unsigned char          part[sizeof(int32_t)]; /* of a note that has not all arrived */
    size_t                 part_bytes;
    struct ski_monitor    *next;
};

static struct {
    const struct ski_net  *net;
    struct ski_sockaddrs   addrs;
    int                    listener[SKI_SOCKADDRS_MAX];
    int                   *accepted; /* oldest first */
    size_t                 accepted_count;
    struct liveness_closed closed; /* ports of this process */
    struct ski_monitor    *monitors;
    double                 checked_at;
    bool                   warned;
} liveness;

static pthread_mutex_t liveness_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- closed ports ------------------------------------------------------------------- */

static size_t liveness_closed_find(const struct liveness_closed *closed, int32_t pe)
{
    size_t i = 0;

    while (i < closed->count && closed->pe[i] != pe)
        i++;
    return i;
}

static void liveness_closed_add(struct liveness_closed *closed, int32_t pe)
{
    int32_t *more;

    if (closed->count >= LIVENESS_PORTS_MAX || liveness_closed_find(closed, pe) < closed->count)
        return;
    more = realloc(closed->pe, (closed->count + 1) * sizeof *more);
    if (!more)
        return;
    closed->pe                  = more;
    closed->pe[closed->count++] = pe;
}

static void liveness_closed_remove(struct liveness_closed *closed, int32_t pe)
{
    size_t i = liveness_closed_find(closed, pe);

    if (i < closed->count)
        closed->pe[i] = closed->pe[--closed->count];
}

static void liveness_closed_free(struct liveness_closed *closed)
{
    free(closed->pe);
    *closed = (struct liveness_closed){NULL, 0};
}

/* ---- the accepting end ---------------------------------------------------------------- */

/* Notes are few bytes and the buffer of the socket is empty, so they are sent whole or not at
 * all. */
static void liveness_send_note(int fd, int32_t pe)
{
    if (send(fd, &pe, sizeof pe, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        return; /* the monitoring process is gone, or does not read */
}

/* Drops what has arrived.  Returns false if the other end has closed the connection. */
static bool liveness_is_open(int fd)
{
    char    dropped[LIVENESS_NOTES];
    ssize_t n = -1;

    for (int i = 0; i < LIVENESS_READS_MAX; i++) {
        n = recv(fd, dropped, sizeof dropped, MSG_DONTWAIT);
        if (n <= 0)
            break;
    }
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static void liveness_close_oldest(void)
{
    assert(liveness.accepted_count > 0);
    close(liveness.accepted[0]);
    liveness.accepted_count--;
    memmove(liveness.accepted, liveness.accepted + 1,
            liveness.accepted_count * sizeof *liveness.accepted);
}

static void liveness_warn_fds(void)
{
    if (liveness.warned || !ski_fd_exhausted())
        return;
    liveness.warned = true;
    liveness.net->log(SKI_LOG_ERROR, "other PEs may not reach this one: " SKI_TOO_MANY_FILES);
}

/* Adds an accepted connection, and sends it the PEs whose ports are closed. */
static void liveness_keep(int fd)
{
    size_t most = (size_t)liveness.net->processes + LIVENESS_SPARE;
    int   *more;

    assert(fd >= 0 && liveness.accepted_count <= most);
    if (liveness.accepted_count == most || (ski_fd_is_reserved(fd) && liveness.accepted_count > 0))
        liveness_close_oldest();
    more = realloc(liveness.accepted, (liveness.accepted_count + 1) * sizeof *more);
    if (!more) {
        close(fd);
        return;
    }
    liveness.accepted                            = more;
    liveness.accepted[liveness.accepted_count++] = fd;
    for (size_t i = 0; i < liveness.closed.count; i++)
        liveness_send_note(fd, liveness.closed.pe[i]);
}

/* Closes accepted connections that have ended, and accepts new ones. */
static void liveness_accept(void)
{
    size_t n = 0;

    for (size_t i = 0; i < liveness.accepted_count; i++)
        if (liveness_is_open(liveness.accepted[i]))
            liveness.accepted[n++] = liveness.accepted[i];
        else
            close(liveness.accepted[i]);
    liveness.accepted_count = n;
    for (size_t i = 0; i < liveness.addrs.count; i++)
        for (int fd, k = 0; k < liveness.net->processes + LIVENESS_SPARE; k++) {
            fd = accept4(liveness.listener[i], NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
            if (fd < 0)
                break;
            liveness_keep(fd);
        }
    liveness_warn_fds();
}

/* ---- the monitoring end ----------------------------------------------------------------- */

static void monitor_close(struct ski_monitor *monitor, size_t i)
{
    assert(i < monitor->addrs.count);
    if (monitor->fd[i] >= 0)
        close(monitor->fd[i]);
    monitor->fd[i] = -1;
}

static bool monitor_is_open(const struct ski_monitor *monitor)
{
    for (size_t i = 0; i < monitor->addrs.count; i++)
        if (monitor->fd[i] >= 0)
            return true;
    return false;
}

/* Gives an address up. */
static void monitor_give_up(struct ski_monitor *monitor, size_t i, int error)
{
    bool refused = error == ECONNREFUSED || error == ECONNRESET || error == EPIPE || error == 0;

    monitor_close(monitor, i);
    if (monitor->failure != SKI_LIVENESS_CLOSED)
        monitor->failure = refused ? SKI_LIVENESS_CLOSED : SKI_LIVENESS_SILENT;
}

static void monitor_connect_to(struct ski_monitor *monitor, size_t i)
{
    const struct sockaddr_storage *to = &monitor->addrs.addr[i];

    if (monitor->fd[i] >= 0)
        return; /* it is connecting, or connected */
    monitor->fd[i] = socket(to->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
    if (monitor->fd[i] < 0)
        return; /* tried again in the next check */
    if (connect(monitor->fd[i], (const struct sockaddr *)to, ski_sockaddr_bytes(to)) != 0 &&
        errno != EINPROGRESS)
        monitor_give_up(monitor, i, errno);
}

static void monitor_connect(struct ski_monitor *monitor)
{
    monitor->failure    = SKI_LIVENESS_UNKNOWN;
    monitor->part_bytes = 0;
    for (size_t i = 0; i < monitor->addrs.count; i++)
        monitor_connect_to(monitor, i);
}

static void monitor_take_bytes(struct ski_monitor *monitor, const unsigned char *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        int32_t note;

        assert(monitor->part_bytes < sizeof monitor->part);
        monitor->part[monitor->part_bytes++] = from[i];
        if (monitor->part_bytes < sizeof note)
            continue;
        memcpy(&note, monitor->part, sizeof note);
        monitor->part_bytes = 0;
        liveness_closed_add(&monitor->closed, note);
    }
}

/* Reads which ports the other process has closed.  Returns false if the connection is over; errno
 * is then 0 or the reason.  No byte stays in the socket: it would hide the end of the stream after
 * it. */
static bool monitor_read_notes(struct ski_monitor *monitor, int fd)
{
    unsigned char bytes[LIVENESS_NOTES];
    ssize_t       n;

    for (int k = 0; k < LIVENESS_READS_MAX; k++) {
        errno = 0;
        n     = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (n <= 0)
            return n < 0 && (errno == EAGAIN || errno == EINTR);
        monitor_take_bytes(monitor, bytes, (size_t)n);
    }
    return true;
}

/* Returns whether a socket is connected; 0 in *@p error if it is still connecting. */
static bool monitor_is_connected(int fd, int *error)
{
    struct sockaddr_storage addr;
    socklen_t               bytes = sizeof addr, size = sizeof *error;

    *error = 0;
    if (getpeername(fd, (struct sockaddr *)&addr, &bytes) == 0)
        return true;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, error, &size) != 0)
        *error = errno;
    return false;
}

static void monitor_keep_only(struct ski_monitor *monitor, size_t kept)
{
    for (size_t i = 0; i < monitor->addrs.count; i++)
        if (i != kept)
            monitor_close(monitor, i);
    monitor->state   = SKI_LIVENESS_ALIVE;
    monitor->failure = SKI_LIVENESS_UNKNOWN;
}

/* Checks one socket of a monitor.  A connection that was established and is closed by the other end
 * is opened again immediately: if the process has ended that is refused. */
static void monitor_check_socket(struct ski_monitor *monitor, size_t i)
{
    int  fd = monitor->fd[i], error;
    bool connected;

    assert(fd >= 0);
    connected = monitor_is_connected(fd, &error);
    if (error != 0) {
        monitor_give_up(monitor, i, error);
    } else if (ski_keepalive_is_dead(fd, liveness.net->peer_timeout)) {
        monitor_give_up(monitor, i, ETIMEDOUT);
    } else if (connected && monitor_read_notes(monitor, fd)) {
        monitor_keep_only(monitor, i);
    } else if (connected) {
        monitor_close(monitor, i);
        monitor_connect(monitor);
    }
}

/* SKI_LIVENESS_CLOSED and SKI_LIVENESS_SILENT are final: the runtime ends its use of the peer. */
static void monitor_check(struct ski_monitor *monitor)
{
    if (monitor->state == SKI_LIVENESS_CLOSED || monitor->state == SKI_LIVENESS_SILENT)
        return;
    if (!monitor_is_open(monitor))
        monitor_connect(monitor);
    for (size_t i = 0; i < monitor->addrs.count; i++)
        if (monitor->fd[i] >= 0)
            monitor_check_socket(monitor, i);
    if (!monitor_is_open(monitor) && monitor->failure != SKI_LIVENESS_UNKNOWN)
        monitor->state = monitor->failure;
}

/* Copies the addresses to try: those that this host does not have, or all if it has them all. */
static void monitor_set_addrs(struct ski_monitor *monitor, const struct ski_sockaddrs *addrs)
{
    struct sockaddr_storage own[LIVENESS_OWN_IP_MAX];
    int n = addrs->count > 1 ? ski_netif_addresses("all", own, LIVENESS_OWN_IP_MAX) : 0, k;

    for (size_t i = 0; i < addrs->count; i++) {
        for (k = 0; k < n && !ski_sockaddr_same_host(&own[k], &addrs->addr[i]); k++)
            ;
        if (k == n)
            monitor->addrs.addr[monitor->addrs.count++] = addrs->addr[i];
    }
    if (monitor->addrs.count == 0)
        monitor->addrs = *addrs;
    assert(monitor->addrs.count > 0 && monitor->addrs.count <= addrs->count);
    for (size_t i = 0; i < SKI_SOCKADDRS_MAX; i++)
        monitor->fd[i] = -1;
}

static struct ski_monitor *monitor_find(const struct ski_monitor *like)
{
    for (struct ski_monitor *monitor = liveness.monitors; monitor; monitor = monitor->next)
        if (ski_sockaddrs_contain(&monitor->addrs, &like->addrs.addr[0]))
            return monitor;
    return NULL;
}

static void monitor_free(struct ski_monitor *monitor)
{
    for (size_t i = 0; i < monitor->addrs.count; i++)
        monitor_close(monitor, i);
    liveness_closed_free(&monitor->closed);
    free(monitor);
}

struct ski_monitor *ski_liveness_monitor(const struct ski_sockaddrs *addrs)
{
    struct ski_monitor *made = addrs->count ? calloc(1, sizeof *made) : NULL, *found;

    if (!made)
        return NULL;
    monitor_set_addrs(made, addrs);
    pthread_mutex_lock(&liveness_lock);
    found = monitor_find(made);
    if (!found) {
        monitor_connect(made);
        made->next        = liveness.monitors;
        liveness.monitors = made;
    }
    (found ? found : made)->uses++;
    pthread_mutex_unlock(&liveness_lock);
    if (found)
        monitor_free(made);
    return found ? found : made;
}

void ski_liveness_unmonitor(struct ski_monitor *monitor)
{
    struct ski_monitor **at = &liveness.monitors;
    bool                 last;

    if (!monitor)
        return;
    pthread_mutex_lock(&liveness_lock);
    assert(monitor->uses > 0);
    last = --monitor->uses == 0;
    while (last && *at != monitor) {
        assert(*at); /* a monitor that is in use is in the list */
        at = &(*at)->next;
    }
    if (last)
        *at = monitor->next;
    pthread_mutex_unlock(&liveness_lock);
    if (last)
        monitor_free(monitor);
}

enum ski_liveness ski_liveness_state(const struct ski_monitor *monitor, int pe)
{
    enum ski_liveness state;

    if (!monitor)
        return SKI_LIVENESS_UNKNOWN;
    pthread_mutex_lock(&liveness_lock);
    state = monitor->state;
    if (state == SKI_LIVENESS_ALIVE &&
        liveness_closed_find(&monitor->closed, pe) < monitor->closed.count)
        state = SKI_LIVENESS_CLOSED;
    pthread_mutex_unlock(&liveness_lock);
    return state;
}

/* ---- the process ----------------------------------------------------------------------- */

void ski_liveness_check(void)
{
    if (pthread_mutex_trylock(&liveness_lock) != 0)
        return; /* another thread checks */
    if (liveness.net &&
        ski_keepalive_is_due(&liveness.checked_at, ski_seconds(CLOCK_MONOTONIC_COARSE),
                             liveness.net->peer_timeout)) {
        liveness_accept();
        for (struct ski_monitor *monitor = liveness.monitors; monitor; monitor = monitor->next)
            monitor_check(monitor);
    }
    pthread_mutex_unlock(&liveness_lock);
}

void ski_liveness_port_opened(int pe)
{
    pthread_mutex_lock(&liveness_lock);
    liveness_closed_remove(&liveness.closed, pe);
    pthread_mutex_unlock(&liveness_lock);
}

void ski_liveness_port_closed(int pe)
{
    pthread_mutex_lock(&liveness_lock);
    liveness_closed_add(&liveness.closed, pe);
    for (size_t i = 0; i < liveness.accepted_count; i++)
        liveness_send_note(liveness.accepted[i], pe);
    if (liveness.net)
        liveness_accept();
    pthread_mutex_unlock(&liveness_lock);
}

bool ski_liveness_start(const struct ski_net *net, const struct sockaddr_storage *addrs, int count)
{
    int error = EADDRNOTAVAIL;

    assert(liveness.addrs.count == 0); /* it is not started twice */
    liveness.net = net;
    for (int i = 0; i < count && liveness.addrs.count < SKI_SOCKADDRS_MAX; i++) {
        struct sockaddr_storage addr = addrs[i];
        int                     fd   = ski_listener_open(net, &addr);

        if (fd < 0) {
            error = errno;
            continue;
        }
        liveness.listener[liveness.addrs.count]     = fd;
        liveness.addrs.addr[liveness.addrs.count++] = addr;
    }
    if (liveness.addrs.count > 0)
        return true;
    snprintf(net->last_error(), SKI_REASON_MAX, "cannot listen for other processes: %s",
             strerror(error));
    ski_liveness_stop();
    return false;
}

void ski_liveness_stop(void)
{
    pthread_mutex_lock(&liveness_lock);
    for (size_t i = 0; i < liveness.addrs.count; i++)
        close(liveness.listener[i]);
    for (size_t i = 0; i < liveness.accepted_count; i++)
        close(liveness.accepted[i]);
    free(liveness.accepted);
    liveness_closed_free(&liveness.closed);
    memset(&liveness, 0, sizeof liveness);
    pthread_mutex_unlock(&liveness_lock);
}

const struct ski_sockaddrs *ski_liveness_addrs(void)
{
    return &liveness.addrs;
}
