/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_class.c - classes: their types, how objects are made and found, what the runtime calls
 * when they begin, end and move.
 */
#include "emit_parts.h"

#include "arena.h"

static bool is_single(const struct class *class)
{
    return class->kind == CLASS_CHARE || class->kind == CLASS_MAINCHARE;
}

static struct entry *destructor_of(const struct class *class)
{
    for (struct entry *entry = class->entries; entry; entry = entry->next)
        if (entry->kind == ENTRY_DESTRUCTOR)
            return entry;
    return NULL;
}

/* Whether its objects can be packed. */
static bool has_pup(const struct class *class)
{
    return (class->has_state || class->migratable) && class->kind != CLASS_MAINCHARE;
}

/* ---- types ----------------------------------------------------------------------------------- */

/* An interface: a reference to an object, and which class it has. */
static void put_interface_types(struct writer *to, const struct class *class)
{
    put(to,
        "/** An object of any class that has the interface %.*s. */\n"
        "typedef struct {\n    skua_ref ref; /* for the functions of skua/object.h */\n"
        "    uint32_t of;  /* which of its classes */\n"
        "} %.*s_element;\n\n",
        NAME(class), NAME(class));
    put(to, "struct %.*s__table {\n", NAME(class));
    for (const struct entry *entry = class->entries; entry; entry = entry->next)
        put(to, "    skua_entry %.*s;\n", NAME(entry));
    if (!class->entries)
        put(to, "    char skua_nothing;\n");
    put(to,
        "};\n\n"
        "const struct %.*s__table *%.*s__table_of(%.*s_element skua_to);\n"
        "uint32_t %.*s__add(const struct %.*s__table *skua_table);\n\n",
        NAME(class), NAME(class), NAME(class), NAME(class), NAME(class));
}

/* A type around a handle of the runtime. */
static void put_handle(struct writer *to, const struct class *class, const char *what,
                       const char *member, const char *header, const char *suffix)
{
    put(to,
        "/** %s of %.*s. */\ntypedef struct {\n    %s; /* for the functions of skua/%s.h */\n"
        "} %.*s_%s;\n\n",
        what, NAME(class), member, header, NAME(class), suffix);
}

void emit_class_types(struct files to, const struct class *class)
{
    if (class->kind == CLASS_INTERFACE) {
        put_interface_types(to.header, class);
        return;
    }
    put(to.header, "typedef struct %.*s %.*s;\n\n", NAME(class), NAME(class));
    if (is_single(class)) {
        put_handle(to.header, class, "An object", "skua_ref ref", "object", "proxy");
        return;
    }
    put_handle(to.header, class, "All objects", "skua_collection all", "collection", "proxy");
    put_handle(to.header, class, "One object", "skua_ref ref", "object", "element");
    put_handle(to.header, class, "Some objects", "skua_section section", "section", "section");
}

/* ---- references -------------------------------------------------------------------------------
 */

static const char *const axis[] = {"i", "j", "k", "l", "m", "n"};

/* `int i, int j`, each with @p before. */
static void put_axes(struct writer *to, unsigned dims, const char *before, const char *prefix)
{
    for (unsigned d = 0; d < dims; d++)
        put(to, "%s%s%s%s", d > 0 ? ", " : "", before, prefix, axis[d]);
}

