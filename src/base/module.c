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

static bool find_in(const char *folder, const char *name, char *path, size_t size)
{
    return snprintf(path, size, "%s/skua-%s.so", folder, name) < (int)size &&
           access(path, F_OK) == 0;
}

bool ski_module_find(const char *name, char *path, size_t size)
{
    static const char *const beside[] = {"", "/skua", "/../drivers", "/../" SKUA_LIBDIR "/skua"};
    char                     own[2048], folder[4096];

    if (strcmp(ski_config.driver_path, "auto") != 0)
        return find_in(ski_config.driver_path, name, path, size);
    own_folder(own, sizeof own);
    for (size_t i = 0; own[0] && i < sizeof beside / sizeof *beside; i++) {
        snprintf(folder, sizeof folder, "%s%s", own, beside[i]);
        if (find_in(folder, name, path, size))
            return true;
    }
    /* Of a program that is linked statically: where Skua was installed, or the system's package. */
    return find_in(SKUA_DRIVER_FOLDER, name, path, size) ||
           find_in("/usr/" SKUA_LIBDIR "/skua", name, path, size);
}

void *ski_module_open(const char *name, char *why, size_t size)
{
    char  path[4096];
    void *library;

    if (!ski_module_find(name, path, sizeof path)) {
        snprintf(why, size, "skua-%s.so was not found", name);
        return NULL;
    }
    /* Of its own symbols first: another library of the program may have the same. */
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        snprintf(why, size, "%s", dlerror());
    return library;
}
