/* SPDX-License-Identifier: Apache-2.0 */
/* buffer.c - see buffer.h. */
#include "onesided/buffer/buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/message/message.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/net/zcopy_send.h"
#include "onesided/buffer/buffer_data.h"
#include "onesided/buffer/buffer_pe.h"
#include "onesided/region/registration.h"
#include "onesided/region/rkey_cache.h"
#include "onesided/rma/cma.h"
#include "onesided/rma/rma_pe.h"
#include "onesided/rma/rma_request.h"

_Static_assert(sizeof(struct ski_buffer_packet) == SKI_BUFFER_MIN, "see buffer.h");

/* Fewer bytes are copied into a message; a put would do that as well (am_origin.c). */
#define PUT_MIN ((size_t)32768)

/* Bytes from which on the owner of the target reads what is put by another process of the host. */
#define PULL_MIN ((size_t)32768)

/* A put of this PE into registered memory, until its end; in the list of those that wait for
 * room. */
struct ski_buffer_put {
    struct ski_buffer_put *next;
    skua_buffer            from, to;
    size_t                 bytes;
    bool                   once; /* `to` is registered for this transfer only */
    bool                   told; /* DONE has been sent */
};

/* ---- descriptions ------------------------------------------------------------------------- */

static int32_t buffer_own_pid(void)
{
    static _Atomic int32_t pid;

    if (pid == 0)
        pid = (int32_t)getpid();
    return pid;
}

skua_status skua_buffer_register(skua_buffer *buffer)
{
    struct ski_pe *self = SKI_SELF();
    skua_status    status;

    if (buffer->pe != self->pe)
        return ski_refuse(SKUA_ERR_INVAL,
                          "%s: the buffer belongs to PE %d, the call runs on PE %d; a buffer is "
                          "registered on its own PE",
                          __func__, buffer->pe, self->pe);
    if (buffer->held)
        return SKUA_OK;
    status =
        ski_registration_acquire(self, buffer->at, buffer->bytes, &buffer->where, &buffer->room);
    buffer->held = status == SKUA_OK;
    return status;
}

void skua_buffer_unregister(skua_buffer *buffer)
{
    struct ski_pe *self = SKI_SELF();

    if (buffer->pe != self->pe)
        ski_misuse("%s: the buffer belongs to PE %d, the call runs on PE %d; a buffer is "
                   "registered on its own PE",
                   __func__, buffer->pe, self->pe);
    if (!buffer->held)
        return;
    ski_registration_release(self, buffer->at, buffer->bytes);
    buffer->held  = 0;
    buffer->where = (skua_gaddr){0};
    buffer->room  = 0;
}

/* Returns whether a registration may be used: not in a job on one host whose processes access each
 * other's memory. */
static bool buffer_registration_needed(const struct ski_pe *self)
{
    return ski_job_is_distributed(self->job) || !ski_config.direct || !ski_config.cma;
}

skua_buffer skua_buffer_make(const void *at, size_t bytes, skua_registration mode,
                             skua_completion done, uint64_t user)
{
    struct ski_pe *self   = SKI_SELF();
    skua_buffer    buffer = {.at    = (void *)(uintptr_t)at,
                             .bytes = bytes,
                             .pe    = self->pe,
                             .pid   = buffer_own_pid(),
                             .mode  = (uint32_t)mode,
                             .done  = done,
                             .user  = user};

    if (self->net)
        buffer.tag = ski_buffer_tag(self, &buffer);
    if (mode == SKUA_REGISTER_NOW && buffer_registration_needed(self))
        (void)skua_buffer_register(&buffer); /* if not now, then at the first transfer */
    return buffer;
}

void *skua_buffer_local(const skua_buffer *buffer)
{
    struct ski_pe *self = SKI_SELF();
    return ski_buffer_ptr(self, buffer);
}

/* ---- within the call --------------------------------------------------------------------- */

static _Atomic bool buffer_cma_refused; /* what the system has refused once is not tried again */

/* Returns whether the system may copy between this process and that of a PE. */
static bool buffer_cma_works(const struct ski_pe *self, int pe)
{
    return ski_config.direct && ski_config.cma && !buffer_cma_refused &&
           ski_job_index(self->job, pe) >= 0;
}