static void put_at(struct writer *to, const struct class *class)
{
    put(to,
        "/** The object of %s, whether there is one or not. */\n"
        "static inline %.*s_element %.*s_at(%.*s_proxy skua_in, ",
        class->kind == CLASS_ARRAY   ? "an index"
        : class->kind == CLASS_GROUP ? "a PE"
                                     : "a process",
        NAME(class), NAME(class), NAME(class));
    if (class->kind != CLASS_ARRAY) {
        put(to,
            "int skua_number)\n{\n    %.*s_element skua_found = {skua_member(skua_in.all, "
            "skua_number)};\n\n    return skua_found;\n}\n\n",
            NAME(class));
    } else if (class->dims > 0) {
        put_axes(to, class->dims, "int ", "skua_");
        put(to, ")\n{\n    %.*s_element skua_found = {skua_element(skua_in.all, skua_index%u(",
            NAME(class), class->dims);
        put_axes(to, class->dims, "", "skua_");
        put(to, "))};\n\n    return skua_found;\n}\n\n");
    } else {
        put(to,
            "%.*s skua_which)\n{\n    %.*s_element skua_found = {skua_element(skua_in.all, "
            "skua_index_bytes(&skua_which, sizeof skua_which))};\n\n"
            "    SKUA_STATIC_ASSERT(sizeof skua_which <= SKUA_INDEX_MAX, "
            "\"an index has at most SKUA_INDEX_MAX bytes\");\n"
            "    return skua_found;\n}\n\n",
            TEXT(class->index.text), NAME(class));
    }
}

/* The index of an object: a number, a few, or what the array is indexed by. */
static void put_index(struct writer *to, const struct class *class)
{
    if (class->kind != CLASS_ARRAY || class->dims == 1) {
        put(to,
            "/** The index of an object. */\n"
            "static inline int %.*s_index(const %.*s *self)\n{\n"
            "    return skua_index_of(self).at.x[0];\n}\n\n",
            NAME(class), NAME(class));
    } else if (class->dims > 0) {
        put(to, "/** The index of an object, by dimensions. */\ntypedef struct {\n    int ");
        put_axes(to, class->dims, "", "");
        put(to, ";\n} %.*s_position;\n\n", NAME(class));
        put(to,
            "/** The index of an object. */\n"
            "static inline %.*s_position %.*s_index(const %.*s *self)\n{\n"
            "    skua_index skua_at = skua_index_of(self);\n"
            "    %.*s_position skua_found = {",
            NAME(class), NAME(class), NAME(class), NAME(class));
        for (unsigned d = 0; d < class->dims; d++)
            put(to, "%sskua_at.at.x[%u]", d > 0 ? ", " : "", d);
        put(to, "};\n\n    return skua_found;\n}\n\n");
    } else {
        put(to,
            "/** The index of an object. */\n"
            "static inline %.*s %.*s_index(const %.*s *self)\n{\n"
            "    skua_index skua_at = skua_index_of(self);\n    %.*s skua_which;\n\n"
            "    memcpy(&skua_which, skua_at.at.raw, sizeof skua_which);\n"
            "    return skua_which;\n}\n\n",
            TEXT(class->index.text), NAME(class), NAME(class), TEXT(class->index.text));
    }
}

static void put_references(struct writer *to, const struct class *class)
{
    const char *element = element_type(class);

    put(to,
        "/** The reference of an object, to be given to others. */\n"
        "static inline %s %.*s_self(const %.*s *self)\n{\n"
        "    %s skua_it = {skua_ref_of(self)};\n\n    return skua_it;\n}\n\n",
        element, NAME(class), NAME(class), element);
    put(to,
        "/** The object itself if it lives on this PE, else NULL.  It is good until the caller\n"
        " *  returns to the scheduler or waits. */\n"
        "static inline %.*s *%.*s_here(%s skua_to)\n{\n    return "
        "(%.*s *)skua_object_here(skua_to.ref);\n}\n\n",
        NAME(class), NAME(class), element, NAME(class));
    if (is_single(class))
        return;
    put(to,
        "/** The collection that an object belongs to. */\n"
        "static inline %.*s_proxy %.*s_of(const %.*s *self)\n{\n"
        "    %.*s_proxy skua_all = {skua_collection_of(self)};\n\n    return skua_all;\n}\n\n",
        NAME(class), NAME(class), NAME(class), NAME(class));
    put_at(to, class);
    put_index(to, class);
    put(to,
        "/** The objects of some indices, as one to send to and to reduce over. */\n"
        "static inline %.*s_section %.*s_section_of(%.*s_proxy skua_in, const skua_index "
        "*skua_indices, "
        "size_t skua_count)\n{\n"
        "    %.*s_section skua_some = {skua_section_create(skua_in.all, skua_indices, "
        "skua_count)};\n\n    return skua_some;\n}\n\n",
        NAME(class), NAME(class), NAME(class), NAME(class));
}

