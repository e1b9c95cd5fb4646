/* SPDX-License-Identifier: Apache-2.0 */
/* buffer.c - see buffer.h. */
#include "onesided/buffer/buffer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/copy.h"
#include "base/memory.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "onesided/region/cma.h"
#include "onesided/region/rkey_cache.h"
#include "onesided/rma/rma_pe.h"
#include "onesided/region/registration.h"
#include "onesided/rma/rma_driver.h"

_Static_assert(sizeof(struct ski_buffer_packet) == SKI_BUFFER_LEAST, "see buffer.h");

/* Fewer bytes are copied into a message: a put would do that, too (am_origin.c). */
#define PUT_LEAST ((size_t)32768)

/* A put of ours into registered memory, until its end; those that wait for room. */
struct ski_put {
    struct ski_put *next;
    skua_buffer     from, to;
    size_t          bytes;
    bool            lent, told;
};

/* ---- descriptions ------------------------------------------------------------------------- */

static int32_t own_pid(void)
{
    static _Atomic int32_t pid;

    if (pid == 0)
        pid = (int32_t)getpid();
    return pid;
}

skua_status_t skua_buffer_register(skua_buffer *buffer)
{
    struct ski_pe *self = SKI_SELF();
    skua_status_t  status;

    if (buffer->pe != self->pe)
        ski_misuse("%s: a buffer of PE %d, on PE %d", __func__, buffer->pe, self->pe);
    if (buffer->held)
        return SKUA_OK;
    status = ski_registration_hold(self, buffer->at, buffer->bytes, &buffer->where, &buffer->room);
    buffer->held = status == SKUA_OK;
    return status;
}

void skua_buffer_deregister(skua_buffer *buffer)
{
    struct ski_pe *self = SKI_SELF();

    if (buffer->pe != self->pe)
        ski_misuse("%s: a buffer of PE %d, on PE %d", __func__, buffer->pe, self->pe);
    if (!buffer->held)
        return;
    ski_registration_release(self, buffer->at, buffer->bytes);
    buffer->held  = 0;
    buffer->where = (skua_gaddr){0};
    buffer->room  = 0;
}

/* Nobody needs a registration in a job that is on one host and may look into its memory. */
static bool may_be_needed(const struct ski_pe *self)
{
    return ski_job_spread(self->job) || !ski_config.direct || !ski_config.attach;
}

skua_buffer skua_buffer_of(const void *at, size_t bytes, skua_registration mode,
                           skua_completion done, uint64_t user)
{
    struct ski_pe *self   = SKI_SELF();
    skua_buffer    buffer = {.at    = (void *)(uintptr_t)at,
                             .bytes = bytes,
                             .pe    = self->pe,
                             .pid   = own_pid(),
                             .mode  = (uint32_t)mode,
                             .done  = done,
                             .user  = user};

    if (self->net)
        buffer.tag = ski_buffer_tag(self, &buffer);
    if (mode == SKUA_REGISTER_NOW && may_be_needed(self))
        (void)skua_buffer_register(&buffer); /* if not now, then later */
    return buffer;
}

void *skua_buffer_local(const skua_buffer *buffer)
{
    struct ski_pe *self = SKI_SELF();
    return ski_buffer_reach(self, buffer);
}

/* ---- at once ------------------------------------------------------------------------------ */

/* Through the system; what it has refused once it is not asked again. */
static skua_status_t attach(const struct ski_pe *self, const skua_buffer *theirs, void *mine,
                            size_t bytes, bool get)
{
    static _Atomic bool refused;
    skua_status_t       status;

    if (!ski_config.direct || !ski_config.attach || refused ||
        ski_job_index(self->job, theirs->pe) < 0)
        return SKUA_ERR_UNSUPPORTED;
    status = get ? ski_attach_read("skua_buffer_get", theirs->pid, mine, theirs->at, bytes)
                 : ski_attach_write("skua_buffer_put", theirs->pid, theirs->at, mine, bytes);
    if (status == SKUA_ERR_UNSUPPORTED)
        refused = true;
    return status;
}

