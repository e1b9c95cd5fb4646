/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_send.c - what users call to reach an entry: Block_ghost() and its variants.
 *
 * All have the same shape: the arguments become data, or a message, and these are given to a
 * call of the runtime's.  A struct send says which.
 */
#include "emit_parts.h"

#include "arena.h"

/* ---- sending ------------------------------------------------------------------------------ */

/* What a send function is made of: its name, what it takes first, and the call to which data
 * and bytes are given. */
struct send {
    const char *suffix;  /* behind Block_ghost                            */
    const char *target;  /* its first parameters                          */
    const char *before;  /* the call, up to the data                      */
    const char *after;   /* ... and behind the bytes                      */
    const char *message; /* the call that takes a message, or NULL        */
    const char *extra;   /* parameters behind those of the entry          */
    const char *where;   /* the PE that it goes to, for what is not copied */
};

const char *entry_id(const struct class *class, const struct entry *entry)
{
    if (class->kind == CLASS_INTERFACE)
        return arena_print("%.*s__table_of(skua_to)->%.*s", NAME(class), NAME(entry));
    return arena_print("%s_entry", stem_of(class, entry));
}

/* The arguments as data: declares what is needed, ends with the call. */
static void put_send_body(struct writer *to, const struct class *class, const struct entry *entry,
                          const struct send *send)
{
    const char *name = stem_of(class, entry);
    enum wire   wire = wire_of(entry);

    if (wire == WIRE_NONE) {
        put(to, "    %sNULL, 0%s;\n", send->before, send->after);
    } else if (wire == WIRE_FIXED) {
        put(to, "    const struct %s skua_args = ", name);
        put_initializer(to, entry);
        put(to, ";\n\n    %s&skua_args, sizeof skua_args%s;\n", send->before, send->after);
    } else {
        put(to, "    skua_msg *skua_packed = ");
        if (wire == WIRE_MESSAGE) {
            put(to, "%.*s__message(%.*s)", NAME(entry->parameters->message),
                NAME(entry->parameters));
        } else {
            bool parts = count_parts(entry) > 0;

            put(to, "%s_pack(%s", name, parts ? send->where : "");
            put_sent_arguments(to, entry, !parts);
            put(to, ")");
        }
        if (send->message)
            put(to, ";\n\n    %s;\n", send->message);
        else
            put(to,
                ";\n\n    %sskua_msg_data(skua_packed), skua_msg_size(skua_packed)%s;\n"
                "    skua_msg_free(skua_packed);\n",
                send->before, send->after);
    }
}

static void put_send_head(struct writer *to, const char *result, const struct class *class,
                          const struct entry *entry, const struct send *send)
{
    put(to, "%s%.*s_%.*s%s(%s", result, NAME(class), NAME(entry), send->suffix, send->target);
    put_sent_parameters(to, entry, false);
    put(to, "%s)", send->extra);
}

static void put_send(struct files to, const struct class *class, const struct entry *entry,
                     const struct send *send)
{
    put_send_head(to.header, "void ", class, entry, send);
    put(to.header, ";\n");
    put_send_head(to.source, "void ", class, entry, send);
    put(to.source, "\n{\n");
    put_send_body(to.source, class, entry, send);
    put(to.source, "}\n\n");
}

/* The plain send of arguments of fixed size: in the header, so that it can be inline. */
static void put_send_inline(struct files to, const struct class *class, const struct entry *entry,
                            const struct send *send)
{
    put_send_head(to.header, "static inline void ", class, entry, send);
    put(to.header, "\n{\n");
    put_send_body(to.header, class, entry, send);
    put(to.header, "}\n\n");
}

