/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.h - parts of Skua that are libraries of their own: skua-NAME.so.
 *
 * They stand on libraries that not every machine has (UCX, libfabric, MPI) and are
 * loaded when a job needs them.  They are looked for in SKUA_DRIVER_PATH, or beside
 * the library or program that this code is in, or where they were installed.
 */
#ifndef SKI_MODULE_H
#define SKI_MODULE_H

#include <stdbool.h>
#include <stddef.h>

/** Where skua-NAME.so is; false: it was not found.  Uses ski_config. */
bool ski_module_find(const char *name, char *path, size_t size);

/** Load skua-NAME.so, or find it loaded; what dlopen() gives, or NULL, and why not.
 *  Uses ski_config.  Never close it: the libraries below do not expect it. */
void *ski_module_open(const char *name, char *why, size_t size);

#endif
