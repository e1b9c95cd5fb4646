/* SPDX-License-Identifier: Apache-2.0 */
/* world.c - see world.h. */
#include "world.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NUMBERS ((size_t)1 << 20) /* largest number of packets from one end to another */

const struct ski_driver *driver;
_Atomic unsigned         failures;

void fail(const char *format, ...)
{
    va_list args;

    if (atomic_fetch_add(&failures, 1) >= 20)
        return;
    printf("# ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

void die(const char *format, ...)
{
    va_list args;

    printf("not ok - ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
    _exit(1);
}

double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- packets ----------------------------------------------------------------------- */

static uint64_t word(const struct label *label, size_t index)
{
    uint64_t x = (label->number << 24 ^ label->from << 8 ^ label->to) + index;

    return (x ^ x >> 31) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Writes the payload after the label. */
static void write_body(unsigned char *packet, const struct label *label)
{
    for (size_t at = sizeof *label; at < label->bytes; at += 8) {
        uint64_t value = word(label, at);

        memcpy(packet + at, &value, label->bytes - at < 8 ? label->bytes - at : 8);
    }
}

/* Where the payload differs from what was sent: in so many words, from the first to the last, with
 * the contents of the first. */
struct difference {
    size_t   words, first, last;
    uint64_t found, expected;
};

static struct difference compare_body(const unsigned char *packet, const struct label *label)
{
    struct difference d = {0};

    for (size_t at = sizeof *label; at < label->bytes; at += 8) {
        uint64_t value = word(label, at);
        size_t   n     = label->bytes - at < 8 ? label->bytes - at : 8;

        if (memcmp(packet + at, &value, n) == 0)
            continue;
        d.last = at;
        if (d.words++ > 0)
            continue;
        d.first = at;
        memcpy(&d.expected, &value, n);
        memcpy(&d.found, packet + at, n);
    }
    return d;
}

static void *allocate(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);

    if (!memory)
        die("out of memory");
    return memory;
}

struct outgoing *make_packet(struct end *from, int to, size_t bytes)
{
    struct outgoing *out   = allocate(sizeof *out + bytes);
    struct label     label = {(uint32_t)from->pe, (uint32_t)to, from->sends[to], bytes, 0};

    out->bytes = bytes;
    memcpy(out->packet, &label, sizeof label < bytes ? sizeof label : bytes);
    write_body(out->packet, &label);
    return out;
}

void scrub(struct outgoing *out)
{
    memset(out->packet, 0xee, out->bytes);
    free(out);
}

/* Whole cache lines that differ suggest a missing memory barrier, 0xee a send buffer that was
 * reused too early. */
static void check_body(const struct end *end, const unsigned char *packet,
                       const struct label *label)
{
    struct difference d = compare_body(packet, label);

    if (d.words > 0)
        fail(
            "PE %d: %llu bytes arrived corrupted: packet %llu of PE %u, %zu words from byte %zu to "
            "%zu, the first is %016llx instead of %016llx",
            end->pe, (unsigned long long)label->bytes, (unsigned long long)label->number,
            label->from, d.words, d.first, d.last, (unsigned long long)d.found,
            (unsigned long long)d.expected);
}

static void check_packet(struct end *end, unsigned char *packet, size_t bytes)
{
    struct label label = {0};

    memcpy(&label, packet, sizeof label < bytes ? sizeof label : bytes);
    if (label.bytes != bytes || label.from >= ENDS_MAX || label.number >= NUMBERS ||
        label.to != (uint32_t)end->pe) {
        fail("PE %d: a packet of %zu bytes that was never sent: its label has %llu bytes, number "
             "%llu, from PE %u to PE %u",
             end->pe, bytes, (unsigned long long)label.bytes, (unsigned long long)label.number,
             label.from, label.to);
        return;
    }
    check_body(end, packet, &label);
    if (!end->seen[label.from])
        end->seen[label.from] = calloc(NUMBERS, 1);
    if (end->seen[label.from][label.number]++)
        fail("PE %d: packet %llu of %zu bytes arrived twice", end->pe,
             (unsigned long long)label.number, bytes);
    end->arrived[label.from]++;
}

/* ---- upcalls ----------------------------------------------------------------------- */

bool is_refused(size_t bytes)
{
    return bytes % 64 == 7;
}

static void *room(void *owner, size_t bytes)
{
    struct end *end = owner;

    if (end->refusing && is_refused(bytes)) {
        end->refused++;
        return NULL;
    }
    end->rooms++;
    return allocate(bytes);
}

static void arrived(void *owner, void *packet, size_t bytes)
{
    struct end *end = owner;

    end->filled++;
    if (!end->echoed)
        check_packet(end, packet, bytes);
    free(packet);
}

static void spoilt(void *owner, void *packet)
{
    struct end *end = owner;

    end->spoilt++;
    free(packet);
}

static void sent(void *owner, void *packet)
{
    struct end      *end = owner;
    struct outgoing *out =
        (void *)((unsigned char *)packet - offsetof(struct outgoing, packet)); /* NOLINT */

    end->returned++;
    if (out->state == PENDING)
        scrub(out);
    else if (out->state == POSTING)
        out->state = BACK;
    else
        fail("PE %d: sent() twice for a packet", end->pe);
}

static void done(void *owner, void *cookie, skua_status status)
{
    struct end *end = owner;

    end->done++;
    *(int *)cookie = status;
}

static void lost(void *owner, int pe, const char *why)
{
    struct end *end = owner;

    if (pe < 0 || pe >= ENDS_MAX || !end->peer[pe])
        fail("PE %d: lost() for PE %d, to which it was not connected", end->pe, pe);
    else if (end->lost[pe]++)
        fail("PE %d: lost() twice for PE %d", end->pe, pe);
    if (!why || !*why)
        fail("PE %d: lost() without a reason for PE %d", end->pe, pe);
    snprintf(end->why, sizeof end->why, "%s", why ? why : "");
    printf("# PE %d: lost PE %d: %s\n", end->pe, pe, end->why);
}

/* Has a place for two of three packets: for the data behind PLACE_FIRST bytes, or only for those
 * behind SKI_DIRECT_HEAD bytes, of which a driver may make no use. */
static size_t place(void *owner, const void *packet, size_t bytes, void **to)
{
    struct end  *end = owner;
    struct label label;

    memcpy(&label, packet, sizeof label);
    if (!end->placing || end->place || label.number % 3 == 0 || bytes <= SKI_DIRECT_HEAD)
        return 0;
    end->kept  = label.number % 3 == 1 ? PLACE_FIRST : SKI_DIRECT_HEAD;
    end->place = allocate(bytes);
    *to        = end->place + end->kept;
    return bytes - end->kept;
}

static void placed(void *owner, const void *packet, size_t bytes, bool whole)
{
    struct end *end = owner;

    if (!end->place) {
        fail("PE %d: recv_direct_done() without recv_direct()", end->pe);
        return;
    }
    memcpy(end->place, packet, end->kept);
    if (whole)
        check_packet(end, end->place, bytes);
    end->placed += whole;
    free(end->place);
    end->place = NULL;
}

static const struct ski_upcalls upcalls = {.alloc            = room,
                                           .arrived          = arrived,
                                           .abort            = spoilt,
                                           .sent             = sent,
                                           .done             = done,
                                           .lost             = lost,
                                           .recv_direct      = place,
                                           .recv_direct_done = placed};

/* ---- ends --------------------------------------------------------------------------- */

void open_end(struct end *end, int pe)
{
    *end = (struct end){.pe = pe};
    if (driver->open(pe, &upcalls, end, &end->port) != SKUA_OK)
        die("open: %s", net.last_error());
}

void connect_ends(struct end *from, const struct end *to)
{
    _Alignas(64) unsigned char address[SKI_PORT_ADDRESS_MAX];
    size_t                     bytes = driver->address(to->port, address);
    skua_status                status;

    if (bytes == 0 || bytes > sizeof address)
        die("an address of %zu bytes", bytes);
    status = driver->connect(from->port, to->pe, address, bytes, &from->peer[to->pe]);
    if (status != SKUA_OK)
        die("connect: %s", skua_status_str(status));
}

void close_end(struct end *end)
{
    driver->close(end->port);
    if (end->rooms != end->filled + end->spoilt)
        fail("PE %d: of %llu allocations %llu were received and %llu aborted", end->pe,
             (unsigned long long)end->rooms, (unsigned long long)end->filled,
             (unsigned long long)end->spoilt);
    if (end->pending != end->returned)
        fail("PE %d: of %llu packets %llu were returned", end->pe, (unsigned long long)end->pending,
             (unsigned long long)end->returned);
    for (int i = 0; i < ENDS_MAX; i++) {
        free(end->seen[i]);
        free(end->held[i]);
    }
}

void open_ends(struct end *ends, int count)
{
    for (int i = 0; i < count; i++)
        open_end(&ends[i], i);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            if (i != j)
                connect_ends(&ends[i], &ends[j]);
}

void close_ends(struct end *ends, int count)
{
    for (int i = 0; i < count; i++)
        close_end(&ends[i]);
}

/* ---- addresses ------------------------------------------------------------------------------ */

struct sockaddr_in listener_of(const struct end *end)
{
    char               address[SKI_PORT_ADDRESS_MAX];
    struct sockaddr_in name;

    driver->address(end->port, address);
    memcpy(&name, address + sizeof(uint64_t), sizeof name);
    return name;
}

void pack_name(char address[ONE_NAME], const struct sockaddr_in *name)
{
    uint64_t count = 1;

    memcpy(address, &count, sizeof count);
    memset(address + sizeof count, 0, sizeof(struct sockaddr_in6));
    memcpy(address + sizeof count, name, sizeof *name);
}

/* Listens on an address that only this test uses: a connection of another test, meant for a port
 * that was just closed, could arrive otherwise. */
int make_listener(struct sockaddr_in *name, int backlog)
{
    int       fd    = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t bytes = sizeof *name;

    *name =
        (struct sockaddr_in){.sin_family      = AF_INET,
                             .sin_addr.s_addr = htonl(0x7f400000 | ((uint32_t)getpid() & 0xffff))};
    if (fd < 0 || bind(fd, (struct sockaddr *)name, bytes) != 0 || listen(fd, backlog) != 0 ||
        getsockname(fd, (struct sockaddr *)name, &bytes) != 0)
        die("cannot listen: %s", strerror(errno));
    return fd;
}

/* ---- progress -------------------------------------------------------------------------- */

unsigned pump(struct end *ends, int count)
{
    unsigned n = 0;

    for (int i = 0; i < count; i++)
        n += driver->progress(ends[i].port);
    return n;
}

/* ---- sending ------------------------------------------------------------------------- */

skua_status try_send(struct end *from, int to, size_t bytes)
{
    struct outgoing *out = from->held[to] ? from->held[to] : make_packet(from, to, bytes);
    skua_status      status;

    out->state     = POSTING;
    from->held[to] = NULL;
    status         = driver->send(from->peer[to], out->packet, out->bytes);
    if (status != SKUA_PENDING && out->state == BACK)
        fail("PE %d: sent() for a send that was %s", from->pe, skua_status_str(status));
    if (status == SKUA_ERR_AGAIN) {
        from->held[to] = out;
        return status;
    }
    from->sends[to] += status >= 0;
    from->pending += status == SKUA_PENDING;
    if (status == SKUA_PENDING && out->state == POSTING)
        out->state = PENDING;
    else
        scrub(out);
    return status;
}

void send_packet(struct end *ends, int count, int from, int to, size_t bytes)
{
    skua_status status = SKUA_ERR_AGAIN;

    WAIT_FOR((status = try_send(&ends[from], to, bytes)) != SKUA_ERR_AGAIN, ends, count,
             "a packet to be accepted");
    if (status < 0)
        fail("PE %d: send of %zu bytes to PE %d: %s", from, bytes, to, skua_status_str(status));
}

void settle(struct end *ends, int count)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) {
            /* Then only end i sends to it. */
            uint64_t gone = ends[j].refusing ? ends[j].refused : 0;

            WAIT_FOR(ends[j].arrived[i] + gone >= ends[i].sends[j], ends, count, "a packet");
        }
    for (int i = 0; i < count; i++)
        WAIT_FOR(ends[i].returned >= ends[i].pending, ends, count, "sent()");
    for (int n = 0; n < 100; n++) /* waits for possible duplicates */
        pump(ends, count);
    for (int i = 0; i < count; i++)
        if (ends[i].returned != ends[i].pending)
            fail("PE %d: sent() more often than send() was pending", i);
}
