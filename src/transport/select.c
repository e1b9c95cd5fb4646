/* SPDX-License-Identifier: Apache-2.0 */
/* select.c - see select.h. */
#include "transport/select.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <skua/version.h>

#include "base/config.h"

/* In the order of preference; mpi is built for the MPIs that were found. */
const char *const ski_driver_names[SKI_CANDIDATES] = {"ucx", "ofi", "mpi-openmpi", "mpi-mpich"};

/* The folder that this code was loaded from. */
static void own_folder(char *folder, size_t size)
{
    Dl_info info;
    char   *slash;

    folder[0] = '\0';
    if (!dladdr((void *)(uintptr_t)own_folder, &info) || !info.dli_fname)
        return;
    snprintf(folder, size, "%s", info.dli_fname);
    if (!strchr(folder, '/')) { /* a program that was found in PATH */
        ssize_t n             = readlink("/proc/self/exe", folder, size - 1);
        folder[n < 0 ? 0 : n] = '\0';
    }
    slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
}

/* Opens folder/skua-NAME.so if it is there; else NULL.  @p why is set if it is there and
 * cannot be loaded. */
static void *open_in(const char *folder, const char *name, char *why, size_t size)
{
    char  path[4096];
    void *library;

    if (snprintf(path, sizeof path, "%s/skua-%s.so", folder, name) >= (int)sizeof path ||
        access(path, F_OK) != 0)
        return NULL;
    setenv("UCX_HANDLE_ERRORS", "none", 0); /* or, when loaded, it takes our signal handlers */
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        snprintf(why, size, "%s", dlerror());
    return library;
}

static void *open_library(const char *name, char *why, size_t size)
{
    static const char *const beside[] = {"", "/skua", "/../drivers", "/../" SKUA_LIBDIR "/skua"};
    char                     own[2048], folder[4096];
    void                    *library = NULL;

    snprintf(why, size, "skua-%s.so was not found", name);
    if (strcmp(ski_config.driver_path, "auto") != 0)
        return open_in(ski_config.driver_path, name, why, size);
    own_folder(own, sizeof own);
    for (size_t i = 0; !library && own[0] && i < sizeof beside / sizeof *beside; i++) {
        snprintf(folder, sizeof folder, "%s%s", own, beside[i]);
        library = open_in(folder, name, why, size);
    }
    return library ? library : open_in(SKUA_DRIVER_FOLDER, name, why, size);
}

const struct ski_driver *ski_driver_load(const char *name, char *why, size_t size)
{
    void                    *library = open_library(name, why, size);
    const struct ski_driver *driver;

    if (!library)
        return NULL;
    driver = dlsym(library, SKI_DRIVER_SYMBOL);
    if (driver && driver->version == SKI_DRIVER_VERSION)
        return driver; /* never closed: the libraries below do not expect it */
    snprintf(why, size, "it is of another version of Skua");
    dlclose(library);
    return NULL;
}

/* Whether the setting asks for it: by its name, or by the part before the dash. */
static bool is_wanted(const char *name)
{
    const char *wanted = ski_config.driver;
    size_t      n      = strlen(wanted);

    return strcmp(wanted, "auto") == 0 ||
           (strncmp(name, wanted, n) == 0 && (name[n] == '\0' || name[n] == '-'));
}

const struct ski_driver *ski_driver_select(struct ski_net *net)
{
    char   tried[SKI_CANDIDATES * (SKI_WHY_MOST + 32)] = "";
    size_t n                                           = 0;

    for (int i = 0; i < SKI_CANDIDATES; i++) {
        const char              *name = ski_driver_names[i];
        const struct ski_driver *driver;

        if (!is_wanted(name))
            continue;
        net->why[0] = '\0';
        driver      = ski_driver_load(name, net->why, sizeof net->why);
        if (driver && driver->start(net) == SKUA_OK)
            return driver;
        n += (size_t)snprintf(tried + n, sizeof tried - n, "%s%s: %s", n ? "; " : "", name,
                              net->why);
    }
    if (n == 0)
        ski_log(SKI_LOG_ERROR, "SKUA_DRIVER=%s: there is no such driver (auto, ucx, ofi or mpi)",
                ski_config.driver);
    else
        ski_log(SKI_LOG_ERROR, "no driver to reach other hosts with (%s)", tried);
    return NULL;
}
