/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_call.c - functions that the runtime calls when a message to an entry arrives.
 *
 * The data are validated.  Then they go to the user's function, Block_on_ghost(), if the entry has
 * no body; they start a frame if it has one; or they resume the frame that waits for the entry.  Of
 * data for a frame that waits, only the values are validated here: the frame validates its arrays
 * when it opens the message.
 */
#include "emit/emit_parts.h"

#include <assert.h>

#include "support/bump.h"
#include "syntax/ident.h"

/* Variables of the generated function: the data that arrived. */
#define DATA  "skua_data"
#define BYTES "skua_bytes"

static bool emit_call_has_open(const struct ast_entry *entry)
{
    enum emit_marshal_format format = emit_marshal_format_of(entry);

    return format == MARSHAL_FIXED || format == MARSHAL_VARIABLE || format == MARSHAL_RAW ||
           format == MARSHAL_INPLACE;
}

/* Returns whether a multicast runs the entry on its own data, without a copy: a frame keeps what it
 * needs after its next wait. */
static bool emit_call_shares(const struct ast_entry *entry)
{
    enum emit_marshal_format format = emit_marshal_format_of(entry);

    return entry->awaited && emit_takes_message(entry) && emit_count_nocopy(entry) == 0 &&
           !(entry->attributes & (ATTRIBUTE_THREADED | ATTRIBUTE_SYNC)) &&
           (format == MARSHAL_VARIABLE || format == MARSHAL_RAW);
}

static void emit_call_head(struct writer          *to, const struct ast_class *class,
                           const struct ast_entry *entry)
{
    writer_put(to, "static void %s_call(void *skua_object, ", emit_stem_of(class, entry));
    writer_put(to, emit_takes_message(entry) ? "skua_msg *skua_packed)\n{\n"
                                             : "const void *skua_data, size_t skua_bytes)\n{\n");
}

/* Emits the declaration of `skua_args`, the validated arguments or message.  @p message: the
 * arguments come in a message of the entry. */
static void emit_call_open(struct writer          *to, const struct ast_class *class,
                           const struct ast_entry *entry, bool message)
{
    const char *data  = message ? "skua_msg_data(skua_packed)" : DATA;
    const char *bytes = message ? "skua_msg_size(skua_packed)" : BYTES;

    if (emit_call_has_open(entry))
        emit_open_call(to, class, entry, "skua_args", data, bytes);
    else if (emit_marshal_format_of(entry) == MARSHAL_MESSAGE)
        emit_message_open(to, class, entry);
}

static void emit_call_args(struct writer          *to, const struct ast_class *class,
                           const struct ast_entry *entry)
{
    emit_call_open(to, class, entry, emit_takes_message(entry));
}

/* `, skua_args->iter, ...` */
static void emit_call_values(struct writer *to, const struct ast_entry *entry)
{
    if (emit_marshal_format_of(entry) == MARSHAL_MESSAGE)
        writer_put(to, ", skua_args");
    else
        emit_received_values(to, entry);
}

/* Emits a call of the user's function. */
static void emit_call_user(struct writer          *to, const struct ast_class *class,
                           const struct ast_entry *entry)
{
    bool value = entry->result.text.at != NULL;

    emit_call_args(to, class, entry);
    emit_packed_hold_all(to, class, entry);
    if (value) {
        writer_put(to, "    ");
        emit_result_type(to, entry);
        writer_put(to, "skua_result = ");
    } else {
        writer_put(to, "\n    ");
    }
    writer_put(to, "%.*s_on_%.*s((%.*s *)skua_object", NAME_ARGS(class), NAME_ARGS(entry),
               NAME_ARGS(class));
    emit_call_values(to, entry);
    writer_put(to, ");\n");
    if (emit_count_nocopy(entry) > 0)
        writer_put(to, "    skua_nocopy_free(skua_packed);\n");
    else if (emit_has_inplace(entry))
        writer_put(to, "    skua_msg_free(skua_packed);\n");
    if (value)
        writer_put(to, "\n    skua_reply(&skua_result, sizeof skua_result);\n");
    if (!entry->parameters)
        writer_put(to, "    (void)skua_data, (void)skua_bytes;\n");
}

