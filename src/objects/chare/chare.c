/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chare.c - single objects.
 *
 * Single objects are the elements of a collection of their class, which exists on every PE.  The
 * index of one is: its home, where it is created unless it is a seed (seed.h); the PE that creates
 * it; and that PE's count of single objects, in two words.
 */
#include "base/memory.h"

#include "objects/chare/seed.h"
#include "objects/location/insertion.h"
#include "objects/model/element.h"

/* Returns the reference of a new object. */
static skua_ref chare_new_ref(struct ski_pe *self, const char *call, skua_class of, int home)
{
    uint64_t number = self->objects->chares_created++;
    skua_ref ref    = {.of = {ski_id_make(SKI_NO_PE, of.id)}, .index = {.bytes = 16}};

    if (!ski_class_find(of.id))
        ski_misuse("%s: its class was never registered; call skua_class_register() before "
                   "skua_main()",
                   call);
    ref.index.at.x[0] = home;
    ref.index.at.x[1] = self->pe;
    memcpy(&ref.index.at.x[2], &number, sizeof number);
    return ref;
}

skua_ref skua_chare_create_local(skua_class of, const void *data, size_t bytes)
{
    struct ski_pe         *self = SKI_SELF();
    skua_ref               ref  = chare_new_ref(self, __func__, of, self->pe);
    struct ski_collection *all  = ski_collection_get(self->objects, __func__, ref.of.id);

    ski_element_create(all, &ref.index, 0, data, bytes);
    return ref;
}

skua_ref skua_chare_create(skua_class of, int pe, const void *data, size_t bytes)
{
    struct ski_pe *self = SKI_SELF();
    skua_ref       ref;

    if (pe != SKUA_ANY_PE && (unsigned)pe >= (unsigned)self->pes)
        ski_misuse("skua_chare_create: PE %d does not exist; this job has PEs 0 to %d", pe,
                   self->pes - 1);
    ref = chare_new_ref(self, __func__, of, pe == SKUA_ANY_PE ? self->pe : pe);
    if (pe == SKUA_ANY_PE)
        ski_seed_submit(self->objects, &ref, data, bytes);
    else
        ski_insertion_send(self, pe, &ref, pe, NULL, data, bytes);
    return ref;
}
