/* SPDX-License-Identifier: Apache-2.0 */
/* save_step.c - see save_step.h. */
#include "checkpoint/save_step.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include <skua/scheduler.h>

#include "base/config.h"
#include "base/memory.h"
#include "boot/image_slots.h"
#include "checkpoint/buddy.h"
#include "checkpoint/checkpoint_pe.h"
#include "checkpoint/image.h"
#include "checkpoint/parts.h"
#include "checkpoint/process_store.h"
#include "core/collective/collective.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "objects/collective/section.h"
#include "objects/model/msg_target.h"
#include "objects/zerocopy/object_channel_end.h"
#include "onesided/region/region_table.h"
#include "onesided/team/team_saved.h"

#define SAVE_STEP_POLL 0.002 /* seconds between two checks of the writer thread */

/* The generation that the writer thread of this process was given. */
static _Atomic uint64_t save_step_given;

/* ---- hooks ----------------------------------------------------------------------------- */

struct save_step_hook {
    skua_checkpoint_moment moment;
    skua_checkpoint_fn     fn;
    void                  *arg;
};

static struct save_step_hook *save_step_hooks; /* written before PEs begin */
static size_t                 save_step_hook_count;

void skua_checkpoint_hook(skua_checkpoint_moment moment, skua_checkpoint_fn fn, void *arg)
{
    if (ski_self)
        ski_misuse("%s: hooks are registered before skua_main() or skua_program()", __func__);
    if (!fn || (unsigned)moment > SKUA_CHECKPOINT_RESTART)
        ski_misuse("%s: a hook has a function and a moment of skua_checkpoint_moment", __func__);
    save_step_hooks =
        ski_realloc(save_step_hooks, (save_step_hook_count + 1) * sizeof *save_step_hooks);
    save_step_hooks[save_step_hook_count++] = (struct save_step_hook){moment, fn, arg};
}

static bool save_step_is_first(const struct ski_pe *self)
{
    return self->pe == ski_job_first_pe(self->job, self->process);
}

void ski_save_step_call_hooks(const struct ski_pe *self, skua_checkpoint_moment moment)
{
    for (size_t i = 0; save_step_is_first(self) && i < save_step_hook_count; i++)
        if (save_step_hooks[i].moment == moment)
            save_step_hooks[i].fn(save_step_hooks[i].arg);
}

/* ---- steps ------------------------------------------------------------------------------ */

static void save_step_report(struct ski_checkpoint_report *report, enum ski_checkpoint_step step,
                             skua_status status, const char *why)
{
    report->step   = step;
    report->status = status;
    skua_send(0, (skua_handler){SKI_HANDLER_CHECKPOINT_REPORT},
              ski_msg_with_header(report, sizeof *report, why, strlen(why)));
}

const char *ski_save_step_disagrees(const struct ski_pe                *self,
                                    const struct ski_checkpoint_report *report)
{
    if (report->step != SKI_CHECKPOINT_PREPARE || report->status != SKUA_OK)
        return NULL;
    if (report->reductions != self->collectives->calls)
        return "it has called another number of reductions and barriers of all PEs "
               "(skua_reduce(), skua_allreduce(), skua_barrier()) than PE 0; one that is under way "
               "cannot be saved: let all PEs call it before the checkpoint, or after";
    if (report->team_calls != ski_team_all_calls(self))
        return "it has called another number of collectives of SKUA_TEAM_ALL than PE 0; one under "
               "way cannot be saved: let all PEs call it before the checkpoint, or after";
    return NULL;
}