/* The plain send of arguments with arrays to a method: copied once more where they are few. */
static void put_send_small(struct files to, const struct class *class, const struct entry *entry,
                           const struct send *send)
{
    const char    *name   = stem_of(class, entry);
    struct writer *source = to.source;

    put_send_head(to.header, "void ", class, entry, send);
    put(to.header, ";\n");
    put_send_head(source, "void ", class, entry, send);
    put(source, "\n{\n    size_t skua_at[%u], skua_bytes = %s_bytes(skua_at", count_pieces(entry),
        name);
    put_arguments(source, entry, false);
    put(source,
        ");\n\n"
        "    if (skua_bytes <= SKUA_SMALL_ARGUMENTS) {\n"
        "        SKUA_ALIGNAS(16) char skua_small[SKUA_SMALL_ARGUMENTS];\n\n"
        "        %s_fill(skua_small, skua_at",
        name);
    put_arguments(source, entry, false);
    put(source, ");\n        %sskua_small, skua_bytes%s;\n    } else {\n", send->before,
        send->after);
    put(source,
        "        skua_msg *skua_packed = skua_msg_alloc(skua_bytes);\n\n        %s_fill("
        "(char *)skua_msg_data(skua_packed), skua_at",
        name);
    put_arguments(source, entry, false);
    put(source, ");\n        %s;\n    }\n}\n\n", send->message);
}

static void emit_plain_send(struct files to, const struct class *class, const struct entry *entry)
{
    enum wire   wire = wire_of(entry);
    const char *id   = entry_id(class, entry);
    struct send send = {
        .suffix  = "",
        .target  = arena_print("%s skua_to", element_type(class)),
        .before  = arena_print("skua_invoke_copy_to(&skua_to.ref, %s, ", id),
        .after   = ")",
        .message = arena_print("skua_invoke(skua_to.ref, %s, skua_packed)", id),
        .extra   = "",
        .where   = "skua_where(skua_to.ref)",
    };

    if (wire == WIRE_NONE || wire == WIRE_FIXED)
        put_send_inline(to, class, entry, &send);
    else if (wire == WIRE_MESSAGE || takes_message(entry))
        put_send(to, class, entry, &send);
    else
        put_send_small(to, class, entry, &send);
}

static void emit_priority_send(struct files        to, const struct class *class,
                               const struct entry *entry)
{
    const char *id   = entry_id(class, entry);
    struct send send = {
        .suffix  = "_prio",
        .target  = arena_print("%s skua_to, int32_t skua_priority", element_type(class)),
        .before  = arena_print("skua_invoke_copy_prio(skua_to.ref, %s, ", id),
        .after   = ", skua_priority)",
        .message = arena_print("skua_msg_set_priority(skua_packed, skua_priority);\n"
                               "    skua_invoke(skua_to.ref, %s, skua_packed)",
                               id),
        .extra   = "",
        .where   = "skua_where(skua_to.ref)",
    };

    put_send(to, class, entry, &send);
}

static void emit_many_sends(struct files to, const struct class *class, const struct entry *entry)
{
    const char *id    = entry_id(class, entry);
    bool        parts = count_parts(entry) > 0;
    struct send all   = {
          .suffix = "_all",
          .target = arena_print("%.*s_proxy skua_to", NAME(class)),
          .before = arena_print("skua_invoke_all(skua_to.all, %s, ", id),
          .after  = ")",
          .extra  = "",
          .where  = "SKUA_ALL_PES",
    };
    struct send section = {
        .suffix = "_section",
        .target = arena_print("%.*s_section skua_to", NAME(class)),
        .before = arena_print("skua_section_invoke(skua_to.section, %s, ", id),
        .after  = ")",
        .extra  = "",
        .where  = "SKUA_ALL_PES",
    };

    if (parts) {
        all.message = arena_print("skua_parts_invoke_all(skua_to.all, %s, skua_packed)", id);
        section.message =
            arena_print("skua_parts_invoke_section(skua_to.section, %s, skua_packed)", id);
    }
    put_send(to, class, entry, &all);
    put_send(to, class, entry, &section);
}

/* ---- completions --------------------------------------------------------------------------- */

static void put_done(struct writer *to, const struct class *class, const struct entry *entry,
                     const char *suffix, const char *type, const char *call)
{
    put(to,
        "static inline skua_completion %.*s_%.*s_done%s(%s skua_to)\n{\n"
        "    return %s, %s);\n}\n\n",
        NAME(class), NAME(entry), suffix, type, call, entry_id(class, entry));
}