/* Emits the start of a frame. */
static void emit_call_begin(struct writer          *to, const struct ast_class *class,
                            const struct ast_entry *entry)
{
    const char *arrival = "skuac_arrival_from(skua_data, skua_bytes)";

    if (emit_takes_message(entry)) {
        emit_call_args(to, class, entry);
        writer_put(to, "\n    (void)skua_args;\n");
        arrival = "skuac_arrival_of(skua_packed)";
    } else if (emit_call_has_open(entry)) {
        writer_put(to, "    (void)%s_open(skua_data, skua_bytes);\n", emit_stem_of(class, entry));
    } else {
        writer_put(to, "    (void)skua_data, (void)skua_bytes;\n");
        arrival = "skuac_arrival_none()";
    }
    writer_put(to, "    skuac_flow_begin(&%.*s__flow, skua_object, &%s_type, %s);\n",
               NAME_ARGS(class), emit_stem_of(class, entry), arrival);
}

/* Emits the reference number of the message.  A type that a header declares may be none that C
 * converts to an integer: the compiler reports that at the line of the first `when`. */
static void emit_call_reference(struct writer          *to, const struct ast_class *class,
                                const struct ast_entry *entry)
{
    const struct ast_when_entry *when    = emit_reference_to(class, entry);
    const struct ast_parameter  *first   = entry->parameters;
    bool                         message = emit_marshal_format_of(entry) == MARSHAL_MESSAGE;
    const char                  *member  = emit_member_operator(entry);
    const char                  *value;
    struct text                  type, name;

    if (!when) {
        writer_put(to, "0");
        return;
    }
    if (message || emit_marshal_format_of(entry) == MARSHAL_VARIABLE)
        member = "->";
    type  = message ? first->message->fields->type.text : first->type.text;
    name  = message ? first->message->fields->name.text : first->name.text;
    value = bump_printf("(int64_t)skua_args%s%.*s", member, TEXT_ARGS(name));
    if (ident_is_type_keyword(type)) {
        writer_put(to, "%s", value);
        return;
    }
    writer_put(to, "\n");
    writer_put_code(
        to, (struct source_code){text_of(bump_printf("(%s)", value)), when->reference.location});
    writer_put(to, "        ");
}

/* Emits the declaration of `skua_args`, the arguments by value alone: a frame that takes the
 * message validates the others when it opens the message. */
static void emit_call_values_only(struct writer          *to, const struct ast_class *class,
                                  const struct ast_entry *entry, bool message)
{
    const char *stem = emit_stem_of(class, entry);

    writer_put(to,
               "    const struct %s *skua_args = (const struct %s *)%s;\n\n"
               "    if (%s < sizeof *skua_args)\n"
               "        skuac_malformed(\"%s\", %s);\n",
               stem, stem, message ? "skua_msg_data(skua_packed)" : DATA,
               message ? "skua_msg_size(skua_packed)" : BYTES, emit_title_of(class, entry),
               message ? "skua_msg_size(skua_packed)" : BYTES);
}

/* Emits the delivery to a frame that waits. */
static void emit_call_arrive(struct writer          *to, const struct ast_class *class,
                             const struct ast_entry *entry, bool message)
{
    bool values =
        emit_marshal_format_of(entry) == MARSHAL_VARIABLE && emit_reference_to(class, entry);

    assert(entry->awaited && entry->number < class->awaited_entries);
    if (values)
        emit_call_values_only(to, class, entry, message);
    else
        emit_call_open(to, class, entry, message);
    writer_put(to, "\n    skuac_flow_arrive%s(&%.*s__flow, skua_object, %u, ",
               message ? "_msg" : "", NAME_ARGS(class), entry->number);
    emit_call_reference(to, class, entry);
    writer_put(to, message ? ", skua_packed);\n" : ", skua_data, skua_bytes);\n");
    if (entry->parameters)
        writer_put(to, "    (void)skua_args;\n");
}

/* Emits the delivery of data that the entry shares with other receivers. */
static void emit_call_shared(struct writer          *to, const struct ast_class *class,
                             const struct ast_entry *entry)
{
    writer_put(to,
               "static void %s_shared(void *skua_object, const void *skua_data, "
               "size_t skua_bytes)\n{\n",
               emit_stem_of(class, entry));
    emit_call_arrive(to, class, entry, false);
    writer_put(to, "}\n\n");
}

