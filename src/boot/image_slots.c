/* SPDX-License-Identifier: Apache-2.0 */
/* image_slots.c - see image_slots.h. */
#include "boot/image_slots.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"

#define SLOT_TEXT                                                                                  \
    48 /* the most bytes of one slot in the variable: four numbers, four separators                \
        */

char *ski_image_slots_text(const struct ski_image_slots *slots)
{
    size_t size = 64 + (size_t)slots->count * SLOT_TEXT;
    char  *text = ski_malloc(size);
    int    used = snprintf(text, size, "%d,%" PRIu64, slots->epoch, slots->generation);

    for (int i = 0; i < slots->count; i++)
        used += snprintf(text + used, size - (size_t)used, ";%d:%d:%d:%d", slots->slot[i].process,
                         slots->slot[i].fd[0], slots->slot[i].fd[1], slots->slot[i].read);
    return text;
}

/* Reads ";PROCESS:FD:FD:READ" at *@p text, which moves past it. */
static bool image_slots_parse_one(const char **text, struct ski_image_slot *slot)
{
    int bytes = 0;

    if (sscanf(*text, ";%d:%d:%d:%d%n", &slot->process, &slot->fd[0], &slot->fd[1], &slot->read,
               &bytes) != 4 ||
        bytes == 0 || slot->process < 0 || slot->fd[0] < 0 || slot->fd[1] < 0 ||
        (unsigned)slot->read > 1)
        return false;
    *text += bytes;
    return true;
}

bool ski_image_slots_parse(const char *text, struct ski_image_slots *slots)
{
    struct ski_image_slots read  = {0};
    int                    bytes = 0, most = 0;

    if (sscanf(text, "%d,%" SCNu64 "%n", &read.epoch, &read.generation, &bytes) != 2 ||
        bytes == 0 || read.epoch < 1)
        return false;
    text += bytes;
    for (const char *c = text; *c; c++)
        most += *c == ';';
    read.slot = ski_calloc((size_t)most + 1, sizeof *read.slot);
    while (*text && read.count < most && image_slots_parse_one(&text, &read.slot[read.count]))
        read.count++;
    if (*text) {
        free(read.slot);
        return false;
    }
    *slots = read;
    return true;
}

/* ---- completion ----------------------------------------------------------------- */

/* The pipes that the launcher reads, as they were at the start: a program may have redirected its
 * stdout to a file since, in which a mark has no place. */
static struct stat image_output[2];

static void image_note_outputs(void)
{
    for (int i = 0; i < 2; i++)
        if (fstat(STDOUT_FILENO + i, &image_output[i]) < 0 || !S_ISFIFO(image_output[i].st_mode))
            image_output[i] = (struct stat){0};
}

/* Writes the mark into stdout (0) or stderr (1).  A pipe takes so few bytes whole. */
static void image_mark_output(int i, const char *mark, size_t bytes)
{
    struct stat now;
    ssize_t     n;

    if (!image_output[i].st_ino || fstat(STDOUT_FILENO + i, &now) < 0 ||
        now.st_ino != image_output[i].st_ino || now.st_dev != image_output[i].st_dev)
        return;
    do
        n = write(STDOUT_FILENO + i, mark, bytes);
    while (n < 0 && errno == EINTR);
}

void ski_image_flush_output(void)
{
    fflush(stdout);
    fflush(stderr);
}

void ski_image_completed(struct ski_job *job, int process, uint64_t generation)
{
    char mark[64];
    int  bytes =
        snprintf(mark, sizeof mark, SKI_OUTPUT_MARK "%" PRIu64 SKI_OUTPUT_MARK_END, generation);

    ski_assert(generation > 0 && bytes > 0 && (size_t)bytes < sizeof mark);
    ski_image_flush_output();
    /* Before the marks: the launcher that reads the last one finds the generation. */
    atomic_store(&ski_job_process(job, process)->generation, generation);
    for (int i = 0; i < 2; i++)
        image_mark_output(i, mark, (size_t)bytes);
}

/* ---- the slots ------------------------------------------------------------------ */

/* Keeps the memfds from the programs that this process starts. */
static void image_slots_keep(const struct ski_image_slots *slots)
{
    for (int i = 0; i < slots->count; i++) {
        fcntl(slots->slot[i].fd[0], F_SETFD, FD_CLOEXEC);
        fcntl(slots->slot[i].fd[1], F_SETFD, FD_CLOEXEC);
    }
}

const struct ski_image_slots *ski_image_slots(void)
{
    static struct ski_image_slots inherited;
    const char                   *text = getenv(SKI_IMAGES_VARIABLE);

    if (inherited.epoch || !text)
        return &inherited;
    if (ski_image_slots_parse(text, &inherited)) {
        image_slots_keep(&inherited);
        image_note_outputs();
    } else {
        ski_log(SKI_LOG_ERROR, SKI_IMAGES_VARIABLE "=%s is not what a launcher writes", text);
    }
    unsetenv(SKI_IMAGES_VARIABLE);
    return &inherited;
}

const struct ski_image_slot *ski_image_slot_find(const struct ski_image_slots *slots, int process)
{
    for (int i = 0; i < slots->count; i++)
        if (slots->slot[i].process == process)
            return &slots->slot[i];
    return NULL;
}

/* ---- buddies ------------------------------------------------------------------ */

int ski_job_buddy(const struct ski_job *job, int process)
{
    int host = job->host_of[process], next = (host + 1) % job->hosts;
    int here = 0, first = job->host_first[host], there = job->host_first[next];

    if (job->hosts == 1)
        return -1;
    while (job->host_process[first + here] != process) {
        ski_assert(first + here < job->host_first[host + 1]);
        here++;
    }
    return job->host_process[there + here % (job->host_first[next + 1] - there)];
}
