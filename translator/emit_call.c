/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_call.c - what the runtime calls when a message to an entry has come.
 *
 * What arrived is checked and then given to the user's function, Block_on_ghost(); or begins a
 * strand, if the entry has a body; or goes to the strand that waits for it, if it is a trigger.
 */
#include "emit_parts.h"

#include "arena.h"

/* Of what has arrived: data and bytes. */
#define DATA  "skua_data"
#define BYTES "skua_bytes"

static bool has_open(const struct entry *entry)
{
    enum wire wire = wire_of(entry);

    return wire == WIRE_FIXED || wire == WIRE_VARIABLE || wire == WIRE_RAW || wire == WIRE_LANDING;
}

static void put_head(struct writer *to, const struct class *class, const struct entry *entry)
{
    put(to, "static void %s_call(void *skua_object, ", stem_of(class, entry));
    put(to, takes_message(entry) ? "skua_msg *skua_packed)\n{\n"
                                 : "const void *skua_data, size_t skua_bytes)\n{\n");
}

/* Declares `skua_args`, the arguments that arrived, or the message, checked. */
static void put_args(struct writer *to, const struct class *class, const struct entry *entry)
{
    bool        message = takes_message(entry);
    const char *data    = message ? "skua_msg_data(skua_packed)" : DATA;
    const char *bytes   = message ? "skua_msg_size(skua_packed)" : BYTES;

    if (has_open(entry))
        put_open(to, class, entry, "skua_args", data, bytes);
    else if (wire_of(entry) == WIRE_MESSAGE)
        put_message_open(to, class, entry);
}

/* `, skua_args->iter, ...` */
static void put_values(struct writer *to, const struct entry *entry)
{
    if (wire_of(entry) == WIRE_MESSAGE)
        put(to, ", skua_args");
    else
        for (const struct parameter *p = entry->parameters; p; p = p->next)
            put(to, ", skua_args%s%.*s", reach_of(entry), NAME(p));
}

/* The user's function. */
static void put_user_call(struct writer *to, const struct class *class, const struct entry *entry)
{
    bool value = entry->result.text.at != NULL;

    put_args(to, class, entry);
    if (value) {
        put(to, "    ");
        put_result(to, entry);
        put(to, "skua_result = ");
    } else {
        put(to, "\n    ");
    }
    put(to, "%.*s_on_%.*s((%.*s *)skua_object", NAME(class), NAME(entry), NAME(class));
    put_values(to, entry);
    put(to, ");\n");
    if (count_parts(entry) > 0)
        put(to, "    skua_parts_free(skua_packed);\n");
    else if (has_landing(entry))
        put(to, "    skua_msg_free(skua_packed);\n");
    if (value)
        put(to, "\n    skua_reply(&skua_result, sizeof skua_result);\n");
    if (!entry->parameters)
        put(to, "    (void)skua_data, (void)skua_bytes;\n");
}

/* A strand begins. */
static void put_begin(struct writer *to, const struct class *class, const struct entry *entry)
{
    const char *arrival = "skua_arrival_from(skua_data, skua_bytes)";

    if (takes_message(entry)) {
        put_args(to, class, entry);
        put(to, "\n    (void)skua_args;\n");
        arrival = "skua_arrival_of(skua_packed)";
    } else if (has_open(entry)) {
        put(to, "    (void)%s_open(skua_data, skua_bytes);\n", stem_of(class, entry));
    } else {
        put(to, "    (void)skua_data, (void)skua_bytes;\n");
        arrival = "skua_arrival_none()";
    }
    put(to, "    skua_flow_begin(&%.*s__flow, skua_object, &%s_strand, %s);\n", NAME(class),
        stem_of(class, entry), arrival);
}

/* The reference number of what arrived. */
static void put_reference(struct writer *to, const struct class *class, const struct entry *entry)
{
    if (!is_referenced(class, entry))
        put(to, "0");
    else if (wire_of(entry) == WIRE_MESSAGE)
        put(to, "(int64_t)skua_args->%.*s", NAME(entry->parameters->message->fields));
    else
        put(to, "(int64_t)skua_args%s%.*s", reach_of(entry), NAME(entry->parameters));
}

