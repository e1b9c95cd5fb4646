/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_class.c - classes: their types, references to objects, the functions that the runtime calls
 * to construct, destroy and migrate them, and their registration.
 */
#include "emit/emit_parts.h"

#include "support/bump.h"

static bool emit_class_is_single(const struct ast_class *class)
{
    return class->kind == CLASS_CHARE || class->kind == CLASS_MAINCHARE;
}

/* Returns whether objects can be packed. */
static bool emit_class_has_pup(const struct ast_class *class)
{
    return class->has_state || class->attributes & (CLASS_MIGRATABLE | CLASS_BY_POINTER);
}

/* ---- types -------------------------------------------------------------------------------- */

/* Emits a type that wraps a handle of the runtime. */
static void emit_class_handle(struct writer *to, const struct ast_class *class, const char *what,
                              const char *member, const char *header, const char *suffix)
{
    writer_put(to,
               "/** A reference to %s of %.*s. */\ntypedef struct {\n    %s; /* for the functions "
               "of skua/%s.h */\n"
               "} %.*s_%s;\n\n",
               what, NAME_ARGS(class), member, header, NAME_ARGS(class), suffix);
}

void emit_class_types(struct emit_files to, const struct ast_class *class)
{
    if (class->kind == CLASS_INTERFACE) {
        emit_interface_types(to.header, class);
        return;
    }
    writer_put(to.header, "typedef struct %.*s %.*s;\n\n", NAME_ARGS(class), NAME_ARGS(class));
    if (emit_class_is_single(class)) {
        emit_class_handle(to.header, class, "an object", "skua_ref ref", "object", "proxy");
        return;
    }
    emit_class_handle(to.header, class, "all objects", "skua_collection all", "collection",
                      "proxy");
    emit_class_handle(to.header, class, "one object", "skua_ref ref", "object", "element");
    emit_class_handle(to.header, class, "a section", "skua_section section", "section", "section");
}

/* ---- references --------------------------------------------------------------------------- */

/* Emits the copies of the members of a struct, without its padding. */
static void emit_class_index_members(struct writer *to, const struct ast_record *record,
                                     const char *path)
{
    for (const struct ast_field *field = record->fields; field; field = field->next) {
        const char *member = bump_printf("%s.%.*s", path, NAME_ARGS(field));

        if (field->record && !field->dimensions)
            emit_class_index_members(to, field->record, member);
        else
            writer_put(to, "    memcpy(&skua_which%s, &skua_from%s, sizeof skua_which%s);\n",
                       member, member, member);
    }
}

/* Emits statements that clear the padding of an index, since elements are found by its bytes.  A
 * compiler without a builtin for it can do so for a struct of an interface file. */
static void emit_class_clear_padding(struct writer *to, const struct ast_class *class)
{
    const struct ast_record *record = class->index_record;

    if (!record) {
        writer_put(to, "    SKUAC_CLEAR_PADDING(&skua_which);\n");
        return;
    }
    writer_put(to,
               "#if SKUAC_CLEARS_PADDING\n    SKUAC_CLEAR_PADDING(&skua_which);\n#else\n"
               "    const %.*s skua_from = skua_which;\n\n"
               "    memset(&skua_which, 0, sizeof skua_which);\n",
               TEXT_ARGS(class->index.text));
    emit_class_index_members(to, record, "");
    writer_put(to, "#endif\n");
}

