/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.c - skua checkpoint: lists the checkpoints in a directory, and checks that a job can
 * be restarted from them.
 *
 * `ls` reads the manifests alone; `verify` reads every image, as a restart does.  Neither writes
 * anything, so both may run while a job writes checkpoints there.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "checkpoint/store_file.h"
#include "commands.h"

static const char checkpoint_help[] =
    "usage: skua checkpoint ls [--json] DIR...\n"
    "       skua checkpoint verify [--json] DIR...\n"
    "\n"
    "  ls      list the checkpoints in each directory, oldest first\n"
    "  verify  read all images of the checkpoints and compare their checksums; the exit\n"
    "          code is 1 if a checkpoint is damaged, or if there is none\n"
    "\n"
    "  -j, --json  print a line of JSON for each checkpoint\n"
    "  -h, --help  print this text\n"
    "\n"
    "DIR is a directory of checkpoints, or one checkpoint in it (DIR/gen-000017).\n"
    "`skuarun --restart DIR' restarts a job from the newest one.\n";

/* One checkpoint, as far as it was read. */
struct checkpoint_row {
    const char         *path;
    struct ski_manifest manifest; /* if it was read */
    bool                read, verified, unfinished;
    char                reason[SKI_STORE_REASON]; /* why it was refused, or "" */
};

/* ---- printing ------------------------------------------------------------------------------ */

static uint64_t checkpoint_bytes(const struct ski_manifest *manifest)
{
    uint64_t bytes = 0;

    for (int32_t i = 0; i < manifest->processes; i++)
        bytes += manifest->image[i].bytes;
    return bytes;
}

static const char *checkpoint_state(const struct checkpoint_row *row)
{
    if (row->unfinished)
        return "not completed";
    if (row->reason[0])
        return "damaged";
    return row->verified ? "intact" : "complete";
}

/* Prints text as a string of JSON. */
static void checkpoint_print_string(const char *text)
{
    putchar('"');
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if ((unsigned char)*text < ' ')
            printf("\\u%04x", (unsigned char)*text);
        else
            putchar(*text);
    putchar('"');
}

static void checkpoint_print_json(const struct checkpoint_row *row)
{
    const struct ski_manifest *manifest = &row->manifest;
    char                       when[32];

    printf("{\"path\":");
    checkpoint_print_string(row->path);
    printf(",\"state\":\"%s\"", checkpoint_state(row));
    if (row->read) {
        ski_manifest_time(manifest->time_ns, when);
        printf(",\"generation\":%" PRIu64 ",\"time\":\"%s\",\"program\":", manifest->generation,
               when);
        checkpoint_print_string(manifest->program);
        printf(",\"fingerprint\":\"%016" PRIx64 "\",\"pes\":%d,\"processes\":%d,\"hosts\":%d,"
               "\"bytes\":%" PRIu64,
               manifest->fingerprint, manifest->pes, manifest->processes, manifest->hosts,
               checkpoint_bytes(manifest));
    }
    if (row->reason[0]) {
        printf(",\"reason\":");
        checkpoint_print_string(row->reason);
    }
    printf("}\n");
}

/* Prints the names of the columns, before the first row. */
static void checkpoint_print_head(void)
{
    static bool printed;

    if (printed)
        return;
    printed = true;
    printf("%-22s%6s%11s%7s%10s  %-20s%-14s%s\n", "time", "PEs", "processes", "hosts", "MB",
           "program", "state", "checkpoint");
}

static void checkpoint_print_row(const struct checkpoint_row *row)
{
    const struct ski_manifest *manifest = &row->manifest;
    char                       when[32] = "-";

    checkpoint_print_head();
    if (row->read) {
        ski_manifest_time(manifest->time_ns, when);
        printf("%-22s%6d%11d%7d%10.1f  %-20s", when, manifest->pes, manifest->processes,
               manifest->hosts, 1e-6 * (double)checkpoint_bytes(manifest), manifest->program);
    } else {
        printf("%-22s%6s%11s%7s%10s  %-20s", "-", "-", "-", "-", "-", "-");
    }
    printf("%-14s%s\n", checkpoint_state(row), row->path);
    if (row->reason[0] && !row->unfinished)
        printf("  %s\n", row->reason);
}

/* ---- the checkpoints ----------------------------------------------------------------------- */

/* Reads one checkpoint and prints its row.  Returns whether no defect was found in it. */
static bool checkpoint_show(const char *path, bool committed, bool verify, bool json)
{
    struct checkpoint_row       row = {.path = path, .unfinished = !committed};
    struct ski_store_checkpoint checkpoint;

    if (committed && ski_store_checkpoint_open(&checkpoint, path, row.reason)) {
        row.read     = true;
        row.verified = verify && ski_store_checkpoint_verify(&checkpoint, row.reason);
        row.manifest = checkpoint.manifest;
    }
    if (json)
        checkpoint_print_json(&row);
    else
        checkpoint_print_row(&row);
    if (row.read)
        ski_store_checkpoint_close(&checkpoint);
    return committed && !row.reason[0];
}

/* Shows the checkpoints in a directory.  Returns whether there is one and none is damaged. */
static bool checkpoint_show_all(const char *path, const struct ski_store_generation *list,
                                int count, bool verify, bool json)
{
    bool sound = true, any = false;

    for (int i = 0; i < count; i++) {
        char *whole    = ski_store_generation_path(path, list[i].number);
        bool  finished = list[i].state != SKI_STORE_UNFINISHED;
        bool  good     = checkpoint_show(whole, finished, verify, json);

        any |= good;
        sound &= good || !finished;
        free(whole);
    }
    if (!any && count == 0)
        fprintf(stderr, "skua checkpoint: %s: the directory has no checkpoint\n", path);
    return any && sound;
}

/* Shows what @p path names: one checkpoint, or all in a directory. */
static bool checkpoint_show_path(const char *path, bool verify, bool json)
{
    struct ski_store_generation *list;
    char                         reason[SKI_STORE_REASON];
    int                          count;
    bool                         good;

    if (ski_store_path_generation(path) != 0)
        return checkpoint_show(path, true, verify, json);
    count = ski_store_file_list(path, &list, reason);
    if (count < 0) {
        fprintf(stderr, "skua checkpoint: %s\n", reason);
        return false;
    }
    good = checkpoint_show_all(path, list, count, verify, json);
    free(list);
    return good;
}

/* ---- the command --------------------------------------------------------------------------- */

static int checkpoint_usage(const char *what)
{
    fprintf(stderr, "skua checkpoint: %s (skua checkpoint --help)\n", what);
    return 2;
}

int command_checkpoint(int argc, char **argv)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    bool json = false, verify, good = true;
    int  c;

    while ((c = getopt_long(argc, argv, "jh", options, NULL)) != -1) {
        if (c == 'h') {
            fputs(checkpoint_help, stdout);
            return 0;
        }
        if (c != 'j')
            return fputs("(skua checkpoint --help)\n", stderr) < 0 ? 1 : 2;
        json = true;
    }
    if (optind >= argc || (strcmp(argv[optind], "ls") && strcmp(argv[optind], "verify")))
        return checkpoint_usage("expected ls or verify");
    verify = strcmp(argv[optind], "verify") == 0;
    if (optind + 1 >= argc)
        return checkpoint_usage("expected a directory");
    if (ski_config_load() != SKUA_OK)
        return 2;
    for (int i = optind + 1; i < argc; i++)
        good &= checkpoint_show_path(argv[i], verify, json);
    return good ? 0 : 1;
}
