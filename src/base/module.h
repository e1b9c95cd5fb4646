/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.h - loading of modules, the shared libraries skua-NAME.so.
 *
 * A module uses libraries that not every machine has (UCX, libfabric, MPI, OpenSSL) and is loaded
 * when a job needs it.  It is searched for in SKUA_DRIVER_PATH, or beside the library or program
 * that contains this code, then where Skua was installed.
 */
#ifndef SKI_MODULE_H
#define SKI_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Writes the path of skua-NAME.so.  Returns false if it is not found.  Uses ski_config. */
bool ski_module_find(const char *name, char *path, size_t size);

/** Loads skua-NAME.so, or finds it loaded.  Returns the handle of dlopen(), or NULL with @p reason
 *  written.  Uses ski_config.  The handle is never closed, which the libraries that the module uses
 *  do not support. */
void *ski_module_open(const char *name, char *reason, size_t size);

/** Returns whether the object that is loaded at @p base is a module, or a library that was loaded
 * with one. */
bool ski_module_has_loaded(uintptr_t base);

#endif
