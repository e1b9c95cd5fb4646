/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_data.c - structs, messages, states and readonly variables.
 *
 * An array of variable length is a pointer in C: to malloc() memory, or in a message to memory
 * after the struct.  Receivers of a message recompute the pointer.
 */
#include "emit/emit_parts.h"

#include <assert.h>

#include "support/bump.h"
#include "syntax/ident.h"

/* ---- fields ------------------------------------------------------------------------------- */

static bool emit_data_is_string(const struct ast_field *field)
{
    return text_is(field->type.text, "string");
}

/* `double *u`, `char *name`, `int end[2][2]` */
static void emit_data_declaration(struct writer *to, const struct ast_field *field)
{
    const struct ast_dimension *dimension = field->dimensions;

    if (emit_data_is_string(field)) {
        writer_put(to, "char *%.*s", NAME_ARGS(field));
        return;
    }
    emit_type(to, field->type, field->stars);
    if (field->variable) {
        dimension = dimension->next;
        writer_put(to, dimension ? "(*%.*s)" : "*%.*s", NAME_ARGS(field));
    } else {
        writer_put(to, "%.*s", NAME_ARGS(field));
    }
    for (; dimension; dimension = dimension->next) {
        writer_put(to, "[");
        writer_put_flat(to, dimension->length.text);
        writer_put(to, "]");
    }
}

static void emit_data_fields(struct writer *to, const struct ast_field *fields)
{
    for (const struct ast_field *field = fields; field; field = field->next) {
        writer_put_comment(to, field->comment, 4);
        writer_put(to, "    ");
        emit_data_declaration(to, field);
        writer_put(to, ";\n");
    }
}

/* Returns whether the array is an `x[]`, whose length is the generated field x_count. */
static bool emit_data_has_own_count(const struct ast_field *field)
{
    return field->variable && !field->dimensions->length.text.at;
}

/* `static long long point__u_length(const point *skua_it)` */
static void emit_data_length_function(struct writer *to, struct text of,
                                      const struct ast_field *fields, const struct ast_field *array)
{
    struct source_code length = array->dimensions->length;

    writer_put(to, "static long long %.*s__%.*s_length(const %.*s *skua_it)\n{\n", TEXT_ARGS(of),
               NAME_ARGS(array), TEXT_ARGS(of));
    if (emit_data_has_own_count(array)) {
        writer_put(to, "    return (long long)skua_it->%.*s_count;\n}\n\n", NAME_ARGS(array));
        return;
    }
    for (const struct ast_field *field = fields; field; field = field->next)
        if (field != array && !field->variable && ident_is_mentioned(length, field->name.text)) {
            writer_put(to, "    const ");
            emit_data_declaration(to, field);
            writer_put(to, " = skua_it->%.*s;\n", NAME_ARGS(field));
        }
    writer_put(to, "\n    return (long long)(\n");
    writer_put_code(to, length);
    writer_put(to, "    );\n}\n\n");
}

static void emit_data_length_functions(struct writer *to, struct text of,
                                       const struct ast_field *fields)
{
    for (const struct ast_field *field = fields; field; field = field->next)
        if (field->variable)
            emit_data_length_function(to, of, fields, field);
}

/* ---- freeing and packing ------------------------------------------------------------------ */

/* Emits a loop that calls @p function for each struct of a field. */
static void emit_data_for_each(struct writer *to, struct text of, const char *it,
                               const struct ast_field *field, const char *function,
                               const char *before)
{
    assert(field->record);
    writer_put(to, "    {\n        %.*s *skua_each = (%.*s *)%s%s->%.*s;\n",
               NAME_ARGS(field->record), NAME_ARGS(field->record), field->dimensions ? "" : "&", it,
               NAME_ARGS(field));
    writer_put(to, "        size_t skua_count = ");
    if (field->variable)
        writer_put(to,
                   "skua_each ? (size_t)%.*s__%.*s_length(%s) * (sizeof *%s->%.*s / sizeof "
                   "*skua_each) : 0;\n\n",
                   TEXT_ARGS(of), NAME_ARGS(field), it, it, NAME_ARGS(field));
    else
        writer_put(to, "sizeof %s->%.*s / sizeof *skua_each;\n\n", it, NAME_ARGS(field));
    if (field->variable && field->record->external && *before)
        writer_put(to,
                   "        if (skua_pup_unpacking(skua_p))\n"
                   "            memset((void *)skua_each, 0, skua_count * sizeof *skua_each);\n");
    writer_put(to,
               "        for (size_t skua_i = 0; skua_i < skua_count; skua_i++)\n"
               "            %.*s_%s(%s&skua_each[skua_i]);\n    }\n",
               NAME_ARGS(field->record), function, before);
}

