/* SPDX-License-Identifier: Apache-2.0 */
/* select.c - see select.h. */
#include "transport/select.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "base/module.h"
#include "transport/adapter.h"
#include "transport/seal.h"

/* The MPI driver is built once for each MPI that was found. */
const char *const ski_driver_names[SKI_CANDIDATES] = {"tcp", "ucx", "ofi", "mpi-openmpi",
                                                      "mpi-mpich"};

/* The order of preference on a host with an adapter: libraries that use it come before tcp. */
static const int select_with_adapter[SKI_CANDIDATES] = {1, 2, 0, 3, 4};

static const char *select_candidate(int i, bool adapter)
{
    return ski_driver_names[adapter ? select_with_adapter[i] : i];
}

char *ski_driver_last_error(void)
{
    static _Thread_local void *slot;

    return ski_thread_memory(&slot, SKI_REASON_MAX);
}

const struct ski_driver *ski_driver_load(const char *name, char *reason, size_t size)
{
    void                    *library;
    const struct ski_driver *driver;

    setenv("UCX_LOG_LEVEL", "fatal", 0); /* Skua reports what fails, once */
    library = ski_module_open(name, reason, size);
    if (!library)
        return NULL;
    driver = dlsym(library, SKI_DRIVER_SYMBOL);
    if (driver && driver->version == SKI_DRIVER_VERSION)
        return driver; /* never closed, which the libraries below do not support */
    snprintf(reason, size, "it belongs to another version of Skua");
    dlclose(library);
    return NULL;
}

const struct ski_driver *ski_driver_variant(const struct ski_driver *driver, struct ski_net *net)
{
    bool enough = net->security == SKI_SECURITY_JOB || driver->seals;

    if (net->share && driver->shared)
        driver = driver->shared;
    return enough ? driver : ski_seal_over(driver, net);
}

/* Returns whether the setting selects a driver: by its name, or by the part before the dash. */
static bool select_is_wanted(const char *name)
{
    const char *wanted = ski_config.driver;
    size_t      n      = strlen(wanted);

    return strcmp(wanted, "auto") == 0 ||
           (strncmp(name, wanted, n) == 0 && (name[n] == '\0' || name[n] == '-'));
}

const struct ski_driver *ski_driver_select(struct ski_net *net)
{
    char   tried[SKI_CANDIDATES * (SKI_REASON_MAX + 32)] = "";
    size_t n                                             = 0;
    bool   adapter                                       = ski_adapter_present();

    for (int i = 0; i < SKI_CANDIDATES; i++) {
        const char              *name = select_candidate(i, adapter);
        const struct ski_driver *driver;

        if (!select_is_wanted(name))
            continue;
        net->last_error()[0] = '\0';
        driver               = ski_driver_load(name, net->last_error(), SKI_REASON_MAX);
        if (driver && driver->start(net) == SKUA_OK)
            return ski_driver_variant(driver, net);
        n += (size_t)snprintf(tried + n, sizeof tried - n, "%s%s: %s", n ? "; " : "", name,
                              net->last_error());
    }
    if (n == 0)
        ski_log(SKI_LOG_ERROR,
                "SKUA_DRIVER=%s: there is no such driver (auto, tcp, ucx, ofi or mpi)",
                ski_config.driver);
    else
        ski_log(SKI_LOG_ERROR, "no driver can reach other hosts (%s)", tried);
    return NULL;
}
