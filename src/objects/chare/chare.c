/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chare.c - single objects.
 *
 * They are elements of a collection of their class, which exists everywhere.  The index
 * of one is its home, where it is created unless it is a seed (seed.h); its creator; and
 * that PE's count of them.
 */
#include "base/memory.h"

#include "objects/location/location.h"
#include "objects/objects.h"
#include "objects/chare/seed.h"

/* Steele and Vigna's splitmix. */
int ski_random_pe(struct ski_objects *objects)
{
    uint64_t x = objects->random += SKI_GOLDEN;

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (int)((x >> 32) * (unsigned)objects->self->pes >> 32);
}

/* The name of a new object. */
static skua_ref name(struct ski_pe *self, const char *call, skua_class of, int home)
{
    uint64_t number = self->objects->chares++;
    skua_ref ref    = {.of = {ski_name(SKI_NO_PE, of.id)}, .index = {.bytes = 16}};

    if (!ski_class_find(of.id))
        ski_misuse("%s: its class was never registered", call);
    ref.index.at.x[0] = home;
    ref.index.at.x[1] = self->pe;
    memcpy(&ref.index.at.x[2], &number, sizeof number);
    return ref;
}

skua_ref skua_chare_create_here(skua_class of, const void *data, size_t bytes)
{
    struct ski_pe         *self = SKI_SELF();
    skua_ref               ref  = name(self, __func__, of, self->pe);
    struct ski_collection *all  = ski_collection_get(self->objects, __func__, ref.of.id);

    ski_object_create(all, &ref.index, 0, data, bytes);
    return ref;
}

skua_ref skua_chare_create(skua_class of, int pe, const void *data, size_t bytes)
{
    struct ski_pe *self = SKI_SELF();
    skua_ref       ref;

    if (pe != SKUA_ANY_PE && (unsigned)pe >= (unsigned)self->pes)
        ski_misuse("skua_chare_create: PE %d does not exist; this job has PEs 0 to %d", pe,
                   self->pes - 1);
    ref = name(self, __func__, of, pe == SKUA_ANY_PE ? self->pe : pe);
    if (pe == SKUA_ANY_PE)
        ski_seed_plant(self->objects, &ref, data, bytes);
    else
        ski_insert(self, pe, &ref, pe, NULL, data, bytes);
    return ref;
}