static void emit_data_free(struct writer *to, struct text of, const char *it,
                           const struct ast_field *fields, const char *release)
{
    for (const struct ast_field *field = fields; field; field = field->next) {
        if (field->record && !field->stars && !field->transient)
            emit_data_for_each(to, of, it, field, "free", "");
        if (field->variable || emit_data_is_string(field))
            writer_put(to, "    %s(%s->%.*s);\n", release, it, NAME_ARGS(field));
    }
}

static void emit_data_pup(struct writer *to, struct text of, const char *it,
                          const struct ast_field *fields)
{
    for (const struct ast_field *field = fields; field; field = field->next) {
        if (field->transient)
            continue;
        if (emit_data_is_string(field))
            writer_put(to, "    skua_pup_string(skua_p, &%s->%.*s);\n", it, NAME_ARGS(field));
        else if (field->variable)
            writer_put(
                to,
                "    skua_pup_array(skua_p, &%s->%.*s, %.*s__%.*s_length(%s), sizeof *%s->%.*s);\n",
                it, NAME_ARGS(field), TEXT_ARGS(of), NAME_ARGS(field), it, it, NAME_ARGS(field));
        else if (!field->record)
            writer_put(to, "    skua_pup_value(skua_p, &%s->%.*s);\n", it, NAME_ARGS(field));
        if (field->record && !field->stars) {
            writer_put(to, "    skua_pup_begin(skua_p, \"%s->%.*s\");\n", it, NAME_ARGS(field));
            emit_data_for_each(to, of, it, field, "pup", "skua_p, ");
            writer_put(to, "    skua_pup_end(skua_p);\n");
        }
    }
}

/* ---- structs ------------------------------------------------------------------------------ */

/* Emits the description of a struct that is packed when it is an argument. */
static void emit_data_packable(struct emit_files to, struct text of)
{
    writer_put(to.header, "extern const struct skuac_packable %.*s__packable;\n\n", TEXT_ARGS(of));
    writer_put(to.source,
               "static void %.*s__pup_item(skua_pup *skua_p, void *skua_it)\n{\n"
               "    %.*s_pup(skua_p, (%.*s *)skua_it);\n}\n\n"
               "static void %.*s__free_item(void *skua_it)\n{\n"
               "    %.*s_free((%.*s *)skua_it);\n}\n\n"
               "const skuac_packable %.*s__packable = {sizeof(%.*s), %.*s__pup_item, "
               "%.*s__free_item};\n\n",
               TEXT_ARGS(of), TEXT_ARGS(of), TEXT_ARGS(of), TEXT_ARGS(of), TEXT_ARGS(of),
               TEXT_ARGS(of), TEXT_ARGS(of), TEXT_ARGS(of), TEXT_ARGS(of), TEXT_ARGS(of));
}

static void emit_data_record_functions(struct writer *source, const struct ast_record *record)
{
    struct text of = record->name.text;

    emit_data_length_functions(source, of, record->fields);
    writer_put(source, "void %.*s_pup(skua_pup *skua_p, %.*s *skua_it)\n{\n", TEXT_ARGS(of),
               TEXT_ARGS(of));
    emit_data_pup(source, of, "skua_it", record->fields);
    writer_put(source, "    (void)skua_p, (void)skua_it;\n}\n\n");
    writer_put(source, "void %.*s_free(%.*s *skua_it)\n{\n", TEXT_ARGS(of), TEXT_ARGS(of));
    emit_data_free(source, of, "skua_it", record->fields, "free");
    writer_put(source, "    (void)skua_it;\n}\n\n");
}

