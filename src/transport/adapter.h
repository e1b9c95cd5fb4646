/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adapter.h - detection of RDMA adapters: InfiniBand, RoCE, Omni-Path and EFA share one class of
 * devices, Slingshot has its own.
 */
#ifndef SKI_ADAPTER_H
#define SKI_ADAPTER_H

#include <glob.h>
#include <stdbool.h>

/** Returns whether the host has an RDMA adapter. */
static inline bool ski_adapter_present(void)
{
    glob_t found = {0};
    bool   any   = glob("/sys/class/infiniband/*", GLOB_NOSORT, NULL, &found) == 0 ||
               glob("/sys/class/cxi/*", GLOB_NOSORT, NULL, &found) == 0;

    globfree(&found);
    return any;
}

#endif
