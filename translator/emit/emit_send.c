/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_send.c - functions that users call to reach an entry: Block_ghost() and its variants.
 *
 * All variants marshal the arguments into data or a message and pass these to a function of the
 * runtime; struct emit_send describes which.
 */
#include "emit/emit_parts.h"

#include "support/bump.h"

/* ---- sending ------------------------------------------------------------------------------ */

/* The parts of a send function. */
struct emit_send {
    const char *suffix;  /* appended to Block_ghost */
    const char *target;  /* the first parameters */
    const char *before;  /* the call, up to the data */
    const char *after;   /* the call, after the size */
    const char *message; /* the call that takes a message, or NULL */
    const char *extra;   /* parameters after those of the entry */
    const char *where;   /* the destination PE, for nocopy arguments */
};

const char *emit_entry_id(const struct ast_class *class, const struct ast_entry *entry)
{
    if (class->kind == CLASS_INTERFACE)
        return bump_printf("%.*s__table_of(skua_to)->%.*s", NAME_ARGS(class), NAME_ARGS(entry));
    return bump_printf("%s_entry", emit_stem_of(class, entry));
}

/* Emits the marshalling and the call. */
static void emit_send_body(struct writer          *to, const struct ast_class *class,
                           const struct ast_entry *entry, const struct emit_send *send)
{
    const char              *name   = emit_stem_of(class, entry);
    enum emit_marshal_format format = emit_marshal_format_of(entry);

    if (format == MARSHAL_NONE) {
        writer_put(to, "    %sNULL, 0%s;\n", send->before, send->after);
    } else if (format == MARSHAL_FIXED) {
        writer_put(to, "    const struct %s skua_args = ", name);
        emit_initializer(to, entry);
        writer_put(to, ";\n\n    %s&skua_args, sizeof skua_args%s;\n", send->before, send->after);
    } else {
        writer_put(to, "    skua_msg *skua_packed = ");
        if (format == MARSHAL_MESSAGE) {
            writer_put(to, "%.*s__message(%.*s)", NAME_ARGS(entry->parameters->message),
                       NAME_ARGS(entry->parameters));
        } else {
            bool parts = emit_count_nocopy(entry) > 0;

            writer_put(to, "%s_pack(%s", name, parts ? send->where : "");
            emit_send_arguments(to, entry, !parts);
            writer_put(to, ")");
        }
        if (send->message)
            writer_put(to, ";\n\n    %s;\n", send->message);
        else
            writer_put(to,
                       ";\n\n    %sskua_msg_data(skua_packed), skua_msg_size(skua_packed)%s;\n"
                       "    skua_msg_free(skua_packed);\n",
                       send->before, send->after);
    }
}

static void emit_send_head(struct writer *to, const char *result, const struct ast_class *class,
                           const struct ast_entry *entry, const struct emit_send *send)
{
    writer_put(to, "%s%.*s_%.*s%s(%s", result, NAME_ARGS(class), NAME_ARGS(entry), send->suffix,
               send->target);
    emit_send_parameters(to, entry, false);
    writer_put(to, "%s)", send->extra);
}

static void emit_send_function(struct emit_files       to, const struct ast_class *class,
                               const struct ast_entry *entry, const struct emit_send *send)
{
    emit_send_head(to.header, "void ", class, entry, send);
    writer_put(to.header, ";\n");
    emit_send_head(to.source, "void ", class, entry, send);
    writer_put(to.source, "\n{\n");
    emit_send_body(to.source, class, entry, send);
    writer_put(to.source, "}\n\n");
}

/* Emits the plain send of arguments of fixed size: inline, in the header. */
static void emit_send_inline(struct emit_files       to, const struct ast_class *class,
                             const struct ast_entry *entry, const struct emit_send *send)
{
    emit_send_head(to.header, "static inline void ", class, entry, send);
    writer_put(to.header, "\n{\n");
    emit_send_body(to.header, class, entry, send);
    writer_put(to.header, "}\n\n");
}

/* Emits the plain send of arguments with arrays: small ones are marshalled on the stack and
 * copied. */