static void emit_class_at(struct writer *to, const struct ast_class *class)
{
    writer_put(to,
               "/** Returns a reference to the object of %s, which need not exist. */\n"
               "static inline %.*s_element %.*s_at(%.*s_proxy skua_in, ",
               class->kind == CLASS_ARRAY   ? "an index"
               : class->kind == CLASS_GROUP ? "a PE"
                                            : "a process",
               NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class));
    if (class->kind != CLASS_ARRAY) {
        writer_put(to,
                   "int skua_number)\n{\n    %.*s_element skuac_found = {skua_member(skua_in.all, "
                   "skua_number)};\n\n    return skuac_found;\n}\n\n",
                   NAME_ARGS(class));
    } else if (class->dims > 0) {
        emit_axes(to, class->dims, "int ", "skua_");
        writer_put(to,
                   ")\n{\n    %.*s_element skuac_found = {skua_element(skua_in.all, skua_index%u(",
                   NAME_ARGS(class), class->dims);
        emit_axes(to, class->dims, "", "skua_");
        writer_put(to, "))};\n\n    return skuac_found;\n}\n\n");
    } else {
        writer_put(to, "%.*s skua_which)\n{\n    %.*s_element skuac_found;\n",
                   TEXT_ARGS(class->index.text), NAME_ARGS(class));
        emit_class_clear_padding(to, class);
        writer_put(to,
                   "\n    SKUA_STATIC_ASSERT(sizeof skua_which <= SKUA_INDEX_MAX, "
                   "\"an index has at most SKUA_INDEX_MAX bytes\");\n"
                   "    skuac_found.ref = skua_element(skua_in.all, skua_index_bytes(&skua_which, "
                   "sizeof skua_which));\n    return skuac_found;\n}\n\n");
    }
}

/* Emits the function that returns the index of an object: an int, a struct, or the index type. */
static void emit_class_index(struct writer *to, const struct ast_class *class)
{
    if (class->kind != CLASS_ARRAY || class->dims == 1) {
        writer_put(to,
                   "/** Returns the index of an object. */\n"
                   "static inline int %.*s_index(const %.*s *self)\n{\n"
                   "    return skua_index_of(self).at.x[0];\n}\n\n",
                   NAME_ARGS(class), NAME_ARGS(class));
    } else if (class->dims > 0) {
        writer_put(
            to,
            "/** The index of an object, one member per dimension. */\ntypedef struct {\n    int ");
        emit_axes(to, class->dims, "", "");
        writer_put(to, ";\n} %.*s_position;\n\n", NAME_ARGS(class));
        writer_put(to,
                   "/** Returns the index of an object. */\n"
                   "static inline %.*s_position %.*s_index(const %.*s *self)\n{\n"
                   "    skua_index skua_at = skua_index_of(self);\n"
                   "    %.*s_position skuac_found = {",
                   NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class));
        for (unsigned d = 0; d < class->dims; d++)
            writer_put(to, "%sskua_at.at.x[%u]", d > 0 ? ", " : "", d);
        writer_put(to, "};\n\n    return skuac_found;\n}\n\n");
    } else {
        writer_put(to,
                   "/** Returns the index of an object. */\n"
                   "static inline %.*s %.*s_index(const %.*s *self)\n{\n"
                   "    skua_index skua_at = skua_index_of(self);\n    %.*s skua_which;\n\n"
                   "    memcpy(&skua_which, skua_at.at.raw, sizeof skua_which);\n"
                   "    return skua_which;\n}\n\n",
                   TEXT_ARGS(class->index.text), NAME_ARGS(class), NAME_ARGS(class),
                   TEXT_ARGS(class->index.text));
    }
}

static void emit_class_references(struct writer *to, const struct ast_class *class)
{
    const char *element = emit_element_type(class);

    writer_put(to,
               "/** Returns a reference to an object, which can be sent to others. */\n"
               "static inline %s %.*s_self(const %.*s *self)\n{\n"
               "    %s skua_it = {skua_ref_of(self)};\n\n    return skua_it;\n}\n\n",
               element, NAME_ARGS(class), NAME_ARGS(class), element);
    writer_put(to,
               "/** Returns the object if it is on this PE, else NULL.  The pointer is valid until "
               "the caller\n"
               " *  returns to the scheduler or waits. */\n"
               "static inline %.*s *%.*s_here(%s skua_to)\n{\n    return "
               "(%.*s *)skua_object_local(skua_to.ref);\n}\n\n",
               NAME_ARGS(class), NAME_ARGS(class), element, NAME_ARGS(class));
    if (emit_class_is_single(class))
        return;
    writer_put(
        to,
        "/** Returns the collection that an object belongs to. */\n"
        "static inline %.*s_proxy %.*s_of(const %.*s *self)\n{\n"
        "    %.*s_proxy skua_all = {skua_collection_of(self)};\n\n    return skua_all;\n}\n\n",
        NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class));
    emit_class_at(to, class);
    emit_class_index(to, class);
    writer_put(to,
               "/** Creates a section of the objects with the given indices, for multicasts and "
               "reductions. */\n"
               "static inline %.*s_section %.*s_section_of(%.*s_proxy skua_in, const skua_index "
               "*skua_indices, "
               "size_t skua_count)\n{\n"
               "    %.*s_section skua_some = {skua_section_create(skua_in.all, skua_indices, "
               "skua_count)};\n\n    return skua_some;\n}\n\n",
               NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class));
}

