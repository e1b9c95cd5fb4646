/* SPDX-License-Identifier: Apache-2.0 */
/* misbehave_elements.c - creation and end of elements: by a message, elsewhere, within a reduction.
 */
#include "misbehave.h"

#include <stdlib.h>

static skua_class box_class, bag_class, mayfly_class;
static skua_entry box_ask, box_put, bag_put, mayfly_here, mayfly_plain;

static void on_put(void *self, const void *data, size_t bytes)
{
    (void)self, (void)data, (void)bytes;
}

static void on_delete(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_object_destroy(self);
}

static void contribute_last(void *self)
{
    skua_contribute_nothing(self, skua_done_nothing());
}

/* Objects that contribute while they are destroyed, to a reduction that others have begun. */
enum sack_order { SACK_GIVE, SACK_DELETE, SACK_MOVE };

struct sack_order_msg {
    enum sack_order order;
    skua_section    section; /* 0: all elements */
};

static skua_class            sack_class;
static skua_entry            sack_put;
static struct sack_order_msg sack_last; /* on this process */

static void sack_result(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
}

static void sack_give(void *self)
{
    skua_completion done = skua_done_call(sack_result, NULL);
    double          one  = 1;

    if (sack_last.section.id)
        skua_section_contribute(sack_last.section, self,
                                skua_contribution_make(SKUA_SUM, SKUA_DOUBLE, &one, 1), done);
    else
        skua_contribute(self, SKUA_SUM, SKUA_DOUBLE, &one, 1, done);
}

/* Elements of PE 0 do not: the job is to end because of others. */
static void sack_destroy(void *self)
{
    if (skua_index_of(self).at.x[0] >= 5)
        sack_give(self);
}

static void sack_pup(skua_pup *p, void *self)
{
    skua_pup_bytes(p, self, 8);
}

static void on_sack_put(void *self, const void *data, size_t bytes)
{
    (void)bytes;
    sack_last = *(const struct sack_order_msg *)data;
    if (sack_last.order == SACK_GIVE)
        sack_give(self);
    else if (sack_last.order == SACK_DELETE)
        skua_object_destroy(self);
    else
        skua_migrate(self, 1 - skua_pe());
}

static void die_at_once(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_object_destroy(self);
}

static void register_classes(void)
{
    skua_class_def box    = {.name = "box", .bytes = 8};
    skua_class_def bag    = {.name = "bag", .bytes = 8, .destroy = contribute_last};
    skua_class_def mayfly = {.name = "mayfly", .bytes = 8, .construct = die_at_once};
    skua_class_def sack   = {.name = "sack", .bytes = 8, .destroy = sack_destroy, .pup = sack_pup};

    box_class = skua_class_register(&box);
    bag_class = skua_class_register(&bag);
    box_ask   = skua_method_register(box_class, "ask", on_put, SKUA_ENTRY_SYNC);
    box_put   = skua_method_register(box_class, "put", on_put, 0);
    bag_put   = skua_method_register(bag_class, "put", on_delete, 0);

    sack_class = skua_class_register(&sack);
    sack_put   = skua_method_register(sack_class, "put", on_sack_put, 0);

    mayfly_class = skua_class_register(&mayfly);
    mayfly_here  = skua_method_register(mayfly_class, "here", on_put, SKUA_ENTRY_CREATE_HERE);
    mayfly_plain = skua_method_register(mayfly_class, "plain", on_put, 0);
    if (getenv("CREATE_TWICE"))
        skua_method_register(mayfly_class, "both", on_put,
                             SKUA_ENTRY_CREATE_HERE | SKUA_ENTRY_CREATE_HOME);
}

/* An element of an empty array. */
static skua_ref mayfly(int i)
{
    return skua_element1(skua_array_create(mayfly_class, &(skua_array_def){.dims = 1}, NULL, 0), i);
}

static void create_mayfly(void)
{
    skua_invoke_copy(mayfly(7), mayfly_here, NULL, 0);
}

/* An entry that does not create the element. */
static void create_nothing(void)
{
    skua_invoke_copy(mayfly(7), mayfly_plain, NULL, 0);
}

static void done_too_long(void)
{
    static const char name[SKUA_INDEX_MAX + 1];
    skua_array_def    def = {.dims = 0};
    skua_collection   all = skua_array_create(box_class, &def, NULL, 0);

    skua_done_invoke(skua_element(all, skua_index_bytes(name, sizeof name)), box_put);
}

/* Creates it first on another PE, then on its home PE. */
static void insert_elsewhere(void)
{
    skua_array_def def = {.dims = 1, .flags = SKUA_ARRAY_OPEN};
    skua_ref       ref = skua_element1(skua_array_create(box_class, &def, NULL, 0), 5);

    skua_array_insert(ref, 1 - skua_home(ref), NULL, 0);
    skua_array_insert(ref, SKUA_ANY_PE, NULL, 0);
}

static void answer_to_nobody(void)
{
    skua_done_invoke(skua_element1(skua_array_create1(box_class, 10, NULL, 0), 1), box_ask);
}

static void contribute_at_end(void)
{
    skua_invoke_copy(skua_element1(skua_array_create1(bag_class, 10, NULL, 0), 7), bag_put, NULL,
                     0);
}

/* Elements 6 and 7 are on one PE. */
static void sack_end(skua_collection ten, skua_section section, enum sack_order order)
{
    struct sack_order_msg first = {SACK_GIVE, section}, last = {order, section};

    skua_invoke_copy(skua_element1(ten, 6), sack_put, &first, sizeof first);
    skua_invoke_copy(skua_element1(ten, 7), sack_put, &last, sizeof last);
}

static void contribute_deleted(void)
{
    sack_end(skua_array_create1(sack_class, 10, NULL, 0), (skua_section){0}, SACK_DELETE);
}

static void contribute_moving(void)
{
    sack_end(skua_array_create1(sack_class, 10, NULL, 0), (skua_section){0}, SACK_MOVE);
}

/* The collection ends while its elements 6 and 7 have contributed, and others have not. */
static void contribute_ending(void)
{
    skua_collection ten = skua_array_create1(sack_class, 10, NULL, 0);

    sack_end(ten, (skua_section){0}, SACK_GIVE);
    skua_collection_destroy(ten);
}

static void contribute_section(void)
{
    skua_collection ten   = skua_array_create1(sack_class, 10, NULL, 0);
    skua_range      range = {.dims = 1, .lower = {5}, .upper = {10}};

    sack_end(ten, skua_section_create_range(ten, &range, NULL), SACK_MOVE);
}

static const struct misbehave_act acts[] = {
    {"insert-elsewhere", insert_elsewhere, NULL},
    {"answer-to-nobody", answer_to_nobody, NULL},
    {"contribute-at-end", contribute_at_end, NULL},
    {"contribute-deleted", contribute_deleted, NULL},
    {"contribute-moving", contribute_moving, NULL},
    {"contribute-ending", contribute_ending, NULL},
    {"contribute-section", contribute_section, NULL},
    {"create-mayfly", create_mayfly, NULL},
    {"create-nothing", create_nothing, NULL},
    {"done-too-long", done_too_long, NULL},
};

const struct misbehave_subject misbehave_elements = {acts, sizeof acts / sizeof *acts,
                                                     register_classes};
