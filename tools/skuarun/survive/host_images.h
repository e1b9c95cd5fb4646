/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_images.h - the image slots that a host keeps for the whole job (boot/image_slots.h).
 *
 * The launcher on one host, and each agent of a job on several hosts, owns a set of slots.  It
 * makes the slots that an epoch needs, passes them to the processes, and lists the complete images
 * after the epoch.
 */
#ifndef SKUARUN_HOST_IMAGES_H
#define SKUARUN_HOST_IMAGES_H

#include "boot/image_slots.h"

/** A complete image that a set of slots holds.  An agent sends it to the launcher as it is in
 * memory. */
struct image_record {
    uint64_t generation;
    int32_t  process, processes, pes; /* the one it belongs to, and the job that wrote it */
};

struct host_images {
    struct ski_image_slots slots;
};

/** The images that an epoch restores on a host. */
struct host_images_plan {
    int        epoch;
    uint64_t   generation; /* 0: nothing */
    const int *read;       /* processes of the epoch before whose images are read on this host */
    int        reads;      /* their number; HOST_IMAGES_ALL: all that this host has            */
};

#define HOST_IMAGES_ALL (-1)

/** Makes the slots for the next epoch of @p job: those of its processes on this host, and those of
 *  the processes whose buddies are on this host.  Images of other generations than the one that is
 *  restored are dropped.  Returns false after printing the reason. */
bool host_images_prepare(struct host_images *images, const struct ski_job *job,
                         const struct host_images_plan *plan);

/** Drops the images of all other generations than @p generation. */
void host_images_keep(const struct host_images *images, uint64_t generation);

/** Returns the complete images, as an array of *@p count records that the caller frees. */
struct image_record *host_images_scan(const struct host_images *images, int *count);

/** Closes and removes all slots. */
void host_images_close(struct host_images *images);

/** Returns the newest generation of which the image of every process is among @p count records, or
 *  0 if there is none.  Sorts the records. */
uint64_t host_images_newest(struct image_record *record, int count);

#endif