/* A strand goes on. */
static void put_arrive(struct writer *to, const struct class *class, const struct entry *entry)
{
    bool message = takes_message(entry);

    put_args(to, class, entry);
    put(to, "\n    skua_flow_arrive%s(&%.*s__flow, skua_object, %u, ", message ? "_msg" : "",
        NAME(class), entry->number);
    put_reference(to, class, entry);
    put(to, message ? ", skua_packed);\n" : ", skua_data, skua_bytes);\n");
    if (entry->parameters)
        put(to, "    (void)skua_args;\n");
}

/* Items of a stream, for a member of a group. */
static void put_member_items(struct writer      *to, const struct class *class,
                             const struct entry *entry)
{
    const char *stem = stem_of(class, entry);

    put(to,
        "static void %s_items(void *skua_object, const void *skua_items, size_t skua_count)\n{\n",
        stem);
    if (is_batch(entry)) {
        put(to, "    %.*s_on_%.*s((%.*s *)skua_object, (", NAME(class), NAME(entry), NAME(class));
        put_bare_type(to, entry->parameters->type, 0);
        put(to, ")skua_count, (");
        put_array_type(to, entry->parameters->next);
        put(to, ")skua_items);\n}\n\n");
        return;
    }
    put(to,
        "    const struct %s *skua_args = (const struct %s *)skua_items;\n\n"
        "    for (; skua_count > 0; skua_count--, skua_args++)\n"
        "        %.*s_on_%.*s((%.*s *)skua_object",
        stem, stem, NAME(class), NAME(entry), NAME(class));
    put_values(to, entry);
    put(to, ");\n}\n\n");
}

/* ... for elements of an array: to each at once, as far as they are here. */
static void put_element_items(struct writer      *to, const struct class *class,
                              const struct entry *entry)
{
    const char *stem = stem_of(class, entry);

    put(to,
        "static void %s_items(void *skua_none, const void *skua_items, size_t skua_count)\n{\n"
        "    const struct %s_item *skua_item = (const struct %s_item *)skua_items;\n\n"
        "    for (; skua_count > 0; skua_count--, skua_item++)\n"
        "        skua_invoke_now(skua_element(skua_item->of, skua_index_bytes(skua_item->at, "
        "sizeof skua_item->at)),\n"
        "                        %s_entry, %s);\n"
        "    (void)skua_none;\n}\n\n",
        stem, stem, stem, stem,
        entry->parameters ? "&skua_item->args, sizeof skua_item->args" : "NULL, 0");
}

/* The runtime asks where arguments shall land: the user's function is asked. */
static void put_post(struct writer *to, const struct class *class, const struct entry *entry)
{
    const char *stem  = stem_of(class, entry);
    bool        value = false;
    unsigned    part  = 0;

    put(to, "static void %s_post(void *skua_object, skua_msg *skua_packed, void **skua_land)\n{\n",
        stem);
    for (const struct parameter *p = entry->parameters; p; p = p->next) {
        value = value || p->passing == PASS_VALUE;
        if (!p->post)
            continue;
        put(to, "    ");
        put_type(to, p->type, p->stars);
        put(to, "*%.*s = NULL;\n", NAME(p));
    }
    if (value)
        put(to,
            "    const struct %s *skua_args = (const struct %s *)skua_msg_data(skua_packed);\n\n"
            "    if (skua_parts_head_bytes(skua_packed) < sizeof *skua_args)\n"
            "        skua_malformed(\"%s\", skua_msg_size(skua_packed));\n",
            stem, stem, title_of(class, entry));
    put(to, "    %.*s_post_%.*s((%.*s *)skua_object", NAME(class), NAME(entry), NAME(class));
    for (const struct parameter *p = entry->parameters; p; p = p->next)
        if (p->passing == PASS_VALUE)
            put(to, ", skua_args->%.*s", NAME(p));
        else if (p->post)
            put(to, ", &%.*s", NAME(p));
    put(to, ");\n");
    for (const struct parameter *p = entry->parameters; p; p = p->next) {
        if (p->post)
            put(to, "    skua_land[%u] = %.*s;\n", part, NAME(p));
        part += p->nocopy;
    }
    put(to, "    (void)skua_packed;\n}\n\n");
}

/* What is not copied must be there; if it is not, the message comes again. */
static void put_wait_for_parts(struct writer      *to, const struct class *class,
                               const struct entry *entry)
{
    const char *stem = stem_of(class, entry);

    put(to, "    if (!skua_parts_here(skua_packed, skua_object, %s_entry, ", stem);
    put(to, has_post(entry) ? "%s_post))\n        return;\n" : "NULL))\n        return;\n", stem);
}