void emit_record(struct emit_files to, const struct ast_record *record)
{
    struct text of = record->name.text;

    writer_put_comment(to.header, record->comment, 0);
    if (!record->external) {
        writer_put(to.header, "struct %.*s {\n", TEXT_ARGS(of));
        emit_data_fields(to.header, record->fields);
        writer_put(to.header, "};\n\n");
        emit_data_record_functions(to.source, record);
    }
    writer_put(to.header, "void %.*s_pup(skua_pup *skua_p, %.*s *skua_it);\n", TEXT_ARGS(of),
               TEXT_ARGS(of));
    writer_put(to.header, "void %.*s_free(%.*s *skua_it);\n\n", TEXT_ARGS(of), TEXT_ARGS(of));
    if (record->deep)
        emit_data_packable(to, of);
}

/* ---- messages ----------------------------------------------------------------------------- */

/* Returns whether the length of an array of the message mentions @p field. */
static bool emit_data_is_length(const struct ast_message *message, const struct ast_field *field)
{
    for (const struct ast_field *array = message->fields; array; array = array->next)
        if (array->variable && array->dimensions->length.text.at &&
            ident_is_mentioned(array->dimensions->length, field->name.text))
            return true;
    return false;
}

/* `int n, size_t x_count` */
static void emit_data_new_head(struct writer *to, const struct ast_message *message)
{
    const char *comma = "";

    writer_put(to, "%.*s *%.*s_new(", NAME_ARGS(message), NAME_ARGS(message));
    for (const struct ast_field *field = message->fields; field; field = field->next) {
        if (emit_data_has_own_count(field)) {
            writer_put(to, "%ssize_t %.*s_count", comma, NAME_ARGS(field));
        } else if (!field->variable && emit_data_is_length(message, field)) {
            writer_put(to, "%s", comma);
            emit_data_declaration(to, field);
        } else {
            continue;
        }
        comma = ", ";
    }
    writer_put(to, *comma ? ")" : "void)");
}

static void emit_data_new_function(struct writer *to, const struct ast_message *message)
{
    emit_data_new_head(to, message);
    writer_put(to,
               "\n{\n    %.*s skua_it;\n    size_t skua_end = sizeof skua_it;\n"
               "    skua_msg *skua_packed;\n\n    memset(&skua_it, 0, sizeof skua_it);\n",
               NAME_ARGS(message));
    for (const struct ast_field *field = message->fields; field; field = field->next) {
        if (emit_data_has_own_count(field))
            writer_put(to, "    skua_it.%.*s_count = %.*s_count;\n", NAME_ARGS(field),
                       NAME_ARGS(field));
        else if (!field->variable && emit_data_is_length(message, field))
            writer_put(to, "    skua_it.%.*s = %.*s;\n", NAME_ARGS(field), NAME_ARGS(field));
    }
    for (const struct ast_field *field = message->fields; field; field = field->next)
        if (field->variable)
            writer_put(to,
                       "    skuac_reserve(&skua_end, %.*s__%.*s_length(&skua_it), sizeof "
                       "*skua_it.%.*s, 16, "
                       "\"%.*s\", \"%.*s\");\n",
                       NAME_ARGS(message), NAME_ARGS(field), NAME_ARGS(field), NAME_ARGS(message),
                       NAME_ARGS(field));
    writer_put(to,
               "    skua_packed = skua_msg_alloc(skua_end);\n"
               "    *(%.*s *)skua_msg_data(skua_packed) = skua_it;\n"
               "    return %.*s__open(skua_msg_data(skua_packed), skua_end, \"%.*s\");\n}\n\n",
               NAME_ARGS(message), NAME_ARGS(message), NAME_ARGS(message));
}

/* Emits the function that validates a message; its arrays follow the struct, aligned to 16
 * bytes. */
