/* SPDX-License-Identifier: Apache-2.0 */
/*
 * former.h - the images of the job that this one is restarted from, wherever they are stored.
 *
 * The first PE of a process that asks for an image opens the store; PEs that are threads of one
 * process share it.  With the setting restart=memory, which skuarun --survive uses, images are in
 * the image slots of the host (boot/image_slots.h).
 */
#ifndef SKI_FORMER_H
#define SKI_FORMER_H

#include "checkpoint/image_format.h"

struct ski_pe;

/* An image of the former job. */
struct ski_former_image {
    struct ski_image_reader reader;
    void                   *memory;
    size_t                  bytes;
    bool                    mapped; /* it is in memory, not in a file */
};

/** Returns the @p i-th PE of the former job, from 0 on, whose image this PE reads, in ascending
 *  order.  Images in files are dealt to all PEs of the job, and the number may be beyond the former
 *  PEs; images in memory are dealt to the PEs of the host that reads them, and -1 follows the last
 *  one. */
int ski_former_pe(const struct ski_pe *self, int i);

/** Reads the image of PE @p pe of the former job.  Ends the job, with the file and the reason, if
 * it is missing or damaged. */
void ski_former_open(int pe, struct ski_former_image *image);

/** Frees an image. */
void ski_former_close(struct ski_former_image *image);

/** Closes the store, at the end of the process. */
void ski_former_end(void);

#endif
