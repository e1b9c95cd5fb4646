/* SPDX-License-Identifier: Apache-2.0 */
/* insertion.c - see insertion.h. */
#include "objects/insertion.h"

#include "base/config.h"
#include "core/handler.h"
#include "core/tree.h"
#include "objects/locate.h"
#include "objects/number.h"
#include "objects/total.h"

/* ---- accounts --------------------------------------------------------------------------- */

struct ski_account ski_insertion_account(struct ski_collection *all)
{
    struct ski_everyone *e    = &all->everyone;
    uint32_t             seen = all->root == all->self->pe ? e->sent : e->number;

    if (all->self->pe >= all->self->pes) /* no PE of the job's: it takes no broadcasts in */
        return (struct ski_account){.pe = SKI_NO_ACCOUNT};
    all->closing.inserting++;
    ski_everyone_expect(all);
    ski_reducing_born(all, 1);
    return (struct ski_account){all->self->pe, seen, all->reducing.first};
}

bool ski_insertion_account_right(const struct ski_collection *all,
                                 const struct ski_account    *account)
{
    uint32_t first = all->reducing.first;

    if (account->pe == SKI_NO_ACCOUNT)
        return true;
    return (unsigned)account->pe < (unsigned)all->self->pes && all->kind == SKI_ARRAY &&
           (ski_before(account->next, first) || account->next - first <= SKI_AHEAD);
}

void ski_insertion_arrived(struct ski_object *object, const struct ski_account *account)
{
    object->next = account->next;
    ski_reducing_came(object);
    ski_everyone_inserted(object, account->seen, account->pe);
}

/* ---- closing ---------------------------------------------------------------------------- */

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
    all->closing.inserting--;
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
    if (all->closing.children == closing_tree(all).children)
        ski_fatal("PE %d reported twice that it inserts no more elements of %s", msg->source,
                  all->class->def.name);
    all->closing.children++;
    skua_msg_free(msg);
    closing_advance(all);
}
