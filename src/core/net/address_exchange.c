/* SPDX-License-Identifier: Apache-2.0 */
/* address_exchange.c - see address_exchange.h. */
#include "core/net/address_exchange.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <skua/version.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/data/msg.h"
#include "core/pe/handler.h"

#define PORTS_KEY        "skua.ports"
#define NAMES_KEY        "skua.names"
#define EXCHANGE_BUCKETS 256 /* of values of other processes */
#define PORTS_A_VALUE                                                                              \
    ((int)((SKI_CONTROL_MAX - sizeof(struct exchange_header)) / (SKI_PORT_ADDRESS_MAX + 4)))

struct exchange_header {
    uint64_t program; /* a hash, which must be the same everywhere */
    uint16_t ports, security;
    char     driver[12], version[16];
    uint32_t io_threads, unused; /* 1: it was started with I/O threads */
};

int ski_exchange_port_number(const struct ski_job *job, int pe)
{
    int process = ski_job_process_of(job, pe);

    return pe < job->pes ? pe - ski_job_first_pe(job, process)
                         : ski_job_pes_of(job, process) + (pe - job->pes) % 2;
}

/* Hashes what processes that exchange packets must have in common. */
static uint64_t exchange_program_hash(void)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (uint32_t i = 0; i < ski_handlers.count; i++)
        for (const char *c = ski_handler_name(i);; c++) {
            hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
            if (!*c)
                break;
        }
    return hash ^ sizeof(struct exchange_header) << 24 ^ sizeof(struct skua_msg) << 8 ^
           SKI_DRIVER_VERSION;
}

/* ---- names of handlers ------------------------------------------------------------ */

/* Writes the names of the program's handlers, each with its final zero, as far as they fit. Returns
 * their bytes. */
static size_t exchange_names_pack(char *to, size_t room)
{
    size_t at = 0;

    for (uint32_t i = SKI_HANDLERS; i < ski_handlers.count; i++) {
        size_t bytes = strlen(ski_handler_name(i)) + 1;

        if (bytes > room - at)
            break;
        memcpy(to + at, ski_handler_name(i), bytes);
        at += bytes;
    }
    return at;
}

static skua_status exchange_names_tell(const struct ski_boot *boot)
{
    char       *names = ski_malloc(SKI_CONTROL_MAX);
    skua_status status =
        ski_boot_put(boot, NAMES_KEY, names, exchange_names_pack(names, SKI_CONTROL_MAX));

    free(names);
    return status;
}

/* Ends the job with the first name that differs: @p theirs are @p bytes of names of @p process. */
static _Noreturn void exchange_names_differ(int process, const char *theirs, size_t bytes)
{
    const char *end = theirs + bytes, *ours;
    uint32_t    i   = SKI_HANDLERS;

    while (i < ski_handlers.count && theirs < end && strcmp(theirs, ski_handler_name(i)) == 0) {
        theirs += strlen(theirs) + 1;
        i++;
    }
    ours = i < ski_handlers.count ? ski_handler_name(i) : "(missing)";
    if (theirs == end && (i == ski_handlers.count || bytes + strlen(ours) >= SKI_CONTROL_MAX))
        ski_misuse("process %d runs another program, or another build of it", process);
    ski_misuse("process %d runs another program, or another build of it: its handler %u is \"%s\", "
               "that of this process is \"%s\"; do all register in the same order?",
               process, i, theirs < end ? theirs : "(missing)", ours);
}

static _Noreturn void exchange_names_compare(const struct ski_boot *boot, int process)
{
    size_t bytes  = SKI_CONTROL_MAX;
    char  *theirs = ski_malloc(bytes);

    if (ski_boot_get(boot, process, NAMES_KEY, theirs, &bytes) != SKUA_OK || bytes == 0 ||
        theirs[bytes - 1] != '\0')
        bytes = 0;
    exchange_names_differ(process, theirs, bytes);
}

/* ---- ports ------------------------------------------------------------------------- */

