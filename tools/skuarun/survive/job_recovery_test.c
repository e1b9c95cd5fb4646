/* SPDX-License-Identifier: Apache-2.0 */
/* job_recovery_test.c - what a job continues from after a loss, and when it gives up. */
#include "survive/job_recovery.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tap.h"

static const struct run_options recovery_test_options = {.survive = true, .spare = -1};

/* The images of generation @p generation of a job of 4 processes, without the last @p missing. */
static bool recovery_test_next(struct recovery *r, uint64_t generation, int missing)
{
    struct image_record record[4];

    for (int i = 0; i < 4; i++)
        record[i] = (struct image_record){generation, i, 4, 4};
    return recovery_next(r, record, 4 - missing, 1);
}

static void recovery_test_kill(struct recovery *r, int process, int sig, bool symptom)
{
    recovery_lost(r, &(struct exit_report){.process = process, .status = sig, .symptom = symptom},
                  symptom ? 0 : 1);
}

static void test_recovery_sources(void)
{
    struct recovery r;

    unsetenv("SKUA_RESTART");
    unsetenv("SKUA_CHECKPOINT_DIR");
    recovery_begin(&r, &recovery_test_options, 4);
    recovery_test_kill(&r, 1, SIGKILL, false);
    OK(recovery_next(&r, NULL, 0, 1) && r.epoch == 2 && r.generation == 0 && r.pes == 4 &&
           !getenv("SKUA_RESTART"),
       "without images the program begins anew");
    recovery_completed(&r, 5);
    recovery_test_kill(&r, 1, SIGKILL, false);
    OK(recovery_test_next(&r, 5, 0) && r.epoch == 3 && r.generation == 5 &&
           strcmp(getenv("SKUA_RESTART"), SKI_RESTART_MEMORY) == 0,
       "with images it continues from memory");
    recovery_lost(&r, NULL, 2);
    OK(!recovery_test_next(&r, 5, 1), "if both copies are lost, the job ends");
    unsetenv("SKUA_RESTART");
}

/* Makes an empty file. */
static void recovery_test_touch(const char *path)
{
    FILE *file = fopen(path, "w");

    CHECK(file && fclose(file) == 0);
}

/* The name of the directory is no pattern. */
static void test_recovery_files(void)
{
    char            root[] = "/tmp/job_recovery_test-XXXXXX", folder[64], path[128];
    struct recovery r;

    CHECK(mkdtemp(root));
    snprintf(folder, sizeof folder, "%s/run[1]", root);
    snprintf(path, sizeof path, "%s/gen-000001", folder);
    CHECK(mkdir(folder, 0700) == 0 && mkdir(path, 0700) == 0);
    setenv("SKUA_CHECKPOINT_DIR", folder, 1);
    recovery_begin(&r, &recovery_test_options, 4);
    recovery_completed(&r, 5);
    recovery_lost(&r, NULL, 2);
    OK(!recovery_test_next(&r, 5, 1), "a checkpoint on disk that is not complete is not used");
    snprintf(path, sizeof path, "%s/gen-000001/manifest", folder);
    recovery_test_touch(path);
    recovery_lost(&r, NULL, 2);
    OK(recovery_test_next(&r, 5, 1) && strcmp(getenv("SKUA_RESTART"), folder) == 0,
       "a complete one in a directory named run[1] is");
    CHECK(unlink(path) == 0);
    *strrchr(path, '/') = '\0';
    CHECK(rmdir(path) == 0 && rmdir(folder) == 0 && rmdir(root) == 0);
    unsetenv("SKUA_CHECKPOINT_DIR");
    unsetenv("SKUA_RESTART");
}

static void test_recovery_spares(void)
{
    struct run_options options = {.survive = true, .spare = 1};
    struct recovery    r;

    recovery_begin(&r, &options, 4);
    recovery_test_kill(&r, 1, SIGKILL, false);
    OK(recovery_test_next(&r, 5, 0) && r.pes == 4 && r.spare == 0, "the spare is used");
    recovery_test_kill(&r, 1, SIGKILL, false);
    OK(recovery_test_next(&r, 5, 0) && r.pes == 3 && r.generation == 5, "then there are fewer PEs");
    recovery_test_kill(&r, 1, SIGABRT, true);
    recovery_lost(&r, NULL, 1);
    OK(recovery_test_next(&r, 5, 0) && r.pes == 2, "one that lost a peer is not counted");
    recovery_test_kill(&r, 0, SIGKILL, false);
    recovery_test_kill(&r, 1, SIGKILL, false);
    OK(recovery_test_next(&r, 5, 0) && r.pes == 1,
       "of all that are killed at once one is replaced");
    recovery_test_kill(&r, 0, SIGKILL, false);
    OK(!recovery_test_next(&r, 5, 0), "the last one is not");
    unsetenv("SKUA_RESTART");
}

static void test_recovery_limits(void)
{
    struct recovery r;
    int             n = 0;

    recovery_begin(&r, &recovery_test_options, 4);
    recovery_test_kill(&r, 1, SIGSEGV, false);
    OK(recovery_test_next(&r, 1, 0), "a fault is survived once");
    recovery_test_kill(&r, 2, SIGSEGV, false);
    OK(recovery_test_next(&r, 1, 0), "so is that of another process");
    recovery_test_kill(&r, 2, SIGABRT, true);
    OK(recovery_test_next(&r, 1, 0), "and one that lost a peer");
    recovery_test_kill(&r, 2, SIGSEGV, false);
    OK(!recovery_test_next(&r, 1, 0), "but not once more");
    recovery_begin(&r, &recovery_test_options, 4);
    do {
        recovery_test_kill(&r, 1, SIGKILL, false);
        n++;
    } while (n < 1000 && recovery_test_next(&r, 1, 0));
    OK(n == RECOVERY_MAX + 1, "%d recoveries without a new checkpoint", n - 1);
    recovery_begin(&r, &recovery_test_options, 4);
    for (n = 1; n < 100; n++) {
        recovery_test_kill(&r, 1, SIGSEGV, false);
        if (!recovery_test_next(&r, (uint64_t)n, 0))
            break;
    }
    OK(n == 100, "any number with one");
    unsetenv("SKUA_RESTART");
}