/* Copies by the system, for @p call. */
static skua_status buffer_cma(const char *call, const struct ski_pe *self,
                              const skua_buffer *theirs, void *mine, size_t bytes, bool get)
{
    skua_status status;

    if (!buffer_cma_works(self, theirs->pe))
        return SKUA_ERR_UNSUPPORTED;
    status = get ? ski_cma_read(call, theirs->pid, mine, theirs->at, bytes)
                 : ski_cma_write(call, theirs->pid, theirs->at, mine, bytes);
    if (status == SKUA_ERR_UNSUPPORTED)
        buffer_cma_refused = true;
    return status;
}

/* Copies now.  SKUA_ERR_UNSUPPORTED: that is not possible. */
static skua_status buffer_copy(const char *call, const struct ski_pe *self, const skua_buffer *mine,
                               const skua_buffer *theirs, size_t bytes, bool get)
{
    void *at = ski_buffer_ptr(self, theirs);

    if (!at && bytes > 0)
        return buffer_cma(call, self, theirs, mine->at, bytes, get);
    if (bytes > 0)
        memmove(get ? mine->at : at, get ? at : mine->at, bytes);
    return SKUA_OK;
}

/* Notifies the owner of a buffer that a transfer is complete. */
static void buffer_complete(const skua_buffer *buffer)
{
    skua_complete(buffer->done, buffer, sizeof *buffer);
}

/* ---- by message --------------------------------------------------------------------------- */

static size_t buffer_transfer_bytes(const skua_buffer *a, const skua_buffer *b)
{
    return a->bytes < b->bytes ? a->bytes : b->bytes;
}

static void buffer_send(struct ski_pe *self, int pe, const struct ski_buffer_packet *packet)
{
    ski_msg_post(self, pe, SKI_HANDLER_BUFFER,
                 ski_msg_copy(self, SKI_HANDLER_BUFFER, packet, sizeof *packet));
}

static void buffer_send_done(struct ski_pe *self, const struct ski_buffer_put *put)
{
    struct ski_buffer_packet packet = {.verb  = SKI_BUFFER_DONE,
                                       .once  = put->once,
                                       .bytes = put->bytes,
                                       .from  = put->from,
                                       .to    = put->to};

    buffer_send(self, put->to.pe, &packet);
}

/* ---- into registered memory ---------------------------------------------------------------- */

/* Returns whether the driver performs a transfer. */
static bool buffer_by_driver(size_t bytes)
{
    return ski_registration_pins() && bytes >= ski_config.rma_threshold;
}

/* Returns whether a message after the data cannot overtake them. */
static bool buffer_is_ordered(const struct ski_buffer_put *put)
{
    return !ski_config.progress_thread && !buffer_by_driver(put->bytes);
}

static void buffer_put_start(struct ski_pe *self, struct ski_buffer_put *put);

static bool buffer_has_room(const struct ski_pe *self, const struct ski_buffer_put *put)
{
    return ski_buffer_pe(self)->puts == 0 ||
           ski_rma_pe(self)->am_bytes[SKI_AM_POOL_PUT] + put->bytes <= ski_config.request_window;
}

/* Ends a put, and begins those that have waited for room. */
static void buffer_put_done(void *arg, const void *data, size_t bytes)
{
    struct ski_pe         *self = ski_self;
    struct ski_buffer_pe  *own  = ski_buffer_pe(self);
    struct ski_buffer_put *put  = arg, *next;

    (void)data, (void)bytes;
    if (!put->told)
        buffer_send_done(self, put);
    buffer_complete(&put->from);
    free(put);
    ski_assert(own->puts > 0);
    own->puts--;
    while ((next = own->put_first) && buffer_has_room(self, next)) {
        own->put_first = next->next;
        buffer_put_start(self, next);
    }
}

/* Caches what a buffer says of its region, which need not be queried then. */
static void buffer_cache_rkey(struct ski_pe *self, const skua_buffer *buffer)
{
    if (ski_job_index(self->job, buffer->pe) < 0 && !ski_registration_pins())
        ski_rkey_insert(self, buffer->where, buffer->room,
                        (uintptr_t)buffer->at - buffer->where.offset);
}

