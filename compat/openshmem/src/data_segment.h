/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_segment.h - the global and static variables of the executable, as memory that other PEs
 * access.
 *
 * The writable pages of the executable (.data and .bss) are found among its program headers. Where
 * the system allows it, they are replaced by pages of a region in Skua's arena, which PEs of the
 * host then read and write directly; otherwise they become a region in place.
 */
#ifndef SHMEMI_DATA_SEGMENT_H
#define SHMEMI_DATA_SEGMENT_H

#include <skua/skua.h>
#include <stdbool.h>
#include <stddef.h>

struct shmemi_data_segment {
    char       *base; /* address of whole pages; NULL: the executable has no variables */
    size_t      bytes;
    skua_region region; /* region of the calling PE */
    size_t      offset; /* offset of `base` in the region */
    bool        shared; /* the pages are those of the region */
};

/** Makes the data segment of the executable a region. Returns a failure, logged by Skua. @p segment
 *  is a static variable of the library. The caller is the only thread of the process that changes
 *  variables of the executable meanwhile. */
skua_status shmemi_data_segment_open(struct shmemi_data_segment *segment);

/** Gives the variables private pages again, with their values, and destroys the region. */
void shmemi_data_segment_close(struct shmemi_data_segment *segment);

#endif