static void test_recovery_resize(void)
{
    struct recovery r;

    recovery_begin(&r, &recovery_test_options, 4);
    recovery_completed(&r, 3);
    OK(!recovery_resize(&r, 4), "as many PEs as before: nothing to do");
    OK(recovery_resize(&r, 7) && !recovery_may_resize(&r), "7 PEs need a new checkpoint");
    recovery_completed(&r, 4);
    OK(recovery_may_resize(&r) && recovery_test_next(&r, 4, 0) && r.pes == 7 && r.generation == 4 &&
           r.attempts == 0 && !recovery_may_resize(&r),
       "and go on from it");
    recovery_resize(&r, 2);
    recovery_completed(&r, 5);
    OK(recovery_resize(&r, 3) && recovery_may_resize(&r) && recovery_test_next(&r, 5, 0) &&
           r.pes == 3 && r.generation == 5,
       "a request while the epoch is ended for another one replaces it");
    r.on = false;
    OK(!recovery_resize(&r, 2), "not without --survive");
    unsetenv("SKUA_RESTART");
}

/* A job that loses a process before the checkpoint of its resize: the checkpoint is made due once
 * more, when the next epoch has restored its images and not before. */
static void test_recovery_repeats_request(void)
{
    struct recovery r;

    recovery_begin(&r, &recovery_test_options, 4);
    OK(!recovery_completed(&r, 3) && recovery_resize(&r, 2), "a resize waits for a checkpoint");
    recovery_test_kill(&r, 1, SIGKILL, false);
    OK(recovery_test_next(&r, 3, 0) && r.pes == 4 && r.resize == 2, "it survives a recovery");
    recovery_started(&r);
    OK(!recovery_completed(&r, 0) && !recovery_completed(&r, 2), "no signal before the restore");
    OK(recovery_completed(&r, 3) && !recovery_completed(&r, 3), "one signal after it");
    OK(!recovery_completed(&r, 4) && recovery_may_resize(&r), "and the checkpoint ends the epoch");
    unsetenv("SKUA_RESTART");
}

/* The next epoch restores no images, and its generations begin anew: the checkpoint is made due
 * again when all processes have joined. */
static void test_recovery_repeats_from_beginning(void)
{
    struct recovery r;

    recovery_begin(&r, &recovery_test_options, 4);
    recovery_started(&r);
    OK(!recovery_joined(&r) && recovery_resize(&r, 2), "a resize waits for the first checkpoint");
    recovery_test_kill(&r, 1, SIGKILL, false);
    r.resize_after = 5; /* as if generations of an earlier epoch were lost */
    OK(recovery_next(&r, NULL, 0, 1) && r.generation == 0 && r.resize == 2,
       "a recovery from the beginning keeps it");
    recovery_started(&r);
    OK(recovery_joined(&r) && !recovery_joined(&r), "one signal when all have joined");
    OK(!recovery_completed(&r, 0) && !recovery_may_resize(&r), "no other one");
    OK(!recovery_completed(&r, 1) && recovery_may_resize(&r), "the checkpoint ends the epoch");
    unsetenv("SKUA_RESTART");
}

static void test_recovery_undo_resize(void)
{
    struct run_options options = {.survive = true, .spare = 0};
    struct recovery    r;

    recovery_begin(&r, &options, 4);
    recovery_resize(&r, 7);
    recovery_completed(&r, 1);
    recovery_test_next(&r, 1, 0);
    recovery_started(&r);
    recovery_test_kill(&r, 6, SIGABRT, false);
    OK(recovery_test_next(&r, 1, 0) && r.pes == 4 && r.generation == 1 && !r.has_fault &&
           !r.resized,
       "images that 7 PEs cannot restore are restored by 4 again");
    recovery_started(&r);
    recovery_completed(&r, 1);
    recovery_resize(&r, 2);
    recovery_completed(&r, 2);
    recovery_test_next(&r, 2, 0);
    recovery_started(&r);
    recovery_completed(&r, 2); /* restored */
    recovery_test_kill(&r, 1, SIGKILL, false);
    OK(recovery_test_next(&r, 2, 0) && r.pes == 1, "one that was restored keeps its number of PEs");
    recovery_started(&r);
    recovery_resize(&r, 3);
    recovery_completed(&r, 3);
    recovery_test_next(&r, 3, 0);
    recovery_started(&r);
    recovery_test_kill(&r, 1, SIGKILL, false);
    OK(recovery_test_next(&r, 4, 0) && r.pes == 2, "so does one that has made a new checkpoint");
    unsetenv("SKUA_RESTART");
}

int main(void)
{
    test_recovery_sources();
    test_recovery_files();
    test_recovery_spares();
    test_recovery_limits();
    test_recovery_resize();
    test_recovery_repeats_request();
    test_recovery_repeats_from_beginning();
    test_recovery_undo_resize();
    return tap_end();
}