static void emit_data_open_function(struct writer *to, const struct ast_message *message)
{
    writer_put(
        to,
        "%.*s *%.*s__open(const void *skua_data, size_t skua_bytes, const char *skua_title)\n{\n"
        "    %.*s *skua_it = (%.*s *)skua_data; /* exclusive, or equal for all receivers */\n"
        "    size_t skua_end = sizeof *skua_it;\n\n"
        "    if (skua_bytes < sizeof *skua_it)\n"
        "        skuac_malformed(skua_title, skua_bytes);\n",
        NAME_ARGS(message), NAME_ARGS(message), NAME_ARGS(message), NAME_ARGS(message));
    for (const struct ast_field *field = message->fields; field; field = field->next)
        if (field->variable)
            writer_put(to,
                       "    skua_it->%.*s = " CAST_LIKE(
                           "skua_it->%.*s") "skuac_found(skua_data, skua_bytes,\n"
                                            "        skuac_align(&skua_end, 16), "
                                            "%.*s__%.*s_length(skua_it), sizeof *skua_it->%.*s, "
                                            "skua_title);\n",
                       NAME_ARGS(field), NAME_ARGS(field), NAME_ARGS(message), NAME_ARGS(field),
                       NAME_ARGS(field));
    writer_put(to,
               "    if (skua_end != skua_bytes)\n        skuac_malformed(skua_title, skua_bytes);\n"
               "    return skua_it;\n}\n\n");
}

void emit_message(struct emit_files to, const struct ast_message *message)
{
    writer_put_comment(to.header, message->comment, 0);
    writer_put(to.header, "struct %.*s {\n", NAME_ARGS(message));
    for (const struct ast_field *field = message->fields; field; field = field->next) {
        writer_put_comment(to.header, field->comment, 4);
        writer_put(to.header, "    ");
        emit_data_declaration(to.header, field);
        writer_put(to.header, ";\n");
        if (emit_data_has_own_count(field))
            writer_put(to.header, "    size_t %.*s_count;\n", NAME_ARGS(field));
    }
    if (!message->fields)
        writer_put(to.header, "    char skua_nothing;\n");
    writer_put(to.header, "};\n\n");
    emit_data_new_head(to.header, message);
    writer_put(
        to.header,
        ";\n%.*s *%.*s__open(const void *skua_data, size_t skua_bytes, const char *skua_title);\n\n"
        "static inline skua_msg *%.*s__message(%.*s *skua_it)\n{\n"
        "    return (skua_msg *)(void *)((char *)skua_it - SKUA_MSG_HEADER);\n}\n\n"
        "static inline void %.*s_free(%.*s *skua_it)\n{\n"
        "    skua_msg_free(%.*s__message(skua_it));\n}\n\n",
        NAME_ARGS(message), NAME_ARGS(message), NAME_ARGS(message), NAME_ARGS(message),
        NAME_ARGS(message), NAME_ARGS(message), NAME_ARGS(message));
    emit_data_length_functions(to.source, message->name.text, message->fields);
    emit_data_open_function(to.source, message);
    emit_data_new_function(to.source, message);
}

/* ---- readonly variables ------------------------------------------------------------------- */

void emit_readonly(struct emit_files to, const struct ast_field *field)
{
    writer_put_comment(to.header, field->comment, 0);
    writer_put(to.header, "extern ");
    emit_data_declaration(to.header, field);
    writer_put(to.header, ";\n\n");
    emit_data_declaration(to.source, field);
    if (field->value.text.at && !field->variable) {
        writer_put(to.source, emit_data_is_string(field) ? " = (char *)\n" : " =\n");
        writer_put_code(to.source, field->value);
        writer_put(to.source, "    ;\n");
    } else {
        writer_put(to.source, ";\n");
    }
    if (field->variable || emit_data_is_string(field))
        writer_put(to.source, "static size_t %.*s__bytes;\n", NAME_ARGS(field));
}

void emit_readonly_registration(struct writer *to, const struct ast_module *module,
                                const struct ast_field *field)
{
    if (field->variable || emit_data_is_string(field))
        writer_put(to,
                   "    skua_readonly_block_register(\"%.*s.%.*s\", (void **)(void *)&%.*s, "
                   "&%.*s__bytes);\n",
                   NAME_ARGS(module), NAME_ARGS(field), NAME_ARGS(field), NAME_ARGS(field));
    else
        writer_put(to, "    skua_readonly_register(\"%.*s.%.*s\", &%.*s, sizeof %.*s);\n",
                   NAME_ARGS(module), NAME_ARGS(field), NAME_ARGS(field), NAME_ARGS(field));
}