/* SKUA_ERR_UNSUPPORTED: it cannot be done at once. */
static skua_status_t move(const struct ski_pe *self, const skua_buffer *mine,
                          const skua_buffer *theirs, size_t bytes, bool get)
{
    void *at = ski_buffer_reach(self, theirs);

    if (!at && bytes > 0)
        return attach(self, theirs, mine->at, bytes, get);
    if (bytes > 0)
        memmove(get ? mine->at : at, get ? at : mine->at, bytes);
    return SKUA_OK;
}

/* Its owner hears that a transfer is over. */
static void tell(const skua_buffer *buffer)
{
    skua_complete(buffer->done, buffer, sizeof *buffer);
}

/* ---- by message --------------------------------------------------------------------------- */

static size_t least_of(const skua_buffer *a, const skua_buffer *b)
{
    return a->bytes < b->bytes ? a->bytes : b->bytes;
}

static void send(struct ski_pe *self, int pe, const struct ski_buffer_packet *packet,
                 const void *data, size_t bytes)
{
    skua_msg *msg = skua_msg_alloc(sizeof *packet + bytes);

    memcpy(skua_msg_data(msg), packet, sizeof *packet);
    if (bytes)
        memcpy((char *)skua_msg_data(msg) + sizeof *packet, data, bytes);
    msg->handler = SKI_HANDLER_BUFFER;
    msg->source  = self->pe;
    ski_msg_post(self, pe, SKI_HANDLER_BUFFER, msg);
}

static void send_data(struct ski_pe *self, const skua_buffer *from, const skua_buffer *to,
                      size_t bytes)
{
    struct ski_buffer_packet packet = {
        .verb = SKI_BUFFER_DATA, .bytes = bytes, .from = *from, .to = *to};

    send(self, to->pe, &packet, from->at, bytes);
    tell(from);
}

static void send_over(struct ski_pe *self, const struct ski_put *put)
{
    struct ski_buffer_packet packet = {.verb  = SKI_BUFFER_OVER,
                                       .lent  = put->lent,
                                       .bytes = put->bytes,
                                       .from  = put->from,
                                       .to    = put->to};

    send(self, put->to.pe, &packet, NULL, 0);
}

/* ---- into registered memory ---------------------------------------------------------------- */

/* Whether the driver would do it. */
static bool by_driver(size_t bytes)
{
    return ski_registration_pins() && bytes >= ski_config.rma_least;
}

/* Whether a message behind the data cannot come before them. */
static bool in_order(const struct ski_put *put)
{
    return !ski_config.helper && !by_driver(put->bytes);
}

static void start_put(struct ski_pe *self, struct ski_put *put);

static bool has_room(const struct ski_origin *origin, const struct ski_put *put)
{
    return origin->puts == 0 || origin->bytes + put->bytes <= ski_config.request_pool;
}

static void put_over(void *arg, const void *data, size_t bytes)
{
    struct ski_pe     *self   = ski_self;
    struct ski_origin *origin = ski_origin_of(self);
    struct ski_put    *put    = arg, *next;

    (void)data, (void)bytes;
    if (!put->told)
        send_over(self, put);
    tell(&put->from);
    free(put);
    origin->puts--;
    while ((next = origin->put_first) && has_room(origin, next)) {
        origin->put_first = next->next;
        start_put(self, next);
    }
}

/* What the buffer says of its region need not be asked for. */
static void know_region(struct ski_pe *self, const skua_buffer *buffer)
{
    if (ski_job_index(self->job, buffer->pe) < 0 && !ski_registration_pins())
        ski_known_tell(self, buffer->where, buffer->room,
                       (uintptr_t)buffer->at - buffer->where.offset);
}

static void start_put(struct ski_pe *self, struct ski_put *put)
{
    skua_ends      ends = {.order = SKUA_UNORDERED, .remote = skua_done_call(put_over, put)};
    struct ski_put copy; /* it may be over, and gone, when the call returns */

    put->told = in_order(put);
    copy      = *put;
    ski_origin_of(self)->puts++;
    know_region(self, &copy.to);
    if (skua_put_nb(copy.to.where, copy.from.at, copy.bytes, &ends) < 0) {
        ski_origin_of(self)->puts--; /* it has been logged, or the job ends */
        free(put);
    } else if (copy.told) {
        send_over(self, &copy);
    }
}

