/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest.h - the file `manifest` of a checkpoint, which makes it valid.
 *
 * It is text, for people and tools, and is written when all image files are on the disk:
 *
 *     skua checkpoint 1                       the format
 *     generation 17
 *     time 1794882000.250000000 2026-11-17T02:20:00Z
 *     program leanmd
 *     fingerprint 5b0ba2c0a6f7d8e1            of the program's classes and handlers
 *     skua 1.0.0
 *     pes 4
 *     processes 2
 *     hosts 1
 *     image 0 0 2 1048704 0d6a8bfe72ad0f0b    process, first PE, PEs, bytes, checksum of the head
 *     image 1 2 2 1048704 4d1c94d7f2a91b65
 *     end 7a0e5b88fe4b1b62                    checksum of all bytes before this line
 *
 * Lines come in this order, and there are no others.
 */
#ifndef SKI_MANIFEST_H
#define SKI_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SKI_MANIFEST_FORMAT 1
#define SKI_MANIFEST_NAME   "manifest"
#define SKI_MANIFEST_REASON 256 /* room for the reason of a refusal */

/* The image file of a process. */
struct ski_manifest_image {
    int32_t  first_pe, pes;
    uint64_t bytes;    /* of the file      */
    uint64_t head_sum; /* of its head      */
};

/* The contents of a manifest. */
struct ski_manifest {
    uint64_t                   generation, fingerprint;
    int64_t                    time_ns; /* since the epoch, UTC */
    int32_t                    pes, processes, hosts;
    char                       program[64], skua[32];
    struct ski_manifest_image *image; /* one for each process; freed by ski_manifest_free() */
};

/** Prepares a manifest of @p processes processes, zeroed but for their number. */
void ski_manifest_init(struct ski_manifest *manifest, int32_t processes);

/** Frees what a manifest holds. */
void ski_manifest_free(struct ski_manifest *manifest);

/** Returns the text of a manifest, which the caller frees, and its length. */
char *ski_manifest_text(const struct ski_manifest *manifest, size_t *bytes);

/** Reads a manifest from @p text, which ends with a 0 after @p bytes bytes.  Returns false, with
 *  the reason in @p reason and nothing to free, if it is damaged or of another format. */
bool ski_manifest_parse(struct ski_manifest *manifest, const char *text, size_t bytes,
                        char *reason);

/** Writes a time as text, such as 2026-11-17T02:20:00Z. */
void ski_manifest_time(int64_t time_ns, char text[32]);

#endif
