/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faulty.c - a driver that forwards to the driver at REAL and injects the fault that
 * SKUA_TEST_FAULT names. SKUA_DRIVER_PATH selects it.
 *
 *   register   no memory can be registered
 *   some       every second registration fails
 *   keys       remote keys are rejected
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/driver.h"

__attribute__((visibility("default"))) struct ski_driver ski_driver;

static const struct ski_driver *real;
static struct ski_net          *net;
static _Atomic unsigned         registrations;

static bool is_faulty(const char *fault)
{
    const char *wanted = getenv("SKUA_TEST_FAULT");

    return wanted && strcmp(wanted, fault) == 0;
}

static skua_status start(struct ski_net *of)
{
    net = of;
    return real->start(of);
}

static skua_status mem_reg(void *base, size_t bytes, struct ski_driver_mem **memory)
{
    unsigned n = atomic_fetch_add(&registrations, 1);

    if (!is_faulty("register") && !(is_faulty("some") && n % 2 == 0))
        return real->mem_reg(base, bytes, memory);
    snprintf(net->last_error(), SKI_REASON_MAX, "the adapter has no more entries");
    return SKUA_ERR_NOMEM;
}

static skua_status rkey_unpack(struct ski_peer *peer, const void *from, size_t bytes,
                               struct ski_driver_rkey **key)
{
    return is_faulty("keys") ? SKUA_ERR_INVAL : real->rkey_unpack(peer, from, bytes, key);
}

__attribute__((constructor)) static void load(void)
{
    void *library = dlopen(REAL, RTLD_NOW | RTLD_LOCAL);

    real = library ? dlsym(library, SKI_DRIVER_SYMBOL) : NULL;
    if (!real)
        return; /* of version 0, which is rejected */
    ski_driver             = *real;
    ski_driver.start       = start;
    ski_driver.mem_reg     = mem_reg;
    ski_driver.rkey_unpack = rkey_unpack;
}