/* Calls the hooks of the program, and reports whether the state of this PE can be saved. */
static void save_step_prepare(struct ski_pe *self)
{
    struct ski_objects          *objects = self->objects;
    struct ski_checkpoint_report report  = {.collections = objects->collections_created,
                                            .sections    = ski_sections_of(objects)->created,
                                            .channels    = ski_object_channels_of(objects)->created,
                                            .regions     = ski_region_table_used(),
                                            .teams       = ski_team_numbers(self),
                                            .team_calls  = ski_team_all_calls(self),
                                            .reductions  = self->collectives->calls,
                                            .chares      = objects->chares_created};
    char                         why[SKI_CHECKPOINT_WHY] = "";
    bool                         possible;

    ski_save_step_call_hooks(self, SKUA_CHECKPOINT_BEFORE);
    possible = ski_part_collections_possible(self, why, sizeof why) &&
               ski_part_sections_possible(self, why, sizeof why) &&
               ski_part_regions_possible(self, why, sizeof why) &&
               ski_team_saved_possible(self, why, sizeof why);
    save_step_report(&report, SKI_CHECKPOINT_PREPARE, possible ? SKUA_OK : SKUA_ERR_UNSUPPORTED,
                     why);
}

/* Returns the compressor of files that the settings ask for; NULL: none, or it is not installed. */
static const struct ski_compressor *save_step_compressor(void)
{
    static _Atomic bool          warned;
    const struct ski_compressor *found;
    char                         reason[SKI_LOG_LINE] = "";

    if (ski_config.checkpoint_compress == 0)
        return NULL;
    found = ski_compressor_load(reason, sizeof reason);
    if (!found && !atomic_exchange(&warned, true))
        ski_log(SKI_LOG_WARN, "checkpoints are not compressed: %s", reason);
    return found;
}

struct ski_image_id ski_save_step_id(const struct ski_pe           *self,
                                     const struct ski_image_common *common, int64_t time_ns)
{
    return (struct ski_image_id){.generation  = common->generation,
                                 .fingerprint = ski_part_program_fingerprint(),
                                 .time_ns     = time_ns,
                                 .pe          = self->pe,
                                 .pes         = self->pes,
                                 .process     = self->process,
                                 .processes   = self->job->processes,
                                 .first_pe    = ski_job_first_pe(self->job, self->process),
                                 .process_pes = ski_job_pes_of(self->job, self->process)};
}

/* Starts the writer thread, which writes the file of the process: all its PEs have packed. */
static void save_step_write(const struct ski_checkpoint_order *order)
{
    if (!*order->dir)
        return;
    ski_image_store_write(ski_process_store(), order->dir, save_step_compressor(),
                          (int)ski_config.checkpoint_compress);
    atomic_store(&save_step_given, order->common.generation);
}

/* Reports that the buddy has a copy of the images of the process, or could not write it. */
static void save_step_copied(struct ski_pe *self, skua_status status)
{
    struct ski_checkpoint_report report = {.bytes = ski_checkpoint_of(self)->copy_bytes};

    save_step_report(&report, SKI_CHECKPOINT_SAVE, status,
                     status == SKUA_OK ? ""
                                       : "its buddy has no memory for its image (or ulimit -f)");
}

/* Completes the images of the process, whose last PE has packed. Returns whether it reports later,
 * when the buddy of the process has a copy. */
static bool save_step_complete(struct ski_pe *self, const struct ski_checkpoint_order *order,
                               const struct ski_image_id *id, size_t bytes)
{
    save_step_write(order);
    ski_checkpoint_of(self)->copy_bytes = bytes;
    return ski_buddy_send(self, id, order->kept, save_step_copied);
}

/* Returns why an image was not packed, from the errno of its writer. */
static const char *save_step_reason(int error)
{
    if (error == EFBIG)
        return "its image is larger than files may be; set ulimit -f to unlimited";
    return error ? "there is no memory for its image" : "";
}

