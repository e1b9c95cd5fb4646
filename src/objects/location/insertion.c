/* SPDX-License-Identifier: Apache-2.0 */
/* insertion.c - see insertion.h. */
#include "objects/location/insertion.h"

#include "base/assert.h"
#include "core/message/message.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "objects/location/closing.h"
#include "objects/location/location.h"
#include "objects/location/hold.h"
#include "objects/model/element.h"

_Static_assert(sizeof(struct ski_insertion) == SKI_INSERT_MIN, "see insertion.h");

/* ---- accounts ----------------------------------------------------------------------- */

/* Opens an account for an element that this PE inserts. */
static struct ski_account insertion_open_account(struct ski_collection *all)
{
    struct ski_account account = {.pe = SKI_NO_ACCOUNT};

    if (all->self->pe >= all->self->pes) /* a progress thread accepts no broadcasts */
        return account;
    account.pe = all->self->pe;
    all->closing->inserting++;
    ski_notify_insertion_begun(&all->self->objects->lifecycle, all, &account);
    return account;
}

/* Returns whether an account that came from another PE is valid. */
static bool insertion_account_valid(const struct ski_collection *all,
                                    const struct ski_account    *account)
{
    const struct ski_lifecycle *const *module = all->self->objects->lifecycle.module;

    if (account->pe == SKI_NO_ACCOUNT)
        return true;
    if ((unsigned)account->pe >= (unsigned)all->self->pes || all->kind != SKI_ARRAY)
        return false;
    for (; *module; module++)
        if ((*module)->account_valid && !(*module)->account_valid(all, account))
            return false;
    return true;
}

/* ---- orders ------------------------------------------------------------------------- */

skua_msg *ski_insertion_msg(struct ski_pe *self, const skua_ref *ref, uint32_t handler,
                            const void *data, size_t bytes)
{
    skua_msg             *msg   = skua_msg_alloc(sizeof(struct ski_insertion) + bytes);
    struct ski_insertion *order = skua_msg_data(msg);

    memset(order, 0, sizeof *order);
    order->pe         = SKUA_ANY_PE;
    order->account.pe = SKI_NO_ACCOUNT;
    if (bytes)
        memcpy(order + 1, data, bytes);
    msg->handler = (uint16_t)handler;
    msg->source  = self->pe;
    return ski_msg_set_target(msg, ref->of.id, &ref->index);
}

void ski_insertion_send(struct ski_pe *self, int home, const skua_ref *ref, int pe,
                        const struct ski_account *account, const void *data, size_t bytes)
{
    skua_msg             *msg   = ski_insertion_msg(self, ref, SKI_HANDLER_INSERT, data, bytes);
    struct ski_insertion *order = skua_msg_data(msg);

    ski_assert(pe == SKUA_ANY_PE || (unsigned)pe < (unsigned)self->pes);
    order->pe = pe;
    if (account)
        order->account = *account;
    ski_msg_post(self, home, SKI_HANDLER_INSERT, msg);
}

void ski_insertion_forward(struct ski_collection *all, const skua_index *index, skua_msg *msg)
{
    struct ski_insertion      *order  = skua_msg_data(msg);
    struct ski_absent         *absent = ski_absent_get(all, index);
    struct ski_location_update update = {order->pe, absent->moves + 1};

    ski_assert(order->pe != all->self->pe && ski_home(all, index) == all->self->pe);
    order->moves = update.moves;
    ski_msg_forward(all->self, order->pe, msg);
    ski_location_update(all, index, &update);
}

/* ---- arrival ------------------------------------------------------------------------ */

static SKI_COLD _Noreturn void insertion_twice(const struct ski_collection *all,
                                               const skua_index *index, int source)
{
    ski_misuse("skua_array_insert: %s exists already, and PE %d inserts it once more",
               ski_element_text(all, index), source);
}

static void insertion_check_open(const struct ski_collection *all, const skua_index *index,
                                 bool closed)
{
    if (all->kind != SKI_ARRAY || !all->open || closed)
        ski_misuse("skua_array_insert: %s is in no array that is open (SKUA_ARRAY_OPEN)",
                   ski_element_text(all, index));
}

/* Returns whether an order comes too late: the element that was claimed has arrived here meanwhile,
 * and gone.  A message made it necessary that was delivered long ago. */
