/* SPDX-License-Identifier: Apache-2.0 */
/* insertion.c - see insertion.h. */
#include "objects/location/insertion.h"

#include "base/config.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/message/msg_counts.h"
#include "core/collective/tree.h"
#include "objects/chare/invoke.h"
#include "objects/location/location.h"

/* ---- accounts --------------------------------------------------------------------------- */

struct ski_account ski_insertion_account(struct ski_collection *all)
{
    if (all->self->pe >= all->self->pes) /* no PE of the job's: it takes no broadcasts in */
        return (struct ski_account){.pe = SKI_NO_ACCOUNT};
    all->closing.inserting++;
    ski_everyone_expect(all);
    ski_reducing_born(all, 1);
    return (struct ski_account){all->self->pe, ski_everyone_known(all), all->reducing.first};
}

bool ski_insertion_account_right(const struct ski_collection *all,
                                 const struct ski_account    *account)
{
    return account->pe == SKI_NO_ACCOUNT ||
           ((unsigned)account->pe < (unsigned)all->self->pes && all->kind == SKI_ARRAY &&
            ski_reducing_in_reach(all, account->next));
}

void ski_insertion_arrived(struct ski_object *object, const struct ski_account *account)
{
    object->next = account->next;
    ski_everyone_inserted(object, account->seen, account->pe); /* first: see ski_on_migrate() */
    ski_reducing_came(object);
}

/* ---- indices that are inserted again ------------------------------------------------------ */

bool ski_insertion_awaited(struct ski_collection *all, struct ski_absent *place, skua_msg *msg)
{
    if (!place || place->pe != SKI_PLACE_DELETED || place->judged || !all->open ||
        all->kind != SKI_ARRAY)
        return false;
    ski_hold(all->self, &place->held, msg);
    if (place->checks == 0) {
        place->checks = (uint32_t)all->self->pes;
        for (int pe = 0; pe < all->self->pes; pe++)
            ski_post_about(all->self, pe, SKI_HANDLER_CHECK, all->id, &place->index, &place->moves,
                           sizeof place->moves);
    }
    return true;
}

void ski_on_check(skua_msg *msg)
{
    struct ski_collection *all;
    skua_index             index;

    if (!ski_about(msg, SKI_CHECK_LEAST, &all, &index))
        return;
    if (all->closing.inserting > 0) {
        ski_hold(all->self, &all->closing.checks, msg);
        return;
    }
    ski_post_about(all->self, ski_home(all, &index), SKI_HANDLER_CHECKED, all->id, &index,
                   skua_msg_data(msg), SKI_CHECK_LEAST);
    skua_msg_free(msg);
}

/* Delivers the messages that waited for the answers: no program runs by that, they are in error
 * or the runtime's own. */
static void insertion_judge(struct ski_collection *all, struct ski_absent *place)
{
    struct ski_list  held;
    struct skua_msg *msg;

    ski_list_init(&held);
    ski_list_prepend(&held, &place->held);
    place->judged = true;
    while ((msg = ski_list_pop(&held))) {
        all->self->held--;
        all->self->handler[msg->handler](msg);
    }
    place->judged = false;
}

void ski_on_checked(skua_msg *msg)
{
    struct ski_collection *all;
    struct ski_absent     *place;
    skua_index             index;
    uint32_t               moves;

    if (!ski_about(msg, sizeof moves, &all, &index))
        return;
    memcpy(&moves, skua_msg_data(msg), sizeof moves);
    skua_msg_free(msg);
    place = ski_absent_find(all, &index);
    if (!place || place->pe != SKI_PLACE_DELETED || place->moves != moves || place->checks == 0)
        return; /* it was inserted again */
    if (--place->checks == 0)
        insertion_judge(all, place);
}

/* ---- closing ---------------------------------------------------------------------------- */

void ski_closing_init(struct ski_closing *closing)
{
    *closing = (struct ski_closing){0};
    ski_list_init(&closing->checks);
}

static struct ski_tree closing_tree(const struct ski_collection *all)
{
    return ski_tree_at(all->self->pe, all->self->pes, all->root, (int)ski_config.tree_arity);
}

/* Reports to the parent once this PE and its subtree have no insertion under way. */
static void closing_advance(struct ski_collection *all)
{
    struct ski_closing *closing = &all->closing;
    struct ski_tree     tree    = closing_tree(all);

    if (!closing->ordered || closing->reported || closing->inserting > 0 ||
        closing->children < tree.children)
        return;
    closing->reported = true;
    if (tree.rank == 0)
        ski_everyone_closed(all);
    else
        skua_send_copy(ski_tree_parent(&tree), (skua_handler){SKI_HANDLER_CLOSING}, &all->id,
                       sizeof all->id);
}

void ski_insertion_acknowledged(struct ski_collection *all)
{
    if (all->closing.inserting == 0)
        ski_fatal("PE %d: an element of %s has arrived that was not inserted here", all->self->pe,
                  all->class->def.name);
    if (--all->closing.inserting == 0)
        ski_unhold(all->self, &all->closing.checks);
    closing_advance(all);
}

void ski_closing_ordered(struct ski_collection *all)
{
    all->closing.ordered = true;
    closing_advance(all);
}

void ski_closing_done(struct ski_collection *all)
{
    all->open = false;
    ski_release_unknown(all);
}

void ski_on_closing(skua_msg *msg)
{
    uint64_t               id;
    struct ski_collection *all;

    memcpy(&id, skua_msg_data(msg), sizeof id);
    if (ski_collection_awaited(ski_self->objects, id, msg, &all))
        return;
    if (all->closing.children == closing_tree(all).children || all->kind == SKI_CHARES) {
        ski_far_drop(all->self, msg);
        return;
    }
    all->closing.children++;
    skua_msg_free(msg);
    closing_advance(all);
}
