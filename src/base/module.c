/* SPDX-License-Identifier: Apache-2.0 */
/* module.c - see module.h. */
#include "base/module.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"

/* Writes the folder that this code was loaded from; "" if the system does not report it. */
static void module_own_folder(char *folder, size_t size)
{
    Dl_info info;
    char   *slash;

    folder[0] = '\0';
    if (!dladdr((void *)(uintptr_t)module_own_folder, &info) || !info.dli_fname)
        return;
    snprintf(folder, size, "%s", info.dli_fname);
    if (!strchr(folder, '/')) { /* a program that the shell found in PATH */
        ssize_t n             = readlink("/proc/self/exe", folder, size - 1);
        folder[n < 0 ? 0 : n] = '\0';
    }
    slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
}

static bool module_find_in(const char *folder, const char *name, char *path, size_t size)
{
    return snprintf(path, size, "%s/skua-%s.so", folder, name) < (int)size &&
           access(path, F_OK) == 0;
}

bool ski_module_find(const char *name, char *path, size_t size)
{
    static const char *const beside[] = {"", "/skua", "/../drivers", "/../" SKUA_LIBDIR "/skua"};
    char                     own[2048], folder[4096];

    if (strcmp(ski_config.driver_path, "auto") != 0)
        return module_find_in(ski_config.driver_path, name, path, size);
    module_own_folder(own, sizeof own);
    for (size_t i = 0; own[0] && i < sizeof beside / sizeof *beside; i++) {
        snprintf(folder, sizeof folder, "%s%s", own, beside[i]);
        if (module_find_in(folder, name, path, size))
            return true;
    }
    /* Of a program that is linked statically: where Skua was installed, or the system's package. */
    return module_find_in(SKUA_DRIVER_FOLDER, name, path, size) ||
           module_find_in("/usr/" SKUA_LIBDIR "/skua", name, path, size);
}

/* ---- what modules have loaded ---------------------------------------------------------------- */

#define MODULE_OBJECTS 512

/* Load addresses of objects. */
struct module_objects {
    size_t    count;
    uintptr_t base[MODULE_OBJECTS];
};

/* Modules, and the libraries that came with them.  Objects are added under the lock; the release of
 * `module_loaded_count` pairs with the acquire in ski_module_has_loaded(), which takes no lock: it
 * is called while the loader holds its own. */
static uintptr_t       module_loaded[MODULE_OBJECTS];
static _Atomic size_t  module_loaded_count;
static pthread_mutex_t module_lock = PTHREAD_MUTEX_INITIALIZER;

static bool module_objects_have(const struct module_objects *objects, uintptr_t base)
{
    for (size_t i = 0; i < objects->count; i++)
        if (objects->base[i] == base)
            return true;
    return false;
}

static int module_objects_add(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct module_objects *objects = arg;

    (void)size;
    if (objects->count < MODULE_OBJECTS)
        objects->base[objects->count++] = info->dlpi_addr;
    return 0;
}

/* Records an object; under the lock. */
static void module_note_loaded(uintptr_t base)
{
    size_t count = atomic_load_explicit(&module_loaded_count, memory_order_relaxed);

    if (count == MODULE_OBJECTS)
        return;
    module_loaded[count] = base;
    atomic_store_explicit(&module_loaded_count, count + 1, memory_order_release);
}

/* When they are loaded, UCX, also below MPICH, would otherwise replace the signal handlers, and
 * that of SIGHUP, and so would PSM below libfabric, on x86-64: its handler exits before that of
 * Skua reports why. */
static void module_keep_signals(void)
{
    setenv("UCX_HANDLE_ERRORS", "none", 0);
    setenv("UCX_DEBUG_SIGNO", "0", 0);
    setenv("IPATH_NO_BACKTRACE", "1", 0);
}

/* Loads a module, and records what was loaded with it. */
static void *module_load(const char *path)
{
    struct module_objects before = {.count = 0}, after = {.count = 0};
    void                 *library;

    pthread_mutex_lock(&module_lock);
    module_keep_signals();
    dl_iterate_phdr(module_objects_add, &before);
    /* RTLD_LOCAL: another library of the program may define the same symbols. */
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    dl_iterate_phdr(module_objects_add, &after);
    for (size_t i = 0; i < after.count; i++)
        if (!module_objects_have(&before, after.base[i]))
            module_note_loaded(after.base[i]);
    pthread_mutex_unlock(&module_lock);
    return library;
}

bool ski_module_has_loaded(uintptr_t base)
{
    size_t count = atomic_load_explicit(&module_loaded_count, memory_order_acquire);

    for (size_t i = 0; i < count; i++)
        if (module_loaded[i] == base)
            return true;
    return false;
}

void *ski_module_open(const char *name, char *reason, size_t size)
{
    char  path[4096];
    void *library;

    if (!ski_module_find(name, path, sizeof path)) {
        snprintf(reason, size, "skua-%s.so was not found%s", name,
                 strcmp(ski_config.driver_path, "auto") == 0
                     ? ""
                     : " in the folder that SKUA_DRIVER_PATH names");
        return NULL;
    }
    library = module_load(path);
    if (!library)
        snprintf(reason, size, "%s", dlerror());
    return library;
}