/* Runs when the main chares exist: they may set the variables that lengths depend on. */
void emit_readonly_lengths(struct writer *to, const struct ast_field *field)
{
    if (emit_data_is_string(field)) {
        writer_put(to, "    %.*s__bytes = skuac_string_bytes(%.*s);\n", NAME_ARGS(field),
                   NAME_ARGS(field));
    } else if (field->variable) {
        writer_put(to, "    %.*s__bytes = %.*s ? sizeof *%.*s * (size_t)(\n", NAME_ARGS(field),
                   NAME_ARGS(field), NAME_ARGS(field));
        writer_put_code(to, field->dimensions->length);
        writer_put(to, "    ) : 0;\n");
    }
}

/* ---- states ------------------------------------------------------------------------------- */

void emit_state(struct emit_files to, const struct ast_class *class)
{
    if (!class->has_state)
        return;
    writer_put_comment(to.header, class->comment, 0);
    writer_put(to.header, "struct %.*s {\n", NAME_ARGS(class));
    emit_data_fields(to.header, class->state);
    if (!class->state)
        writer_put(to.header, "    char skua_nothing;\n");
    writer_put(to.header, "};\n\n");
    emit_data_length_functions(to.source, class->name.text, class->state);
}

/* Returns the constructor's parameter that initialises a field because it has the field's name. */
static const struct ast_parameter *emit_data_namesake(const struct ast_class *class,
                                                      const struct ast_field *field)
{
    const struct ast_entry     *constructor = emit_special_of(class, ENTRY_CONSTRUCTOR);
    const struct ast_parameter *p           = constructor ? constructor->parameters : NULL;

    for (; p; p = p->next)
        if (text_equal(p->name.text, field->name.text) &&
            (p->passing == PASS_VALUE || p->passing == PASS_ARRAY || p->passing == PASS_STRING ||
             p->passing == PASS_PACKED))
            return p;
    return NULL;
}

/* The memory of objects of a `bypointer' class is in the arena. */
static const char *emit_data_alloc_function(const struct ast_class *class, bool string)
{
    if (class->attributes & CLASS_BY_POINTER)
        return string ? "skuac_shared_string" : "skuac_shared_array";
    return string ? "skuac_state_string" : "skuac_state_array";
}

/* Emits the copy of the constructor's array argument @p from: as many elements as both have.  The
 * assignment of its address lets the compiler reject elements of another type. */
static void emit_data_array_copy(struct writer          *to, const struct ast_class *class,
                                 const struct ast_field *field, const struct ast_parameter *from)
{
    const struct ast_entry  *constructor = emit_special_of(class, ENTRY_CONSTRUCTOR);
    const struct source_code name        = {from->name.text, from->name.location};

    writer_put(to, "    {\n        const __typeof__(*self->%.*s) *skua_from =\n", NAME_ARGS(field));
    writer_put_code(to, name);
    writer_put(to, "        ;\n        size_t skua_given = (size_t)");
    emit_length_call(to, emit_stem_of(class, constructor), constructor, from, "skua_args.");
    if (field->variable)
        writer_put(to, ";\n        size_t skua_count = (size_t)%.*s__%.*s_length(self);\n\n",
                   NAME_ARGS(class), NAME_ARGS(field));
    else
        writer_put(to, ";\n        size_t skua_count = sizeof self->%.*s / sizeof *skua_from;\n\n",
                   NAME_ARGS(field));
    writer_put(to,
               "        skuac_copy(self->%.*s, skua_from, (skua_given < skua_count ? skua_given : "
               "skua_count) * sizeof *skua_from);\n    }\n",
               NAME_ARGS(field));
}