/* ---- functions that the runtime calls -------------------------------------------------------- */

/* Emits the declaration of `self`. */
static void emit_class_self(struct writer *to, const struct ast_class *class)
{
    writer_put(to, "    %.*s *self = (%.*s *)skua_object;\n", NAME_ARGS(class), NAME_ARGS(class));
}

/* Emits the constructor's parameters that initial values of the state use. */
static void emit_class_constructor_names(struct writer          *to, const struct ast_class *class,
                                         const struct ast_entry *constructor)
{
    for (const struct ast_parameter *p = constructor->parameters; p; p = p->next)
        if (emit_default_mentions(class, p)) {
            writer_put(to, "    ");
            emit_const_parameter(to, p);
            writer_put(to, " = ");
            if (p->passing == PASS_MESSAGE)
                writer_put(to, "skua_args");
            else
                emit_received_value(to, constructor, p);
            writer_put(to, ";\n");
        }
}

/* Returns whether the constructor only gives the fields their initial values. */
static bool emit_class_constructs_nothing(const struct ast_entry *constructor)
{
    const struct ast_statement *body = constructor->body;

    return body && body->kind == STATEMENT_BLOCK && !body->body;
}

static void emit_class_constructor_call(struct writer          *to, const struct ast_class *class,
                                        const struct ast_entry *constructor)
{
    if (emit_class_constructs_nothing(constructor)) {
        if (emit_copies_message(constructor))
            writer_put(to, "    skua_msg_free(skua_packed);\n");
        return;
    }
    if (constructor->body) {
        writer_put(to, "    skuac_flow_begin(&%.*s__flow, self, &%s_type, %s);\n", NAME_ARGS(class),
                   emit_stem_of(class, constructor),
                   emit_copies_message(constructor) ? "skuac_arrival_of(skua_packed)"
                                                    : "skuac_arrival_from(skua_data, skua_bytes)");
        return;
    }
    writer_put(to, "    %.*s_on_create(self", NAME_ARGS(class));
    if (emit_marshal_format_of(constructor) == MARSHAL_MESSAGE)
        writer_put(to, ", skua_args");
    else
        emit_received_values(to, constructor);
    writer_put(to, ");\n");
}

/* What happens to a member of a group, for the binding of its streams. */
enum emit_class_binding { BINDING_BEGINS, BINDING_ENDS, BINDING_MAY_BE_RESTORED };

/* Emits the binding of the class's streams to `self`, a member of a group. */
static void emit_class_stream_binding(struct writer          *to, const struct ast_class *class,
                                      enum emit_class_binding binding)
{
    for (const struct ast_entry *entry = class->entries; entry; entry = entry->next) {
        const char *stem = emit_stem_of(class, entry);

        if (!(entry->attributes & ATTRIBUTE_AGGREGATE) || class->kind == CLASS_ARRAY)
            continue;
        if (binding == BINDING_MAY_BE_RESTORED)
            writer_put(to, "    if (skua_pup_unpacking(skua_p))\n    ");
        if (binding == BINDING_ENDS)
            writer_put(to, "    skua_stream_bind(%s_stream, NULL);\n", stem);
        else
            writer_put(
                to, "    skua_stream_bind_member(%s_stream, skua_collection_of(self).id, self);\n",
                stem);
    }
}

static void emit_class_construct(struct writer *to, const struct ast_class *class)
{
    const struct ast_entry *constructor = emit_special_of(class, ENTRY_CONSTRUCTOR);
    bool                    args        = constructor && constructor->parameters;

    writer_put(to,
               "static void %.*s__construct(void *skua_object, const void *skua_data, size_t "
               "skua_bytes)\n{\n",
               NAME_ARGS(class));
    emit_class_self(to, class);
    if (args && emit_marshal_format_of(constructor) == MARSHAL_MESSAGE)
        emit_message_open(to, class, constructor);
    else if (args)
        emit_open_call(to, class, constructor, "skua_args", "skua_data", "skua_bytes");
    if (args) {
        emit_packed_hold_all(to, class, constructor);
        emit_class_constructor_names(to, class, constructor);
    }
    writer_put(to, "\n");
    emit_class_stream_binding(to, class, BINDING_BEGINS);
    emit_state_defaults(to, class);
    if (constructor)
        emit_class_constructor_call(to, class, constructor);
    writer_put(to, "    (void)self, (void)skua_data, (void)skua_bytes%s;\n}\n\n",
               args ? ", (void)skua_args" : "");
}

