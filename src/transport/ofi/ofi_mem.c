/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ofi_mem.c - memory that is registered for access by peers, and its keys.
 *
 * Memory is registered once for the process.  A provider with FI_MR_ENDPOINT, as cxi, binds a
 * region to one endpoint; there memory is registered once for each port that is open at the time.
 * Through ports that are opened later it cannot be accessed: rkey_unpack() fails for them, and the
 * runtime sends requests instead.
 *
 * An rkey is, in the byte order of its maker: the first address (8), the number of bytes (8), and
 * one or several keys: the PE whose port it is for (8; -1: all of the process), the key of the
 * provider (8).
 */
#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/ofi/ofi.h"

#define OFI_MEM_ANY_PE   INT64_C(-1)
#define OFI_MEM_KEYS_MAX ((SKI_RKEY_MAX - 2 * sizeof(uint64_t)) / sizeof(struct ofi_mem_wire_key))

/* The memory, registered once or for one port. */
struct ofi_mem_region {
    int64_t          pe;     /* OFI_MEM_ANY_PE, or the PE of the port */
    struct ski_port *port;   /* NULL: all ports */
    struct fid_mr   *region; /* NULL: the port was closed */
};

struct ski_driver_mem {
    uint64_t               base, bytes;
    struct ski_driver_mem *next;
    size_t                 count;
    struct ofi_mem_region  region[];
};

struct ofi_mem_wire_key {
    int64_t  pe;
    uint64_t key;
};

/* A packed rkey. */
struct ofi_mem_wire {
    uint64_t                base, bytes;
    struct ofi_mem_wire_key key[OFI_MEM_KEYS_MAX];
};

_Static_assert(sizeof(struct ofi_mem_wire) <= SKI_RKEY_MAX, "an rkey must fit");

/* ---- registration ------------------------------------------------------------------ */

static bool ofi_mem_binds(void)
{
    return ski_ofi.info->domain_attr->mr_mode & FI_MR_ENDPOINT;
}

static int ofi_mem_bind(struct fid_mr *region, struct ski_port *port)
{
    int error = fi_mr_bind(region, &port->ep->fid, 0);

    return error ? error : fi_mr_enable(region);
}

/* Registers memory, for one port if @p port is not NULL. */
static int ofi_mem_register(struct ski_driver_mem *memory, struct ski_port *port)
{
    static uint64_t next; /* a key for providers that do not choose one */
    const uint64_t  access = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    struct fid_mr  *region;
    int error = fi_mr_reg(ski_ofi.domain, (void *)(uintptr_t)memory->base, memory->bytes, access, 0,
                          ++next, 0, &region, NULL);

    if (error)
        return error;
    assert(memory->count < OFI_MEM_KEYS_MAX);
    error = port ? ofi_mem_bind(region, port) : 0;
    if (error) {
        fi_close(&region->fid);
        return error;
    }
    memory->region[memory->count++] =
        (struct ofi_mem_region){port ? port->pe : OFI_MEM_ANY_PE, port, region};
    return 0;
}

static int ofi_mem_register_all(struct ski_driver_mem *memory)
{
    int error = 0;

    if (!ofi_mem_binds())
        return ofi_mem_register(memory, NULL);
    for (struct ski_port *port = ski_ofi.ports; port && !error; port = port->next)
        error = memory->count < OFI_MEM_KEYS_MAX ? ofi_mem_register(memory, port) : -FI_ENOSYS;
    return error || memory->count ? error : -FI_ENOSYS;
}

static void ofi_mem_close(struct ski_driver_mem *memory)
{
    for (size_t i = 0; i < memory->count; i++)
        if (memory->region[i].region)
            fi_close(&memory->region[i].region->fid);
    free(memory);
}

skua_status ski_ofi_mem_reg(void *base, size_t bytes, struct ski_driver_mem **memory)
{
    struct ski_driver_mem *made;
    int                    error;

    if (!ski_ofi.rma)
        return SKUA_ERR_UNSUPPORTED;
    made = calloc(1, sizeof *made + OFI_MEM_KEYS_MAX * sizeof *made->region);
    if (!made)
        return SKUA_ERR_NOMEM;
    made->base  = (uintptr_t)base;
    made->bytes = bytes;
    pthread_mutex_lock(&ski_ofi.lock);
    error = ofi_mem_register_all(made);
    if (!error) {
        made->next     = ski_ofi.memory;
        ski_ofi.memory = made;
    }
    pthread_mutex_unlock(&ski_ofi.lock);
    if (error) {
        ofi_mem_close(made);
        snprintf(ski_ofi.net->last_error(), SKI_REASON_MAX, "fi_mr_reg: %s", fi_strerror(-error));
        return error == -FI_ENOSYS ? SKUA_ERR_UNSUPPORTED : SKUA_ERR_SYSTEM;
    }
    *memory = made;
    return SKUA_OK;
}

