/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_test.c - a manifest is read as it was written, and one whose numbers do not fit is
 * refused although its checksum matches. */
#include "checkpoint/manifest.h"

#include <inttypes.h>
#include <string.h>

#include "checkpoint/checksum.h"
#include "tests/tap.h"

static void manifest_make(struct ski_manifest *manifest)
{
    ski_manifest_init(manifest, 3);
    manifest->generation  = 17;
    manifest->fingerprint = UINT64_C(0xfedcba9876543210);
    manifest->time_ns     = INT64_C(1794882000000000042);
    manifest->pes         = 7;
    manifest->hosts       = 2;
    strcpy(manifest->program, "my program");
    strcpy(manifest->skua, "1.0.0");
    for (int32_t i = 0; i < 3; i++)
        manifest->image[i] =
            (struct ski_manifest_image){3 * i, i < 2 ? 3 : 1, 1000u + (uint64_t)i, 5u};
}

/* Returns whether the text with @p from replaced by @p to, and a checksum that matches, is
 * accepted. */
static bool manifest_accepts(const char *text, const char *from, const char *to, char *reason)
{
    const char         *at = strstr(text, from);
    char                changed[2048];
    struct ski_manifest manifest;
    int                 used;

    used = snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, to,
                    at + strlen(from));
    used -= 21; /* the last line */
    used +=
        snprintf(changed + used, 32, "end %016" PRIx64 "\n", ski_checksum(changed, (size_t)used));
    if (!ski_manifest_parse(&manifest, changed, (size_t)used, reason))
        return false;
    ski_manifest_free(&manifest);
    return true;
}

int main(void)
{
    static const char *const wrong[][2] = {
        {"checkpoint 1", "checkpoint 2"},
        {"generation 17", "generation 0"},
        {"pes 7", "pes 8"},
        {"pes 7", "pes 2000000000"},
        {"processes 3", "processes 2"},
        {"processes 3", "processes 4"},
        {"processes 3", "processes -1"},
        {"hosts 2", "hosts 0"},
        {"hosts 2", "hosts 4"},
        {"image 1 3 3", "image 1 2 3"},
        {"image 1 3 3", "image 2 3 3"},
        {"image 2 6 1", "image 2 6 0"},
        {"image 2 6 1", "image 2 6 2"},
        {"image 2", "imago 2"},
        {"time 1", "time -1"},
        {"time 1", "time 999999999999991"},
        {"skua 1.0.0\n", "\n"},
        {"hosts 2\n", "hosts 2 3\n"},
    };
    struct ski_manifest manifest, read;
    char                reason[SKI_MANIFEST_REASON] = "";
    size_t              bytes;
    char               *text;

    manifest_make(&manifest);
    text = ski_manifest_text(&manifest, &bytes);
    if (!ski_checksum_available()) {
        OK(!ski_manifest_parse(&read, text, bytes, reason), "no checksums: %s", reason);
    } else {
        OK(ski_manifest_parse(&read, text, bytes, reason), "a manifest is read: %s", reason);
        OK(read.generation == 17 && read.fingerprint == manifest.fingerprint && read.pes == 7 &&
               read.processes == 3 && read.hosts == 2 && read.time_ns == manifest.time_ns &&
               strcmp(read.program, "my program") == 0 && strcmp(read.skua, "1.0.0") == 0 &&
               memcmp(read.image, manifest.image, 3 * sizeof *read.image) == 0,
           "as it was written");
        ski_manifest_free(&read);
        OK(strstr(text, " 2026-11-17T02:20:00Z\n"), "with its time as people write it");
        OK(manifest_accepts(text, "my program", "another", reason), "a name may change");
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
            OK(!manifest_accepts(text, wrong[i][0], wrong[i][1], reason), "refused: %s: %s",
               wrong[i][1], reason);
    }
    free(text);
    ski_manifest_free(&manifest);
    return tap_end();
}