static void emit_class_destroy(struct writer *to, const struct ast_class *class)
{
    writer_put(to, "static void %.*s__destroy(void *skua_object)\n{\n", NAME_ARGS(class));
    emit_class_self(to, class);
    writer_put(to, "\n");
    if (emit_special_of(class, ENTRY_DESTRUCTOR))
        writer_put(to, "    %.*s_on_destroy(self);\n", NAME_ARGS(class));
    emit_class_stream_binding(to, class, BINDING_ENDS);
    emit_state_free(to, class);
    if (emit_has_flow(class))
        writer_put(to, "    skuac_flow_destroy(&%.*s__flow, self);\n", NAME_ARGS(class));
    writer_put(to, "    (void)self;\n}\n\n");
}

static void emit_class_pup(struct writer *to, const struct ast_class *class)
{
    if (!emit_class_has_pup(class))
        return;
    writer_put(to, "static void %.*s__pup(skua_pup *skua_p, void *skua_object)\n{\n",
               NAME_ARGS(class));
    emit_class_self(to, class);
    writer_put(to, "\n");
    if (class->has_state)
        emit_state_pup(to, class);
    else
        writer_put(to, "    %.*s_on_pup(skua_p, self);\n", NAME_ARGS(class));
    if (emit_has_flow(class))
        writer_put(to, "    skuac_flow_pup(&%.*s__flow, skua_p, self);\n", NAME_ARGS(class));
    emit_class_stream_binding(to, class, BINDING_MAY_BE_RESTORED);
    writer_put(to, "    (void)skua_p, (void)self;\n}\n\n");
}

static void emit_class_moved(struct writer *to, const struct ast_class *class)
{
    if (!(class->attributes & CLASS_MOVED))
        return;
    writer_put(to, "static void %.*s__moved(void *skua_object)\n{\n", NAME_ARGS(class));
    emit_class_self(to, class);
    writer_put(to, "\n    %.*s_on_moved(self);\n}\n\n", NAME_ARGS(class));
}

/* ---- functions that the user defines ------------------------------------------------------ */

static bool emit_class_is_user_function(const struct ast_entry *entry)
{
    return !entry->body && !entry->awaited;
}

static void emit_class_user_function(struct writer          *to, const struct ast_class *class,
                                     const struct ast_entry *entry)
{
    if (entry->kind == ENTRY_CONSTRUCTOR) {
        writer_put(to, "void %.*s_on_create(%.*s *self", NAME_ARGS(class), NAME_ARGS(class));
    } else if (entry->kind == ENTRY_DESTRUCTOR) {
        writer_put(to, "void %.*s_on_destroy(%.*s *self", NAME_ARGS(class), NAME_ARGS(class));
    } else {
        emit_result_type(to, entry);
        writer_put(to, "%.*s_on_%.*s(%.*s *self", NAME_ARGS(class), NAME_ARGS(entry),
                   NAME_ARGS(class));
    }
    emit_received_parameters(to, entry);
    writer_put(to, ");\n");
}

