/* SPDX-License-Identifier: Apache-2.0 */
/* seal.c - see seal.h. */
#include "transport/seal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/seconds.h"

#define SEAL_WARNINGS_MAX 10 /* about packets that are not genuine, then silence */

struct seal_head {
    int32_t  source;
    uint32_t unused;
    uint64_t number;
    uint8_t  tag[SKI_CRYPTO_TAG];
};

#define SEAL_HEAD sizeof(struct seal_head)

_Static_assert(SEAL_HEAD >= SKI_PACKET_MIN, "a sealed packet is long enough for the driver below");

/* The keys of one direction between two PEs. */
struct seal_direction {
    struct ski_cipher *cipher;
    uint64_t           nonce[2]; /* of number 0; SKI_CRYPTO_NONCE bytes of it are used */
};

/* A range of numbers that arrived before smaller ones. */
struct seal_range {
    struct seal_range *next;
    uint64_t           first, last;
};

/* A PE that sends to this port; created with its first authentic packet. */
struct seal_source {
    struct seal_direction direction;
    uint64_t              next;     /* all numbers below have arrived */
    struct seal_range    *ranges;   /* ascending, with gaps     */
    double                deadline; /* for `awaited`, after a packet was dropped; 0: none */
    uint64_t              awaited;
};

/* The port of this driver, with the port of the driver below. */
struct ski_port {
    struct ski_port          *below;
    int                       pe;
    const struct ski_upcalls *up;
    void                     *owner;
    struct seal_source      **source; /* by PE */
    size_t                    sources;
    struct ski_peer          *peers;
    unsigned                  dropped;
    bool                      suspects; /* some source has a deadline */
    char                     *scratch;
    size_t                    scratch_bytes;
};

struct ski_peer {
    struct ski_peer      *below;
    struct ski_port      *port;
    struct seal_direction direction;
    uint64_t              number; /* of the next packet */
    struct ski_peer      *next;
};

/* A packet that is being sent; the driver below gets it from its head on. */
struct seal_send_buffer {
    void            *packet; /* the runtime's */
    uint64_t         unused;
    struct seal_head head;
    char             body[];
};

static struct {
    const struct ski_driver *below;
    struct ski_net          *net;
    char                     text[192];
} seal;

/* ---- keys ----------------------------------------------------------------------------- */

static bool seal_direction_make(struct seal_direction *direction, int source, int target)
{
    const uint64_t words[] = {UINT64_C(0x736c61657320616b) /* no other use of the secret has it */,
                              (uint64_t)seal.net->security, (uint64_t)(uint32_t)source,
                              (uint64_t)(uint32_t)target};
    struct {
        unsigned char key[SKI_CRYPTO_KEY];
        uint64_t      nonce[2];
    } keys;

    direction->cipher = NULL;
    if (seal.net->derive(words, sizeof words / sizeof *words, &keys, sizeof keys))
        direction->cipher =
            seal.net->crypto->make(keys.key, seal.net->security == SKI_SECURITY_ENCRYPT);
    memcpy(direction->nonce, keys.nonce, sizeof direction->nonce);
    explicit_bzero(&keys, sizeof keys);
    return direction->cipher != NULL;
}

static void seal_direction_nonce(const struct seal_direction *direction, uint64_t number,
                                 uint64_t nonce[2])
{
    nonce[0] = direction->nonce[0] ^ number;
    nonce[1] = direction->nonce[1];
}

/* ---- numbers -------------------------------------------------------------------------- */

/* Advances past the numbers that arrived before the one that was missing. */
static void seal_source_advance(struct seal_source *s)
{
    while (s->ranges && s->ranges->first == s->next) {
        struct seal_range *range = s->ranges;

        assert(range->last >= range->first && (!range->next || range->next->first > range->last));
        s->next   = range->last + 1;
        s->ranges = range->next;
        free(range);
    }
}

/* Adds a number above the first missing one to the ranges.  Returns false if it has arrived before,
 * or if memory is exhausted. */
static bool seal_range_add(struct seal_range **at, uint64_t number)
{
    struct seal_range *range;

    while (*at && (*at)->last + 1 < number)
        at = &(*at)->next;
    range = *at;
    if (range && number >= range->first && number <= range->last)
        return false;
    if (range && number == range->last + 1) {
        range->last++;
        if (range->next && range->next->first == range->last + 1) {
            struct seal_range *joined = range->next;

            range->last = joined->last;
            range->next = joined->next;
            free(joined);
        }
        return true;
    }
    if (range && number + 1 == range->first) {
        range->first--;
        return true;
    }
    range = malloc(sizeof *range);
    if (range)
        *range = (struct seal_range){*at, number, number};
    else
        return false;
    *at = range;
    return true;
}

