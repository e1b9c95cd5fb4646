/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_data.c - structs, messages, states and read-only variables.
 *
 * An array whose length is another field is a pointer in C, to memory of malloc(); in a
 * message to memory behind the struct, found anew wherever the message arrives.
 */
#include "emit_parts.h"

#include "arena.h"

/* ---- fields -------------------------------------------------------------------------------- */

static bool is_string(const struct field *field)
{
    return text_is(field->type.text, "string");
}

/* `double *u`, `char *name`, `int end[2][2]` */
static void put_declaration(struct writer *to, const struct field *field)
{
    const struct dimension *dimension = field->dimensions;

    if (is_string(field)) {
        put(to, "char *%.*s", NAME(field));
        return;
    }
    put_type(to, field->type, field->stars);
    if (field->variable) {
        dimension = dimension->next;
        put(to, dimension ? "(*%.*s)" : "*%.*s", NAME(field));
    } else {
        put(to, "%.*s", NAME(field));
    }
    for (; dimension; dimension = dimension->next) {
        put(to, "[");
        put_flat(to, dimension->length.text);
        put(to, "]");
    }
}

static void put_fields(struct writer *to, const struct field *fields)
{
    for (const struct field *field = fields; field; field = field->next) {
        put_comment(to, field->comment, 4);
        put(to, "    ");
        put_declaration(to, field);
        put(to, ";\n");
    }
}

/* Of `x[]`: its count is a field of its own. */
static bool counts_itself(const struct field *field)
{
    return field->variable && !field->dimensions->length.text.at;
}

/* `static long long point__u_length(const point *skua_it)` */
static void put_field_length_function(struct writer *to, struct text of, const struct field *fields,
                                      const struct field *array)
{
    struct code length = array->dimensions->length;

    put(to, "static long long %.*s__%.*s_length(const %.*s *skua_it)\n{\n", TEXT(of), NAME(array),
        TEXT(of));
    if (counts_itself(array)) {
        put(to, "    return (long long)skua_it->%.*s_count;\n}\n\n", NAME(array));
        return;
    }
    for (const struct field *field = fields; field; field = field->next)
        if (field != array && !field->variable && mentions(length, field->name.text)) {
            put(to, "    const ");
            put_declaration(to, field);
            put(to, " = skua_it->%.*s;\n", NAME(field));
        }
    put(to, "\n    return (long long)(\n");
    put_code(to, length);
    put(to, "    );\n}\n\n");
}

static void put_field_length_functions(struct writer *to, struct text of,
                                       const struct field *fields)
{
    for (const struct field *field = fields; field; field = field->next)
        if (field->variable)
            put_field_length_function(to, of, fields, field);
}

/* ---- freeing and packing --------------------------------------------------------------------- */

/* A loop over the structs of a field, `skua_each`, that calls @p function of each. */
static void put_each(struct writer *to, struct text of, const char *it, const struct field *field,
                     const char *function, const char *before)
{
    put(to, "    {\n        %.*s *skua_each = (%.*s *)%s%s->%.*s;\n", NAME(field->record),
        NAME(field->record), field->dimensions ? "" : "&", it, NAME(field));
    put(to, "        size_t skua_count = ");
    if (field->variable)
        put(to,
            "skua_each ? (size_t)%.*s__%.*s_length(%s) * (sizeof *%s->%.*s / sizeof "
            "*skua_each) : 0;\n\n",
            TEXT(of), NAME(field), it, it, NAME(field));
    else
        put(to, "sizeof %s->%.*s / sizeof *skua_each;\n\n", it, NAME(field));
    put(to,
        "        for (size_t skua_i = 0; skua_i < skua_count; skua_i++)\n"
        "            %.*s_%s(%s&skua_each[skua_i]);\n    }\n",
        NAME(field->record), function, before);
}

static void put_free(struct writer *to, struct text of, const char *it, const struct field *fields)
{
    for (const struct field *field = fields; field; field = field->next) {
        if (field->record && !field->stars && !field->transient)
            put_each(to, of, it, field, "free", "");
        if (field->variable || is_string(field))
            put(to, "    free(%s->%.*s);\n", it, NAME(field));
    }
}

