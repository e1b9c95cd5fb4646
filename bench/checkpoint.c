/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.c - the cost of checkpoints, for blocks of 1 MB of state in the elements of an array.
 *
 *   disk      series disk: stop_s, the time until the program continues; write_s, the time from
 *             then until the checkpoint is on the disk; write_gbs, bytes over the sum of both
 *   memory    series memcpy: copy_gbs, each element copies its block; series memory: copy_gbs, a
 *             checkpoint in memory of the same blocks
 *   recover   series recover: recover_s, the time from the death of a process by SIGKILL until the
 *             program continues from the checkpoint in memory (skuarun --survive)
 *
 * Each value is the best of several; the first of each kind, which touches new memory, is
 * discarded.  PE 0 drives the program by handlers, since a restarted job does not call `begin`.
 *
 * usage: bench-checkpoint disk|memory|recover FOLDER MEGABYTES
 */
#include <errno.h>
#include <signal.h>
#include <skua/skua.h>

#include "bench.h"

#define BENCH "checkpoint"
#define BLOCK ((size_t)1 << 20)

enum { DISK_TIMES = 3, MEMORY_TIMES = 6 };

struct block {
    char *data, *copy;
};

static const char *mode, *folder;
static size_t      megabytes;

static skua_collection blocks; /* read-only */
static skua_class      block_class;
static skua_entry      copy_entry;
static skua_handler    ready_handler, saved_handler, flushed_handler, copied_handler, kill_handler;

/* The state of the driver, on PE 0. */
static struct {
    int    times; /* number of checkpoints that have been measured */
    double began, saved;
    double copy, save, stop, write; /* the best times */
} driver;

static double better(double best, double time)
{
    return driver.times > 0 && (best == 0 || time < best) ? time : best;
}

/* ---- the blocks ---------------------------------------------------------------------------- */

static void block_construct(void *self, const void *data, size_t bytes)
{
    struct block *block = self;

    (void)data, (void)bytes;
    block->data = malloc(BLOCK);
    for (size_t i = 0; i < BLOCK; i += sizeof(size_t)) {
        size_t value = i * 0x9e3779b97f4a7c15u + (size_t)block;

        memcpy(block->data + i, &value, sizeof value);
    }
}

static void block_destroy(void *self)
{
    free(((struct block *)self)->data);
    free(((struct block *)self)->copy);
}

static void block_pup(skua_pup *p, void *self)
{
    skua_pup_memory(p, &((struct block *)self)->data, BLOCK);
}

static void block_copy(void *self, const void *data, size_t bytes)
{
    struct block *block = self;

    (void)data, (void)bytes;
    if (!block->copy)
        block->copy = malloc(BLOCK);
    memcpy(block->copy, block->data, BLOCK);
    skua_contribute_nothing(self, skua_done_send(0, copied_handler));
}

/* ---- the driver ---------------------------------------------------------------------------- */

static double state_gigabytes(void)
{
    return 1e-9 * (double)megabytes * (double)BLOCK;
}

static void save_now(void)
{
    driver.began = bench_now();
    skua_checkpoint(strcmp(mode, "disk") == 0 ? folder : NULL, skua_done_send(0, saved_handler));
}

static void copy_now(void)
{
    driver.began = bench_now();
    skua_invoke_all(blocks, copy_entry, NULL, 0);
}

static void disk_report(void)
{
    bench_report(BENCH, "disk", BLOCK, "stop_s", driver.stop);
    bench_report(BENCH, "disk", BLOCK, "write_s", driver.write);
    bench_report(BENCH, "disk", BLOCK, "write_gbs", state_gigabytes() / driver.save);
}

static void memory_report(void)
{
    bench_report(BENCH, "memcpy", BLOCK, "copy_gbs", state_gigabytes() / driver.copy);
    bench_report(BENCH, "memory", BLOCK, "copy_gbs", state_gigabytes() / driver.save);
}

/* Returns the path of the file that holds the time at which the previous process was killed. */
static void killed_path(char path[512])
{
    snprintf(path, 512, "%s/killed", folder);
}