static void emit_send_small(struct emit_files       to, const struct ast_class *class,
                            const struct ast_entry *entry, const struct emit_send *send)
{
    const char    *name   = emit_stem_of(class, entry);
    struct writer *source = to.source;

    emit_send_head(to.header, "void ", class, entry, send);
    writer_put(to.header, ";\n");
    emit_send_head(source, "void ", class, entry, send);
    writer_put(source, "\n{\n    size_t skua_at[%u], skua_bytes = %s_bytes(skua_at",
               emit_count_variable(entry), name);
    emit_arguments(source, entry, false);
    writer_put(source,
               ");\n\n"
               "    if (skua_bytes <= SKUAC_SMALL_ARGUMENTS) {\n"
               "        SKUA_ALIGNAS(16) char skua_small[SKUAC_SMALL_ARGUMENTS];\n\n"
               "        %s_fill(skua_small, skua_at",
               name);
    emit_arguments(source, entry, false);
    writer_put(source, ");\n        %sskua_small, skua_bytes%s;\n    } else {\n", send->before,
               send->after);
    writer_put(source,
               "        skua_msg *skua_packed = skua_msg_alloc(skua_bytes);\n\n        %s_fill("
               "(char *)skua_msg_data(skua_packed), skua_at",
               name);
    emit_arguments(source, entry, false);
    writer_put(source, ");\n        %s;\n    }\n}\n\n", send->message);
}

static void emit_send_plain(struct emit_files       to, const struct ast_class *class,
                            const struct ast_entry *entry)
{
    enum emit_marshal_format format = emit_marshal_format_of(entry);
    const char              *id     = emit_entry_id(class, entry);
    struct emit_send         send   = {
                  .suffix  = "",
                  .target  = bump_printf("%s skua_to", emit_element_type(class)),
                  .before  = bump_printf("skua_invoke_copy_to(&skua_to.ref, %s, ", id),
                  .after   = ")",
                  .message = bump_printf("skua_invoke(skua_to.ref, %s, skua_packed)", id),
                  .extra   = "",
                  .where   = "skua_location(skua_to.ref)",
    };

    if (format == MARSHAL_NONE || format == MARSHAL_FIXED)
        emit_send_inline(to, class, entry, &send);
    else if (format == MARSHAL_MESSAGE || emit_takes_message(entry))
        emit_send_function(to, class, entry, &send);
    else
        emit_send_small(to, class, entry, &send);
}

static void emit_send_priority(struct emit_files       to, const struct ast_class *class,
                               const struct ast_entry *entry)
{
    const char      *id   = emit_entry_id(class, entry);
    struct emit_send send = {
        .suffix  = "_prio",
        .target  = bump_printf("%s skua_to, int32_t skua_priority", emit_element_type(class)),
        .before  = bump_printf("skua_invoke_copy_prio(skua_to.ref, %s, ", id),
        .after   = ", skua_priority)",
        .message = bump_printf("skua_msg_set_priority(skua_packed, skua_priority);\n"
                               "    skua_invoke(skua_to.ref, %s, skua_packed)",
                               id),
        .extra   = "",
        .where   = "skua_location(skua_to.ref)",
    };

    emit_send_function(to, class, entry, &send);
}

static void emit_send_many(struct emit_files       to, const struct ast_class *class,
                           const struct ast_entry *entry)
{
    const char      *id    = emit_entry_id(class, entry);
    bool             parts = emit_count_nocopy(entry) > 0;
    struct emit_send all   = {
          .suffix = "_all",
          .target = bump_printf("%.*s_proxy skua_to", NAME_ARGS(class)),
          .before = bump_printf("skua_invoke_all(skua_to.all, %s, ", id),
          .after  = ")",
          .extra  = "",
          .where  = "SKUA_ALL_PES",
    };
    struct emit_send section = {
        .suffix = "_section",
        .target = bump_printf("%.*s_section skua_to", NAME_ARGS(class)),
        .before = bump_printf("skua_section_invoke(skua_to.section, %s, ", id),
        .after  = ")",
        .extra  = "",
        .where  = "SKUA_ALL_PES",
    };

    if (parts) {
        all.message = bump_printf("skua_nocopy_invoke_all(skua_to.all, %s, skua_packed)", id);
        section.message =
            bump_printf("skua_nocopy_invoke_section(skua_to.section, %s, skua_packed)", id);
    }
    emit_send_function(to, class, entry, &all);
    emit_send_function(to, class, entry, &section);
}

/* ---- completions -------------------------------------------------------------------------- */

static void emit_send_completion(struct writer          *to, const struct ast_class *class,
                                 const struct ast_entry *entry, const char *suffix,
                                 const char *type, const char *call)
{
    writer_put(to,
               "static inline skua_completion %.*s_%.*s_done%s(%s skua_to)\n{\n"
               "    return %s, %s);\n}\n\n",
               NAME_ARGS(class), NAME_ARGS(entry), suffix, type, call, emit_entry_id(class, entry));
}