static void put_pup(struct writer *to, struct text of, const char *it, const struct field *fields)
{
    for (const struct field *field = fields; field; field = field->next) {
        if (field->transient)
            continue;
        if (is_string(field))
            put(to, "    skua_pup_string(skua_p, &%s->%.*s);\n", it, NAME(field));
        else if (field->variable)
            put(to,
                "    skua_pup_array(skua_p, &%s->%.*s, %.*s__%.*s_length(%s), sizeof *%s->%.*s);\n",
                it, NAME(field), TEXT(of), NAME(field), it, it, NAME(field));
        else if (!field->record)
            put(to, "    skua_pup_value(skua_p, &%s->%.*s);\n", it, NAME(field));
        if (field->record && !field->stars)
            put_each(to, of, it, field, "pup", "skua_p, ");
    }
}

/* ---- structs ----------------------------------------------------------------------------------
 */

void emit_record(struct files to, const struct record *record)
{
    struct text    of     = record->name.text;
    struct writer *source = to.source;

    put_comment(to.header, record->comment, 0);
    put(to.header, "struct %.*s {\n", TEXT(of));
    put_fields(to.header, record->fields);
    put(to.header, "};\n\nvoid %.*s_pup(skua_pup *skua_p, %.*s *skua_it);\n", TEXT(of), TEXT(of));
    put(to.header, "void %.*s_free(%.*s *skua_it);\n\n", TEXT(of), TEXT(of));
    put_field_length_functions(source, of, record->fields);
    put(source, "void %.*s_pup(skua_pup *skua_p, %.*s *skua_it)\n{\n", TEXT(of), TEXT(of));
    put_pup(source, of, "skua_it", record->fields);
    put(source, "    (void)skua_p, (void)skua_it;\n}\n\n");
    put(source, "void %.*s_free(%.*s *skua_it)\n{\n", TEXT(of), TEXT(of));
    put_free(source, of, "skua_it", record->fields);
    put(source, "    (void)skua_it;\n}\n\n");
}

/* ---- messages -----------------------------------------------------------------------------------
 */

/* Whether the length of some array of the message is made of @p field. */
static bool measures(const struct message *message, const struct field *field)
{
    for (const struct field *array = message->fields; array; array = array->next)
        if (array->variable && array->dimensions->length.text.at &&
            mentions(array->dimensions->length, field->name.text))
            return true;
    return false;
}

/* `int n, size_t x_count` */
static void put_new_head(struct writer *to, const struct message *message)
{
    const char *comma = "";

    put(to, "%.*s *%.*s_new(", NAME(message), NAME(message));
    for (const struct field *field = message->fields; field; field = field->next) {
        if (counts_itself(field)) {
            put(to, "%ssize_t %.*s_count", comma, NAME(field));
        } else if (!field->variable && measures(message, field)) {
            put(to, "%s", comma);
            put_declaration(to, field);
        } else {
            continue;
        }
        comma = ", ";
    }
    put(to, *comma ? ")" : "void)");
}

static void put_new_function(struct writer *to, const struct message *message)
{
    put_new_head(to, message);
    put(to,
        "\n{\n    %.*s skua_it;\n    size_t skua_end = sizeof skua_it;\n"
        "    skua_msg *skua_packed;\n\n    memset(&skua_it, 0, sizeof skua_it);\n",
        NAME(message));
    for (const struct field *field = message->fields; field; field = field->next) {
        if (counts_itself(field))
            put(to, "    skua_it.%.*s_count = %.*s_count;\n", NAME(field), NAME(field));
        else if (!field->variable && measures(message, field))
            put(to, "    skua_it.%.*s = %.*s;\n", NAME(field), NAME(field));
    }
    for (const struct field *field = message->fields; field; field = field->next)
        if (field->variable)
            put(to,
                "    skua_room(&skua_end, %.*s__%.*s_length(&skua_it), sizeof *skua_it.%.*s, 16, "
                "\"%.*s\", \"%.*s\");\n",
                NAME(message), NAME(field), NAME(field), NAME(message), NAME(field));
    put(to,
        "    skua_packed = skua_msg_alloc(skua_end);\n"
        "    *(%.*s *)skua_msg_data(skua_packed) = skua_it;\n"
        "    return %.*s__open(skua_msg_data(skua_packed), skua_end, \"%.*s\");\n}\n\n",
        NAME(message), NAME(message), NAME(message));
}