/* ---- creation ----------------------------------------------------------------------------------
 */

/* A function that creates: what it returns, what it is called, what it takes before the
 * arguments of the constructor, the call to which data and bytes are given, and statements that
 * come first. */
struct creation {
    const char *result, *name, *before, *call;
    const char *first;   /* or NULL       */
    const char *comment; /* in the header */
};

static void put_creation_head(struct writer      *to, const struct class *class,
                              const struct entry *constructor, const struct creation *creation)
{
    bool none = !constructor || !constructor->parameters;

    put(to, "%s%.*s_%s(%s", creation->result, NAME(class), creation->name, creation->before);
    if (!none)
        put_parameters(to, constructor, !*creation->before);
    put(to, none && !*creation->before ? "void)" : ")");
}

static void put_creation_body(struct writer      *to, const struct class *class,
                              const struct entry *constructor, const struct creation *creation)
{
    enum wire   wire  = constructor ? wire_of(constructor) : WIRE_NONE;
    bool        value = *creation->result != 'v';
    const char *type  = value ? arena_print("%.*s_proxy", NAME(class)) : "";
    const char *give  = value ? arena_print("%s skua_made = {", type) : "";
    const char *end   = value ? "}" : "";

    put(to, "%s", creation->first ? creation->first : "");
    if (wire == WIRE_NONE) {
        put(to, "    %s%sNULL, 0)%s;\n", give, creation->call, end);
    } else if (wire == WIRE_FIXED) {
        put(to, "    const struct %s skua_args = ", stem_of(class, constructor));
        put_initializer(to, constructor);
        put(to, ";\n\n    %s%s&skua_args, sizeof skua_args)%s;\n", give, creation->call, end);
    } else {
        put(to, "    skua_msg *skua_packed = ");
        if (wire == WIRE_MESSAGE) {
            put(to, "%.*s__message(%.*s);\n", NAME(constructor->parameters->message),
                NAME(constructor->parameters));
        } else {
            put(to, "%s_pack(", stem_of(class, constructor));
            put_arguments(to, constructor, true);
            put(to, ");\n");
        }
        put(to, "%s    %s%sskua_msg_data(skua_packed), skua_msg_size(skua_packed))%s;\n",
            value ? "" : "\n", give, creation->call, end);
        put(to, "%s    skua_msg_free(skua_packed);\n", value ? "\n" : "");
    }
    if (value)
        put(to, "    return skua_made;\n");
}

static void put_creation(struct files           to, const struct class *class,
                         const struct creation *creation)
{
    const struct entry *constructor = constructor_of(class);

    put(to.header, "/** %s */\n", creation->comment);
    put_creation_head(to.header, class, constructor, creation);
    put(to.header, ";\n");
    put_creation_head(to.source, class, constructor, creation);
    put(to.source, "\n{\n");
    put_creation_body(to.source, class, constructor, creation);
    put(to.source, "}\n\n");
}

/* Declares `skua_def`: an array of the sizes that are given, or one that begins empty. */
static void put_array_def(struct writer *to, const struct class *class)
{
    put(to,
        "    skua_array_def skua_def;\n\n    memset(&skua_def, 0, sizeof skua_def);\n"
        "    skua_def.dims = %u;\n",
        class->dims);
    if (class->dims == 0)
        put(to, "    skua_def.flags = SKUA_ARRAY_OPEN;\n");
    else
        put(to, "    skua_def.range.dims = %u;\n", class->dims);
    for (unsigned d = 0; d < class->dims; d++)
        put(to, "    skua_def.range.upper[%u] = skua_%s;\n", d, axis[d]);
    put(to, "\n");
}