static void emit_send_completions(struct emit_files       to, const struct ast_class *class,
                                  const struct ast_entry *entry)
{
    if (entry->parameters && !(entry->attributes & ATTRIBUTE_REDUCTIONTARGET))
        return;
    emit_send_completion(to.header, class, entry, "", emit_element_type(class),
                         "skua_done_invoke(skua_to.ref");
    if (!emit_is_collection(class))
        return;
    emit_send_completion(to.header, class, entry, "_all",
                         bump_printf("%.*s_proxy", NAME_ARGS(class)),
                         "skua_done_invoke_all(skua_to.all");
    emit_send_completion(to.header, class, entry, "_section",
                         bump_printf("%.*s_section", NAME_ARGS(class)),
                         "skua_done_invoke_section(skua_to.section");
}

/* ---- results ------------------------------------------------------------------------------ */

void emit_result_type(struct writer *to, const struct ast_entry *entry)
{
    if (entry->result.text.at)
        emit_type(to, entry->result, entry->result_stars);
    else
        writer_put(to, "void ");
}

/* `int Block_ask(Block_element skua_to, int x)` */
static void emit_send_direct_head(struct writer          *to, const struct ast_class *class,
                                  const struct ast_entry *entry)
{
    const struct emit_send send = {
        .suffix = "", .target = bump_printf("%s skua_to", emit_element_type(class)), .extra = ""};

    emit_result_type(to, entry);
    emit_send_head(to, "", class, entry, &send);
}

/* Emits the send of a [sync] entry that waits for the result. */
static void emit_send_waiting(struct emit_files       to, const struct ast_class *class,
                              const struct ast_entry *entry)
{
    struct writer *source = to.source;
    bool           value  = entry->result.text.at != NULL;

    emit_send_direct_head(to.header, class, entry);
    writer_put(to.header, ";\n");
    emit_send_direct_head(source, class, entry);
    writer_put(source, "\n{\n    skua_future skua_answer = SKUA_FUTURE_INIT;\n");
    if (value) {
        writer_put(source, "    ");
        emit_result_type(source, entry);
        writer_put(source, "skua_result;\n");
    }
    writer_put(source, "\n    %.*s_%.*s_reply(skua_to", NAME_ARGS(class), NAME_ARGS(entry));
    emit_arguments(source, entry, false);
    writer_put(source, ", skua_done_future(&skua_answer));\n");
    writer_put(source, "    skuac_answer_wait(&skua_answer, \"%s\", %s);\n%s}\n\n",
               emit_title_of(class, entry), value ? "&skua_result, sizeof skua_result" : "NULL, 0",
               value ? "    return skua_result;\n" : "");
}

static void emit_send_sync(struct emit_files       to, const struct ast_class *class,
                           const struct ast_entry *entry)
{
    struct emit_send reply = {
        .suffix = "_reply",
        .target = bump_printf("%s skua_to", emit_element_type(class)),
        .before = bump_printf("skua_invoke_reply(skua_to.ref, %s, ", emit_entry_id(class, entry)),
        .after  = ", skua_then)",
        .extra  = ", skua_completion skua_then",
    };

    emit_send_function(to, class, entry, &reply);
    emit_send_waiting(to, class, entry);
}

/* ---- local calls -------------------------------------------------------------------------- */

/* Emits the call of a [local] entry as a function. */
static void emit_send_local(struct emit_files       to, const struct ast_class *class,
                            const struct ast_entry *entry)
{
    bool value = entry->result.text.at != NULL;

    emit_send_direct_head(to.header, class, entry);
    writer_put(to.header, ";\n");
    emit_send_direct_head(to.source, class, entry);
    writer_put(
        to.source,
        "\n{\n    %.*s *skua_object = %.*s_here(skua_to);\n\n"
        "    if (!skua_object)\n"
        "        skua_abort(\"%s is [local], and its object is not on PE %%d\", skua_pe());\n"
        "    %s%.*s_on_%.*s(skua_object",
        NAME_ARGS(class), NAME_ARGS(class), emit_title_of(class, entry), value ? "return " : "",
        NAME_ARGS(class), NAME_ARGS(entry));
    emit_arguments(to.source, entry, false);
    writer_put(to.source, ");\n}\n\n");
}

/* ---- streams ------------------------------------------------------------------------------ */

/* Emits `(Block_element skua_to, uint64_t a)`; of a batch, one item of the array. */
static void emit_send_item_head(struct writer          *to, const struct ast_class *class,
                                const struct ast_entry *entry)
{
    writer_put(to, "void %.*s_%.*s(%s skua_to", NAME_ARGS(class), NAME_ARGS(entry),
               emit_element_type(class));
    if (emit_is_batch(entry)) {
        writer_put(to, ", ");
        emit_type(to, entry->parameters->next->type, entry->parameters->next->stars);
        writer_put(to, "%.*s", NAME_ARGS(entry->parameters->next));
    } else {
        emit_parameters(to, entry, false);
    }
    writer_put(to, ")");
}