/* Writes the key of the value that has the address of port @p number. */
static void exchange_key(char key[SKI_CONTROL_KEY], int number)
{
    if (number < PORTS_A_VALUE)
        snprintf(key, SKI_CONTROL_KEY, PORTS_KEY);
    else
        snprintf(key, SKI_CONTROL_KEY, PORTS_KEY ".%d", number / PORTS_A_VALUE);
}

static struct exchange_header exchange_make_header(const struct ski_driver *driver, bool io_threads)
{
    struct exchange_header header = {.program    = exchange_program_hash(),
                                     .security   = (uint16_t)ski_config.security,
                                     .io_threads = io_threads};

    snprintf(header.driver, sizeof header.driver, "%s", driver->name);
    snprintf(header.version, sizeof header.version, "%s", SKUA_VERSION);
    return header;
}

/* Puts one value: @p header and the addresses of its ports, from number @p first on. */
static skua_status exchange_put_value(const struct ski_boot *boot, const struct ski_driver *driver,
                                      struct ski_port *const port[], int first,
                                      const struct exchange_header *header)
{
    char       *blob = ski_malloc(SKI_CONTROL_MAX), key[SKI_CONTROL_KEY];
    size_t      at   = sizeof *header;
    skua_status status;

    memcpy(blob, header, sizeof *header);
    for (int i = 0; i < header->ports; i++) {
        uint32_t bytes = (uint32_t)driver->address(port[first + i], blob + at + 4);

        if (bytes == 0) {
            free(blob);
            return ski_fail(SKUA_ERR_RANGE,
                            "a port of this process has too long an address for %s; use fewer "
                            "interfaces (SKUA_NET_INTERFACES)",
                            driver->name);
        }
        memcpy(blob + at, &bytes, 4);
        at += 4 + bytes;
    }
    exchange_key(key, first);
    status = ski_boot_put(boot, key, blob, at);
    free(blob);
    return status;
}

skua_status ski_exchange_publish(const struct ski_boot *boot, const struct ski_driver *driver,
                                 struct ski_port *const port[], int count, bool io_threads)
{
    struct exchange_header header = exchange_make_header(driver, io_threads);
    skua_status            status = exchange_names_tell(boot);

    for (int first = 0; status == SKUA_OK && first < count; first += PORTS_A_VALUE) {
        header.ports = (uint16_t)(count - first < PORTS_A_VALUE ? count - first : PORTS_A_VALUE);
        status       = exchange_put_value(boot, driver, port, first, &header);
    }
    return status;
}

static void exchange_compare(const struct ski_boot *boot, const struct exchange_header *header,
                             const struct ski_driver *driver, int process)
{
    if (strncmp(header->version, SKUA_VERSION, sizeof header->version) != 0)
        ski_fatal("process %d runs Skua %.16s, this one %s: install the same everywhere", process,
                  header->version, SKUA_VERSION);
    if (header->program != exchange_program_hash())
        exchange_names_compare(boot, process);
    if (strncmp(header->driver, driver->name, sizeof header->driver) != 0)
        ski_fatal("process %d uses the driver %.12s, this one %s: set SKUA_DRIVER for all", process,
                  header->driver, driver->name);
    if (header->security != ski_config.security)
        ski_fatal("process %d uses SKUA_SECURITY=%s, this one %s: set it for all", process,
                  ski_security_name(header->security),
                  ski_security_name((unsigned)ski_config.security));
}

/* Finds the address of a port in a value of another process, which is not trusted; NULL: the value
 * is malformed, or has no such port. */
static const char *exchange_find_address(const char *blob, size_t bytes, uint32_t number,
                                         uint32_t *length)
{
    const struct exchange_header *header = (const struct exchange_header *)(const void *)blob;
    size_t                        at     = sizeof *header;

    if (number >= header->ports)
        return NULL;
    for (uint32_t i = 0;; i++) {
        if (bytes - at < 4)
            return NULL;
        memcpy(length, blob + at, 4);
        at += 4;
        if (*length > bytes - at || *length > SKI_PORT_ADDRESS_MAX)
            return NULL;
        if (i == number)
            return blob + at;
        at += *length;
    }
}

/* ---- values of other processes ------------------------------------------------------- */