static void recover_report(void)
{
    char   path[512];
    FILE  *file;
    double killed = 0;

    killed_path(path);
    file = fopen(path, "r");
    if (!file || fscanf(file, "%lf", &killed) != 1)
        skua_abort("bench-checkpoint: %s: %s", path, strerror(errno));
    fclose(file);
    remove(path);
    bench_report(BENCH, "recover", BLOCK, "recover_s", bench_now() - killed);
    skua_exit(0);
}

static void on_kill(skua_msg *msg)
{
    char  path[512];
    FILE *file;

    skua_msg_free(msg);
    killed_path(path);
    file = fopen(path, "w");
    if (!file || fprintf(file, "%.9f\n", bench_now()) < 0 || fclose(file) != 0)
        skua_abort("bench-checkpoint: %s: %s", path, strerror(errno));
    raise(SIGKILL);
}

static void on_saved(skua_msg *msg)
{
    skua_checkpoint_result result;
    double                 now = bench_now();

    memcpy(&result, skua_msg_data(msg), sizeof result);
    skua_msg_free(msg);
    if (result.status != SKUA_OK)
        skua_abort("bench-checkpoint: no checkpoint: %s",
                   skua_status_str((skua_status)result.status));
    if (result.restarted) {
        recover_report();
    } else if (strcmp(mode, "recover") == 0) {
        skua_send_copy(skua_pes() - 1, kill_handler, NULL, 0);
    } else if (strcmp(mode, "disk") == 0) {
        driver.stop  = better(driver.stop, now - driver.began);
        driver.saved = now;
        skua_checkpoint_flush(skua_done_send(0, flushed_handler));
    } else {
        driver.save = better(driver.save, now - driver.began);
        if (++driver.times < MEMORY_TIMES) {
            copy_now();
        } else {
            memory_report();
            skua_exit(0);
        }
    }
}

static void on_flushed(skua_msg *msg)
{
    double now = bench_now();

    skua_msg_free(msg);
    driver.write = better(driver.write, now - driver.saved);
    driver.save  = better(driver.save, now - driver.began);
    if (++driver.times < DISK_TIMES) {
        save_now();
    } else {
        disk_report();
        skua_exit(0);
    }
}

static void on_copied(skua_msg *msg)
{
    skua_msg_free(msg);
    driver.copy = better(driver.copy, bench_now() - driver.began);
    save_now();
}

static void on_ready(skua_msg *msg)
{
    skua_msg_free(msg);
    if (strcmp(mode, "memory") == 0)
        copy_now();
    else
        save_now();
}

static void begin(int argc, char **argv)
{
    (void)argc, (void)argv;
    blocks = skua_array_create1(block_class, (int)megabytes, NULL, 0);
    skua_quiescence(skua_done_send(0, ready_handler));
}

int main(int argc, char **argv)
{
    if (argc < 4 || atoi(argv[3]) < 1) {
        fprintf(stderr, "usage: bench-checkpoint disk|memory|recover FOLDER MEGABYTES\n");
        return 2;
    }
    mode            = argv[1];
    folder          = argv[2];
    megabytes       = (size_t)atoi(argv[3]);
    block_class     = skua_class_register(&(skua_class_def){.size      = sizeof(skua_class_def),
                                                            .name      = "block",
                                                            .bytes     = sizeof(struct block),
                                                            .construct = block_construct,
                                                            .destroy   = block_destroy,
                                                            .pup       = block_pup});
    copy_entry      = skua_method_register(block_class, "copy", block_copy, 0);
    ready_handler   = skua_handler_register("ready", on_ready);
    saved_handler   = skua_handler_register("saved", on_saved);
    flushed_handler = skua_handler_register("flushed", on_flushed);
    copied_handler  = skua_handler_register("copied", on_copied);
    kill_handler    = skua_handler_register("kill", on_kill);
    skua_readonly_register("blocks", &blocks, sizeof blocks);
    return skua_program(argc, argv, begin);
}