/* Accepts a number.  Returns false if it has arrived before. */
static bool seal_source_take(struct seal_source *s, uint64_t number)
{
    if (number < s->next || (number > s->next && !seal_range_add(&s->ranges, number)))
        return false;
    s->next += number == s->next;
    seal_source_advance(s);
    return true;
}

static void seal_source_drop(struct seal_source *s)
{
    while (s && s->ranges) {
        struct seal_range *gone = s->ranges;
        s->ranges               = gone->next;
        free(gone);
    }
    if (s)
        seal.net->crypto->drop(s->direction.cipher);
    free(s);
}

/* ---- sources ---------------------------------------------------------------------------- */

static struct seal_source *seal_source_find(const struct ski_port *port, int pe)
{
    return pe >= 0 && (size_t)pe < port->sources ? port->source[pe] : NULL;
}

/* Records a source.  Returns false if memory is exhausted. */
static bool seal_source_keep(struct ski_port *port, int pe, struct seal_source *s)
{
    size_t room = port->sources ? port->sources : 16;

    while (room <= (size_t)pe)
        room *= 2;
    if (room > port->sources) {
        struct seal_source **grown = realloc(port->source, room * sizeof *grown);

        if (!grown)
            return false;
        memset(grown + port->sources, 0, (room - port->sources) * sizeof *grown);
        port->source  = grown;
        port->sources = room;
    }
    port->source[pe] = s;
    return true;
}

/* Starts to watch a source, as a packet that claims to be from @p pe was dropped: if it was real,
 * its number stays missing. */
static void seal_suspect(struct ski_port *port, int pe)
{
    struct seal_source *s = seal_source_find(port, pe);

    if (!s || s->deadline > 0)
        return;
    s->deadline    = ski_seconds(CLOCK_MONOTONIC_COARSE) + seal.net->peer_timeout;
    s->awaited     = s->next;
    port->suspects = true;
}

static void seal_check_suspects(struct ski_port *port)
{
    double now     = ski_seconds(CLOCK_MONOTONIC_COARSE);
    bool   another = false;

    for (size_t pe = 0; pe < port->sources; pe++) {
        struct seal_source *s = port->source[pe];

        if (!s || s->deadline <= 0)
            continue;
        another |= now < s->deadline;
        if (now < s->deadline)
            continue;
        s->deadline = 0;
        if (s->next == s->awaited && s->ranges)
            port->up->lost(port->owner, (int)pe,
                           "one of its packets is missing: it was changed or dropped on the way");
    }
    port->suspects = another;
}

/* ---- receiving ------------------------------------------------------------------------- */

static void seal_warn_dropped(struct ski_port *port, int source, size_t bytes, const char *wrong)
{
    if (++port->dropped <= SEAL_WARNINGS_MAX)
        seal.net->log(SKI_LOG_WARN,
                      "a packet of %zu bytes that claims to be from PE %d was dropped: %s%s", bytes,
                      source, wrong,
                      port->dropped == SEAL_WARNINGS_MAX ? " (further ones are not logged)" : "");
    seal_suspect(port, source);
}

/* Checks and decrypts the body of a packet in place.  Returns false, after a warning, if the packet
 * is to be dropped. */
static bool seal_open_body(struct ski_port *port, const struct seal_head *head, char *body,
                           size_t bytes)
{
    struct seal_source *known = seal_source_find(port, head->source), *s = known;
    uint64_t            nonce[2];
    const char         *wrong = NULL;

    if (!s && head->source >= 0 && (s = calloc(1, sizeof *s)) &&
        !seal_direction_make(&s->direction, head->source, port->pe)) {
        free(s);
        s = NULL;
    }
    if (s)
        seal_direction_nonce(&s->direction, head->number, nonce);
    if (!s || !seal.net->crypto->open(s->direction.cipher, nonce, body, bytes, head->tag))
        wrong = "it is not authentic";
    else if (!seal_source_take(s, head->number))
        wrong = "it has arrived before";
    else if (!known && !seal_source_keep(port, head->source, s))
        wrong = "memory is exhausted";
    if (wrong && !known)
        seal_source_drop(s);
    if (wrong)
        seal_warn_dropped(port, head->source, SEAL_HEAD + bytes, wrong);
    return !wrong;
}