/* Emits the delivery of stream items to a member of a group. */
static void emit_call_member_items(struct writer          *to, const struct ast_class *class,
                                   const struct ast_entry *entry)
{
    const char *stem = emit_stem_of(class, entry);

    writer_put(
        to,
        "static void %s_items(void *skua_object, const void *skua_items, size_t skua_count)\n{\n",
        stem);
    if (emit_is_batch(entry)) {
        writer_put(to, "    %.*s_on_%.*s((%.*s *)skua_object, (", NAME_ARGS(class),
                   NAME_ARGS(entry), NAME_ARGS(class));
        emit_bare_type(to, entry->parameters->type, 0);
        writer_put(to, ")skua_count, (");
        emit_array_type(to, entry->parameters->next);
        writer_put(to, ")skua_items);\n}\n\n");
        return;
    }
    writer_put(to,
               "    const struct %s *skua_args = (const struct %s *)skua_items;\n\n"
               "    for (; skua_count > 0; skua_count--, skua_args++)\n"
               "        %.*s_on_%.*s((%.*s *)skua_object",
               stem, stem, NAME_ARGS(class), NAME_ARGS(entry), NAME_ARGS(class));
    emit_call_values(to, entry);
    writer_put(to, ");\n}\n\n");
}

/* Emits the delivery of stream items to array elements, which may be on another PE by now. */
static void emit_call_element_items(struct writer          *to, const struct ast_class *class,
                                    const struct ast_entry *entry)
{
    const char *stem = emit_stem_of(class, entry);

    writer_put(
        to,
        "static void %s_items(void *skua_none, const void *skua_items, size_t skua_count)\n{\n"
        "    const struct %s__item *skua_item = (const struct %s__item *)skua_items;\n\n"
        "    for (; skua_count > 0; skua_count--, skua_item++)\n"
        "        skua_invoke_now(skua_element(skua_item->of, skua_index_bytes(skua_item->at, "
        "sizeof skua_item->at)),\n"
        "                        %s_entry, %s);\n"
        "    (void)skua_none;\n}\n\n",
        stem, stem, stem, stem,
        entry->parameters ? "&skua_item->args, sizeof skua_item->args" : "NULL, 0");
}

/* Emits the function by which the runtime gets the memory of nocopypost arguments from the user. */
static void emit_call_post(struct writer          *to, const struct ast_class *class,
                           const struct ast_entry *entry)
{
    const char *stem  = emit_stem_of(class, entry);
    bool        value = false;
    unsigned    index = 0;

    writer_put(
        to, "static void %s_post(void *skua_object, skua_msg *skua_packed, void **skuac_land)\n{\n",
        stem);
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next) {
        value = value || p->passing == PASS_VALUE;
        if (!p->post)
            continue;
        writer_put(to, "    ");
        emit_type(to, p->type, p->stars);
        writer_put(to, "*%.*s = NULL;\n", NAME_ARGS(p));
    }
    if (value)
        writer_put(
            to,
            "    const struct %s *skua_args = (const struct %s *)skua_msg_data(skua_packed);\n\n"
            "    if (skua_nocopy_head_bytes(skua_packed) < sizeof *skua_args)\n"
            "        skuac_malformed(\"%s\", skua_msg_size(skua_packed));\n",
            stem, stem, emit_title_of(class, entry));
    writer_put(to, "    %.*s_post_%.*s((%.*s *)skua_object", NAME_ARGS(class), NAME_ARGS(entry),
               NAME_ARGS(class));
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next)
        if (p->passing == PASS_VALUE)
            writer_put(to, ", skua_args->%.*s", NAME_ARGS(p));
        else if (p->post)
            writer_put(to, ", &%.*s", NAME_ARGS(p));
    writer_put(to, ");\n");
    for (const struct ast_parameter *p = entry->parameters; p; p = p->next) {
        if (p->post)
            writer_put(to, "    skuac_land[%u] = %.*s;\n", index, NAME_ARGS(p));
        index += p->nocopy;
    }
    writer_put(to, "    (void)skua_packed;\n}\n\n");
}

/* Emits the test that all nocopy data are present; if not, the runtime delivers the message again
 * later. */
