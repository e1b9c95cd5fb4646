/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_regions_test.c - the part `regions` of an image with each byte changed, and cut off after
 * each: it is refused, or describes regions that are then there, of the sizes that it says.
 *
 * The checksums of an image find such damage before a part is read.  This test is about what
 * happens without them.  Each try is a process of its own, since it creates regions.
 */
#include "checkpoint/checkpoint_pe.h"
#include "checkpoint/parts.h"
#include "objects/model/objects_pe.h"
#include "onesided/region/region_saved.h"
#include "tests/onesided_pe.h"

#include <sys/wait.h>
#include <unistd.h>

#define PART_BYTES 16 /* of each piece */
#define PART_MAX   4096

static char   part[PART_MAX];
static size_t part_bytes;

/* How a try ends. */
enum { TRY_RIGHT, TRY_REFUSED, TRY_WRONG };

static void part_align(void)
{
    part_bytes = (part_bytes + SKI_IMAGE_ALIGN - 1) / SKI_IMAGE_ALIGN * SKI_IMAGE_ALIGN;
}

static void part_add(struct ski_saved_region saved, const int32_t *list)
{
    memcpy(part + part_bytes, &saved, sizeof saved);
    part_bytes += sizeof saved;
    if (saved.listed)
        memcpy(part + part_bytes, list, saved.listed * sizeof *list);
    part_bytes += saved.listed * sizeof *list;
    part_align();
    memset(part + part_bytes, (int)saved.label.id, saved.bytes);
    part_bytes += saved.bytes;
    part_align();
}

/* A region of each kind: of all PEs, in blocks; of some PEs; of one; varied. */
static void part_make(void)
{
    static const int32_t    list[] = {0, 2, 3};
    struct ski_saved_region all    = {
           .kind = SKI_REGION_SYMMETRIC, .members = TEST_PES, .bytes = PART_BYTES};
    struct ski_saved_region some = all, own = all, varied = all;

    all.label    = (struct ski_region_label){.id = 1, .restart = SKUA_REGION_BLOCKS, .grain = 8};
    some.label   = (struct ski_region_label){.id = 2, .name = "some"};
    some.members = some.listed = 3;
    own.label                  = (struct ski_region_label){.id = 5};
    own.kind                   = SKI_REGION_ALLOCATED;
    own.members                = 1;
    varied.label               = (struct ski_region_label){.id = 3};
    varied.varied              = 1;
    part_add(all, NULL);
    part_add(some, list);
    part_add(own, NULL);
    part_add(varied, NULL);
}

/* Returns whether the regions that the part now describes are there, but for varied ones, which
 * come later. */
static bool part_is_there(const char *data, size_t bytes)
{
    struct ski_image_reader from = {.base = (const unsigned char *)data, .end = bytes};
    struct ski_saved_region saved;

    while (ski_image_left(&from) > 0) {
        const struct ski_region *region;

        if (!ski_image_get(&from, &saved) || !ski_image_read(&from, saved.listed * sizeof(int32_t)))
            return false;
        ski_image_read_align(&from);
        if (!ski_image_read(&from, saved.bytes))
            return false;
        ski_image_read_align(&from);
        region = ski_region_table_find((skua_region){saved.label.id});
        if (!saved.varied && (!region || region->bytes != saved.bytes))
            return false;
    }
    return true;
}

/* Restores the part, in a job that the other images are of as well or that has fewer PEs. */
static int part_try(const char *data, size_t bytes, int former_pes)
{
    struct ski_pe          *self       = test_pe_begin();
    struct ski_checkpoint   checkpoint = {.pieces = NULL};
    struct ski_objects     *objects    = calloc(1, sizeof *objects);
    struct ski_image_reader from       = {.base = (const unsigned char *)data, .end = bytes};
    struct ski_restart      restart    = {.common = {.pes = former_pes}, .reading = 0};
    const char             *why;

    self->objects                      = objects;
    objects->slot[SKI_SLOT_CHECKPOINT] = &checkpoint;
    ski_region_table_reserve(8);
    why = ski_part_regions_restore(self, &from, &restart);
    if (why)
        return why[0] ? TRY_REFUSED : TRY_WRONG;
    return former_pes != TEST_PES || part_is_there(data, bytes) ? TRY_RIGHT : TRY_WRONG;
}

/* Restores a copy of the part, of exactly its bytes, in another process. */
static int part_fork(size_t bytes, size_t at, char flip, int former_pes)
{
    int   status = 0;
    pid_t child  = fork();

    if (child == 0) {
        char *copy = malloc(bytes + !bytes);

        memcpy(copy, part, bytes);
        if (at < bytes)
            copy[at] ^= flip;
        if (!freopen("/dev/null", "w", stderr))
            _exit(TRY_WRONG);
        _exit(part_try(copy, bytes, former_pes));
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return TRY_WRONG;
    return WEXITSTATUS(status);
}

/* Returns whether no byte that is changed leads to something wrong; most that describe regions are
 * refused. */
static bool part_flips(char flip, int former_pes, size_t least)
{
    size_t refused = 0;

    for (size_t at = 0; at < part_bytes; at++) {
        int end = part_fork(part_bytes, at, flip, former_pes);

        if (end > TRY_REFUSED) {
            printf("# byte %zu, %d PEs: %d\n", at, former_pes, end);
            return false;
        }
        refused += end == TRY_REFUSED;
    }
    return refused >= least;
}

static bool part_cuts(void)
{
    for (size_t bytes = 0; bytes < part_bytes; bytes++) {
        int end = part_fork(bytes, bytes, 0, TEST_PES);

        if (end > TRY_REFUSED) {
            printf("# cut off after %zu bytes: %d\n", bytes, end);
            return false;
        }
    }
    return true;
}

int main(void)
{
    fflush(stdout);
    part_make();
    OK(part_fork(part_bytes, SIZE_MAX, 0, TEST_PES) == TRY_RIGHT, "regions are restored");
    OK(part_fork(part_bytes, SIZE_MAX, 0, TEST_PES - 1) == TRY_REFUSED,
       "regions of another number of PEs are refused");
    fflush(stdout);
    OK(part_cuts(), "a part that is cut off anywhere is refused, or right up to there");
    fflush(stdout);
    OK(part_flips((char)0xff, TEST_PES, 100), "a byte that is changed anywhere");
    fflush(stdout);
    OK(part_flips(1, TEST_PES - 1, 100), "a bit of regions that are redistributed");
    return tap_end();
}
