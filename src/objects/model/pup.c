/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pup.c - see pup.h.
 *
 * The bytes that a class packs are counted against those it measured, and the bytes it unpacks
 * against those that came, so that a `pup` that forgets a length is found where it errs.
 */
#include "objects/model/pup.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "objects/model/collection.h"
#include "objects/model/object.h"

enum pup_mode { PUP_MEASURE, PUP_PACK, PUP_UNPACK };

struct skua_pup {
    enum pup_mode mode;
    char         *at; /* packing, unpacking: the next byte */
    size_t        left;
    size_t        bytes; /* measured */
    void         *self;  /* the object */
};

static void pup_take(skua_pup *p, size_t bytes)
{
    if (bytes > p->left)
        ski_misuse("pup of %s: %s goes beyond what was measured; are lengths pupped before "
                   "what they measure?",
                   ski_object_text(ski_object_of(p->self)),
                   p->mode == PUP_PACK ? "packing" : "unpacking");
    ski_assert(p->mode != PUP_MEASURE);
    p->left -= bytes;
}

void skua_pup_bytes(skua_pup *p, void *data, size_t bytes)
{
    if (p->mode == PUP_MEASURE) {
        p->bytes += bytes;
        return;
    }
    pup_take(p, bytes);
    if (bytes == 0)
        return;
    if (p->mode == PUP_PACK)
        memcpy(p->at, data, bytes);
    else
        memcpy(data, p->at, bytes);
    p->at += bytes;
}

void skua_pup_memory(skua_pup *p, void *pointer, size_t bytes)
{
    void *memory; /* copied to and from *pointer, which may be a pointer of any type */

    if (p->mode == PUP_UNPACK) {
        if (bytes > p->left)
            pup_take(p, bytes);
        memory = bytes ? ski_malloc(bytes) : NULL;
        memcpy(pointer, &memory, sizeof memory);
    }
    memcpy(&memory, pointer, sizeof memory);
    skua_pup_bytes(p, memory, bytes);
}

bool skua_pup_unpacking(const skua_pup *p)
{
    return p->mode == PUP_UNPACK;
}

void skua_pup_plain(skua_pup *p, void *self)
{
    if (self != p->self)
        ski_misuse(
            "skua_pup_plain: it packs all of an object, not parts of %s; skua_pup_value() is "
            "for those",
            ski_object_text(ski_object_of(p->self)));
    skua_pup_bytes(p, self, ski_object_of(self)->of->class->def.bytes);
}

size_t ski_pup_left(const skua_pup *p)
{
    return p->left;
}

/* A class without a function has no memory: see ski_class_moves(). */
static void pup_run(const struct ski_class *of, skua_pup *p, void *self)
{
    if (of->def.pup)
        of->def.pup(p, self);
}

size_t ski_pup_measure(const struct ski_class *of, void *self)
{
    skua_pup p = {.mode = PUP_MEASURE, .self = self};

    pup_run(of, &p, self);
    return p.bytes;
}

void ski_pup_pack(const struct ski_class *of, void *self, void *to, size_t bytes)
{
    skua_pup p = {.mode = PUP_PACK, .at = to, .left = bytes, .self = self};

    pup_run(of, &p, self);
    if (p.left > 0)
        ski_misuse("pup of %s packs less than it measured", ski_object_text(ski_object_of(self)));
}

void ski_pup_unpack(const struct ski_class *of, void *self, const void *from, size_t bytes)
{
    skua_pup p = {.mode = PUP_UNPACK, .at = (char *)from, .left = bytes, .self = self};

    pup_run(of, &p, self);
    if (p.left > 0)
        ski_misuse("pup of %s unpacks less than it packed", ski_object_text(ski_object_of(self)));
}