/* The message in what arrived; its arrays lie 16 bytes aligned behind it. */
static void put_open_function(struct writer *to, const struct message *message)
{
    put(to,
        "%.*s *%.*s__open(const void *skua_data, size_t skua_bytes, const char *skua_title)\n{\n"
        "    %.*s *skua_it = (%.*s *)skua_data; /* ours alone, or the same for all who get it */\n"
        "    size_t skua_end = sizeof *skua_it;\n\n"
        "    if (skua_bytes < sizeof *skua_it)\n"
        "        skua_malformed(skua_title, skua_bytes);\n",
        NAME(message), NAME(message), NAME(message), NAME(message));
    for (const struct field *field = message->fields; field; field = field->next)
        if (field->variable)
            put(to,
                "    skua_it->%.*s = " CAST_LIKE(
                    "skua_it->%.*s") "skua_found(skua_data, skua_bytes, "
                                     "&skua_end,\n"
                                     "        %.*s__%.*s_length(skua_it), sizeof *skua_it->%.*s, "
                                     "16, skua_title);\n",
                NAME(field), NAME(field), NAME(message), NAME(field), NAME(field));
    put(to, "    if (skua_end != skua_bytes)\n        skua_malformed(skua_title, skua_bytes);\n"
            "    return skua_it;\n}\n\n");
}

void emit_message(struct files to, const struct message *message)
{
    put_comment(to.header, message->comment, 0);
    put(to.header, "struct %.*s {\n", NAME(message));
    for (const struct field *field = message->fields; field; field = field->next) {
        put_comment(to.header, field->comment, 4);
        put(to.header, "    ");
        put_declaration(to.header, field);
        put(to.header, ";\n");
        if (counts_itself(field))
            put(to.header, "    size_t %.*s_count;\n", NAME(field));
    }
    if (!message->fields)
        put(to.header, "    char skua_nothing;\n");
    put(to.header, "};\n\n");
    put_new_head(to.header, message);
    put(to.header,
        ";\n%.*s *%.*s__open(const void *skua_data, size_t skua_bytes, const char *skua_title);\n\n"
        "static inline skua_msg *%.*s__message(%.*s *skua_it)\n{\n"
        "    return (skua_msg *)(void *)((char *)skua_it - SKUA_MSG_HEADER);\n}\n\n"
        "static inline void %.*s_free(%.*s *skua_it)\n{\n"
        "    skua_msg_free(%.*s__message(skua_it));\n}\n\n",
        NAME(message), NAME(message), NAME(message), NAME(message), NAME(message), NAME(message),
        NAME(message));
    put_field_length_functions(to.source, message->name.text, message->fields);
    put_open_function(to.source, message);
    put_new_function(to.source, message);
}

/* ---- read-only variables
 * -------------------------------------------------------------------------- */

void emit_readonly(struct files to, const struct field *field)
{
    put_comment(to.header, field->comment, 0);
    put(to.header, "extern ");
    put_declaration(to.header, field);
    put(to.header, ";\n\n");
    put_declaration(to.source, field);
    if (field->value.text.at && !field->variable) {
        put(to.source, is_string(field) ? " = (char *)\n" : " =\n");
        put_code(to.source, field->value);
        put(to.source, "    ;\n");
    } else {
        put(to.source, ";\n");
    }
    if (field->variable || is_string(field))
        put(to.source, "static size_t %.*s__bytes;\n", NAME(field));
}

void put_readonly_registration(struct writer *to, const struct module *module,
                               const struct field *field)
{
    if (field->variable || is_string(field))
        put(to, "    skua_readonly_block(\"%.*s.%.*s\", (void **)(void *)&%.*s, &%.*s__bytes);\n",
            NAME(module), NAME(field), NAME(field), NAME(field));
    else
        put(to, "    skua_readonly(\"%.*s.%.*s\", &%.*s, sizeof %.*s);\n", NAME(module),
            NAME(field), NAME(field), NAME(field));
}

/* When the main chares have been made: how long the variable ones are. */
void put_readonly_lengths(struct writer *to, const struct field *field)
{
    if (is_string(field)) {
        put(to, "    %.*s__bytes = skua_string_bytes(%.*s);\n", NAME(field), NAME(field));
    } else if (field->variable) {
        put(to, "    %.*s__bytes = %.*s ? sizeof *%.*s * (size_t)(\n", NAME(field), NAME(field),
            NAME(field));
        put_code(to, field->dimensions->length);
        put(to, "    ) : 0;\n");
    }
}