/* Puts wait for each other, rather than inside of each other for room in the pool. */
static void put_registered(struct ski_pe *self, const skua_buffer *from, const skua_buffer *to,
                           size_t bytes, bool lent)
{
    struct ski_origin *origin = ski_origin_of(self);
    struct ski_put    *put    = ski_malloc(sizeof *put);
    struct ski_put   **last   = &origin->put_first;

    *put = (struct ski_put){.from = *from, .to = *to, .bytes = bytes, .lent = lent};
    if (!*last && has_room(origin, put)) {
        start_put(self, put);
        return;
    }
    while (*last)
        last = &(*last)->next;
    *last = put;
}

/* A get by the driver. */
static void get_over(void *arg, const void *data, size_t bytes)
{
    struct ski_put *get = arg;

    (void)data, (void)bytes;
    tell(&get->from);
    tell(&get->to);
    free(get);
}

static skua_status_t get_by_driver(const skua_buffer *here, const skua_buffer *from, size_t bytes)
{
    struct ski_put *get  = ski_malloc(sizeof *get);
    skua_ends       ends = {.order = SKUA_UNORDERED, .local = skua_done_call(get_over, get)};
    skua_status_t   status;

    *get   = (struct ski_put){.from = *from, .to = *here, .bytes = bytes};
    status = skua_get_nb(here->at, from->where, bytes, &ends);
    if (status < 0)
        free(get);
    return status;
}

/* ---- between hosts -------------------------------------------------------------------------- */

static bool by_data(const skua_buffer *a, const skua_buffer *b, size_t bytes)
{
    return bytes < PUT_LEAST || a->mode == SKUA_REGISTER_NEVER || b->mode == SKUA_REGISTER_NEVER;
}

/* The packet's `to` is registered for its transfer, if it is not anyway. */
static skua_status_t lend(struct ski_pe *self, struct ski_buffer_packet *packet)
{
    skua_status_t status = SKUA_OK;

    if (packet->to.held)
        return SKUA_OK;
    status       = ski_registration_hold(self, packet->to.at, packet->to.bytes, &packet->to.where,
                                         &packet->to.room);
    packet->lent = status == SKUA_OK;
    return status;
}

static skua_status_t get_far(struct ski_pe *self, const skua_buffer *here, const skua_buffer *from,
                             size_t bytes)
{
    struct ski_buffer_packet packet = {
        .verb = SKI_BUFFER_FETCH, .bytes = bytes, .from = *from, .to = *here};

    if (from->held && by_driver(bytes) && !by_data(here, from, bytes) && !self->thread)
        return get_by_driver(here, from, bytes);
    if (!by_data(here, from, bytes))
        (void)lend(self, &packet); /* if there is no room: as data */
    send(self, from->pe, &packet, NULL, 0);
    return SKUA_PENDING;
}

static skua_status_t put_far(struct ski_pe *self, const skua_buffer *here, const skua_buffer *to,
                             size_t bytes)
{
    struct ski_buffer_packet packet = {
        .verb = SKI_BUFFER_ASK, .bytes = bytes, .from = *here, .to = *to};

    if (by_data(here, to, bytes))
        send_data(self, here, to, bytes);
    else if (to->held)
        put_registered(self, here, to, bytes, false);
    else
        send(self, to->pe, &packet, NULL, 0);
    return SKUA_PENDING;
}

/* The owner of the data sends them. */
static void on_fetch(struct ski_pe *self, const struct ski_buffer_packet *packet)
{
    if (packet->to.held || packet->lent)
        put_registered(self, &packet->from, &packet->to, packet->bytes, packet->lent);
    else
        send_data(self, &packet->from, &packet->to, packet->bytes);
}

static void on_ask(struct ski_pe *self, const struct ski_buffer_packet *asked)
{
    struct ski_buffer_packet packet = *asked;

    packet.verb = SKI_BUFFER_READY;
    (void)lend(self, &packet);
    send(self, packet.from.pe, &packet, NULL, 0);
}