/* A value that was fetched: the PEs of this process all need the addresses of the same ports. */
struct exchange_value {
    struct exchange_value *next;
    int                    process, index;
    size_t                 bytes;
    char                   blob[];
};

static struct {
    pthread_mutex_t        mutex;
    struct exchange_value *bucket[EXCHANGE_BUCKETS];
} exchange_cache = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static struct exchange_value **exchange_bucket(int process)
{
    return &exchange_cache.bucket[(unsigned)process % EXCHANGE_BUCKETS];
}

static struct exchange_value *exchange_cached(int process, int index)
{
    struct exchange_value *value = *exchange_bucket(process);

    while (value && (value->process != process || value->index != index))
        value = value->next;
    return value;
}

void ski_exchange_forget(void)
{
    for (int i = 0; i < EXCHANGE_BUCKETS; i++)
        while (exchange_cache.bucket[i]) {
            struct exchange_value *value = exchange_cache.bucket[i];

            exchange_cache.bucket[i] = value->next;
            free(value);
        }
}

/* Fetches and checks the value that has the port @p number of the process of @p pe. */
static struct exchange_value *exchange_fetch(const struct ski_boot   *boot,
                                             const struct ski_driver *driver, int pe, int number)
{
    int                    process = ski_job_process_of(boot->job, pe);
    size_t                 bytes   = SKI_CONTROL_MAX;
    struct exchange_value *value   = ski_malloc(sizeof *value + bytes), *shrunk;
    char                   key[SKI_CONTROL_KEY];

    exchange_key(key, number);
    if (ski_boot_get(boot, process, key, value->blob, &bytes) != SKUA_OK)
        ski_fatal("cannot find the network address of PE %d: process %d has not published one", pe,
                  process);
    value->process = process;
    value->index   = number / PORTS_A_VALUE;
    value->bytes   = bytes;
    if (bytes >= sizeof(struct exchange_header))
        exchange_compare(boot, (const struct exchange_header *)(void *)value->blob, driver,
                         process);
    shrunk = realloc(value, sizeof *value + bytes);
    return shrunk ? shrunk : value;
}

/* Returns a value, fetched once.  With the mutex, which other PEs wait for: most need the same
 * value. */
static const struct exchange_value *exchange_get(const struct ski_boot   *boot,
                                                 const struct ski_driver *driver, int pe,
                                                 int number)
{
    int                    process = ski_job_process_of(boot->job, pe);
    struct exchange_value *value   = exchange_cached(process, number / PORTS_A_VALUE);

    if (value)
        return value;
    value                     = exchange_fetch(boot, driver, pe, number);
    value->next               = *exchange_bucket(process);
    *exchange_bucket(process) = value;
    return value;
}

size_t ski_exchange_find(const struct ski_boot *boot, const struct ski_driver *driver, int pe,
                         void *to)
{
    int                          number  = ski_exchange_port_number(boot->job, pe);
    const char                  *address = NULL;
    const struct exchange_value *value;
    uint32_t                     length = 0;

    pthread_mutex_lock(&exchange_cache.mutex);
    value = exchange_get(boot, driver, pe, number);
    if (value->bytes >= sizeof(struct exchange_header))
        address = exchange_find_address(value->blob, value->bytes,
                                        (uint32_t)(number % PORTS_A_VALUE), &length);
    if (!address)
        ski_fatal("process %d has published no usable network address of PE %d",
                  ski_job_process_of(boot->job, pe), pe);
    memcpy(to, address, length);
    pthread_mutex_unlock(&exchange_cache.mutex);
    return length;
}

bool ski_exchange_has_io_threads(const struct ski_boot *boot, const struct ski_driver *driver,
                                 int pe)
{
    const struct exchange_value *value;
    struct exchange_header       header = {0};

    pthread_mutex_lock(&exchange_cache.mutex);
    value = exchange_get(boot, driver, pe, ski_exchange_port_number(boot->job, pe));
    if (value->bytes >= sizeof header)
        memcpy(&header, value->blob, sizeof header);
    pthread_mutex_unlock(&exchange_cache.mutex);
    return header.io_threads > 0;
}