/* Emits the prototypes of all functions of the user that the class calls. */
static void emit_class_user_functions(struct writer *to, const struct ast_class *class)
{
    for (const struct ast_entry *entry = class->entries; entry; entry = entry->next)
        if (emit_class_is_user_function(entry))
            emit_class_user_function(to, class, entry);
    for (const struct ast_entry *entry = class->entries; entry; entry = entry->next)
        if (emit_has_post(entry)) {
            emit_post_head(to, class, entry);
            writer_put(to, ";\n");
        } else if (emit_has_inplace(entry)) {
            emit_land_head(to, class, entry);
            writer_put(to, ";\n");
        }
    for (const struct ast_entry *entry = class->entries; entry; entry = entry->next) {
        if (entry->attributes & ATTRIBUTE_POSITION)
            writer_put(to, "void %.*s_on_position(const %.*s *self, double xyz[3]);\n",
                       NAME_ARGS(class), NAME_ARGS(class));
        if (entry->attributes & ATTRIBUTE_LOAD)
            writer_put(to, "double %.*s_on_load(const %.*s *self);\n", NAME_ARGS(class),
                       NAME_ARGS(class));
    }
    if (emit_class_has_pup(class) && !class->has_state)
        writer_put(to, "void %.*s_on_pup(skua_pup *p, %.*s *self);\n", NAME_ARGS(class),
                   NAME_ARGS(class));
    if (class->attributes & CLASS_MOVED)
        writer_put(to, "void %.*s_on_moved(%.*s *self);\n", NAME_ARGS(class), NAME_ARGS(class));
    writer_put(to, "\n");
}

/* ---- classes ------------------------------------------------------------------------------ */

/* Emits the handles of the class and its entries. */
static void emit_class_ids(struct emit_files to, const struct ast_class *class)
{
    writer_put(to.header, "extern skua_class %.*s__class;\n", NAME_ARGS(class));
    writer_put(to.source, "skua_class %.*s__class;\n", NAME_ARGS(class));
    for (const struct ast_entry *entry = class->entries; entry; entry = entry->next) {
        bool stream = entry->attributes & ATTRIBUTE_AGGREGATE;

        if (entry->kind != ENTRY_METHOD || entry->attributes & ATTRIBUTE_LOCAL)
            continue;
        if (stream)
            writer_put(to.source, "static skua_stream %s_stream;\n", emit_stem_of(class, entry));
        if (stream && class->kind != CLASS_ARRAY)
            continue;
        writer_put(to.header, "extern skua_entry %s_entry;\n", emit_stem_of(class, entry));
        writer_put(to.source, "skua_entry %s_entry;\n", emit_stem_of(class, entry));
    }
    writer_put(to.header, "\n");
    writer_put(to.source, "\n");
}

/* A class without state needs a struct of the user's.  If that is missing, the compiler's first
 * error quotes this line. */
static void emit_class_struct_check(struct writer *to, const struct ast_class *class)
{
    if (!class->has_state)
        writer_put(
            to,
            "enum { %.*s__bytes = sizeof(%.*s) }; /* no `state': define struct %.*s in an "
            "included header */\n\n"
            "SKUA_STATIC_ASSERT(SKUA_ALIGNOF(%.*s) <= 16, \"%.*s has an alignment of more than "
            "16 bytes, which objects do not have\");\n\n",
            NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class),
            NAME_ARGS(class));
}

static void emit_class_headline(struct emit_files to, const struct ast_class *class)
{
    writer_put(to.header, "/* ---- %.*s ---- */\n\n", NAME_ARGS(class));
    writer_put(to.source, "/* ---- %.*s ---- */\n\n", NAME_ARGS(class));
}

/* Emits the functions of the runtime's types that call those of the user on position and load. */
static void emit_class_told(struct writer *to, const struct ast_class *class)
{
    for (const struct ast_entry *entry = class->entries; entry; entry = entry->next) {
        if (entry->attributes & ATTRIBUTE_POSITION)
            writer_put(to,
                       "static void %.*s__position(const void *self, double xyz[3])\n{\n"
                       "    %.*s_on_position((const %.*s *)self, xyz);\n}\n\n",
                       NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class));
        if (entry->attributes & ATTRIBUTE_LOAD)
            writer_put(to,
                       "static double %.*s__load(const void *self)\n{\n"
                       "    return %.*s_on_load((const %.*s *)self);\n}\n\n",
                       NAME_ARGS(class), NAME_ARGS(class), NAME_ARGS(class));
    }
}

