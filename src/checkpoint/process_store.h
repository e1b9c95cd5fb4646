/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_store.h - the image store of this process (image_store.h), which its PEs share.
 *
 * In a job that survives its processes (skuarun --survive) images are packed into memfds that the
 * launcher holds; else into memory of this process.
 */
#ifndef SKI_PROCESS_STORE_H
#define SKI_PROCESS_STORE_H

#include "boot/boot.h"
#include "checkpoint/image_store.h"

/** Makes the store, before PEs begin. */
void ski_process_store_open(const struct ski_boot *boot);

/** Waits until nothing is being written, and frees the store.  Logs why the last file of the
 * process could not be written, if that was not reported before. */
void ski_process_store_close(void);

/** Returns the store, or NULL outside of a job. */
struct ski_image_store *ski_process_store(void);

#endif