static bool insertion_is_late(const struct ski_collection *all, const skua_index *index,
                              const struct ski_insertion *order)
{
    const struct ski_absent *absent = ski_absent_find(all, index);

    return order->claimed && !(absent && absent->pe == SKI_ABSENT_CLAIMED);
}

static void insertion_refuse(struct ski_collection *all, const skua_index *index,
                             const struct ski_insertion *order)
{
    ski_location_send(all, ski_home(all, index), index,
                      &(struct ski_location_update){SKI_ABSENT_DELETED, order->moves});
}

/* Creates an element on the account of the PE that inserts it. */
static void insertion_create(struct ski_collection *all, const skua_index *index, uint32_t moves,
                             const struct ski_insertion *order, size_t bytes)
{
    struct ski_object *object;

    if (all->kind == SKI_ARRAY)
        (void)ski_hold_begin(all, index, moves);
    if (order->account.pe == SKI_NO_ACCOUNT) {
        ski_element_create(all, index, moves, order + 1, bytes);
        return;
    }
    ski_assert(all->kind == SKI_ARRAY);
    object        = ski_element_add(all, index);
    object->moves = moves;
    ski_element_enter(object); /* it stays until it is constructed, whatever a reduction sets off */
    ski_notify_element_inserted(&all->self->objects->lifecycle, object, &order->account);
    ski_element_construct(object, order + 1, bytes);
    ski_element_leave(object);
}

void ski_on_insert(skua_msg *msg)
{
    struct ski_insertion  *order = skua_msg_data(msg);
    struct ski_collection *all;
    struct ski_absent     *absent;
    skua_index             index;
    bool                   home;

    if (!ski_element_msg(msg, sizeof *order, &all, &index))
        return;
    home = ski_home(all, &index) == all->self->pe;
    if (!home && !order->moves) { /* in flight, from a PE that did not know the array yet */
        insertion_check_open(all, &index, false); /* an order to close has arrived after it */
        ski_msg_forward(all->self, ski_home(all, &index), msg);
        return;
    }
    if (order->pe >= all->self->pes || (!home && order->pe != all->self->pe))
        ski_fatal("PE %d ordered PE %d to create %s on PE %d", msg->source, all->self->pe,
                  ski_element_text(all, &index), order->pe);
    absent = home ? ski_absent_find(all, &index) : NULL;
    if (!insertion_account_valid(all, &order->account)) {
        ski_net_drop(all->self, msg);
        return;
    }
    if (ski_element_here(all, &index) || (absent && absent->pe >= 0))
        insertion_twice(all, &index, order->account.pe >= 0 ? order->account.pe : msg->source);
    if (home && order->pe >= 0 && order->pe != all->self->pe) {
        ski_insertion_forward(all, &index, msg);
        return;
    }
    if (insertion_is_late(all, &index, order))
        insertion_refuse(all, &index, order);
    else
        insertion_create(all, &index, absent ? absent->moves + 1 : order->moves, order,
                         msg->bytes - sizeof *order);
    skua_msg_free(msg);
}

/* ---- calls -------------------------------------------------------------------------- */

void skua_array_insert(skua_ref element, int pe, const void *data, size_t bytes)
{
    struct ski_pe         *self = SKI_SELF();
    struct ski_collection *all  = ski_collection_get(self->objects, __func__, element.of.id);
    struct ski_account     account;

    if (pe != SKUA_ANY_PE && (unsigned)pe >= (unsigned)self->pes)
        ski_misuse("skua_array_insert: PE %d does not exist; this job has PEs 0 to %d", pe,
                   self->pes - 1);
    if (all->state == SKI_EXPECTED) { /* this PE's queue keeps it until the array is known here */
        account = insertion_open_account(all);
        ski_insertion_send(self, self->pe, &element, pe, &account, data, bytes);
        return;
    }
    ski_check_index(__func__, all, &element.index);
    insertion_check_open(all, &element.index, all->closing->ordered);
    account = insertion_open_account(all);
    ski_insertion_send(self, ski_home(all, &element.index), &element, pe, &account, data, bytes);
}

const struct ski_lifecycle ski_insertion_lifecycle = {
    .late = (const uint32_t[]){SKI_HANDLER_INSERT, 0}, /* right before the destruction */
};
