/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_program.c - parts `program` and `readonly`.
 *
 *      program    struct ski_image_common; the number of names; each name with its final zero
 *      readonly   the read-only variables, as objects/services/program.h packs them
 *
 * The names are those of all handlers, of the runtime and of the program, and so of classes and
 * entries, in the order of their numbers; that of a class is followed by the size of its objects.
 * Messages in an image name handlers by number, so a program with other names is refused, and told
 * the first that differs.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "checkpoint/checksum.h"
#include "checkpoint/parts.h"
#include "core/pe/handler.h"
#include "core/sched/completion.h"
#include "objects/model/class.h"
#include "objects/model/objects_pe.h"
#include "objects/collective/section.h"
#include "objects/services/program.h"
#include "objects/zerocopy/object_channel_end.h"
#include "onesided/channel/channel_pe.h"
#include "onesided/region/region_table.h"
#include "onesided/team/team_saved.h"

/* ---- names --------------------------------------------------------------------------- */

static uint32_t program_names(void)
{
    uint32_t classes = 0;

    while (ski_class_find(classes + 1))
        classes++;
    return ski_handlers.count + classes;
}

#define PROGRAM_NAME 256

/* Returns name @p i of this program. */
static const char *program_name(uint32_t i, char text[PROGRAM_NAME])
{
    const struct ski_class *class;

    if (i < ski_handlers.count) {
        snprintf(text, PROGRAM_NAME, "%s", ski_handler_name(i));
    } else {
        class = ski_class_find(i - ski_handlers.count + 1);
        snprintf(text, PROGRAM_NAME, "class %s of %zu bytes", class->def.name, class->def.bytes);
    }
    return text;
}

static void program_save_names(struct ski_image_writer *to)
{
    char     text[PROGRAM_NAME];
    uint32_t count = program_names();

    ski_image_write_number(to, count);
    for (uint32_t i = 0; i < count; i++) {
        program_name(i, text);
        ski_image_write(to, text, strlen(text) + 1);
    }
}

/* Returns which name is the first that differs; NULL: none does. */
static const char *program_compare_names(struct ski_image_reader *from)
{
    static _Thread_local void *slot;
    const size_t               size = 2 * PROGRAM_NAME + 80;
    char                       own[PROGRAM_NAME];
    uint64_t                   count;

    if (!ski_image_get(from, &count) || count > ski_image_left(from))
        return "it is too short";
    for (uint32_t i = 0; i < program_names() || i < count; i++) {
        size_t      left = i < count ? ski_image_left(from) : 0;
        const char *name = left ? ski_image_read(from, 0) : "nothing";
        size_t      bytes;

        snprintf(own, sizeof own, "nothing");
        if (i < program_names())
            program_name(i, own);
        bytes = left ? strnlen(name, left) : 0;
        if (left && (bytes == left || bytes >= PROGRAM_NAME))
            return "a name has no end";
        if (left)
            ski_image_read(from, bytes + 1);
        if (strcmp(name, own) != 0) {
            char *why = ski_thread_memory(&slot, size);

            snprintf(why, size,
                     "it is of another program: that has \"%s\" where this one has \"%s\"", name,
                     own);
            return why;
        }
    }
    return NULL;
}

uint64_t ski_part_program_fingerprint(void)
{
    char     text[PROGRAM_NAME];
    uint64_t hash = 0;

    for (uint32_t i = 0; i < program_names(); i++) {
        uint64_t link[2] = {hash, 0};

        program_name(i, text);
        link[1] = ski_checksum(text, strlen(text));
        hash    = ski_checksum(link, sizeof link);
    }
    return hash;
}

/* ---- what is common -------------------------------------------------------------------- */

void ski_part_program_save(struct ski_pe *self, struct ski_image_writer *to,
                           const struct ski_image_common *common)
{
    (void)self;
    ski_image_write(to, common, sizeof *common);
    program_save_names(to);
}

#define PROGRAM_SECONDS 1e10 /* more than any job takes */

static bool program_common_valid(const struct ski_image_common *common)
{
    return common->pes > 0 && common->processes > 0 && common->processes <= common->pes &&
           common->creators >= (uint32_t)common->pes && common->creators < SKI_NO_PE &&
           common->teams < INT32_MAX && common->seconds >= 0 && common->seconds < PROGRAM_SECONDS;
}

/* Makes the new ids of this PE larger than those of the former job. */
static void program_restore_counts(struct ski_pe *self, const struct ski_image_common *from)
{
    struct ski_objects *objects = self->objects;

    if (objects->creators < from->creators)
        objects->creators = from->creators;
    objects->collections_created             = from->collections;
    objects->chares_created                  = from->chares;
    ski_sections_of(objects)->created        = from->sections;
    ski_object_channels_of(objects)->created = from->channels;
    ski_region_table_reserve(from->regions);
    ski_team_restore_numbers(self, from->teams, from->pes != self->pes);
    ski_channel_pe_restarted(self, from->restarts + 1);
}

const char *ski_part_program_restore(struct ski_pe *self, struct ski_image_reader *from,
                                     struct ski_restart *restart)
{
    const char *why;

    if (!ski_image_get(from, &restart->common))
        return "it is too short";
    if ((why = program_compare_names(from)))
        return why;
    if (!program_common_valid(&restart->common))
        return "its numbers of PEs are not valid";
    if ((why = ski_completion_restore(&restart->common.done)))
        return why;
    restart->same =
        restart->common.pes == self->pes && restart->common.processes == self->job->processes;
    program_restore_counts(self, &restart->common);
    ski_clock_continue(restart->common.seconds);
    return NULL;
}

/* ---- read-only variables ----------------------------------------------------------------- */

void ski_part_readonly_save(struct ski_pe *self, struct ski_image_writer *to,
                            const struct ski_image_common *common)
{
    void *room = ski_image_reserve(to, ski_program_saved_bytes());

    (void)self, (void)common;
    if (room)
        ski_program_save(room);
}

/* The first PE of a process that comes here writes the variables, which all of its PEs use to
 * unpack what follows. */
const char *ski_part_readonly_restore(struct ski_pe *self, struct ski_image_reader *from,
                                      struct ski_restart *restart)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool            restored;
    size_t                 bytes = ski_image_left(from);
    bool                   right;

    (void)self, (void)restart;
    pthread_mutex_lock(&lock);
    right    = restored || ski_program_restore(ski_image_read(from, bytes), bytes);
    restored = right;
    pthread_mutex_unlock(&lock);
    return right ? NULL : "read-only variables have other lengths";
}