/* Begins a put into registered memory. */
static void buffer_put_start(struct ski_pe *self, struct ski_buffer_put *put)
{
    skua_rma_params       params = {.order  = SKUA_UNORDERED,
                                    .remote = skua_done_call(buffer_put_done, put)};
    struct ski_buffer_put copy; /* the put may be complete, and freed, when the call returns */
    skua_status           status;

    ski_assert(put->from.pe == self->pe && put->bytes <= put->to.bytes);
    put->told = false;
    copy      = *put;
    ski_buffer_pe(self)->puts++;
    buffer_cache_rkey(self, &copy.to);
    status = skua_put_nb(copy.to.where, copy.from.at, copy.bytes, &params);
    if (status < 0) {
        ski_buffer_pe(self)->puts--; /* the failure has been logged, or the job ends */
        free(put);
    } else if (status == SKUA_PENDING && buffer_is_ordered(&copy) &&
               ski_rma_outstanding_on(self, copy.to.pe).backlog == 0) {
        put->told = true; /* all of it has been sent, and a message does not overtake it */
        buffer_send_done(self, &copy);
    }
}

/* Puts wait in a list, rather than inside of each other for room in the pool of requests. */
static void buffer_put_registered(struct ski_pe *self, const skua_buffer *from,
                                  const skua_buffer *to, size_t bytes, bool once)
{
    struct ski_buffer_pe   *own  = ski_buffer_pe(self);
    struct ski_buffer_put  *put  = ski_malloc(sizeof *put);
    struct ski_buffer_put **last = &own->put_first;

    ski_assert(to->held || once);
    *put = (struct ski_buffer_put){.from = *from, .to = *to, .bytes = bytes, .once = once};
    if (!*last && buffer_has_room(self, put)) {
        buffer_put_start(self, put);
        return;
    }
    while (*last)
        last = &(*last)->next;
    *last = put;
}

/* A get by the driver is complete. */
static void buffer_get_done(void *arg, const void *data, size_t bytes)
{
    struct ski_buffer_put *get = arg;

    (void)data, (void)bytes;
    buffer_complete(&get->from);
    buffer_complete(&get->to);
    free(get);
}

static skua_status buffer_get_by_driver(const skua_buffer *here, const skua_buffer *from,
                                        size_t bytes)
{
    struct ski_buffer_put *get    = ski_malloc(sizeof *get);
    skua_rma_params        params = {.order = SKUA_UNORDERED,
                                     .local = skua_done_call(buffer_get_done, get)};
    skua_status            status;

    ski_assert(from->held && bytes <= here->bytes && bytes <= from->bytes);
    *get   = (struct ski_buffer_put){.from = *from, .to = *here, .bytes = bytes};
    status = skua_get_nb(here->at, from->where, bytes, &params);
    if (status < 0)
        free(get);
    return status;
}

/* ---- between hosts -------------------------------------------------------------------------- */

static bool buffer_by_eager(const skua_buffer *a, const skua_buffer *b, size_t bytes)
{
    return bytes < PUT_MIN || a->mode == SKUA_REGISTER_NEVER || b->mode == SKUA_REGISTER_NEVER;
}

/* Returns whether data go in one packet between memory of the program, for which nothing is
 * registered: the driver sends them without a copy, and has no faster way. */
static bool buffer_by_packet(size_t bytes)
{
    return ski_zcopy_send_supported() && !buffer_by_driver(bytes);
}

/* Registers the packet's `to` for one transfer, if it is not registered. */
static skua_status buffer_register_once(struct ski_pe *self, struct ski_buffer_packet *packet)
{
    skua_status status = SKUA_OK;

    ski_assert(packet->to.pe == self->pe && !packet->once);
    if (packet->to.held)
        return SKUA_OK;
    status = ski_registration_acquire(self, packet->to.at, packet->to.bytes, &packet->to.where,
                                      &packet->to.room);
    packet->once = status == SKUA_OK;
    return status;
}

static skua_status buffer_get_remote(struct ski_pe *self, const skua_buffer *here,
                                     const skua_buffer *from, size_t bytes)
{
    struct ski_buffer_packet packet = {
        .verb = SKI_BUFFER_FETCH, .bytes = bytes, .from = *from, .to = *here};

    if (from->held && buffer_by_driver(bytes) && !buffer_by_eager(here, from, bytes) &&
        !self->thread)
        return buffer_get_by_driver(here, from, bytes);
    if (!buffer_by_eager(here, from, bytes) && !buffer_by_packet(bytes))
        (void)buffer_register_once(self, &packet); /* without it the data come in a message */
    buffer_send(self, from->pe, &packet);
    return SKUA_PENDING;
}

