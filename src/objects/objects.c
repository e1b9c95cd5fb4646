/* SPDX-License-Identifier: Apache-2.0 */
/* objects.c - see objects.h. */
#include "objects/objects.h"

#include "base/memory.h"
#include "objects/collection.h"
#include "objects/invoke.h"

void ski_objects_begin(struct ski_pe *self)
{
    self->objects         = ski_calloc(1, sizeof *self->objects);
    self->objects->random = (uint64_t)self->pe << 32;
    ski_collections_begin(self->objects, self);
    ski_entries_init();
    self->objects->entries = ski_entries;
    self->objects->stamp   = ski_small_stamp(self->pe);
}

void ski_objects_end(struct ski_pe *self)
{
    ski_collections_end(self->objects);
    free(self->objects);
    self->objects = NULL;
}
