/* SPDX-License-Identifier: Apache-2.0 */
/*
 * greet.c - connections until they are open: see tcp.h.
 *
 * A link of ours is for one peer, and goes to the names that it listens at in turn, those of
 * networks that we are in first, until somebody answers who proves to be that peer.  The peer is
 * lost when none is left.  A link that came in belongs to nobody before its proof; it is refused
 * if its hello or its proof is wrong, or its hello takes too long.  So one of ours may find the
 * door shut, if its hello was late as we computed meanwhile, and is begun again.
 *
 * Strangers cannot use up what the job needs.  The system does not tell of a connection before
 * something has come by it, or a second is over (TCP_DEFER_ACCEPT in port.c): those that say
 * nothing, or hang up, cost no descriptor.  Of others that have not proved who they are a process
 * has a bounded number, an eighth of the descriptors that it may have; and none of the reserve
 * (transport/files.h).  Where there is no room the oldest of the port gives way, if it has had its
 * time to say who it is, which a peer does at once: first one that has not said hello, then one
 * whose proof is awaited, which has no other limit.
 */
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arch.h"
#include "transport/files.h"
#include "transport/interface.h"
#include "transport/tcp/tcp.h"

#define UNPROVEN_MOST  256  /* links that came in, of a process                 */
#define UNPROVEN_LEAST 4    /* that a port may have whatever others have        */
#define HELLO_SECONDS  10   /* for them to say who they are                     */
#define HELLO_LEAST    0.05 /* the least time for that, where there are many    */
#define PROOF_LEAST    1    /* the least time for their proofs                  */
#define GREET_MS       10   /* that connect() waits for the system              */
#define AGAIN_MOST     10   /* times that a name is tried again                 */
#define COMPLAINTS     10   /* about strangers, then silence                    */
#define ACCEPTS        16   /* in one go                                        */

/* ---- sockets ---------------------------------------------------------------------------- */

/* After a call that failed: whether that was for want of descriptors, and there can be more now.
 * Launchers leave the limit where the system has it, low for the sake of select(). */
static bool more_files(void)
{
    return errno == EMFILE && ski_files_raise();
}

static bool is_short_of_files(void)
{
    return errno == EMFILE || errno == ENFILE;
}

/* Who is at a door; -1: nobody, or nobody that can be let in. */
static int accept_one(struct ski_port *port, int door)
{
    int fd = accept4(door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0 && more_files())
        fd = accept4(door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && is_short_of_files() && !port->short_of_files) {
        port->short_of_files = true;
        ski_tcp.net->log(SKI_LOG_WARN, "peers wait to connect: " SKI_TOO_MANY_FILES);
    }
    return fd;
}

/* ---- proofs --------------------------------------------------------------------------- */

static struct ski_said greet_said(const struct ski_link *link, enum ski_role role)
{
    const struct ski_hello *hello = &link->hello;
    const uint64_t         *other = link->answer.nonce;

    return (struct ski_said){.role     = role,
                             .security = ski_tcp.net->security,
                             .from     = hello->from,
                             .to       = hello->to,
                             .nonce    = {hello->nonce[0], hello->nonce[1], other[0], other[1]}};
}

static bool greet_prove(const struct ski_link *link, enum ski_role role, uint64_t proof[2])
{
    struct ski_said said = greet_said(link, role);

    return ski_tcp.net->prove((const uint64_t *)(const void *)&said, SKI_SAID_WORDS, proof);
}

/* It takes as long for a proof that is wrong in the first byte as in the last. */
static bool is_proven(const struct ski_link *link, enum ski_role role, const uint64_t proof[2])
{
    uint64_t right[2];

    return greet_prove(link, role, right) && ((right[0] ^ proof[0]) | (right[1] ^ proof[1])) == 0;
}

static bool greet_nonce(uint64_t nonce[2])
{
    return getrandom(nonce, 2 * sizeof *nonce, 0) == 2 * sizeof *nonce;
}