/* The data are in `to`, which is ours. */
static void on_over(struct ski_pe *self, const struct ski_buffer_packet *packet)
{
    skua_buffer to = packet->to;

    if (packet->lent) {
        ski_registration_release(self, to.at, to.bytes);
        to.where = (skua_gaddr){0};
        to.room  = 0;
    }
    tell(&to);
}

/* Data came in the message itself. */
static void buffer_on_data(const struct ski_buffer_packet *packet)
{
    if (packet->bytes > 0)
        memcpy(packet->to.at, packet + 1, packet->bytes);
    tell(&packet->to);
}

/* Whether a packet is about a buffer that this PE made and one of its sender's, and of no more
 * bytes than both have. */
static bool buffer_packet_is_sound(const struct ski_pe *self, const skua_msg *msg)
{
    const struct ski_buffer_packet *packet = (const struct ski_buffer_packet *)(msg + 1);
    bool               gives = packet->verb == SKI_BUFFER_FETCH || packet->verb == SKI_BUFFER_READY;
    const skua_buffer *mine  = gives ? &packet->from : &packet->to;
    const skua_buffer *theirs = gives ? &packet->to : &packet->from;
    size_t             data   = packet->verb == SKI_BUFFER_DATA ? packet->bytes : 0;

    return packet->verb <= SKI_BUFFER_OVER && mine->pe == self->pe && theirs->pe == msg->source &&
           ski_buffer_sound(self, mine) && ski_buffer_sound(self, theirs) &&
           packet->bytes <= mine->bytes && packet->bytes <= theirs->bytes &&
           msg->bytes == sizeof *packet + data &&
           (!(packet->to.held || packet->lent) || !gives || packet->to.where.pe == packet->to.pe);
}

void ski_on_buffer(skua_msg *msg)
{
    struct ski_pe                  *self   = ski_self;
    const struct ski_buffer_packet *packet = skua_msg_data(msg);

    if (!buffer_packet_is_sound(self, msg)) {
        ski_far_drop(self, msg);
        return;
    }
    switch ((enum ski_buffer_verb)packet->verb) {
    case SKI_BUFFER_FETCH:
    case SKI_BUFFER_READY: on_fetch(self, packet); break;
    case SKI_BUFFER_ASK: on_ask(self, packet); break;
    case SKI_BUFFER_DATA: buffer_on_data(packet); break;
    case SKI_BUFFER_OVER: on_over(self, packet); break;
    }
    skua_msg_free(msg);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static skua_status_t check(const char *call, const struct ski_pe *self, const skua_buffer *here,
                           const skua_buffer *other)
{
    if (here->pe != self->pe)
        return ski_refuse(SKUA_ERR_INVAL, "%s: its own side is a buffer of PE %d, on PE %d", call,
                          here->pe, self->pe);
    if (!ski_buffer_sound(self, other))
        return ski_refuse(SKUA_ERR_INVAL, "%s: the other side is no buffer", call);
    return SKUA_OK;
}

skua_status_t skua_buffer_get(const skua_buffer *here, const skua_buffer *from)
{
    struct ski_pe *self   = SKI_SELF();
    size_t         bytes  = least_of(here, from);
    skua_status_t  status = check(__func__, self, here, from);

    if (status == SKUA_OK)
        status = move(self, here, from, bytes, true);
    if (status == SKUA_ERR_UNSUPPORTED)
        return get_far(self, here, from, bytes);
    if (status == SKUA_OK) {
        tell(from);
        tell(here);
    }
    return status;
}

skua_status_t skua_buffer_put(const skua_buffer *here, const skua_buffer *to)
{
    struct ski_pe *self   = SKI_SELF();
    size_t         bytes  = least_of(here, to);
    skua_status_t  status = check(__func__, self, here, to);

    if (status == SKUA_OK)
        status = move(self, here, to, bytes, false);
    if (status == SKUA_ERR_UNSUPPORTED)
        return put_far(self, here, to, bytes);
    if (status == SKUA_OK) {
        tell(to);
        tell(here);
    }
    return status;
}

/* Puts that nobody will hear the end of. */
void ski_buffers_end(struct ski_origin *origin)
{
    while (origin->put_first) {
        struct ski_put *gone = origin->put_first;
        origin->put_first    = gone->next;
        free(gone);
    }
    free(origin->pool); /* its blocks go with the arena */
}