/* Emits the send to a member of a group: the stream carries the items, and names the group once for
 * many. */
static void emit_send_member_item(struct writer          *to, const struct ast_class *class,
                                  const struct ast_entry *entry)
{
    const char *stem = emit_stem_of(class, entry);

    writer_put(to, "static inline ");
    emit_send_item_head(to, class, entry);
    writer_put(to, "\n{\n    const skua_stream skua_in = {%s_offset()};\n", stem);
    if (!emit_is_batch(entry)) {
        writer_put(to, "    const struct %s skua_item = ", stem);
        emit_initializer(to, entry);
        writer_put(to, ";\n");
    }
    writer_put(to, "\n    skua_stream_put_member(skua_in, skua_to.ref.of.id, "
                   "skua_to.ref.index.at.x[0], &");
    if (emit_is_batch(entry))
        writer_put(to, "%.*s", NAME_ARGS(entry->parameters->next));
    else
        writer_put(to, "skua_item");
    writer_put(to, ");\n}\n\n");
}

/* Emits the send to an array element: the item contains its index. */
static void emit_send_element_item(struct writer          *to, const struct ast_class *class,
                                   const struct ast_entry *entry)
{
    const char *stem = emit_stem_of(class, entry);

    emit_send_item_head(to, class, entry);
    writer_put(to, "\n{\n    struct %s__item skua_item;\n", stem);
    if (entry->parameters) {
        writer_put(to, "    const struct %s skua_args = ", stem);
        emit_initializer(to, entry);
        writer_put(to, ";\n");
    }
    writer_put(to,
               "\n    memset(&skua_item, 0, sizeof skua_item);\n"
               "    skua_item.of = skua_to.ref.of;\n%s"
               "    memcpy(skua_item.at, &skua_to.ref.index.at, sizeof skua_item.at);\n"
               "    skua_stream_put(%s_stream, skua_location(skua_to.ref), &skua_item);\n}\n\n",
               entry->parameters ? "    skua_item.args = skua_args;\n" : "", stem);
}

static void emit_send_item_struct(struct writer          *to, const struct ast_class *class,
                                  const struct ast_entry *entry)
{
    const char *stem = emit_stem_of(class, entry);

    writer_put(to, "struct %s__item {\n    skua_collection of;\n", stem);
    if (class->dims > 0)
        writer_put(to, "    int32_t at[%u];\n", class->dims);
    else
        writer_put(to, "    unsigned char at[sizeof(%.*s)];\n", TEXT_ARGS(class->index.text));
    if (entry->parameters)
        writer_put(to, "    struct %s args;\n", stem);
    writer_put(to, "};\n\n");
}

/* The stream is constant after registration: a const function lets a loop read it once. */
static void emit_send_stream_offset(struct emit_files to, const char *stem)
{
    writer_put(to.header, "uint32_t %s_offset(void) __attribute__((const));\n\n", stem);
    writer_put(to.source, "uint32_t %s_offset(void)\n{\n    return %s_stream.offset;\n}\n\n", stem,
               stem);
}

static void emit_send_item(struct emit_files       to, const struct ast_class *class,
                           const struct ast_entry *entry)
{
    if (class->kind == CLASS_ARRAY) {
        emit_send_item_head(to.header, class, entry);
        writer_put(to.header, ";\n");
        emit_send_item_struct(to.source, class, entry);
        emit_send_element_item(to.source, class, entry);
    } else {
        emit_send_stream_offset(to, emit_stem_of(class, entry));
        emit_send_member_item(to.header, class, entry);
    }
}

/* ---- entries ------------------------------------------------------------------------------ */

void emit_sends(struct emit_files to, const struct ast_class *class, const struct ast_entry *entry)
{
    if (entry->kind != ENTRY_METHOD)
        return;
    writer_put_comment(to.header, entry->comment, 0);
    if (entry->attributes & ATTRIBUTE_LOCAL) {
        emit_send_local(to, class, entry);
    } else if (entry->attributes & ATTRIBUTE_AGGREGATE) {
        emit_send_item(to, class, entry);
    } else if (emit_has_inplace(entry)) {
        emit_inplace_send(to, class, entry);
    } else if (entry->attributes & ATTRIBUTE_SYNC) {
        emit_send_sync(to, class, entry);
    } else {
        emit_send_plain(to, class, entry);
        emit_send_priority(to, class, entry);
        if (emit_is_collection(class))
            emit_send_many(to, class, entry);
        emit_send_completions(to, class, entry);
    }
    writer_put(to.header, "\n");
}
