/* SPDX-License-Identifier: Apache-2.0 */
/* closing.c - see closing.h. */
#include "objects/location/closing.h"

#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "core/collective/pe_tree.h"
#include "core/message/msg_counts.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "objects/location/location.h"

/* ---- indices that are inserted again ------------------------------------------------ */

bool ski_closing_check(struct ski_collection *all, struct ski_absent *absent, skua_msg *msg)
{
    if (!absent || absent->pe != SKI_ABSENT_DELETED || absent->judged || !all->open ||
        all->kind != SKI_ARRAY)
        return false;
    ski_assert(ski_home(all, &absent->index) == all->self->pe);
    ski_msg_hold(all->self, &absent->held, msg);
    if (absent->checks == 0) {
        absent->checks = (uint32_t)all->self->pes;
        for (int pe = 0; pe < all->self->pes; pe++)
            ski_element_post(all->self, pe, SKI_HANDLER_INSERTION_CHECK, all->id, &absent->index,
                             &absent->moves, sizeof absent->moves);
    }
    return true;
}

void ski_on_check(skua_msg *msg)
{
    struct ski_collection *all;
    skua_index             index;

    if (!ski_element_msg(msg, SKI_CHECK_MIN, &all, &index))
        return;
    if (ski_closing_inserting(all)) {
        ski_msg_hold(all->self, &all->closing->checks, msg);
        return;
    }
    ski_element_post(all->self, ski_home(all, &index), SKI_HANDLER_INSERTION_CHECKED, all->id,
                     &index, skua_msg_data(msg), SKI_CHECK_MIN);
    skua_msg_free(msg);
}

/* Delivers the messages that waited for the answers.  No code of the program runs: the messages are
 * in error, or the runtime's own. */
static void closing_judge(struct ski_collection *all, struct ski_absent *absent)
{
    struct ski_list  held;
    struct skua_msg *msg;

    ski_assert(absent->checks == 0 && !absent->judged);
    ski_list_init(&held);
    ski_list_prepend(&held, &absent->held);
    absent->judged = true;
    while ((msg = ski_list_pop(&held))) {
        all->self->held--;
        all->self->handler[msg->handler](msg);
    }
    absent->judged = false;
}

void ski_on_checked(skua_msg *msg)
{
    struct ski_collection *all;
    struct ski_absent     *absent;
    uint32_t               moves;

    absent = ski_absent_answered(msg, &moves, sizeof moves, &all);
    if (!absent || absent->pe != SKI_ABSENT_DELETED || absent->moves != moves ||
        absent->checks == 0)
        return; /* it was inserted again */
    if (--absent->checks == 0)
        closing_judge(all, absent);
}

/* ---- closing ------------------------------------------------------------------------ */

static struct ski_pe_tree closing_tree(const struct ski_collection *all)
{
    return ski_pe_tree_at(all->self->job, all->self->pe, all->root, (int)ski_config.tree_arity);
}

/* Reports to the parent once this PE and its subtree have no insertion in flight. */
static void closing_advance(struct ski_collection *all)
{
    struct ski_closing *closing = all->closing;
    struct ski_pe_tree  tree    = closing_tree(all);

    ski_assert(closing->children <= tree.children);
    if (!closing->ordered || closing->reported || closing->inserting > 0 ||
        closing->children < tree.children)
        return;
    closing->reported = true;
    if (ski_pe_tree_is_root(&tree))
        ski_notify_insertions_ended(&all->self->objects->lifecycle, all);
    else
        skua_send_copy(ski_pe_tree_parent(&tree), (skua_handler){SKI_HANDLER_INSERTION_CLOSE},
                       &all->id, sizeof all->id);
}

void ski_closing_acknowledged(struct ski_collection *all)
{
    if (!ski_closing_inserting(all))
        ski_fatal("PE %d: an element of %s has arrived that was not inserted here", all->self->pe,
                  all->class->def.name);
    if (--all->closing->inserting == 0)
        ski_msg_unhold(all->self, &all->closing->checks);
    closing_advance(all);
}

void ski_closing_ordered(struct ski_collection *all)
{
    all->closing->ordered = true;
    closing_advance(all);
}

void ski_closing_done(struct ski_collection *all)
{
    ski_assert(all->state == SKI_EXISTS);
    all->open = false;
    ski_location_release_unknown(all);
}

void ski_closing_restore(struct ski_collection *all)
{
    ski_assert(all->state == SKI_DEFINED);
    all->open              = false;
    all->closing->ordered  = true;
    all->closing->reported = true;
    all->closing->children = closing_tree(all).children;
}

void ski_on_closing(skua_msg *msg)
{
    uint64_t               id;
    struct ski_collection *all;

    memcpy(&id, skua_msg_data(msg), sizeof id);
    if (ski_collection_awaited(ski_self->objects, id, msg, &all))
        return;
    if (all->closing->children == closing_tree(all).children || all->kind == SKI_CHARES) {
        ski_net_drop(all->self, msg);
        return;
    }
    all->closing->children++;
    skua_msg_free(msg);
    closing_advance(all);
}

/* ---- life cycle --------------------------------------------------------------------- */

static void closing_collection_added(struct ski_collection *all)
{
    all->closing = ski_calloc(1, sizeof *all->closing);
    ski_list_init(&all->closing->checks);
}

static void closing_collection_ended(struct ski_collection *all)
{
    ski_held_discard(all->self, &all->closing->checks);
}

static void closing_collection_freed(struct ski_collection *all)
{
    struct skua_msg *msg;

    while ((msg = ski_list_pop(&all->closing->checks)))
        skua_msg_free(msg);
    free(all->closing);
}

const struct ski_lifecycle ski_closing_lifecycle = {
    .collection_added = closing_collection_added,
    .collection_ended = closing_collection_ended,
    .collection_freed = closing_collection_freed,
    .late = (const uint32_t[]){SKI_HANDLER_INSERTION_CHECK, SKI_HANDLER_INSERTION_CHECKED,
                               SKI_HANDLER_INSERTION_CLOSE, 0},
};