static skua_status buffer_put_remote(struct ski_pe *self, const skua_buffer *here,
                                     const skua_buffer *to, size_t bytes)
{
    struct ski_buffer_packet packet = {
        .verb = SKI_BUFFER_ASK, .bytes = bytes, .from = *here, .to = *to};

    if (buffer_by_eager(here, to, bytes))
        ski_buffer_data_send(self, here, to, bytes);
    else if (buffer_by_packet(bytes) && ski_buffer_data_send_zcopy(self, here, to, bytes))
        return SKUA_PENDING;
    else if (to->held)
        buffer_put_registered(self, here, to, bytes, false);
    else
        buffer_send(self, to->pe, &packet);
    return SKUA_PENDING;
}

/* Asks the owner of the packet's `to` to register it for this transfer. */
static void buffer_ask(struct ski_pe *self, const struct ski_buffer_packet *packet)
{
    struct ski_buffer_packet ask = *packet;

    ask.verb = SKI_BUFFER_ASK;
    buffer_send(self, ask.to.pe, &ask);
}

/* The owner of the data puts them.  Many bytes that the driver does not send without a copy
 * are not copied into one message: their target is registered first. */
static void buffer_on_fetch(struct ski_pe *self, const struct ski_buffer_packet *packet)
{
    bool eager = buffer_by_eager(&packet->from, &packet->to, packet->bytes);

    if (!packet->once && buffer_by_packet(packet->bytes) &&
        ski_buffer_data_send_zcopy(self, &packet->from, &packet->to, packet->bytes))
        return;
    if (packet->once || (packet->to.held && !eager))
        buffer_put_registered(self, &packet->from, &packet->to, packet->bytes, packet->once);
    else if (packet->verb == SKI_BUFFER_FETCH && !eager)
        buffer_ask(self, packet);
    else
        ski_buffer_data_send(self, &packet->from, &packet->to, packet->bytes);
}

static void buffer_on_ask(struct ski_pe *self, const struct ski_buffer_packet *asked)
{
    struct ski_buffer_packet packet = *asked;

    packet.verb = SKI_BUFFER_READY;
    (void)buffer_register_once(self, &packet);
    buffer_send(self, packet.from.pe, &packet);
}

/* The data are in `to`, a buffer of this PE. */
static void buffer_on_done(struct ski_pe *self, const struct ski_buffer_packet *packet)
{
    skua_buffer to = packet->to;

    ski_assert(to.pe == self->pe);
    if (packet->once) {
        ski_registration_release(self, to.at, to.bytes);
        to.where = (skua_gaddr){0};
        to.room  = 0;
    }
    buffer_complete(&to);
}

/* Returns whether the owner of the target performs a put. */
static bool buffer_by_pull(const struct ski_pe *self, const skua_buffer *to, size_t bytes)
{
    return bytes >= PULL_MIN && !ski_buffer_ptr(self, to) && buffer_cma_works(self, to->pe);
}

static skua_status buffer_ask_to_pull(struct ski_pe *self, const skua_buffer *here,
                                      const skua_buffer *to, size_t bytes)
{
    struct ski_buffer_packet packet = {
        .verb = SKI_BUFFER_PULL, .bytes = bytes, .from = *here, .to = *to};

    buffer_send(self, to->pe, &packet);
    return SKUA_PENDING;
}

/* Returns whether the memory of a buffer of this process is mapped: a copy into it by the process
 * itself would not return.  msync() with MS_ASYNC only looks for the mappings. */
static bool buffer_is_mapped(const skua_buffer *buffer, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)buffer->at;
    uintptr_t first = at / page * page;

    return msync((void *)first, at + bytes - first, MS_ASYNC) == 0 || errno != ENOMEM;
}

/* Copies the data of a put into the target, a buffer of this PE.  Fails with EFAULT if memory is
 * missing. */
static skua_status buffer_pull(struct ski_pe *self, const struct ski_buffer_packet *packet)
{
    const skua_buffer *from = &packet->from, *to = &packet->to;

    if (ski_buffer_ptr(self, from) && !buffer_is_mapped(to, packet->bytes)) {
        errno = EFAULT;
        return SKUA_ERR_SYSTEM;
    }
    return buffer_copy("skua_buffer_put", self, to, from, packet->bytes, true);
}

/* If the system does not copy, the data come by message.  If memory is missing, neither side could
 * continue, and the job ends.  A process that has ended does not wait. */
