/* SPDX-License-Identifier: Apache-2.0 */
/* address_exchange.c - see address_exchange.h. */
#include "core/net/address_exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <skua/version.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/pe/handler.h"
#include "core/data/msg.h"

#define KEY           "skua.ports"
#define NAMES         "skua.names"
#define PORTS_A_VALUE ((int)((SKI_CONTROL_MOST - sizeof(struct told)) / (SKI_ADDRESS_MOST + 4)))

struct told {
    uint64_t program; /* which must be ours */
    uint16_t ports, security;
    char     driver[12], version[16];
};

int ski_port_number(const struct ski_job *job, int pe)
{
    int process = ski_job_process_of(job, pe);

    return pe < job->pes ? pe - ski_job_first_pe(job, process)
                         : ski_job_pes_of(job, process) + (pe - job->pes) % 2;
}

/* A hash of what programs that talk to each other must have in common. */
static uint64_t program(void)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (uint32_t i = 0; i < ski_handlers.count; i++)
        for (const char *c = ski_handler_name(i);; c++) {
            hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
            if (!*c)
                break;
        }
    return hash ^ sizeof(struct skua_msg) << 8 ^ SKI_DRIVER_VERSION;
}

/* ---- names of handlers ------------------------------------------------------------ */

/* The names of the program's handlers, one behind another; returns their bytes. */
static size_t names_pack(char *to, size_t room)
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

static skua_status_t names_tell(const struct ski_boot *boot)
{
    char         *names  = ski_malloc(SKI_CONTROL_MOST);
    skua_status_t status = ski_boot_put(boot, NAMES, names, names_pack(names, SKI_CONTROL_MOST));

    free(names);
    return status;
}

/* Ends the job with the first of @p bytes of names, @p theirs, that is not ours. */
static _Noreturn void names_differ(int process, const char *theirs, size_t bytes)
{
    const char *end = theirs + bytes, *ours;
    uint32_t    i   = SKI_HANDLERS;

    while (i < ski_handlers.count && theirs < end && strcmp(theirs, ski_handler_name(i)) == 0) {
        theirs += strlen(theirs) + 1;
        i++;
    }
    ours = i < ski_handlers.count ? ski_handler_name(i) : "(missing)";
    if (theirs == end && (i == ski_handlers.count || bytes + strlen(ours) >= SKI_CONTROL_MOST))
        ski_misuse("process %d runs another program, or another build of it", process);
    ski_misuse("process %d runs another program, or another build of it: its handler %u is \"%s\", "
               "that of this process is \"%s\"; do all register in the same order?",
               process, i, theirs < end ? theirs : "(missing)", ours);
}

static _Noreturn void names_compare(const struct ski_boot *boot, int process)
{
    size_t bytes  = SKI_CONTROL_MOST;
    char  *theirs = ski_malloc(bytes);

    if (ski_boot_get(boot, process, NAMES, theirs, &bytes) != SKUA_OK || bytes == 0 ||
        theirs[bytes - 1] != '\0')
        bytes = 0;
    names_differ(process, theirs, bytes);
}

/* ---- ports ------------------------------------------------------------------------- */

/* The name of the value that has the port of a number. */
static void name_value(char key[SKI_CONTROL_KEY], int number)
{
    if (number < PORTS_A_VALUE)
        snprintf(key, SKI_CONTROL_KEY, KEY);
    else
        snprintf(key, SKI_CONTROL_KEY, KEY ".%d", number / PORTS_A_VALUE);
}

static struct told introduction(const struct ski_driver *driver, int count)
{
    struct told told = {
        .program = program(), .ports = (uint16_t)count, .security = (uint16_t)ski_config.security};

    snprintf(told.driver, sizeof told.driver, "%s", driver->name);
    snprintf(told.version, sizeof told.version, "%s", SKUA_VERSION);
    return told;
}

