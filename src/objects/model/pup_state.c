/* SPDX-License-Identifier: Apache-2.0 */
/* pup_state.c - see pup_state.h. */
#include "objects/model/pup_state.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "objects/model/collection.h"
#include "objects/model/object.h"

void ski_pup_reserve(skua_pup *p, size_t bytes)
{
    size_t    used = ski_pup_used(p), want = used + bytes;
    skua_msg *larger;

    if (bytes <= ski_pup_room(p))
        return;
    larger = skua_msg_alloc(want > 2 * used ? want : 2 * used);
    memcpy(skua_msg_data(larger), skua_msg_data(p->msg), used);
    skua_msg_free(p->msg);
    p->msg = larger;
    p->at  = (char *)skua_msg_data(larger) + used;
}

struct ski_pup_field ski_pup_field_of(enum ski_pup_kind kind, const char *name, size_t bytes)
{
    struct ski_pup_field field = {kind, bytes, name, 0};

    while (field.name && *field.name && strchr("&( ", *field.name))
        field.name++;
    field.name_bytes = field.name ? strlen(field.name) : 0;
    while (field.name_bytes > 0 && strchr(") ", field.name[field.name_bytes - 1]))
        field.name_bytes--;
    if (field.name_bytes > UINT16_MAX)
        field.name_bytes = UINT16_MAX;
    return field;
}

const char *ski_pup_field_text(const skua_pup *p, const struct ski_pup_field *field,
                               char text[SKI_PUP_TEXT])
{
    size_t at = 0;

    text[at++] = '`';
    for (unsigned i = 0; p->log && i < p->log->depth && i < SKI_PUP_DEPTH && at < SKI_PUP_TEXT / 2;
         i++) {
        struct ski_pup_field part = ski_pup_field_of(SKI_PUP_BEGIN, p->log->part[i], 0);

        at += (size_t)snprintf(text + at, SKI_PUP_TEXT - at,
                               "%.*s: ", (int)(part.name_bytes < 40 ? part.name_bytes : 40),
                               part.name_bytes ? part.name : "");
    }
    snprintf(text + at, SKI_PUP_TEXT - at, "%.*s' (%s%zu byte%s)",
             (int)(field->name_bytes < 60 ? field->name_bytes : 60),
             field->name_bytes ? field->name : "",
             field->kind == SKI_PUP_BEGIN || field->kind == SKI_PUP_END ? "a part, "
             : field->kind == SKI_PUP_LENGTH                            ? "its length, "
                                                                        : "",
             field->bytes, field->bytes == 1 ? "" : "s");
    return text;
}

const char *ski_pup_object_text(const skua_pup *p)
{
    static _Thread_local void *slot;
    const size_t               size = 160;
    char                      *text;

    if (p->entry) {
        text = ski_thread_memory(&slot, size);
        snprintf(text, size, "argument `%s' of %s", p->parameter, p->entry);
        return text;
    }
    return ski_object_text(ski_object_of(p->self));
}

void ski_pup_beyond(const skua_pup *p, const struct ski_pup_field *field)
{
    char text[SKI_PUP_TEXT];

    ski_misuse("pup of %s: %s goes beyond what was %s, at %s; does it process the same fields, and "
               "lengths before what they measure?",
               ski_pup_object_text(p), p->mode == SKI_PUP_UNPACK ? "unpacking" : "packing",
               p->mode == SKI_PUP_UNPACK ? "packed" : "possible",
               ski_pup_field_text(p, field, text));
}