static void emit_completions(struct files to, const struct class *class, const struct entry *entry)
{
    if (entry->parameters && !(entry->attributes & ATTRIBUTE_REDUCTIONTARGET))
        return;
    put_done(to.header, class, entry, "", element_type(class), "skua_done_invoke(skua_to.ref");
    if (!is_collection(class))
        return;
    put_done(to.header, class, entry, "_all", arena_print("%.*s_proxy", NAME(class)),
             "skua_done_invoke_all(skua_to.all");
    put_done(to.header, class, entry, "_section", arena_print("%.*s_section", NAME(class)),
             "skua_done_invoke_section(skua_to.section");
}

/* ---- answers ------------------------------------------------------------------------------- */

void put_result(struct writer *to, const struct entry *entry)
{
    if (entry->result.text.at)
        put_type(to, entry->result, entry->result_stars);
    else
        put(to, "void ");
}

/* `int Block_ask(Block_element skua_to, int x)` */
static void put_direct_head(struct writer *to, const struct class *class, const struct entry *entry)
{
    const struct send send = {
        .suffix = "", .target = arena_print("%s skua_to", element_type(class)), .extra = ""};

    put_result(to, entry);
    put_send_head(to, "", class, entry, &send);
}

/* Asks, and waits for the answer. */
static void put_waiting_send(struct files to, const struct class *class, const struct entry *entry)
{
    struct writer *source = to.source;
    bool           value  = entry->result.text.at != NULL;

    put_direct_head(to.header, class, entry);
    put(to.header, ";\n");
    put_direct_head(source, class, entry);
    put(source, "\n{\n    skua_future skua_answer = SKUA_FUTURE_INIT;\n");
    if (value) {
        put(source, "    ");
        put_result(source, entry);
        put(source, "skua_result;\n");
    }
    put(source, "\n    %.*s_%.*s_reply(skua_to", NAME(class), NAME(entry));
    put_arguments(source, entry, false);
    put(source, ", skua_done_future(&skua_answer));\n");
    put(source, "    skua_answer_wait(&skua_answer, \"%s\", %s);\n%s}\n\n", title_of(class, entry),
        value ? "&skua_result, sizeof skua_result" : "NULL, 0",
        value ? "    return skua_result;\n" : "");
}