/* One value: @p count ports, the first of which has the number @p first. */
static skua_status_t tell_some(const struct ski_boot *boot, const struct ski_driver *driver,
                               struct ski_port *const port[], int first, int count)
{
    struct told   told = introduction(driver, count);
    char         *blob = ski_malloc(SKI_CONTROL_MOST), key[SKI_CONTROL_KEY];
    size_t        at   = sizeof told;
    skua_status_t status;

    memcpy(blob, &told, sizeof told);
    for (int i = 0; i < count; i++) {
        uint32_t bytes = (uint32_t)driver->address(port[first + i], blob + at + 4);

        if (bytes == 0) {
            free(blob);
            return ski_fail(SKUA_ERR_RANGE,
                            "a port of this process has too long an address for %s; use fewer "
                            "interfaces (SKUA_INTERFACES)",
                            driver->name);
        }
        memcpy(blob + at, &bytes, 4);
        at += 4 + bytes;
    }
    name_value(key, first);
    status = ski_boot_put(boot, key, blob, at);
    free(blob);
    return status;
}

skua_status_t ski_ports_tell(const struct ski_boot *boot, const struct ski_driver *driver,
                             struct ski_port *const port[], int count)
{
    skua_status_t status = names_tell(boot);

    for (int first = 0; status == SKUA_OK && first < count; first += PORTS_A_VALUE)
        status = tell_some(boot, driver, port, first,
                           count - first < PORTS_A_VALUE ? count - first : PORTS_A_VALUE);
    return status;
}

static void compare(const struct ski_boot *boot, const struct told *told,
                    const struct ski_driver *driver, int process)
{
    if (strncmp(told->version, SKUA_VERSION, sizeof told->version) != 0)
        ski_fatal("process %d runs Skua %.16s, this one %s: install the same everywhere", process,
                  told->version, SKUA_VERSION);
    if (told->program != program())
        names_compare(boot, process);
    if (strncmp(told->driver, driver->name, sizeof told->driver) != 0)
        ski_fatal("process %d uses the driver %.12s, this one %s: set SKUA_DRIVER for all", process,
                  told->driver, driver->name);
    if (told->security != ski_config.security)
        ski_fatal("process %d uses SKUA_SECURITY=%s, this one %s: set it for all", process,
                  ski_security_name(told->security),
                  ski_security_name((unsigned)ski_config.security));
}

/* The address of a port, by its place in what its process has told; NULL: it makes no sense. */
static const char *find_address(const char *blob, size_t bytes, uint32_t number, uint32_t *length)
{
    const struct told *told = (const struct told *)(const void *)blob;
    size_t             at   = sizeof *told;

    if (number >= told->ports)
        return NULL;
    for (uint32_t i = 0;; i++) {
        if (bytes - at < 4)
            return NULL;
        memcpy(length, blob + at, 4);
        at += 4;
        if (*length > bytes - at || *length > SKI_ADDRESS_MOST)
            return NULL;
        if (i == number)
            return blob + at;
        at += *length;
    }
}

size_t ski_ports_find(const struct ski_boot *boot, const struct ski_driver *driver, int pe,
                      void *to)
{
    int         process = ski_job_process_of(boot->job, pe);
    int         number  = ski_port_number(boot->job, pe);
    size_t      bytes   = SKI_CONTROL_MOST;
    char       *blob    = ski_malloc(bytes);
    const char *address = NULL;
    uint32_t    length  = 0;
    char        key[SKI_CONTROL_KEY];

    name_value(key, number);
    if (ski_boot_get(boot, process, key, blob, &bytes) != SKUA_OK)
        ski_fatal("cannot find out where PE %d (process %d) is", pe, process);
    if (bytes >= sizeof(struct told)) {
        compare(boot, (const struct told *)(void *)blob, driver, process);
        address = find_address(blob, bytes, (uint32_t)(number % PORTS_A_VALUE), &length);
    }
    if (!address)
        ski_fatal("process %d says nothing of PE %d", process, pe);
    memcpy(to, address, length);
    free(blob);
    return length;
}