static void buffer_on_pull(struct ski_pe *self, const struct ski_buffer_packet *packet)
{
    const skua_buffer *from = &packet->from, *to = &packet->to;
    skua_status        status = buffer_pull(self, packet);

    if (status == SKUA_ERR_UNSUPPORTED) {
        (void)buffer_get_remote(self, to, from, packet->bytes);
    } else if (status == SKUA_OK) {
        buffer_complete(from);
        buffer_complete(to);
    } else if (errno == EFAULT && !ski_pe_exiting(self)) {
        ski_misuse(
            "skua_buffer_put: of the buffers of PE %d, the source, and PE %d, the target, one "
            "has been freed; it must stay valid until the transfer is complete",
            from->pe, to->pe);
    }
}

/* Returns whether a packet is about a buffer that this PE made and one of the sender's, and about
 * no more bytes than both have. */
static bool buffer_packet_is_valid(const struct ski_pe *self, const skua_msg *msg)
{
    const struct ski_buffer_packet *packet = (const struct ski_buffer_packet *)(msg + 1);
    bool               gives = packet->verb == SKI_BUFFER_FETCH || packet->verb == SKI_BUFFER_READY;
    const skua_buffer *mine  = gives ? &packet->from : &packet->to;
    const skua_buffer *theirs = gives ? &packet->to : &packet->from;

    return packet->verb <= SKI_BUFFER_PULL && mine->pe == self->pe && theirs->pe == msg->source &&
           ski_buffer_is_valid(self, mine) && ski_buffer_is_valid(self, theirs) &&
           packet->bytes <= mine->bytes && packet->bytes <= theirs->bytes &&
           msg->bytes == sizeof *packet &&
           (!(packet->to.held || packet->once) || !gives || packet->to.where.pe == packet->to.pe);
}

void ski_on_buffer(skua_msg *msg)
{
    struct ski_pe                  *self   = ski_self;
    const struct ski_buffer_packet *packet = skua_msg_data(msg);

    if (!buffer_packet_is_valid(self, msg)) {
        ski_net_drop(self, msg);
        return;
    }
    switch ((enum ski_buffer_verb)packet->verb) {
    case SKI_BUFFER_FETCH:
    case SKI_BUFFER_READY: buffer_on_fetch(self, packet); break;
    case SKI_BUFFER_ASK: buffer_on_ask(self, packet); break;
    case SKI_BUFFER_DONE: buffer_on_done(self, packet); break;
    case SKI_BUFFER_PULL: buffer_on_pull(self, packet); break;
    }
    skua_msg_free(msg);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static skua_status buffer_check(const char *call, const struct ski_pe *self,
                                const skua_buffer *here, const skua_buffer *other)
{
    if (here->pe != self->pe)
        return ski_refuse(SKUA_ERR_INVAL,
                          "%s: the first buffer belongs to PE %d, the call runs on PE %d; it must "
                          "be one of the caller",
                          call, here->pe, self->pe);
    if (!ski_buffer_is_valid(self, other))
        return ski_refuse(
            SKUA_ERR_INVAL,
            "%s: the second argument is not a valid buffer; only skua_buffer_make() makes one",
            call);
    return SKUA_OK;
}

/* Transfers between two buffers, of which @p here is on this PE: by a copy, or by messages. */
static skua_status buffer_transfer(const char *call, const skua_buffer *here,
                                   const skua_buffer *other, bool get)
{
    struct ski_pe *self   = ski_pe_of_caller(call);
    size_t         bytes  = buffer_transfer_bytes(here, other);
    skua_status    status = buffer_check(call, self, here, other);

    if (status == SKUA_OK && !get && buffer_by_pull(self, other, bytes))
        return buffer_ask_to_pull(self, here, other, bytes);
    if (status == SKUA_OK)
        status = buffer_copy(call, self, here, other, bytes, get);
    if (status == SKUA_ERR_UNSUPPORTED)
        return (get ? buffer_get_remote : buffer_put_remote)(self, here, other, bytes);
    if (status == SKUA_OK) {
        buffer_complete(other);
        buffer_complete(here);
    }
    return status;
}

skua_status skua_buffer_get(const skua_buffer *here, const skua_buffer *from)
{
    return buffer_transfer(__func__, here, from, true);
}

skua_status skua_buffer_put(const skua_buffer *here, const skua_buffer *to)
{
    return buffer_transfer(__func__, here, to, false);
}

/* Frees puts that have not begun. */
void ski_buffers_end(struct ski_pe *self)
{
    struct ski_buffer_pe *own = ski_buffer_pe(self);

    while (own->put_first) {
        struct ski_buffer_put *gone = own->put_first;
        own->put_first              = gone->next;
        free(gone);
    }
    ski_slots_end(&own->once, NULL); /* the items go with the arena */
}