static void emit_data_array_default(struct writer          *to, const struct ast_class *class,
                                    const struct ast_field *field, const struct ast_parameter *from)
{
    writer_put(to,
               "    self->%.*s = " CAST_LIKE(
                   "self->%.*s") "%s(\"%.*s.%.*s\", "
                                 "%.*s__%.*s_length(self), sizeof *self->%.*s);\n",
               NAME_ARGS(field), NAME_ARGS(field), emit_data_alloc_function(class, false),
               NAME_ARGS(class), NAME_ARGS(field), NAME_ARGS(class), NAME_ARGS(field),
               NAME_ARGS(field));
    if (from && from->passing == PASS_ARRAY)
        emit_data_array_copy(to, class, field, from);
}

/* A value in braces initialises a temporary; any other value is assigned. */
void emit_assignment(struct writer *to, const char *target, const struct ast_field *field,
                     const char *copy)
{
    bool braces = text_starts_with(field->value.text, "{");

    if (braces) {
        writer_put(to, "    {\n        ");
        emit_type(to, field->type, field->stars);
        writer_put(to, "skua_value =\n");
    } else {
        writer_put(to, "    %s = %s%s\n", target, emit_data_is_string(field) ? copy : "",
                   emit_data_is_string(field) ? "(" : "");
    }
    writer_put_code(to, field->value);
    if (braces)
        writer_put(to, "        ;\n        %s = skua_value;\n    }\n", target);
    else
        writer_put(to, "    %s;\n", emit_data_is_string(field) ? ")" : "");
}

static void emit_data_value_default(struct writer          *to, const struct ast_class *class,
                                    const struct ast_field *field, const struct ast_parameter *from)
{
    const char *copy = emit_data_alloc_function(class, true);

    if (field->value.text.at)
        emit_assignment(to, bump_printf("self->%.*s", NAME_ARGS(field)), field, copy);
    else if (from && emit_data_is_string(field))
        writer_put(to, "    self->%.*s = %s(%.*s);\n", NAME_ARGS(field), copy, NAME_ARGS(field));
    else if (from && from->passing == PASS_PACKED)
        writer_put(to, "    skuac_take(&self->%.*s, %.*s, sizeof self->%.*s);\n", NAME_ARGS(field),
                   NAME_ARGS(field), NAME_ARGS(field));
    else if (from && from->passing != PASS_ARRAY)
        writer_put(to, "    self->%.*s = %.*s;\n", NAME_ARGS(field), NAME_ARGS(field));
}

/* `int end[2] = {1, 2};` */
static void emit_data_array_value(struct writer *to, const struct ast_field *field)
{
    writer_put(to, "    {\n        static const ");
    emit_data_declaration(to, field);
    writer_put(to, " =\n");
    writer_put_code(to, field->value);
    writer_put(to, "        ;\n        memcpy(self->%.*s, %.*s, sizeof self->%.*s);\n    }\n",
               NAME_ARGS(field), NAME_ARGS(field), NAME_ARGS(field));
}

void emit_state_defaults(struct writer *to, const struct ast_class *class)
{
    for (const struct ast_field *field = class->state; field; field = field->next) {
        const struct ast_parameter *from = emit_data_namesake(class, field);

        if (field->variable)
            emit_data_array_default(to, class, field, from);
        else if (field->dimensions && field->value.text.at)
            emit_data_array_value(to, field);
        else if (field->dimensions && from && from->passing == PASS_ARRAY)
            emit_data_array_copy(to, class, field, from);
        else if (!field->dimensions)
            emit_data_value_default(to, class, field, from);
    }
}

bool emit_default_mentions(const struct ast_class *class, const struct ast_parameter *parameter)
{
    for (const struct ast_field *field = class->state; field; field = field->next)
        if ((field->value.text.at && ident_is_mentioned(field->value, parameter->name.text)) ||
            (emit_data_namesake(class, field) == parameter && !field->value.text.at))
            return true;
    return false;
}

void emit_state_free(struct writer *to, const struct ast_class *class)
{
    emit_data_free(to, class->name.text, "self", class->state,
                   class->attributes & CLASS_BY_POINTER ? "skua_buffer_free" : "free");
}

void emit_state_pup(struct writer *to, const struct ast_class *class)
{
    emit_data_pup(to, class->name.text, "self", class->state);
}
