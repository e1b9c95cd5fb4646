/* SPDX-License-Identifier: Apache-2.0 */
/* restore.c - see restore.h. */
#include "checkpoint/restore.h"

#include <stdlib.h>
#include <string.h>

#include <skua/checkpoint.h>
#include <skua/quiescence.h>

#include "base/config.h"
#include "base/memory.h"
#include "boot/image_slots.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/checkpoint_pe.h"
#include "checkpoint/former.h"
#include "checkpoint/image.h"
#include "checkpoint/parts.h"
#include "checkpoint/save_step.h"
#include "core/collective/collective.h"
#include "core/message/msg_counts.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "objects/model/msg_target.h"
#include "objects/model/objects_pe.h"

/* The steps of all PEs, in this order. */
enum restore_step { RESTORE_BEGIN, RESTORE_RESUME };

/* A message of SKI_HANDLER_RESTORE_STEP begins with this; the common parts follow, each after its
 * length. */
struct restore_order {
    uint64_t step;
};

/* A message of SKI_HANDLER_RESTORE_REPORT: how many images the PE has read. */
struct restore_report {
    uint64_t images;
};

typedef const char *(*restore_record_fn)(struct ski_pe *self, struct ski_image_reader *record);

/* The functions that receive records, by kind. */
static const restore_record_fn restore_records[SKI_RECORDS] = {
    [SKI_RECORD_ELEMENT]      = ski_record_element,
    [SKI_RECORD_LOCATION]     = ski_record_location,
    [SKI_RECORD_PARTIAL]      = ski_record_partial,
    [SKI_RECORD_OLDEST]       = ski_record_oldest,
    [SKI_RECORD_MEMORY]       = ski_record_memory,
    [SKI_RECORD_SECTION]      = ski_record_section,
    [SKI_RECORD_REGION_ID]    = ski_record_region_id,
    [SKI_RECORD_REGION_PIECE] = ski_record_region_piece,
    [SKI_RECORD_REGION_BLOCK] = ski_record_region_block,
    [SKI_RECORD_SECTION_NEXT] = ski_record_section_next,
    [SKI_RECORD_ISO_BLOCK]    = ski_record_iso_block,
    [SKI_RECORD_TEAM]         = ski_record_team,
};

bool ski_restore_wanted(void)
{
    return strcmp(ski_config.restart, "none") != 0;
}

bool ski_restore_possible(void)
{
    return strcmp(ski_config.restart, SKI_RESTART_MEMORY) != 0 || ski_image_slots()->generation > 0;
}

static SKI_COLD _Noreturn void restore_fail(int former, const char *part, const char *why)
{
    ski_fatal("restart from %s on PE %d: the image of PE %d, part %s: %s", ski_config.restart,
              ski_self->pe, former, part, why);
}

/* Returns a reader of @p bytes at @p data, which are no image but a part of one. */
static struct ski_image_reader restore_reader(const void *data, size_t bytes)
{
    return (struct ski_image_reader){.base = data, .end = bytes};
}

/* ---- records --------------------------------------------------------------------------- */

void ski_on_restore_record(skua_msg *msg)
{
    struct ski_checkpoint  *state = ski_checkpoint_of(ski_self);
    struct ski_record_head  record;
    struct ski_image_reader rest;
    const char             *why;

    memcpy(&record, skua_msg_data(msg), sizeof record);
    if (!state || record.kind >= SKI_RECORDS || state->resumed || !ski_restore_wanted()) {
        ski_net_drop(ski_self, msg);
        return;
    }
    if (!state->restart) { /* the common parts come from another PE, and may arrive later */
        ski_msg_hold(ski_self, &state->early, msg);
        return;
    }
    rest = restore_reader((const char *)skua_msg_data(msg) + sizeof record,
                          msg->bytes - sizeof record);
    why  = restore_records[record.kind](ski_self, &rest);
    if (why)
        restore_fail(msg->source, "records", why);
    skua_msg_free(msg);
}

/* ---- parts ------------------------------------------------------------------------------- */

/* Finds a section of the version that this library writes. */
static void restore_find(struct ski_image_reader *from, const struct ski_image_part *part)
{
    uint32_t version;

    if (!ski_image_section_find(from, part->name, &version))
        restore_fail(from->id.pe, part->name, "it is missing");
    if (version != part->version)
        restore_fail(from->id.pe, part->name, "it is of another version of Skua");
}

/* Reads the images of the former PEs that fall to this PE. */
static void restore_read_images(struct ski_pe *self, struct ski_restart *restart)
{
    for (int i = 0, pe; (pe = ski_former_pe(self, i)) >= 0 && pe < restart->common.pes; i++) {
        struct ski_former_image image;

        restart->reading = pe;
        ski_former_open(pe, &image);
        if (image.reader.id.generation != restart->common.generation)
            restore_fail(pe, "header", "it is of another checkpoint than that of PE 0");
        for (const struct ski_image_part *part = ski_image_parts; part->name; part++) {
            const char *why;

            if (part->common)
                continue;
            restore_find(&image.reader, part);
            if ((why = part->restore(self, &image.reader, restart)))
                restore_fail(pe, part->name, why);
        }
        ski_former_close(&image);
        restart->images++;
    }
}