static void emit_call_wait_for_nocopy(struct writer          *to, const struct ast_class *class,
                                      const struct ast_entry *entry)
{
    const char *stem = emit_stem_of(class, entry);

    writer_put(to, "    if (!skua_nocopy_ready_entry(skua_packed, skua_object, %s_entry, ", stem);
    writer_put(to,
               emit_has_post(entry) ? "%s_post))\n        return;\n" : "NULL))\n        return;\n",
               stem);
}

void emit_dispatch(struct emit_files       to, const struct ast_class *class,
                   const struct ast_entry *entry)
{
    bool aggregate = entry->attributes & ATTRIBUTE_AGGREGATE;

    if (entry->kind != ENTRY_METHOD || entry->attributes & ATTRIBUTE_LOCAL)
        return;
    if (aggregate && class->kind != CLASS_ARRAY) {
        emit_call_member_items(to.source, class, entry);
        return;
    }
    if (emit_has_post(entry))
        emit_call_post(to.source, class, entry);
    if (emit_has_inplace(entry))
        emit_land_callback(to.source, class, entry);
    emit_call_head(to.source, class, entry);
    if (emit_count_nocopy(entry) > 0)
        emit_call_wait_for_nocopy(to.source, class, entry);
    if (entry->awaited)
        emit_call_arrive(to.source, class, entry, emit_takes_message(entry));
    else if (entry->body)
        emit_call_begin(to.source, class, entry);
    else
        emit_call_user(to.source, class, entry);
    writer_put(to.source, "}\n\n");
    if (emit_call_shares(entry))
        emit_call_shared(to.source, class, entry);
    if (aggregate)
        emit_call_element_items(to.source, class, entry);
}

/* ---- registration ------------------------------------------------------------------------- */

static void emit_call_flags(struct writer *to, const struct ast_entry *entry)
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
            writer_put(to, "%s%s", bar, all[i].flag);
            bar = " | ";
        }
    if (!*bar)
        writer_put(to, "0");
}

static void emit_call_stream_registration(struct writer          *to, const struct ast_class *class,
                                          const struct ast_entry *entry)
{
    const char *stem  = emit_stem_of(class, entry);
    bool        batch = emit_is_batch(entry);

    writer_put(to, "    {\n        skua_stream_def skua_def;\n\n"
                   "        memset(&skua_def, 0, sizeof skua_def);\n"
                   "        skua_def.size = sizeof skua_def;\n        skua_def.item_bytes = ");
    if (batch) {
        writer_put(to, "sizeof(");
        emit_bare_type(to, entry->parameters->next->type, entry->parameters->next->stars);
        writer_put(to, ")");
    } else {
        writer_put(to, "sizeof(struct %s%s)", stem, class->kind == CLASS_ARRAY ? "__item" : "");
    }
    writer_put(to, ";\n        skua_def.batch = %s_items;\n%s", stem,
               class->kind == CLASS_ARRAY ? "" : "        skua_def.held = true;\n");
    if (entry->aggregate.text.at) {
        writer_put(to, "        skua_def.buffer = (size_t)(\n");
        writer_put_code(to, entry->aggregate);
        writer_put(to, "        );\n");
    }
    writer_put(to, "        %s_stream = skua_stream_register(\"%s\", &skua_def);\n    }\n", stem,
               emit_title_of(class, entry));
}

void emit_entry_registration(struct writer          *to, const struct ast_class *class,
                             const struct ast_entry *entry)
{
    const char *stem = emit_stem_of(class, entry);

    if (entry->kind != ENTRY_METHOD || entry->attributes & ATTRIBUTE_LOCAL)
        return;
    if (entry->attributes & ATTRIBUTE_AGGREGATE) {
        emit_call_stream_registration(to, class, entry);
        if (class->kind != CLASS_ARRAY)
            return;
    }
    writer_put(to, "    %s_entry = %s_register(%.*s__class, \"%.*s\", %s_call, ", stem,
               emit_call_shares(entry)     ? "skuac_entry"
               : emit_has_inplace(entry)   ? "skua_inplace"
               : emit_takes_message(entry) ? "skua_entry"
                                           : "skua_method",
               NAME_ARGS(class), NAME_ARGS(entry), stem);
    if (emit_has_inplace(entry))
        writer_put(to, "%s_land, ", stem);
    else if (emit_call_shares(entry))
        writer_put(to, "%s_shared, ", stem);
    emit_call_flags(to, entry);
    writer_put(to, ");\n");
}