/* ---- states
 * ------------------------------------------------------------------------------------------ */

void emit_state(struct files to, const struct class *class)
{
    if (!class->has_state)
        return;
    put_comment(to.header, class->comment, 0);
    put(to.header, "struct %.*s {\n", NAME(class));
    put_fields(to.header, class->state);
    if (!class->state)
        put(to.header, "    char skua_nothing;\n");
    put(to.header, "};\n\n");
    put_field_length_functions(to.source, class->name.text, class->state);
}

/* The parameter of the constructor that a field gets its value from, having its name. */
static const struct parameter *namesake(const struct class *class, const struct field *field)
{
    const struct entry *constructor = constructor_of(class);

    for (const struct parameter *p = constructor ? constructor->parameters : NULL; p; p = p->next)
        if (text_equal(p->name.text, field->name.text) &&
            (p->passing == PASS_VALUE || p->passing == PASS_ARRAY || p->passing == PASS_STRING))
            return p;
    return NULL;
}

static void put_array_default(struct writer      *to, const struct class *class,
                              const struct field *field, const struct parameter *from)
{
    put(to,
        "    self->%.*s = " CAST_LIKE(
            "self->%.*s") "skua_state_array(\"%.*s.%.*s\", "
                          "%.*s__%.*s_length(self), sizeof *self->%.*s);\n",
        NAME(field), NAME(field), NAME(class), NAME(field), NAME(class), NAME(field), NAME(field));
    if (from && from->passing == PASS_ARRAY)
        put(to,
            "    skua_copy(self->%.*s, %.*s, (size_t)%.*s__%.*s_length(self) * "
            "sizeof *self->%.*s);\n",
            NAME(field), NAME(field), NAME(class), NAME(field), NAME(field));
}

/* What is in braces initializes a variable; anything else is assigned as it is. */
void put_assignment(struct writer *to, const char *target, const struct field *field)
{
    bool braces = text_begins(field->value.text, "{");

    if (braces) {
        put(to, "    {\n        ");
        put_type(to, field->type, field->stars);
        put(to, "skua_value =\n");
    } else {
        put(to, "    %s = %s\n", target, is_string(field) ? "skua_state_string(" : "");
    }
    put_code(to, field->value);
    if (braces)
        put(to, "        ;\n        %s = skua_value;\n    }\n", target);
    else
        put(to, "    %s;\n", is_string(field) ? ")" : "");
}

static void put_value_default(struct writer *to, const struct field *field,
                              const struct parameter *from)
{
    if (field->value.text.at)
        put_assignment(to, arena_print("self->%.*s", NAME(field)), field);
    else if (from && is_string(field))
        put(to, "    self->%.*s = skua_state_string(%.*s);\n", NAME(field), NAME(field));
    else if (from && from->passing != PASS_ARRAY)
        put(to, "    self->%.*s = %.*s;\n", NAME(field), NAME(field));
}

/* `int end[2] = {1, 2};` */
static void put_array_value(struct writer *to, const struct field *field)
{
    put(to, "    {\n        static const ");
    put_declaration(to, field);
    put(to, " =\n");
    put_code(to, field->value);
    put(to, "        ;\n        memcpy(self->%.*s, %.*s, sizeof self->%.*s);\n    }\n", NAME(field),
        NAME(field), NAME(field));
}

void put_state_defaults(struct writer *to, const struct class *class)
{
    for (const struct field *field = class->state; field; field = field->next) {
        const struct parameter *from = namesake(class, field);

        if (field->variable)
            put_array_default(to, class, field, from);
        else if (field->dimensions && field->value.text.at)
            put_array_value(to, field);
        else if (!field->dimensions)
            put_value_default(to, field, from);
    }
}

bool default_mentions(const struct class *class, const struct parameter *parameter)
{
    for (const struct field *field = class->state; field; field = field->next)
        if ((field->value.text.at && mentions(field->value, parameter->name.text)) ||
            (namesake(class, field) == parameter && !field->value.text.at))
            return true;
    return false;
}

void put_state_free(struct writer *to, const struct class *class)
{
    put_free(to, class->name.text, "self", class->state);
}

void put_state_pup(struct writer *to, const struct class *class)
{
    put_pup(to, class->name.text, "self", class->state);
}