static void emit_array_creation(struct files to, const struct class *class)
{
    const char     *proxy = arena_print("%.*s_proxy ", NAME(class));
    struct writer   sizes = {NULL, 0, 0}, first = {NULL, 0, 0};
    struct creation plain = {
        .result  = proxy,
        .name    = "new",
        .call    = arena_print("skua_array_create(%.*s__class, &skua_def, ", NAME(class)),
        .comment = class->dims > 0 ? "Create an array of these sizes; all its elements are made."
                                   : "Create an array without elements, which are inserted."};
    struct creation with = {
        .result  = proxy,
        .name    = "new_with",
        .before  = "const skua_array_def *skua_def",
        .call    = arena_print("skua_array_create(%.*s__class, skua_def, ", NAME(class)),
        .comment = "Create an array with bounds, a map and flags of one's own."};
    struct creation insert = {
        .result  = "void ",
        .name    = "insert",
        .before  = arena_print("%.*s_element skua_to, int skua_on", NAME(class)),
        .call    = "skua_array_insert(skua_to.ref, skua_on, ",
        .comment = "Create an element of an open array, on a PE or, by SKUA_ANY_PE, at its home."};

    put_axes(&sizes, class->dims, "int ", "skua_");
    put(&sizes, "%c", 0);
    put_array_def(&first, class);
    put(&first, "%c", 0);
    plain.before = sizes.at;
    plain.first  = first.at;
    put_creation(to, class, &plain);
    put_creation(to, class, &with);
    put_creation(to, class, &insert);
    writer_free(&sizes);
    writer_free(&first);
}

static void emit_chare_creation(struct files to, const struct class *class)
{
    const char     *proxy = arena_print("%.*s_proxy ", NAME(class));
    struct creation any   = {
          .result  = proxy,
          .name    = "new",
          .before  = "",
          .call    = arena_print("skua_chare_create(%.*s__class, SKUA_ANY_PE, ", NAME(class)),
          .comment = "Create a chare on a PE that has time for it."};
    struct creation on = {.result = proxy,
                          .name   = "new_on",
                          .before = "int skua_on",
                          .call =
                              arena_print("skua_chare_create(%.*s__class, skua_on, ", NAME(class)),
                          .comment = "Create a chare on this PE of the job."};

    put_creation(to, class, &any);
    put_creation(to, class, &on);
}

static void emit_group_creation(struct files to, const struct class *class)
{
    bool            processes = class->kind == CLASS_NODEGROUP;
    struct creation group     = {.result  = arena_print("%.*s_proxy ", NAME(class)),
                                 .name    = "new",
                                 .before  = "",
                                 .call    = arena_print("skua_%sgroup_create(%.*s__class, ",
                                                 processes ? "process_" : "", NAME(class)),
                                 .comment = processes ? "Create a group: a member in each process."
                                                      : "Create a group: a member on each PE."};

    put_creation(to, class, &group);
}

static void emit_creation(struct files to, const struct class *class)
{
    if (class->kind == CLASS_ARRAY)
        emit_array_creation(to, class);
    else if (class->kind == CLASS_CHARE)
        emit_chare_creation(to, class);
    else if (class->kind != CLASS_MAINCHARE)
        emit_group_creation(to, class);
    put(to.header, "\n");
}

/* ---- what the runtime calls ---------------------------------------------------------------------
 */

/* Declares `self`, the object that the runtime hands over. */
static void put_self(struct writer *to, const struct class *class)
{
    put(to, "    %.*s *self = (%.*s *)skua_object;\n", NAME(class), NAME(class));
}

/* The parameters of the constructor that the defaults of the state are made of. */
static void put_constructor_names(struct writer      *to, const struct class *class,
                                  const struct entry *constructor)
{
    for (const struct parameter *p = constructor->parameters; p; p = p->next)
        if (default_mentions(class, p)) {
            put(to, "    ");
            put_constant(to, p);
            if (p->passing == PASS_MESSAGE)
                put(to, " = skua_args;\n");
            else
                put(to, " = skua_args%s%.*s;\n", reach_of(constructor), NAME(p));
        }
}

