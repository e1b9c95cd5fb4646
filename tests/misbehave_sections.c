/* SPDX-License-Identifier: Apache-2.0 */
/* misbehave_sections.c - wrong calls of sections and of channels between objects. */
#include "misbehave.h"

static skua_class cell_class;
static skua_entry give_entry;

/* The data of a multicast. */
struct giving {
    skua_section section;
    int          unequal; /* the element of index 3 contributes two numbers */
};

static void on_give(void *self, const void *data, size_t bytes)
{
    const struct giving *giving = data;
    int32_t              two[2] = {1, 2};
    bool                 more   = giving->unequal && skua_index_of(self).at.x[0] == 3;

    (void)bytes;
    skua_section_contribute(giving->section, self,
                            skua_contribution_make(SKUA_SUM, SKUA_INT32, two, more ? 2 : 1),
                            skua_done_nothing());
}

/* Elements 2 to 5 of ten. */
static struct giving four_of_ten(skua_collection *ten)
{
    skua_range range = {.dims = 1, .lower = {2}, .upper = {6}};

    *ten = skua_array_create1(cell_class, 10, NULL, 0);
    return (struct giving){skua_section_create_range(*ten, &range, NULL), 0};
}

static void section_twice(void)
{
    skua_collection ten     = skua_array_create1(cell_class, 10, NULL, 0);
    skua_index      index[] = {skua_index1(3), skua_index1(8), skua_index1(3)};

    skua_section_create(ten, index, 3);
}

static void section_dims(void)
{
    skua_collection ten   = skua_array_create1(cell_class, 10, NULL, 0);
    skua_index      index = skua_index2(3, 4);

    skua_section_create(ten, &index, 1);
}

static void section_beyond(void)
{
    skua_collection ten   = skua_array_create1(cell_class, 10, NULL, 0);
    skua_index      index = skua_index1(99);

    skua_section_create(ten, &index, 1);
}

static void section_stranger(void)
{
    skua_collection ten;
    struct giving   giving = four_of_ten(&ten);

    skua_invoke_copy(skua_element1(ten, 0), give_entry, &giving, sizeof giving);
}

static void section_unequal(void)
{
    skua_collection ten;
    struct giving   giving = four_of_ten(&ten);

    giving.unequal = 1;
    skua_section_invoke(giving.section, give_entry, &giving, sizeof giving);
}

static void section_deleted(void)
{
    skua_collection ten;
    struct giving   giving = four_of_ten(&ten);

    skua_section_destroy(giving.section);
    skua_section_invoke(giving.section, give_entry, &giving, sizeof giving);
}

static void section_rebuilt_late(void)
{
    skua_collection ten;
    struct giving   giving = four_of_ten(&ten);

    skua_section_destroy(giving.section);
    skua_section_rebuild(giving.section);
}

static void object_channel_none(void)
{
    skua_ref cell = skua_chare_create_local(cell_class, NULL, 0);

    skua_object_channel_put(skua_object_local(cell), (skua_object_channel){7});
}

static void object_channel_no_kind(void)
{
    skua_ref cell = skua_chare_create_local(cell_class, NULL, 0);

    skua_object_channel_create(skua_object_local(cell), (skua_channel_end){9}, 0);
}

static void section_given_late(void)
{
    skua_collection ten;
    struct giving   giving = four_of_ten(&ten);

    skua_section_destroy(giving.section);
    skua_poll(100);
    skua_invoke_copy(skua_element1(ten, 5), give_entry, &giving, sizeof giving);
}

static void section_unknown(void)
{
    skua_section_destroy((skua_section){(uint64_t)skua_pe() << 32 | 7});
}

static void register_cell(void)
{
    skua_class_def def = {.name = "cell", .bytes = 8};

    cell_class = skua_class_register(&def);
    give_entry = skua_method_register(cell_class, "give", on_give, 0);
}

static const struct misbehave_act acts[] = {
    {"section-twice", section_twice, NULL},
    {"section-dims", section_dims, NULL},
    {"section-beyond", section_beyond, NULL},
    {"section-stranger", section_stranger, NULL},
    {"section-unequal", section_unequal, NULL},
    {"section-deleted", section_deleted, NULL},
    {"section-rebuilt-late", section_rebuilt_late, NULL},
    {"section-given-late", section_given_late, NULL},
    {"object-channel-none", object_channel_none, NULL},
    {"object-channel-no-kind", object_channel_no_kind, NULL},
    {"section-unknown", section_unknown, NULL},
};

const struct misbehave_subject misbehave_sections = {acts, sizeof acts / sizeof *acts,
                                                     register_cell};
