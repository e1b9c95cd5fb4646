/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest.c - see manifest.h.
 *
 * The checksum is checked first, then the format, then each line.  Numbers are compared with what
 * they count: each PE belongs to one image.
 */
#include "checkpoint/manifest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "checkpoint/checksum.h"

#define MANIFEST_PES_MAX     (1 << 24)
#define MANIFEST_SECONDS_MAX INT64_C(9000000000) /* since the epoch: fits in nanoseconds */
#define MANIFEST_HEAD        512                 /* bytes of the lines before the images, at most */
#define MANIFEST_LINE        96                  /* bytes of the line of an image, at most        */

void ski_manifest_init(struct ski_manifest *manifest, int32_t processes)
{
    *manifest       = (struct ski_manifest){.processes = processes};
    manifest->image = ski_calloc((size_t)processes, sizeof *manifest->image);
}

void ski_manifest_free(struct ski_manifest *manifest)
{
    free(manifest->image);
    manifest->image = NULL;
}

void ski_manifest_time(int64_t time_ns, char text[32])
{
    time_t    seconds = (time_t)(time_ns / 1000000000);
    struct tm when;

    gmtime_r(&seconds, &when);
    strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &when);
}

/* ---- writing -----------------------------------------------------------------------------------
 */

char *ski_manifest_text(const struct ski_manifest *manifest, size_t *bytes)
{
    size_t room = MANIFEST_HEAD + ((size_t)manifest->processes + 1) * MANIFEST_LINE;
    char  *text = ski_malloc(room), when[32];
    size_t at;

    ski_manifest_time(manifest->time_ns, when);
    at = (size_t)snprintf(text, room,
                          "skua checkpoint %d\ngeneration %" PRIu64 "\ntime %" PRId64 ".%09" PRId64
                          " %s\nprogram %s\nfingerprint %016" PRIx64 "\nskua %s\npes %" PRId32
                          "\nprocesses %" PRId32 "\nhosts %" PRId32 "\n",
                          SKI_MANIFEST_FORMAT, manifest->generation, manifest->time_ns / 1000000000,
                          manifest->time_ns % 1000000000, when, manifest->program,
                          manifest->fingerprint, manifest->skua, manifest->pes, manifest->processes,
                          manifest->hosts);
    for (int32_t i = 0; i < manifest->processes; i++) {
        const struct ski_manifest_image *image = &manifest->image[i];

        at += (size_t)snprintf(text + at, room - at,
                               "image %" PRId32 " %" PRId32 " %" PRId32 " %" PRIu64 " %016" PRIx64
                               "\n",
                               i, image->first_pe, image->pes, image->bytes, image->head_sum);
    }
    *bytes =
        at + (size_t)snprintf(text + at, room - at, "end %016" PRIx64 "\n", ski_checksum(text, at));
    return text;
}

/* ---- reading -----------------------------------------------------------------------------------
 */

static bool manifest_refuse(char *reason, const char *why)
{
    snprintf(reason, SKI_MANIFEST_REASON, "%s", why);
    return false;
}

/* Checks the last line: the checksum of everything before it. */
static bool manifest_check_end(const char *text, size_t bytes, char *reason)
{
    static const char form[] = "end 0123456789abcdef\n";
    const size_t      length = sizeof form - 1;
    char              last[sizeof form];

    if (strncmp(text, "skua checkpoint ", 16) != 0)
        return manifest_refuse(reason, "it is not the manifest of a checkpoint");
    if (strtol(text + 16, NULL, 10) != SKI_MANIFEST_FORMAT)
        return manifest_refuse(reason, "it has a format that this Skua does not read");
    if (bytes < length)
        return manifest_refuse(reason, "it is truncated");
    snprintf(last, sizeof last, "end %016" PRIx64 "\n", ski_checksum(text, bytes - length));
    if (memcmp(text + bytes - length, "end ", 4) != 0)
        return manifest_refuse(reason, "it is truncated: its last line is missing");
    if (memcmp(text + bytes - length, last, length) != 0)
        return manifest_refuse(reason, "it is damaged (checksum)");
    return true;
}

/* Reads the lines before the images and moves *@p text past them. */
static bool manifest_parse_head(struct ski_manifest *manifest, const char **text)
{
    int64_t seconds, nanoseconds;
    int     used = 0, version;

    if (sscanf(*text,
               "skua checkpoint %d generation %" SCNu64 " time %" SCNd64 ".%" SCNd64
               " %*31s program %63[^\n] fingerprint %" SCNx64 " skua %31s pes %" SCNd32
               " processes %" SCNd32 " hosts %" SCNd32 "%n",
               &version, &manifest->generation, &seconds, &nanoseconds, manifest->program,
               &manifest->fingerprint, manifest->skua, &manifest->pes, &manifest->processes,
               &manifest->hosts, &used) != 10 ||
        used == 0 || (*text)[used] != '\n')
        return false;
    *text += used + 1;
    if (seconds < 0 || seconds >= MANIFEST_SECONDS_MAX || nanoseconds < 0 ||
        nanoseconds >= 1000000000)
        return false;
    manifest->time_ns = seconds * 1000000000 + nanoseconds;
    return manifest->generation > 0 && manifest->pes > 0 && manifest->pes <= MANIFEST_PES_MAX &&
           manifest->processes > 0 && manifest->processes <= manifest->pes && manifest->hosts > 0 &&
           manifest->hosts <= manifest->processes;
}

/* Parses the lines of the images, which have consecutive PEs. */
static bool manifest_parse_images(struct ski_manifest *manifest, const char *text)
{
    int32_t process, pe = 0;
    int     used;

    for (int32_t i = 0; i < manifest->processes; i++) {
        struct ski_manifest_image *image = &manifest->image[i];

        used = 0;
        if (sscanf(text, "image %" SCNd32 " %" SCNd32 " %" SCNd32 " %" SCNu64 " %" SCNx64 "%n",
                   &process, &image->first_pe, &image->pes, &image->bytes, &image->head_sum,
                   &used) != 5 ||
            used == 0 || text[used] != '\n' || process != i || image->first_pe != pe ||
            image->pes < 1 || image->pes > manifest->pes - pe)
            return false;
        pe += image->pes;
        text += used + 1;
    }
    return pe == manifest->pes && strncmp(text, "end ", 4) == 0;
}

bool ski_manifest_parse(struct ski_manifest *manifest, const char *text, size_t bytes, char *reason)
{
    if (!ski_checksum_available())
        return manifest_refuse(reason, "this Skua was built without xxHash, which reads it");
    if (strlen(text) != bytes)
        return manifest_refuse(reason, "it is not text");
    if (!manifest_check_end(text, bytes, reason))
        return false;
    *manifest = (struct ski_manifest){0};
    if (!manifest_parse_head(manifest, &text))
        return manifest_refuse(reason, "its first lines have impossible values");
    manifest->image = ski_calloc((size_t)manifest->processes, sizeof *manifest->image);
    if (manifest_parse_images(manifest, text))
        return true;
    ski_manifest_free(manifest);
    return manifest_refuse(reason,
                           "its lines of images do not fit its numbers of PEs and processes");
}