void emit_class(struct emit_files to, const struct ast_class *class)
{
    emit_class_headline(to, class);
    if (class->kind != CLASS_INTERFACE)
        emit_class_struct_check(to.source, class);
    for (const struct ast_entry *entry = class->entries; entry; entry = entry->next)
        emit_marshalling(to, class, entry);
    if (class->kind == CLASS_INTERFACE) {
        emit_interface(to.source, class);
    } else {
        emit_class_ids(to, class);
        emit_class_references(to.header, class);
        emit_creation(to, class);
        emit_interface_casts(to, class);
    }
    for (const struct ast_entry *entry = class->entries; entry; entry = entry->next)
        emit_sends(to, class, entry);
    if (class->kind == CLASS_INTERFACE)
        return;
    emit_class_user_functions(to.header, class);
    emit_class_flow(to, class);
    for (const struct ast_entry *entry = class->entries; entry; entry = entry->next)
        emit_dispatch(to, class, entry);
    emit_class_construct(to.source, class);
    emit_class_destroy(to.source, class);
    emit_class_pup(to.source, class);
    emit_class_moved(to.source, class);
    emit_class_told(to.source, class);
}

/* Emits the parameters of the registration of a class that migrates, other than its functions. */
static void emit_class_migration(struct writer *to, const struct ast_class *class)
{
    if (emit_class_has_pup(class))
        writer_put(to, "        skua_def.pup = %.*s__pup;\n", NAME_ARGS(class));
    if (class->attributes & CLASS_MOVED)
        writer_put(to, "        skua_def.moved = %.*s__moved;\n", NAME_ARGS(class));
    if (class->attributes & CLASS_BY_POINTER)
        writer_put(to, "        skua_def.flags = SKUA_CLASS_BY_POINTER;\n");
}

/* Emits the load balancing parameters of a class, if an entry resumes its elements. */
static void emit_class_balance(struct writer *to, const struct ast_class *class)
{
    for (const struct ast_entry *entry = class->entries; entry; entry = entry->next) {
        if (!(entry->attributes & ATTRIBUTE_RESUME))
            continue;
        writer_put(to,
                   "    {\n        skua_balance_params skua_balance;\n\n"
                   "        memset(&skua_balance, 0, sizeof skua_balance);\n"
                   "        skua_balance.size = sizeof skua_balance;\n"
                   "        skua_balance.flags = SKUA_BALANCE_AT_SYNC;\n"
                   "        skua_balance.resume = %s_entry;\n",
                   emit_stem_of(class, entry));
        if (entry->attributes & ATTRIBUTE_POSITION)
            writer_put(to, "        skua_balance.position = %.*s__position;\n", NAME_ARGS(class));
        if (entry->attributes & ATTRIBUTE_LOAD)
            writer_put(to, "        skua_balance.load = %.*s__load;\n", NAME_ARGS(class));
        writer_put(to, "        skua_class_set_balance(%.*s__class, &skua_balance);\n    }\n",
                   NAME_ARGS(class));
    }
}

void emit_class_registration(struct writer *to, const struct ast_class *class)
{
    if (class->kind == CLASS_INTERFACE)
        return;
    writer_put(to,
               "    {\n        skua_class_def skua_def;\n\n"
               "        memset(&skua_def, 0, sizeof skua_def);\n"
               "        skua_def.size = sizeof skua_def;\n"
               "        skua_def.name = \"%.*s\";\n        skua_def.bytes = ",
               NAME_ARGS(class));
    if (emit_has_flow(class))
        writer_put(to, "SKUAC_FLOW_BYTES(sizeof(%.*s), %u);\n", NAME_ARGS(class),
                   class->awaited_entries);
    else
        writer_put(to, "sizeof(%.*s);\n", NAME_ARGS(class));
    writer_put(to,
               "        skua_def.construct = %.*s__construct;\n"
               "        skua_def.destroy = %.*s__destroy;\n",
               NAME_ARGS(class), NAME_ARGS(class));
    emit_class_migration(to, class);
    writer_put(to, "        %.*s__class = skua_class_register(&skua_def);\n", NAME_ARGS(class));
    if (emit_has_flow(class))
        writer_put(to, "        skuac_flow_register(&%.*s__flow, %.*s__class);\n", NAME_ARGS(class),
                   NAME_ARGS(class));
    writer_put(to, "    }\n");
    for (const struct ast_entry *entry = class->entries; entry; entry = entry->next)
        emit_entry_registration(to, class, entry);
    for (const struct ast_base *base = class->bases; base; base = base->next)
        emit_interface_registration(to, class, base);
    emit_class_balance(to, class);
}