/* Reads the common parts, which PE 0 has sent. */
static void restore_read_common(struct ski_pe *self, struct ski_image_reader *from,
                                struct ski_restart *restart)
{
    for (const struct ski_image_part *part = ski_image_parts; part->name; part++) {
        struct ski_image_reader section;
        uint64_t                bytes;
        const void             *data;
        const char             *why;

        if (!part->common)
            continue;
        if (!ski_image_get(from, &bytes) || !(data = ski_image_read(from, bytes)))
            restore_fail(0, part->name, "it was sent incompletely");
        section = restore_reader(data, bytes);
        if ((why = part->restore(self, &section, restart)))
            restore_fail(0, part->name, why);
    }
}

/* Returns a message with the common parts of the image of PE 0. */
static skua_msg *restore_common_message(struct ski_image_reader *from)
{
    struct restore_order         order = {RESTORE_BEGIN};
    size_t                       total = sizeof order;
    const struct ski_image_part *part;
    skua_msg                    *msg;
    char                        *at;

    for (part = ski_image_parts; part->name; part++)
        if (part->common) {
            restore_find(from, part);
            total += sizeof(uint64_t) + ski_image_left(from);
        }
    msg = skua_msg_alloc(total);
    at  = skua_msg_data(msg);
    memcpy(at, &order, sizeof order);
    at += sizeof order;
    for (part = ski_image_parts; part->name; part++)
        if (part->common) {
            uint64_t bytes;

            restore_find(from, part);
            bytes = ski_image_left(from);
            memcpy(at, &bytes, sizeof bytes);
            at += sizeof bytes;
            ski_image_copy(from, at, bytes);
            at += bytes;
        }
    return msg;
}

/* ---- steps --------------------------------------------------------------------------------- */

/* Orders all PEs to resume: all records have arrived. */
static void restore_placed(void *arg, const void *data, size_t bytes)
{
    struct restore_order order = {RESTORE_RESUME};

    (void)data, (void)bytes;
    ski_broadcast(arg, SKI_HANDLER_RESTORE_STEP,
                  ski_msg_with_header(&order, sizeof order, NULL, 0));
}

static void restore_begin(struct ski_pe *self, skua_msg *msg)
{
    struct ski_checkpoint  *state = ski_checkpoint_of(self);
    struct ski_image_reader rest =
        restore_reader((const char *)skua_msg_data(msg) + sizeof(struct restore_order),
                       msg->bytes - sizeof(struct restore_order));

    state->restart = ski_calloc(1, sizeof *state->restart);
    restore_read_common(self, &rest, state->restart);
    ski_msg_unhold(self, &state->early);
    restore_read_images(self, state->restart);
    if (self->pe == 0)
        skua_quiescence(skua_done_call(restore_placed, self));
}

static void restore_resume(struct ski_pe *self)
{
    struct ski_checkpoint *state  = ski_checkpoint_of(self);
    struct restore_report  report = {state->restart->images};

    state->resumed = true;
    ski_part_regions_resume(self);
    ski_part_collections_exist(self);
    ski_part_sections_resume(self);
    ski_part_collections_resume(self);
    ski_save_step_call_hooks(self, SKUA_CHECKPOINT_RESTART);
    if (self->pe == ski_job_first_pe(self->job, self->process) && ski_image_slots()->generation > 0)
        ski_image_completed(self->job, self->process, ski_image_slots()->generation);
    skua_send_copy(0, (skua_handler){SKI_HANDLER_RESTORE_REPORT}, &report, sizeof report);
}

void ski_on_restore_step(skua_msg *msg)
{
    struct ski_checkpoint *state = ski_checkpoint_of(ski_self);
    struct restore_order   order;

    memcpy(&order, skua_msg_data(msg), sizeof order);
    if (!state || !ski_restore_wanted() || state->resumed || order.step > RESTORE_RESUME ||
        (order.step == RESTORE_BEGIN) != !state->restart) {
        ski_net_drop(ski_self, msg);
        return;
    }
    if (order.step == RESTORE_BEGIN)
        restore_begin(ski_self, msg);
    else
        restore_resume(ski_self);
    skua_msg_free(msg);
}

void ski_on_restore_report(skua_msg *msg)
{
    struct ski_pe         *self  = ski_self;
    struct ski_checkpoint *state = ski_checkpoint_of(self);
    struct restore_report  report;

    memcpy(&report, skua_msg_data(msg), sizeof report);
    if (!state || !state->restart || self->pe != 0 || state->resumed_pes == self->pes) {
        ski_net_drop(self, msg);
        return;
    }
    skua_msg_free(msg);
    state->images += report.images;
    if (++state->resumed_pes != self->pes)
        return;
    if (state->images != (uint64_t)state->restart->common.pes)
        ski_fatal("restart from %s: %llu images of %d were read; start the job again from a "
                  "checkpoint on disk (skuarun --restart)",
                  ski_config.restart, (unsigned long long)state->images,
                  state->restart->common.pes);
    ski_checkpoint_restarted(self, &state->restart->common);
}

void ski_restore_start(int argc, char **argv)
{
    struct ski_pe          *self = ski_self;
    struct ski_former_image image;

    (void)argc, (void)argv;
    if (ski_former_pe(self, 0) != 0)
        return;
    ski_former_open(0, &image);
    ski_broadcast(self, SKI_HANDLER_RESTORE_STEP, restore_common_message(&image.reader));
    ski_former_close(&image);
}