/* Whether the constructor does nothing but give the fields their values. */
static bool constructs_nothing(const struct entry *constructor)
{
    const struct statement *body = constructor->body;

    return body && body->kind == STATEMENT_BLOCK && !body->body;
}

static void put_constructor_call(struct writer      *to, const struct class *class,
                                 const struct entry *constructor)
{
    if (constructs_nothing(constructor)) {
        if (copies_message(constructor))
            put(to, "    skua_msg_free(skua_packed);\n");
        return;
    }
    if (constructor->body) {
        put(to, "    skua_flow_begin(&%.*s__flow, self, &%s_strand, %s);\n", NAME(class),
            stem_of(class, constructor),
            copies_message(constructor) ? "skua_arrival_of(skua_packed)"
                                        : "skua_arrival_from(skua_data, skua_bytes)");
        return;
    }
    put(to, "    %.*s_on_create(self", NAME(class));
    if (wire_of(constructor) == WIRE_MESSAGE)
        put(to, ", skua_args");
    else
        for (const struct parameter *p = constructor->parameters; p; p = p->next)
            put(to, ", skua_args%s%.*s", reach_of(constructor), NAME(p));
    put(to, ");\n");
}

/* Streams give their items to @p object, a member of a group. */
static void put_binding(struct writer *to, const struct class *class, const char *object)
{
    for (const struct entry *entry = class->entries; entry; entry = entry->next)
        if (entry->attributes & ATTRIBUTE_AGGREGATE && class->kind != CLASS_ARRAY)
            put(to, "    skua_stream_bind(%s_stream, %s);\n", stem_of(class, entry), object);
}

static void put_construct(struct writer *to, const struct class *class)
{
    const struct entry *constructor = constructor_of(class);
    bool                args        = constructor && constructor->parameters;

    put(to,
        "static void %.*s__construct(void *skua_object, const void *skua_data, size_t "
        "skua_bytes)\n{\n",
        NAME(class));
    put_self(to, class);
    if (args && wire_of(constructor) == WIRE_MESSAGE)
        put_message_open(to, class, constructor);
    else if (args)
        put_open(to, class, constructor, "skua_args", "skua_data", "skua_bytes");
    if (args)
        put_constructor_names(to, class, constructor);
    put(to, "\n");
    put_binding(to, class, "self");
    put_state_defaults(to, class);
    if (constructor)
        put_constructor_call(to, class, constructor);
    put(to, "    (void)self, (void)skua_data, (void)skua_bytes%s;\n}\n\n",
        args ? ", (void)skua_args" : "");
}

static void put_destroy(struct writer *to, const struct class *class)
{
    put(to, "static void %.*s__destroy(void *skua_object)\n{\n", NAME(class));
    put_self(to, class);
    put(to, "\n");
    if (destructor_of(class))
        put(to, "    %.*s_on_destroy(self);\n", NAME(class));
    put_binding(to, class, "NULL");
    put_state_free(to, class);
    if (has_flow(class))
        put(to, "    skua_flow_destroy(&%.*s__flow, self);\n", NAME(class));
    put(to, "    (void)self;\n}\n\n");
}

static void put_pup(struct writer *to, const struct class *class)
{
    if (!has_pup(class))
        return;
    put(to, "static void %.*s__pup(skua_pup *skua_p, void *skua_object)\n{\n", NAME(class));
    put_self(to, class);
    put(to, "\n");
    if (class->has_state)
        put_state_pup(to, class);
    else
        put(to, "    %.*s_on_pup(skua_p, self);\n", NAME(class));
    if (has_flow(class))
        put(to, "    skua_flow_pup(&%.*s__flow, skua_p, self);\n", NAME(class));
    put(to, "    (void)skua_p, (void)self;\n}\n\n");
}

/* ---- what the user writes
 * ------------------------------------------------------------------------- */

static bool is_users(const struct entry *entry)
{
    return !entry->body && !entry->trigger;
}

