/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_part.h - a part of an image: what one module saves and restores.
 *
 * A *part* is what one file part_*.c saves of the layers below, as one section of the image
 * (image_format.h).  A part is *common* if all PEs have the same in it: PE 0 saves it, and a
 * restarted job gets it in a broadcast before all else.  Any other part is saved by each PE, and
 * read by one PE of the restarted job, which sends each of its *records* to the PE that it belongs
 * to there (restore.h).
 */
#ifndef SKI_IMAGE_PART_H
#define SKI_IMAGE_PART_H

#include <skua/completion.h>

#include "checkpoint/image_format.h"
#include "core/pe/pe.h"

/* The data of PE 0 when it orders the images of a checkpoint, which a restarted job needs first. */
struct ski_image_common {
    skua_completion done; /* of the checkpoint */
    uint64_t        generation;
    int32_t         pes, processes; /* of the job that makes it */
    uint32_t        creators;       /* as in struct ski_objects */
    /* The most collections, sections, object channels and single objects that any PE has created:
     * the ids of later ones are above. */
    uint32_t collections, sections, channels;
    uint32_t regions;  /* slots of regions that any host has used */
    uint32_t teams;    /* the highest number that any PE has given to a split of a team */
    uint32_t restarts; /* restarts between the first job and the one that makes it */
    uint32_t zero;
    uint64_t chares;
    double   seconds; /* skua_time() of PE 0 */
};

/* The restart of a job, as a PE knows it (restore.h). */
struct ski_restart {
    struct ski_image_common common;  /* of the former job                                   */
    int                     reading; /* the former PE whose image is being read             */
    uint64_t                images;  /* read by this PE                                     */
    bool                    same;    /* the job has as many PEs and processes as the former */
};

/* A section of an image. */
struct ski_image_part {
    const char *name;
    uint32_t    version;
    bool        common;

    /** Writes the part of @p self. */
    void (*save)(struct ski_pe *self, struct ski_image_writer *to,
                 const struct ski_image_common *common);

    /** Reads the part: a common one on each PE, another of the former PE restart->reading.  Returns
     *  NULL, or what is wrong with it. */
    const char *(*restore)(struct ski_pe *self, struct ski_image_reader *from,
                           struct ski_restart *restart);
};

/** Appends @p value, an unsigned number, to a section. */
static inline void ski_image_write_number(struct ski_image_writer *to, uint64_t value)
{
    ski_image_write(to, &value, sizeof value);
}

/** Copies the next bytes of a section, or record, to the variable at @p to.  Returns false if it is
 *  shorter. */
#define ski_image_get(from, to) ski_image_copy((from), (to), sizeof *(to))

#endif