/* Saves the state of this PE in an image. */
static void save_step_save(struct ski_pe *self, const struct ski_checkpoint_order *order)
{
    struct ski_image_id          id     = ski_save_step_id(self, &order->common, order->time_ns);
    struct ski_checkpoint_report report = {.chares = 0};
    struct ski_image_memory *memory = ski_image_store_memory(ski_process_store(), &id, order->kept);
    struct ski_image_writer  writer;
    size_t                   bytes = 0;
    skua_status              status;

    /* Once the image is complete, the program may continue after it in another process: what it has
     * printed so far has to be in the pipe. */
    if (save_step_is_first(self) && ski_image_slots()->epoch > 0)
        ski_image_flush_output();
    /* An image in a memfd is copied to the buddy while it is written to a file, so it does not
     * change once it is finished; another gets its checksums from the thread that writes it. */
    ski_image_begin(&writer, memory, &id, *order->dir && memory->fd >= 0);
    ski_image_save(self, &writer, &order->common);
    status = ski_image_finish(&writer, &bytes);
    if (status == SKUA_OK && ski_image_store_add(ski_process_store(), &id, bytes) &&
        save_step_complete(self, order, &id, bytes))
        return;
    report.bytes = bytes;
    save_step_report(&report, SKI_CHECKPOINT_SAVE, status, save_step_reason(writer.error));
}

/* ---- files -------------------------------------------------------------------------------- */

static void save_step_send_written(struct ski_pe *self, const struct ski_write_result *result)
{
    struct ski_checkpoint        *state   = ski_checkpoint_of(self);
    struct ski_checkpoint_written written = {.generation = state->writing,
                                             .process    = self->process,
                                             .ok         = result->ok,
                                             .bytes      = result->written.bytes,
                                             .head_sum   = result->written.head_sum};

    state->writing = 0;
    skua_send(
        0, (skua_handler){SKI_HANDLER_CHECKPOINT_WRITTEN},
        ski_msg_with_header(&written, sizeof written, result->reason, strlen(result->reason) + 1));
}

/* Reports on the file of the process, or checks again later.  Once the job exits, PE 0 may not run
 * the message: it looks for the file, and ski_process_store_close() reports a failure. */
static void save_step_poll(void *arg, const void *data, size_t bytes)
{
    struct ski_pe          *self   = arg;
    struct ski_write_result result = {.ok = false};

    (void)data, (void)bytes;
    if (ski_job_exiting(self->job))
        return;
    if (ski_image_store_take(ski_process_store(), false, &result))
        save_step_send_written(self, &result);
    else
        skua_timer_after(SAVE_STEP_POLL, skua_done_call(save_step_poll, self));
}

static void save_step_await_file(struct ski_pe *self, const struct ski_checkpoint_order *order)
{
    struct ski_write_result none = {.reason = "a PE of the process could not be saved"};

    ski_checkpoint_of(self)->writing = order->common.generation;
    if (atomic_load(&save_step_given) == order->common.generation)
        save_step_poll(self, NULL, 0);
    else
        save_step_send_written(self, &none);
}

static void save_step_after(struct ski_pe *self, const struct ski_checkpoint_order *order)
{
    struct ski_checkpoint_report report = {.chares = 0};

    ski_save_step_call_hooks(self, SKUA_CHECKPOINT_AFTER);
    if (order->complete && save_step_is_first(self) && ski_image_slots()->epoch > 0)
        ski_image_completed(self->job, self->process, order->common.generation);
    if (order->saved && *order->dir && save_step_is_first(self))
        save_step_await_file(self, order);
    save_step_report(&report, SKI_CHECKPOINT_AFTER, SKUA_OK, "");
}

void ski_on_checkpoint_order(skua_msg *msg)
{
    const struct ski_checkpoint_order *order = skua_msg_data(msg);

    if (!ski_checkpoint_has_string(msg, sizeof *order) || order->step >= SKI_CHECKPOINT_STEPS ||
        !ski_checkpoint_of(ski_self)) {
        ski_net_drop(ski_self, msg);
        return;
    }
    switch ((enum ski_checkpoint_step)order->step) {
    case SKI_CHECKPOINT_PREPARE: save_step_prepare(ski_self); break;
    case SKI_CHECKPOINT_SAVE: save_step_save(ski_self, order); break;
    default: save_step_after(ski_self, order); break;
    }
    skua_msg_free(msg);
}