static void put_user_functions(struct writer *to, const struct class *class)
{
    for (const struct entry *entry = class->entries; entry; entry = entry->next) {
        if (!is_users(entry))
            continue;
        if (entry->kind == ENTRY_CONSTRUCTOR) {
            put(to, "void %.*s_on_create(%.*s *self", NAME(class), NAME(class));
        } else if (entry->kind == ENTRY_DESTRUCTOR) {
            put(to, "void %.*s_on_destroy(%.*s *self", NAME(class), NAME(class));
        } else {
            put_result(to, entry);
            put(to, "%.*s_on_%.*s(%.*s *self", NAME(class), NAME(entry), NAME(class));
        }
        put_parameters(to, entry, false);
        put(to, ");\n");
    }
    for (const struct entry *entry = class->entries; entry; entry = entry->next)
        if (has_post(entry)) {
            put_post_head(to, class, entry);
            put(to, ";\n");
        } else if (has_landing(entry)) {
            put_land_head(to, class, entry);
            put(to, ";\n");
        }
    if (class->migratable && !class->has_state)
        put(to, "void %.*s_on_pup(skua_pup *p, %.*s *self);\n", NAME(class), NAME(class));
    put(to, "\n");
}

/* ---- interfaces
 * ------------------------------------------------------------------------------------ */

static void put_interface(struct writer *to, const struct class *class)
{
    put(to,
        "#define %.*s__CLASSES 64\n\n"
        "static struct %.*s__table %.*s__tables[%.*s__CLASSES];\n"
        "static uint32_t %.*s__count;\n\n",
        NAME(class), NAME(class), NAME(class), NAME(class), NAME(class));
    put(to,
        "uint32_t %.*s__add(const struct %.*s__table *skua_table)\n{\n"
        "    if (%.*s__count == %.*s__CLASSES)\n"
        "        skua_abort(\"more than %%d classes have the interface %.*s\", %.*s__CLASSES);\n"
        "    %.*s__tables[%.*s__count] = *skua_table;\n"
        "    return %.*s__count++;\n}\n\n",
        NAME(class), NAME(class), NAME(class), NAME(class), NAME(class), NAME(class), NAME(class),
        NAME(class), NAME(class));
    put(to,
        "const struct %.*s__table *%.*s__table_of(%.*s_element skua_to)\n{\n"
        "    if (skua_to.of >= %.*s__count)\n"
        "        skua_abort(\"no object of the interface %.*s: was its reference made by "
        "..._as_%.*s()?\");\n"
        "    return &%.*s__tables[skua_to.of];\n}\n\n",
        NAME(class), NAME(class), NAME(class), NAME(class), NAME(class), NAME(class), NAME(class));
}

/* Circle_as_Shape() */
static void emit_bases(struct files to, const struct class *class)
{
    const char *element = element_type(class);

    for (const struct base *base = class->bases; base; base = base->next) {
        put(to.header, "extern uint32_t %.*s__as_%.*s;\n\n", NAME(class), NAME(base));
        put(to.source, "uint32_t %.*s__as_%.*s;\n", NAME(class), NAME(base));
        put(to.header,
            "static inline %.*s_element %.*s_as_%.*s(%s skua_it)\n{\n"
            "    %.*s_element skua_as = {skua_it.ref, %.*s__as_%.*s};\n\n    return "
            "skua_as;\n}\n\n",
            NAME(base), NAME(class), NAME(base), element, NAME(base), NAME(class), NAME(base));
    }
}

static void put_base_registration(struct writer     *to, const struct class *class,
                                  const struct base *base)
{
    put(to, "    {\n        const struct %.*s__table skua_table = {", NAME(base));
    for (const struct entry *entry = base->class->entries; entry; entry = entry->next)
        put(to, "%s%.*s__%.*s_entry", entry == base->class->entries ? "" : ", ", NAME(class),
            NAME(entry));
    if (!base->class->entries)
        put(to, "0");
    put(to, "};\n\n        %.*s__as_%.*s = %.*s__add(&skua_table);\n    }\n", NAME(class),
        NAME(base), NAME(base));
}