/* Their keys are those of no other link. */
bool ski_tcp_make_records(struct ski_link *link)
{
    struct ski_said        said     = greet_said(link, SKI_ROLE_KEYS);
    const struct ski_net  *net      = ski_tcp.net;
    struct ski_record_keys keys[2]  = {0}; /* of the side that begins, and of the other */
    bool                   encrypts = net->security == SKI_SECURITY_ENCRYPT;

    if (net->security == SKI_SECURITY_JOB || link->records)
        return true;
    if (net->derive((const uint64_t *)(const void *)&said, SKI_SAID_WORDS, keys, sizeof keys))
        link->records =
            ski_records_make(net->crypto, encrypts, &keys[link->ours], &keys[!link->ours]);
    explicit_bzero(keys, sizeof keys);
    return link->records != NULL;
}

/* What is said before a link is open is little: there is room for it. */
static bool greet_say(const struct ski_link *link, const void *what, size_t bytes)
{
    return send(link->source.fd, what, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

/* ---- links that open ------------------------------------------------------------------- */

/* Which of two links to a peer is used: both sides think the same. */
static bool is_better(const struct ski_link *link)
{
    return link->ours ? link->port->pe < link->pe : link->pe < link->port->pe;
}

/* Packets may come and go by it. */
static void open_link(struct ski_link *link)
{
    struct ski_peer *peer = ski_tcp_peer(link->port, link->pe);

    link->state = SKI_LINK_OPEN;
    link->hear  = link->records ? ski_tcp_hear_records : ski_tcp_hear_packets;
    if (!peer || !peer->link || peer->link == link)
        return;
    if (peer->link->state == SKI_LINK_OPEN && !(is_better(link) && !ski_tcp_is_in_packet(peer)))
        return;
    if (peer->link->state == SKI_LINK_OPEN)
        ski_tcp_ask_for_room(peer->link, false);
    peer->link = link;
}

static void complain(struct ski_link *link, const char *why)
{
    struct sockaddr_storage name  = {0};
    socklen_t               bytes = sizeof name;
    unsigned                n     = ++link->port->strangers;
    char                    text[INET6_ADDRSTRLEN];

    getpeername(link->source.fd, (struct sockaddr *)&name, &bytes);
    if (n <= COMPLAINTS)
        ski_tcp.net->log(SKI_LOG_WARN, "a connection from %s was refused: it does not %s%s",
                         ski_address_text(&name, text, sizeof text), why,
                         n == COMPLAINTS ? " (no more of these will be told)" : "");
}

/* ---- links of ours --------------------------------------------------------------------- */

/* The system has connected it. */
static bool greet(struct ski_link *link)
{
    link->hello = (struct ski_hello){.magic    = SKI_TCP_MAGIC,
                                     .security = ski_tcp.net->security,
                                     .from     = link->port->pe,
                                     .to       = link->pe};
    link->state = SKI_LINK_GREETING;
    link->hear  = ski_tcp_hear_greeting;
    ski_tcp_ask_for_room(link, false);
    return greet_nonce(link->hello.nonce) && greet_say(link, &link->hello, sizeof link->hello);
}

/* The other side does not wait long for a hello, and we may compute before the next
 * progress(): so the system is given a moment.  If that fails it is found later. */
static void greet_soon(struct ski_link *link)
{
    struct pollfd fd = {link->source.fd, POLLOUT, 0};

    if (link->state == SKI_LINK_CONNECTING && poll(&fd, 1, GREET_MS) == 1 && fd.revents == POLLOUT)
        greet(link);
}

/* A socket to reach a name by; -1, and errno. */
static int new_socket(const struct sockaddr_storage *name)
{
    int type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
    int fd   = socket(name->ss_family, type, IPPROTO_TCP);

    return fd < 0 && more_files() ? socket(name->ss_family, type, IPPROTO_TCP) : fd;
}

/* The time that a peer may take, for each of its names. */
static double patience(const struct ski_peer *peer)
{
    double seconds = ski_tcp.net->peer_timeout / (double)peer->names.count;

    return seconds > 1 ? seconds : 1;
}

/* Begins a link to the next name; NULL, and peer->error. */
static struct ski_link *begin_link(struct ski_peer *peer)
{
    const struct sockaddr_storage *name = &peer->names.name[peer->tried];
    int                            fd   = new_socket(name);
    struct ski_link *link = fd < 0 ? NULL : ski_tcp_new_link(peer->port, fd, peer->pe);
    bool             connected;

    peer->error = errno;
    peer->tried++;
    if (!link)
        return NULL;
    link->name  = peer->tried - 1;
    link->ours  = true;
    link->state = SKI_LINK_CONNECTING;
    link->hear  = ski_tcp_hear_connected;
    link->until = link->began + patience(peer);
    connected   = connect(fd, (const struct sockaddr *)name, ski_address_bytes(name)) == 0;
    if ((connected || errno == EINPROGRESS) && ski_tcp_watch(peer->port, &link->source)) {
        ski_tcp_ask_for_room(link, true); /* it has room when it is connected */
        if (!connected || greet(link))
            return link;
    }
    peer->error = errno;
    ski_tcp_close_link(link);
    return NULL;
}

/* A link to a PE that has got so far; NULL: there is none. */
static struct ski_link *link_to(const struct ski_port *port, int pe, int state)
{
    struct ski_link *link = port->links;

    while (link && (link->pe != pe || (int)link->state != state))
        link = link->next;
    return link;
}

/* Goes on with the next of its names, or waits for the answer at another; false: none is
 * left. */
static bool try_next(struct ski_peer *peer)
{
    peer->link = link_to(peer->port, peer->pe, SKI_LINK_OPEN);
    while (!peer->link && peer->tried < peer->names.count)
        peer->link = begin_link(peer);
    if (!peer->link)
        peer->link = link_to(peer->port, peer->pe, SKI_LINK_GREETING);
    return peer->link != NULL;
}

/* Those of networks that we are in come first. */
static void sort_names(struct ski_names *names)
{
    size_t near = 0;

    for (size_t i = 0; i < names->count && names->count > 1; i++)
        if (ski_interfaces_are_near(&names->name[i])) {
            struct sockaddr_storage name = names->name[i];

            names->name[i]      = names->name[near];
            names->name[near++] = name;
        }
}

static const char *say_no_way(const struct ski_peer *peer, char *to)
{
    char list[128];

    if (peer->error == EMFILE || peer->error == ENFILE)
        snprintf(to, SKI_WHY_MOST, SKI_TOO_MANY_FILES);
    else
        snprintf(to, SKI_WHY_MOST, SKI_NO_WAY,
                 ski_names_text(&peer->names, ski_tcp.net->one_host, list, sizeof list),
                 ski_tcp.interfaces,
                 peer->error ? strerror(peer->error) : "somebody else answers there");
    return to;
}

skua_status_t ski_tcp_connect(struct ski_port *port, int pe, const void *to, size_t bytes,
                              struct ski_peer **out)
{
    struct ski_peer *peer = calloc(1, sizeof *peer);

    if (!peer)
        return SKUA_ERR_NOMEM;
    if (ski_names_unpack(&peer->names, to, bytes) != bytes || peer->names.count == 0) {
        free(peer);
        return SKUA_ERR_INVAL;
    }
    peer->port    = port;
    peer->pe      = pe;
    peer->last    = &peer->first;
    peer->unusual = ski_tcp.net->security != SKI_SECURITY_JOB;
    sort_names(&peer->names);
    if (!try_next(peer)) {
        say_no_way(peer, ski_tcp.net->why());
        free(peer);
        return SKUA_ERR_UNREACH;
    }
    peer->next  = port->peers;
    port->peers = peer;
    *out        = peer;
    greet_soon(peer->link);
    return SKUA_OK;
}

void ski_tcp_give_up(struct ski_link *link, int error)
{
    struct ski_peer *peer = link->ours ? ski_tcp_peer(link->port, link->pe) : NULL;
    char             why[SKI_WHY_MOST];

    ski_tcp_close_link(link);
    if (!peer || peer->link != link)
        return;
    peer->error = error;
    if ((error == ECONNRESET || error == EPIPE) && peer->again++ < AGAIN_MOST)
        peer->tried = link->name;
    if (!try_next(peer))
        ski_tcp_lose(peer, say_no_way(peer, why));
}

/* ---- links that come in ---------------------------------------------------------------- */

/* Whether something has come that we have not had the time to look at. */
static bool is_ready(const struct ski_link *link)
{
    struct pollfd fd = {link->source.fd, link->state == SKI_LINK_CONNECTING ? POLLOUT : POLLIN, 0};

    return poll(&fd, 1, 0) == 1;
}

/* Whether the port may have another link that has not proved who it is. */
static bool tcp_may_have_more(const struct ski_port *port)
{
    size_t share = ski_files_limit() / 8;
    size_t most  = share < UNPROVEN_MOST ? share : UNPROVEN_MOST;

    return port->unproven < UNPROVEN_LEAST || atomic_load(&ski_tcp.unproven) < most;
}

/* The link that gives way first: the oldest of a port's that have not said hello, or else of those
 * that have not proved who they are; NULL: there are none. */
static struct ski_link *tcp_oldest_unproven(const struct ski_port *port)
{
    struct ski_link *oldest = NULL;

    for (struct ski_link *link = port->links; port->unproven > 0 && link; link = link->next)
        if (ski_tcp_is_unproven(link) && (!oldest || link->state <= oldest->state))
            oldest = link; /* they are in the order of their age */
    return oldest;
}

/* How long a link that came in may take, whatever else waits.  After a hello, which may be a
 * peer's, it is longer, as the PE of that peer may compute. */
static double greet_least(const struct ski_link *link)
{
    return link->state == SKI_LINK_PROVING ? PROOF_LEAST : HELLO_LEAST;
}

/* Lets the oldest go that has not proved who it is, though it has had the time; false: there is
 * none such. */
static bool tcp_make_room(struct ski_port *port)
{
    struct ski_link *oldest = tcp_oldest_unproven(port);
    unsigned         before = port->unproven;

    if (!oldest || ski_tcp_now() < oldest->began + greet_least(oldest))
        return false;
    if (is_ready(oldest)) {
        ski_tcp_hear(oldest);
        return port->unproven < before;
    }
    complain(oldest, "say who it is");
    ski_tcp_close_link(oldest);
    return true;
}

/* Whether a connection that has just come may stay: not if it takes of what is left to the job, no
 * other gives way, and more than a few of the process have not proved who they are. */
static bool tcp_may_stay(struct ski_port *port, int fd)
{
    if (SKI_LIKELY(!ski_files_is_reserved(fd)) || ski_files_raise() || tcp_make_room(port) ||
        atomic_load(&ski_tcp.unproven) < UNPROVEN_LEAST)
        return true;
    if (!port->short_of_files)
        ski_tcp.net->log(SKI_LOG_WARN, "connections are refused: " SKI_TOO_MANY_FILES);
    port->short_of_files = true;
    return false;
}

/* How long a link that comes in may take to say who it is. */
static double hello_seconds(void)
{
    double timeout = ski_tcp.net->peer_timeout;

    return timeout < HELLO_SECONDS ? timeout : HELLO_SECONDS;
}

/* What cannot be let in now would keep us awake: the doors are shut until something changes. */
bool ski_tcp_accept(struct ski_port *port, int door)
{
    bool any = false;

    for (int i = 0; i < ACCEPTS; i++) {
        bool             room = tcp_may_have_more(port) || tcp_make_room(port);
        int              fd   = room ? accept_one(port, door) : -1;
        struct ski_link *link;

        if (!room || (fd < 0 && is_short_of_files()))
            ski_tcp_shut_doors(port, true);
        if (fd < 0)
            return any;
        any  = true;
        link = tcp_may_stay(port, fd) ? ski_tcp_new_link(port, fd, -1) : (close(fd), NULL);
        if (!link)
            return any;
        link->until = link->began + hello_seconds();
        ski_tcp_count_unproven(port, 1);
        if (!ski_tcp_watch(port, &link->source))
            ski_tcp_close_link(link);
    }
    return any;
}

/* ---- what happens at them -------------------------------------------------------------- */

static void greet_refuse(struct ski_link *link, const char *why)
{
    complain(link, why);
    ski_tcp_give_up(link, 0);
}

/* What is wrong with a hello: NULL, or what it does not do. */
static const char *greet_check_hello(const struct ski_link *link)
{
    const struct ski_hello *hello = &link->hello;

    if (memcmp(hello->magic, SKI_TCP_MAGIC, sizeof hello->magic) != 0 || hello->from < 0 ||
        hello->to != link->port->pe)
        return "know the secret of the job";
    return hello->security == (uint32_t)ski_tcp.net->security ? NULL
                                                              : "use the SKUA_SECURITY of the job";
}

/* Of a link that has come in.  It may take its time for the proof, as its PE may compute: it goes
 * when its place is needed. */
static void take_hello(struct ski_link *link)
{
    const char *wrong = greet_check_hello(link);

    if (wrong) {
        greet_refuse(link, wrong);
        return;
    }
    if (!greet_nonce(link->answer.nonce) ||
        !greet_prove(link, SKI_ROLE_ANSWERS, link->answer.proof) ||
        !greet_say(link, &link->answer, sizeof link->answer)) {
        ski_tcp_give_up(link, 0);
        return;
    }
    link->state = SKI_LINK_PROVING;
    link->until = INFINITY;
}

static void take_proof(struct ski_link *link)
{
    if (!is_proven(link, SKI_ROLE_BEGINS, link->proof)) {
        greet_refuse(link, "know the secret of the job");
        return;
    }
    if (!ski_tcp_make_records(link)) {
        ski_tcp_give_up(link, 0);
        return;
    }
    link->pe = link->hello.from;
    ski_tcp_count_unproven(link->port, -1);
    open_link(link);
}

/* Of a link of ours: before it is open, nothing but the proof goes by it. */
static void take_answer(struct ski_link *link)
{
    uint64_t proof[2];

    if (is_proven(link, SKI_ROLE_ANSWERS, link->answer.proof) &&
        greet_prove(link, SKI_ROLE_BEGINS, proof) && ski_tcp_make_records(link) &&
        greet_say(link, proof, sizeof proof))
        open_link(link);
    else
        ski_tcp_give_up(link, 0); /* that is somebody else */
}

/* What is expected at a link that is not open: where it goes, its length, and what is done with
 * it. */
struct greeting {
    void  *to;
    size_t bytes;
    void (*take)(struct ski_link *link);
};

static struct greeting greeting_at(struct ski_link *link)
{
    if (link->ours)
        return (struct greeting){&link->answer, sizeof link->answer, take_answer};
    if (link->state == SKI_LINK_PROVING)
        return (struct greeting){link->proof, sizeof link->proof, take_proof};
    return (struct greeting){&link->hello, sizeof link->hello, take_hello};
}

/* Reads no further than what is expected goes. */
bool ski_tcp_hear_greeting(struct ski_link *link)
{
    struct greeting what = greeting_at(link);
    ssize_t n = recv(link->source.fd, (char *)what.to + link->got, what.bytes - link->got, 0);

    if (n <= 0) {
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return false;
        ski_tcp_give_up(link, n < 0 ? errno : ECONNRESET);
        return true;
    }
    link->got += (size_t)n;
    if (link->got == what.bytes) {
        link->got = 0;
        what.take(link);
    }
    return true;
}

bool ski_tcp_hear_connected(struct ski_link *link)
{
    int       error = 0;
    socklen_t bytes = sizeof error;

    getsockopt(link->source.fd, SOL_SOCKET, SO_ERROR, &error, &bytes);
    if (error != 0 || !greet(link))
        ski_tcp_give_up(link, error ? error : errno);
    return true;
}

/* Where somebody was reached who has not answered, it may be busy: that goes on beside the next
 * one. */
void ski_tcp_be_late(struct ski_link *link)
{
    struct ski_peer *peer = ski_tcp_peer(link->port, link->pe);

    if (is_ready(link)) {
        ski_tcp_hear(link);
        return;
    }
    if (!link->ours)
        complain(link, "say who it is");
    if (!link->ours || link->state == SKI_LINK_CONNECTING)
        ski_tcp_give_up(link, ETIMEDOUT);
    else if (peer && peer->link == link)
        try_next(peer);
}