void emit_call(struct files to, const struct class *class, const struct entry *entry)
{
    bool aggregate = entry->attributes & ATTRIBUTE_AGGREGATE;

    if (entry->kind != ENTRY_METHOD || entry->attributes & ATTRIBUTE_LOCAL)
        return;
    if (aggregate && class->kind != CLASS_ARRAY) {
        put_member_items(to.source, class, entry);
        return;
    }
    if (has_post(entry))
        put_post(to.source, class, entry);
    if (has_landing(entry))
        put_land(to.source, class, entry);
    put_head(to.source, class, entry);
    if (count_parts(entry) > 0)
        put_wait_for_parts(to.source, class, entry);
    if (entry->trigger)
        put_arrive(to.source, class, entry);
    else if (entry->body)
        put_begin(to.source, class, entry);
    else
        put_user_call(to.source, class, entry);
    put(to.source, "}\n\n");
    if (aggregate)
        put_element_items(to.source, class, entry);
}

/* ---- registration ------------------------------------------------------------------------- */

static void put_flags(struct writer *to, const struct entry *entry)
{
    static const struct {
        unsigned    attribute;
        const char *flag;
    } all[] = {
        {ATTRIBUTE_THREADED, "SKUA_ENTRY_THREADED"},
        {ATTRIBUTE_SYNC, "SKUA_ENTRY_SYNC"},
        {ATTRIBUTE_EXPEDITED, "SKUA_ENTRY_EXPEDITED"},
        {ATTRIBUTE_IMMEDIATE, "SKUA_ENTRY_IMMEDIATE"},
        {ATTRIBUTE_INLINE, "SKUA_ENTRY_INLINE"},
        {ATTRIBUTE_CREATEHERE, "SKUA_ENTRY_CREATE_HERE"},
        {ATTRIBUTE_CREATEHOME, "SKUA_ENTRY_CREATE_HOME"},
    };
    const char *bar = "";

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (entry->attributes & all[i].attribute) {
            put(to, "%s%s", bar, all[i].flag);
            bar = " | ";
        }
    if (!*bar)
        put(to, "0");
}

static void put_stream_registration(struct writer      *to, const struct class *class,
                                    const struct entry *entry)
{
    const char *stem  = stem_of(class, entry);
    bool        batch = is_batch(entry);

    put(to, "    {\n        skua_stream_def skua_def;\n\n"
            "        memset(&skua_def, 0, sizeof skua_def);\n        skua_def.item_bytes = ");
    if (batch) {
        put(to, "sizeof(");
        put_bare_type(to, entry->parameters->next->type, entry->parameters->next->stars);
        put(to, ")");
    } else {
        put(to, "sizeof(struct %s%s)", stem, class->kind == CLASS_ARRAY ? "_item" : "");
    }
    put(to, ";\n        skua_def.batch = %s_items;\n%s", stem,
        class->kind == CLASS_ARRAY ? "" : "        skua_def.held = true;\n");
    if (entry->aggregate.text.at) {
        put(to, "        skua_def.buffer = (size_t)(\n");
        put_code(to, entry->aggregate);
        put(to, "        );\n");
    }
    put(to, "        %s_stream = skua_stream_register(\"%s\", &skua_def);\n    }\n", stem,
        title_of(class, entry));
}

void put_entry_registration(struct writer *to, const struct class *class, const struct entry *entry)
{
    const char *stem = stem_of(class, entry);

    if (entry->kind != ENTRY_METHOD || entry->attributes & ATTRIBUTE_LOCAL)
        return;
    if (entry->attributes & ATTRIBUTE_AGGREGATE) {
        put_stream_registration(to, class, entry);
        if (class->kind != CLASS_ARRAY)
            return;
    }
    put(to, "    %s_entry = skua_%s_register(%.*s__class, \"%.*s\", %s_call, ", stem,
        has_landing(entry)     ? "landing"
        : takes_message(entry) ? "entry"
                               : "method",
        NAME(class), NAME(entry), stem);
    if (has_landing(entry))
        put(to, "%s_land, ", stem);
    put_flags(to, entry);
    put(to, ");\n");
}