static void emit_sync_sends(struct files to, const struct class *class, const struct entry *entry)
{
    struct send reply = {
        .suffix = "_reply",
        .target = arena_print("%s skua_to", element_type(class)),
        .before = arena_print("skua_invoke_reply(skua_to.ref, %s, ", entry_id(class, entry)),
        .after  = ", skua_then)",
        .extra  = ", skua_completion skua_then",
    };

    put_send(to, class, entry, &reply);
    put_waiting_send(to, class, entry);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* An entry that is called as a function, where its object is. */
static void emit_local_send(struct files to, const struct class *class, const struct entry *entry)
{
    bool value = entry->result.text.at != NULL;

    put_direct_head(to.header, class, entry);
    put(to.header, ";\n");
    put_direct_head(to.source, class, entry);
    put(to.source,
        "\n{\n    %.*s *skua_object = %.*s_here(skua_to);\n\n"
        "    if (!skua_object)\n"
        "        skua_abort(\"%s is [local], and its object is not on PE %%d\", skua_pe());\n"
        "    %s%.*s_on_%.*s(skua_object",
        NAME(class), NAME(class), title_of(class, entry), value ? "return " : "", NAME(class),
        NAME(entry));
    put_arguments(to.source, entry, false);
    put(to.source, ");\n}\n\n");
}

/* ---- streams ----------------------------------------------------------------------------------
 */

/* `(Block_element skua_to, uint64_t a)`: of a batch, one item of the array. */
static void put_item_head(struct writer *to, const struct class *class, const struct entry *entry)
{
    put(to, "void %.*s_%.*s(%s skua_to", NAME(class), NAME(entry), element_type(class));
    if (is_batch(entry)) {
        put(to, ", ");
        put_type(to, entry->parameters->next->type, entry->parameters->next->stars);
        put(to, "%.*s", NAME(entry->parameters->next));
    } else {
        put_parameters(to, entry, false);
    }
    put(to, ")");
}

/* To a member of a group: the item is what the stream carries. */
static void put_member_item(struct writer *to, const struct class *class, const struct entry *entry)
{
    const char *stem = stem_of(class, entry);

    put(to, "static inline ");
    put_item_head(to, class, entry);
    put(to, "\n{\n    const skua_stream skua_in = {%s_offset()};\n", stem);
    if (!is_batch(entry)) {
        put(to, "    const struct %s skua_item = ", stem);
        put_initializer(to, entry);
        put(to, ";\n");
    }
    put(to, "\n    skua_stream_put(skua_in, skua_to.ref.index.at.x[0], &");
    if (is_batch(entry))
        put(to, "%.*s", NAME(entry->parameters->next));
    else
        put(to, "skua_item");
    put(to, ");\n}\n\n");
}

/* To an element of an array: the item says to which. */
static void put_element_item(struct writer      *to, const struct class *class,
                             const struct entry *entry)
{
    const char *stem = stem_of(class, entry);

    put_item_head(to, class, entry);
    put(to, "\n{\n    struct %s_item skua_item;\n", stem);
    if (entry->parameters) {
        put(to, "    const struct %s skua_args = ", stem);
        put_initializer(to, entry);
        put(to, ";\n");
    }
    put(to,
        "\n    memset(&skua_item, 0, sizeof skua_item);\n"
        "    skua_item.of = skua_to.ref.of;\n%s"
        "    memcpy(skua_item.at, &skua_to.ref.index.at, sizeof skua_item.at);\n"
        "    skua_stream_put(%s_stream, skua_where(skua_to.ref), &skua_item);\n}\n\n",
        entry->parameters ? "    skua_item.args = skua_args;\n" : "", stem);
}

static void put_item_struct(struct writer *to, const struct class *class, const struct entry *entry)
{
    const char *stem = stem_of(class, entry);

    put(to, "struct %s_item {\n    skua_collection of;\n", stem);
    if (class->dims > 0)
        put(to, "    int32_t at[%u];\n", class->dims);
    else
        put(to, "    unsigned char at[sizeof(%.*s)];\n", TEXT(class->index.text));
    if (entry->parameters)
        put(to, "    struct %s args;\n", stem);
    put(to, "};\n\n");
}

/* Which stream it is, asked for once in a loop: it does not change after registration. */
static void put_offset(struct files to, const char *stem)
{
    put(to.header, "uint32_t %s_offset(void) __attribute__((const));\n\n", stem);
    put(to.source, "uint32_t %s_offset(void)\n{\n    return %s_stream.offset;\n}\n\n", stem, stem);
}

static void emit_item_send(struct files to, const struct class *class, const struct entry *entry)
{
    if (class->kind == CLASS_ARRAY) {
        put_item_head(to.header, class, entry);
        put(to.header, ";\n");
        put_item_struct(to.source, class, entry);
        put_element_item(to.source, class, entry);
    } else {
        put_offset(to, stem_of(class, entry));
        put_member_item(to.header, class, entry);
    }
}

/* ---- all ----------------------------------------------------------------------------------------
 */

void emit_sends(struct files to, const struct class *class, const struct entry *entry)
{
    if (entry->kind != ENTRY_METHOD)
        return;
    put_comment(to.header, entry->comment, 0);
    if (entry->attributes & ATTRIBUTE_LOCAL) {
        emit_local_send(to, class, entry);
    } else if (entry->attributes & ATTRIBUTE_AGGREGATE) {
        emit_item_send(to, class, entry);
    } else if (has_landing(entry)) {
        emit_landing_send(to, class, entry);
    } else if (entry->attributes & ATTRIBUTE_SYNC) {
        emit_sync_sends(to, class, entry);
    } else {
        emit_plain_send(to, class, entry);
        emit_priority_send(to, class, entry);
        if (is_collection(class))
            emit_many_sends(to, class, entry);
        emit_completions(to, class, entry);
    }
    put(to.header, "\n");
}