/* ---- all
 * --------------------------------------------------------------------------------------------- */

/* The numbers under which the runtime knows class and entries. */
static void put_ids(struct files to, const struct class *class)
{
    put(to.header, "extern skua_class %.*s__class;\n", NAME(class));
    put(to.source, "skua_class %.*s__class;\n", NAME(class));
    for (const struct entry *entry = class->entries; entry; entry = entry->next) {
        bool stream = entry->attributes & ATTRIBUTE_AGGREGATE;

        if (entry->kind != ENTRY_METHOD || entry->attributes & ATTRIBUTE_LOCAL)
            continue;
        if (stream)
            put(to.source, "static skua_stream %s_stream;\n", stem_of(class, entry));
        if (stream && class->kind != CLASS_ARRAY)
            continue;
        put(to.header, "extern skua_entry %s_entry;\n", stem_of(class, entry));
        put(to.source, "skua_entry %s_entry;\n", stem_of(class, entry));
    }
    put(to.header, "\n");
    put(to.source, "\n");
}

/* A class without state has a struct of the user's: where there is none, the first error of a
 * compiler shows this line. */
static void put_struct_check(struct writer *to, const struct class *class)
{
    if (!class->has_state)
        put(to,
            "enum { %.*s__bytes = sizeof(%.*s) }; /* it has no `state': struct %.*s is yours, in a "
            "header that is included */\n\n",
            NAME(class), NAME(class), NAME(class));
}

static void put_headline(struct files to, const struct class *class)
{
    put(to.header, "/* ---- %.*s ---- */\n\n", NAME(class));
    put(to.source, "/* ---- %.*s ---- */\n\n", NAME(class));
}

void emit_class(struct files to, const struct class *class)
{
    put_headline(to, class);
    if (class->kind != CLASS_INTERFACE)
        put_struct_check(to.source, class);
    for (const struct entry *entry = class->entries; entry; entry = entry->next)
        emit_wire(to, class, entry);
    if (class->kind == CLASS_INTERFACE) {
        put_interface(to.source, class);
    } else {
        put_ids(to, class);
        put_references(to.header, class);
        emit_creation(to, class);
        emit_bases(to, class);
    }
    for (const struct entry *entry = class->entries; entry; entry = entry->next)
        emit_sends(to, class, entry);
    if (class->kind == CLASS_INTERFACE)
        return;
    put_user_functions(to.header, class);
    emit_flow(to, class);
    for (const struct entry *entry = class->entries; entry; entry = entry->next)
        emit_call(to, class, entry);
    put_construct(to.source, class);
    put_destroy(to.source, class);
    put_pup(to.source, class);
}

void put_class_registration(struct writer *to, const struct class *class)
{
    if (class->kind == CLASS_INTERFACE)
        return;
    put(to,
        "    {\n        skua_class_def skua_def;\n\n"
        "        memset(&skua_def, 0, sizeof skua_def);\n"
        "        skua_def.name = \"%.*s\";\n        skua_def.bytes = ",
        NAME(class));
    if (has_flow(class))
        put(to, "SKUA_FLOW_BYTES(sizeof(%.*s), %u);\n", NAME(class), class->triggers);
    else
        put(to, "sizeof(%.*s);\n", NAME(class));
    put(to,
        "        skua_def.construct = %.*s__construct;\n"
        "        skua_def.destroy = %.*s__destroy;\n",
        NAME(class), NAME(class));
    if (has_pup(class))
        put(to, "        skua_def.pup = %.*s__pup;\n", NAME(class));
    put(to, "        %.*s__class = skua_class_register(&skua_def);\n    }\n", NAME(class));
    for (const struct entry *entry = class->entries; entry; entry = entry->next)
        put_entry_registration(to, class, entry);
    for (const struct base *base = class->bases; base; base = base->next)
        put_base_registration(to, class, base);
}
