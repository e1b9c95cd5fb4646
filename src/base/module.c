/* SPDX-License-Identifier: Apache-2.0 */
/* module.c - see module.h. */
#include "base/module.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"

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
    /* Of its own symbols first: another library of the program may have the same. */
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        snprintf(why, size, "%s", dlerror());
    return library;
}

void *ski_module_open(const char *name, char *why, size_t size)
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