static bool seal_is_long_enough(struct ski_port *port, size_t bytes)
{
    if (bytes >= SEAL_HEAD + SKI_PACKET_MIN)
        return true;
    seal_warn_dropped(port, -1, bytes, "it is too short");
    return false;
}

/* Delivers an opened packet to the runtime. */
static void seal_deliver(struct ski_port *port, const char *packet, size_t bytes)
{
    void *room;

    if (port->up->recv_inline && port->up->recv_inline(port->owner, packet, bytes))
        return;
    room = port->up->alloc(port->owner, bytes);
    if (room)
        port->up->arrived(port->owner, memcpy(room, packet, bytes), bytes);
}

/* The length comes from the network, and is checked before it is rounded up. */
static void *seal_on_alloc(void *owner, size_t bytes)
{
    (void)owner;
    return bytes > PTRDIFF_MAX ? NULL : aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void seal_on_arrived(void *owner, void *packet, size_t bytes)
{
    struct ski_port  *port = owner;
    struct seal_head *head = packet;

    if (seal_is_long_enough(port, bytes) &&
        seal_open_body(port, head, (char *)(head + 1), bytes - SEAL_HEAD))
        seal_deliver(port, (char *)(head + 1), bytes - SEAL_HEAD);
    free(packet);
}

static void seal_on_abort(void *owner, void *packet)
{
    (void)owner;
    free(packet);
}

/* Copies the packet first, since the driver's memory must not be written. */
static bool seal_on_recv_inline(void *owner, const void *packet, size_t bytes)
{
    struct ski_port *port = owner;
    struct seal_head head;

    if (bytes > port->scratch_bytes)
        return false;
    if (!seal_is_long_enough(port, bytes))
        return true;
    memcpy(&head, packet, SEAL_HEAD);
    memcpy(port->scratch, (const char *)packet + SEAL_HEAD, bytes - SEAL_HEAD);
    if (seal_open_body(port, &head, port->scratch, bytes - SEAL_HEAD))
        seal_deliver(port, port->scratch, bytes - SEAL_HEAD);
    return true;
}

static void seal_on_sent(void *owner, void *sealed)
{
    struct ski_port         *port = owner;
    struct seal_send_buffer *out =
        (void *)((char *)sealed - offsetof(struct seal_send_buffer, head)); /* NOLINT */

    port->up->sent(port->owner, out->packet);
    free(out);
}

static void seal_on_done(void *owner, void *cookie, skua_status status)
{
    struct ski_port *port = owner;

    port->up->done(port->owner, cookie, status);
}

static void seal_on_lost(void *owner, int pe, const char *reason)
{
    struct ski_port *port = owner;

    port->up->lost(port->owner, pe, reason);
}

static const struct ski_upcalls seal_upcalls = {.alloc       = seal_on_alloc,
                                                .arrived     = seal_on_arrived,
                                                .abort       = seal_on_abort,
                                                .sent        = seal_on_sent,
                                                .done        = seal_on_done,
                                                .lost        = seal_on_lost,
                                                .recv_inline = seal_on_recv_inline};

/* ---- sending ------------------------------------------------------------------------------ */

/* A packet that the driver below refuses is sealed again later with the same number; the first
 * result was not sent. */
static skua_status seal_send(struct ski_peer *peer, void *packet, size_t bytes)
{
    struct seal_send_buffer *out  = malloc(sizeof *out + bytes);
    struct iovec             part = {packet, bytes};
    uint64_t                 nonce[2];
    skua_status              status = SKUA_ERR_SYSTEM;

    if (!out)
        return SKUA_ERR_AGAIN;
    *out = (struct seal_send_buffer){.packet = packet,
                                     .head   = {.source = peer->port->pe, .number = peer->number}};
    seal_direction_nonce(&peer->direction, peer->number, nonce);
    if (seal.net->crypto->seal(peer->direction.cipher, nonce, &part, 1, out->body, out->head.tag))
        status = seal.below->send(peer->below, &out->head, SEAL_HEAD + bytes);
    if (status >= 0)
        peer->number++;
    if (status != SKUA_PENDING)
        free(out);
    return status;
}

/* ---- ports ------------------------------------------------------------------------------- */

static void seal_free_port(struct ski_port *port)
{
    while (port->peers) {
        struct ski_peer *peer = port->peers;
        port->peers           = peer->next;
        seal.net->crypto->drop(peer->direction.cipher);
        free(peer);
    }
    for (size_t i = 0; i < port->sources; i++)
        seal_source_drop(port->source[i]);
    free(port->source);
    free(port->scratch);
    free(port);
}

static skua_status seal_open(int pe, const struct ski_upcalls *up, void *owner,
                             struct ski_port **out)
{
    struct ski_port *port = calloc(1, sizeof *port);
    skua_status      status;

    if (!port)
        return SKUA_ERR_NOMEM;
    port->pe            = pe;
    port->up            = up;
    port->owner         = owner;
    port->scratch_bytes = SEAL_HEAD + seal.below->eager_max();
    port->scratch       = aligned_alloc(64, (port->scratch_bytes + 63) / 64 * 64);
    status =
        port->scratch ? seal.below->open(pe, &seal_upcalls, port, &port->below) : SKUA_ERR_NOMEM;
    if (status == SKUA_OK)
        *out = port;
    else
        seal_free_port(port);
    return status;
}

static void seal_close(struct ski_port *port)
{
    seal.below->close(port->below);
    seal_free_port(port);
}

static size_t seal_address(struct ski_port *port, void *to)
{
    return seal.below->address(port->below, to);
}

static skua_status seal_connect(struct ski_port *port, int pe, const void *address, size_t bytes,
                                struct ski_peer **out)
{
    struct ski_peer *peer = calloc(1, sizeof *peer);
    skua_status      status;

    if (!peer)
        return SKUA_ERR_NOMEM;
    peer->port = port;
    status     = seal_direction_make(&peer->direction, port->pe, pe)
                     ? seal.below->connect(port->below, pe, address, bytes, &peer->below)
                     : SKUA_ERR_SYSTEM;
    if (status != SKUA_OK) {
        seal.net->crypto->drop(peer->direction.cipher);
        free(peer);
        return status;
    }
    peer->next  = port->peers;
    port->peers = peer;
    *out        = peer;
    return SKUA_OK;
}

static unsigned seal_progress(struct ski_port *port)
{
    if (port->suspects)
        seal_check_suspects(port);
    return seal.below->progress(port->below);
}

static int seal_wait_fd(struct ski_port *port)
{
    return seal.below->wait_fd(port->below);
}

static bool seal_arm(struct ski_port *port)
{
    return seal.below->arm(port->below);
}

static void seal_disarm(struct ski_port *port)
{
    seal.below->disarm(port->below);
}

/* ---- the process -------------------------------------------------------------------------- */

static skua_status seal_start(struct ski_net *net)
{
    (void)net; /* the driver below has been started */
    return SKUA_OK;
}

static void seal_stop(void)
{
    seal.below->stop();
}

static const char *seal_describe(void)
{
    return seal.text;
}

static size_t seal_preferred_packet(void)
{
    return seal.below->preferred_packet ? seal.below->preferred_packet() : (size_t)1 << 20;
}

static size_t seal_eager_max(void)
{
    return seal.below->eager_max() - SEAL_HEAD;
}

const struct ski_driver *ski_seal_over(const struct ski_driver *driver, struct ski_net *net)
{
    static struct ski_driver sealed;

    assert(net->security != SKI_SECURITY_JOB && net->crypto && !driver->seals);
    seal.below = driver;
    seal.net   = net;
    snprintf(seal.text, sizeof seal.text, "%s, packets sealed", driver->describe());
    sealed = (struct ski_driver){
        .version          = SKI_DRIVER_VERSION,
        .name             = driver->name,
        .seals            = true,
        .start            = seal_start,
        .stop             = seal_stop,
        .describe         = seal_describe,
        .open             = seal_open,
        .close            = seal_close,
        .address          = seal_address,
        .connect          = seal_connect,
        .send             = seal_send,
        .progress         = seal_progress,
        .wait_fd          = seal_wait_fd,
        .preferred_packet = seal_preferred_packet,
        .eager_max        = seal_eager_max,
        .arm              = seal_arm,
        .wakes_for_sends  = driver->wakes_for_sends, /* seals hold no packets themselves */
        .disarm           = driver->disarm ? seal_disarm : NULL,
    };
    return &sealed;
}
