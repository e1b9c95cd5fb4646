/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image.h - the image of a PE: the list of its parts.
 */
#ifndef SKI_IMAGE_H
#define SKI_IMAGE_H

#include "checkpoint/image_part.h"

/** The parts of an image, in the order in which they are restored; a name of NULL ends the list. */
extern const struct ski_image_part ski_image_parts[];

/** Writes all parts of @p self; those that are common on PE 0 alone. */
void ski_image_save(struct ski_pe *self, struct ski_image_writer *to,
                    const struct ski_image_common *common);

#endif