void ski_ofi_mem_dereg(struct ski_driver_mem *memory)
{
    struct ski_driver_mem **at = &ski_ofi.memory;

    pthread_mutex_lock(&ski_ofi.lock);
    while (*at != memory) {
        assert(*at); /* registered memory is in the list */
        at = &(*at)->next;
    }
    *at = memory->next;
    ofi_mem_close(memory);
    pthread_mutex_unlock(&ski_ofi.lock);
}

/* ---- ports -------------------------------------------------------------------------- */

void ski_ofi_mem_add_port(struct ski_port *port)
{
    pthread_mutex_lock(&ski_ofi.lock);
    port->next    = ski_ofi.ports;
    ski_ofi.ports = port;
    pthread_mutex_unlock(&ski_ofi.lock);
}

static void ofi_mem_close_port(struct ski_driver_mem *memory, const struct ski_port *port)
{
    for (size_t i = 0; i < memory->count; i++) {
        struct ofi_mem_region *region = &memory->region[i];

        if (region->port != port)
            continue;
        fi_close(&region->region->fid);
        region->region = NULL;
        region->port   = NULL;
    }
}

void ski_ofi_mem_remove_port(struct ski_port *port)
{
    struct ski_port **at = &ski_ofi.ports;

    pthread_mutex_lock(&ski_ofi.lock);
    while (*at != port) {
        assert(*at); /* an open port is in the list */
        at = &(*at)->next;
    }
    *at = port->next;
    for (struct ski_driver_mem *memory = ski_ofi.memory; memory; memory = memory->next)
        ofi_mem_close_port(memory, port);
    pthread_mutex_unlock(&ski_ofi.lock);
}

/* ---- keys --------------------------------------------------------------------------- */

size_t ski_ofi_rkey_pack(struct ski_driver_mem *memory, void *to)
{
    struct ofi_mem_wire wire = {.base = memory->base, .bytes = memory->bytes};
    size_t              n    = 0, bytes;

    pthread_mutex_lock(&ski_ofi.lock);
    for (size_t i = 0; i < memory->count; i++)
        if (memory->region[i].region)
            wire.key[n++] = (struct ofi_mem_wire_key){memory->region[i].pe,
                                                      fi_mr_key(memory->region[i].region)};
    pthread_mutex_unlock(&ski_ofi.lock);
    assert(n <= memory->count);
    if (n == 0)
        return 0;
    bytes = offsetof(struct ofi_mem_wire, key) + n * sizeof *wire.key;
    memcpy(to, &wire, bytes);
    return bytes;
}

/* Finds the key for the port of @p pe among @p n keys. */
static bool ofi_mem_find_key(const struct ofi_mem_wire *wire, size_t n, int pe, uint64_t *key)
{
    for (size_t i = 0; i < n; i++)
        if (wire->key[i].pe == pe || wire->key[i].pe == OFI_MEM_ANY_PE) {
            *key = wire->key[i].key;
            return true;
        }
    return false;
}

skua_status ski_ofi_rkey_unpack(struct ski_peer *peer, const void *from, size_t bytes,
                                struct ski_driver_rkey **key)
{
    const size_t            head = offsetof(struct ofi_mem_wire, key);
    struct ofi_mem_wire     wire;
    struct ski_driver_rkey *made;
    uint64_t                found;

    if (bytes < head || bytes > sizeof wire || (bytes - head) % sizeof *wire.key != 0)
        return SKUA_ERR_INVAL;
    memcpy(&wire, from, bytes);
    if (!ofi_mem_find_key(&wire, (bytes - head) / sizeof *wire.key, peer->pe, &found))
        return SKUA_ERR_UNSUPPORTED;
    made = malloc(sizeof *made);
    if (!made)
        return SKUA_ERR_NOMEM;
    *made = (struct ski_driver_rkey){wire.base, wire.bytes, found};
    *key  = made;
    return SKUA_OK;
}

void ski_ofi_rkey_destroy(struct ski_driver_rkey *key)
{
    free(key);
}
