/* SPDX-License-Identifier: Apache-2.0 */
/* finalize.c - see finalize.h. */
#include "objects/services/finalize.h"

#include <stdlib.h>

#include <skua/completion.h>
#include <skua/quiescence.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/collective/tree.h"
#include "core/message/message.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "objects/model/objects_pe.h"

/* On the first PE of a process: its PEs and its children in the tree that are done. */
struct finalize {
    int done;
};

static struct ski_tree finalize_tree(const struct ski_pe *self, int process)
{
    return ski_tree_at(process, self->job->processes, 0, (int)ski_config.tree_arity);
}

/* Notifies the first PE of a process. */
static void finalize_notify(struct ski_pe *self, int process)
{
    ski_msg_post(self, ski_job_first_pe(self->job, process), SKI_HANDLER_FINALIZE,
                 ski_msg_copy(self, SKI_HANDLER_FINALIZE, NULL, 0));
}

static void finalize_count(struct ski_pe *self)
{
    struct finalize *f    = self->objects->slot[SKI_SLOT_FINALIZE];
    struct ski_tree  tree = finalize_tree(self, self->process);

    if (++f->done < tree.children + ski_job_pes_of(self->job, self->process))
        return;
    if (self->process == 0)
        skua_quiescence(skua_done_exit(0));
    else
        finalize_notify(self, ski_tree_parent(&tree));
}

void ski_finalize_announce(struct ski_pe *self)
{
    if (self->pe == ski_job_first_pe(self->job, self->process))
        finalize_count(self);
    else
        finalize_notify(self, self->process);
}

/* Returns whether this PE counts PE @p source: one of its process, or the first of a child of it.
 */
static bool finalize_counts(const struct ski_pe *self, int source)
{
    int             process = ski_job_process_of(self->job, source);
    struct ski_tree tree    = finalize_tree(self, process);

    if (self->pe != ski_job_first_pe(self->job, self->process) || source >= self->pes)
        return false;
    return process == self->process
               ? source != self->pe
               : process > 0 && source == ski_job_first_pe(self->job, process) &&
                     ski_tree_parent(&tree) == self->process;
}

void ski_on_finalize(skua_msg *msg)
{
    if (!finalize_counts(ski_self, msg->source)) {
        ski_net_drop(ski_self, msg);
        return;
    }
    skua_msg_free(msg);
    finalize_count(ski_self);
}

static void finalize_pe_begin(struct ski_objects *objects)
{
    objects->slot[SKI_SLOT_FINALIZE] = ski_calloc(1, sizeof(struct finalize));
}

static void finalize_pe_end(struct ski_objects *objects)
{
    free(objects->slot[SKI_SLOT_FINALIZE]);
}

const struct ski_lifecycle ski_finalize_lifecycle = {.pe_begin = finalize_pe_begin,
                                                     .pe_end   = finalize_pe_end};
