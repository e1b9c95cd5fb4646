/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_lines.c - errors in the generated header are reported at lines of the interface file.
 *
 * The user's types and includes are generated into the header, where a compiler reports errors in
 * them.  While the generated source is compiled, the header gives their locations:
 *
 *     #ifdef jacobi_ci__line_1              in the header
 *     typedef
 *     #line jacobi_ci__line_1 "jacobi.ci"
 *                        grid
 *     #line 40 "jacobi.ci.h"
 *         Block__type__1;
 *     #endif
 *
 *     #define jacobi_ci__line_1 12          in the source, before it includes the header
 *
 * The line numbers are not in the header.  Otherwise the header, and all files that include it,
 * would have to be recompiled whenever a line is added to a body.
 */
#include "emit/emit_parts.h"

#include <string.h>

#include "support/bump.h"

/* ---- types and includes ------------------------------------------------------------------- */

static const char *emit_lines_define(struct emit_files to, struct source_location location)
{
    const char *macro = bump_printf("%s__line_%u", to.lines->stem, ++to.lines->count);

    writer_put(&to.lines->defines, "#define %s %u\n", macro, location.line);
    return macro;
}

void emit_include(struct emit_files to, const struct ast_item *item)
{
    const char *macro = emit_lines_define(to, item->location);

    writer_put(to.header, "#ifdef %s\n", macro);
    writer_put_line_at(to.header, macro, item->location);
    writer_put(to.header, "#include %.*s\n#else\n#include %.*s\n#endif\n",
               TEXT_ARGS(item->is.code.text), TEXT_ARGS(item->is.code.text));
    writer_put_line_end(to.header);
}

/* Checks a struct by its size, because a typedef accepts an incomplete one; other types by their
 * name. */
static void emit_lines_type_check(struct emit_files to, const struct ast_assumed_type *assumed,
                                  struct text name)
{
    struct writer *header = to.header;
    const char    *macro  = emit_lines_define(to, assumed->type.location);
    const char    *check  = bump_printf("%.*s__type__%u", TEXT_ARGS(name), to.lines->count);
    const char    *size   = assumed->whole ? "sizeof(" : "";
    int            margin = (int)assumed->type.location.column - 1 - (int)strlen(size);

    writer_put(header, "#ifdef %s\n", macro);
    if (assumed->whole)
        writer_put(header, "enum { %s =\n", check);
    else
        writer_put(header, "typedef\n");
    writer_put_line_at(header, macro, assumed->type.location);
    writer_put(header, "%*s%s", margin > 0 ? margin : 0, "", size);
    writer_put_flat(header, assumed->type.text);
    writer_put(header, "\n");
    writer_put_line_end(header);
    if (assumed->whole)
        writer_put(header, "    ) };\n#endif\n\n");
    else
        writer_put(header, "    %s;\n#endif\n\n", check);
}

/* Emits the static assertion that begins with @p fact and ends with @p why, both about the type. */
static void emit_lines_assertion(struct writer *header, const struct ast_assumed_type *assumed,
                                 const char *fact, const char *why)
{
    writer_put(header, "%s(", fact);
    writer_put_flat(header, assumed->type.text);
    writer_put(header, ")%s\");\n", why);
}

/* Lets the compiler reject a type that has a larger alignment than the memory of objects, messages
 * and frames, and a C++ compiler one that cannot be copied bytewise.  (static_assert is a keyword
 * only in C++; a macro would give its own location.) */
static void emit_lines_storage_check(struct emit_files to, const struct ast_assumed_type *assumed)
{
    struct writer *header = to.header;
    const char    *macro  = emit_lines_define(to, assumed->type.location);
    const char *wide  = bump_printf(" <= 16, \"%.*s has an alignment of more than 16 bytes, which "
                                     "objects, messages and bodies do not have",
                                    TEXT_ARGS(assumed->stored));
    const char *owner = bump_printf(", \"%.*s cannot be copied byte by byte; in a state, declare a "
                                    "`transient' pointer to it, or its type as a struct with a pup "
                                    "function: `struct name;'",
                                    TEXT_ARGS(assumed->stored));

    writer_put(header, "#ifdef %s\n#ifdef __cplusplus\n", macro);
    writer_put_line_at(header, macro, assumed->type.location);
    if (assumed->copied)
        emit_lines_assertion(header, assumed, "static_assert(__is_trivially_copyable", owner);
    writer_put_line_at(header, macro, assumed->type.location);
    if (assumed->placed)
        emit_lines_assertion(header, assumed, "static_assert(alignof", wide);
    writer_put(header, "#else\n");
    writer_put_line_at(header, macro, assumed->type.location);
    if (assumed->placed)
        emit_lines_assertion(header, assumed, "_Static_assert(_Alignof", wide);
    writer_put(header, "#endif\n");
    writer_put_line_end(header);
    writer_put(header, "#endif\n\n");
}

/* Returns whether an equal type follows in the list, which is in reverse order. */
static bool emit_lines_is_repeated(const struct ast_assumed_type *assumed)
{
    for (const struct ast_assumed_type *b = assumed->next; b; b = b->next)
        if (b->unit == assumed->unit && b->whole == assumed->whole &&
            text_equal(b->type.text, assumed->type.text))
            return true;
    return false;
}

void emit_type_checks(struct emit_files to, const void *unit, struct text name)
{
    for (const struct ast_assumed_type *b = to.lines->tree->assumed_types; b; b = b->next)
        if (b->unit == unit) {
            if (!emit_lines_is_repeated(b))
                emit_lines_type_check(to, b, name);
            if (b->stored.at)
                emit_lines_storage_check(to, b);
        }
}

/* ---- lengths ------------------------------------------------------------------------------ */

/* Checks a length that C must know when it compiles the struct. */
static void emit_lines_length_check(struct emit_files to, const struct ast_dimension *dimension,
                                    struct text name)
{
    struct writer         *header   = to.header;
    struct source_location location = dimension->length.location;
    const char            *macro    = emit_lines_define(to, location);
    int                    margin   = (int)location.column - 1;

    writer_put(header, "#ifdef %s\nenum { %.*s__length__%u = (\n", macro, TEXT_ARGS(name),
               to.lines->count);
    writer_put_line_at(header, macro, location);
    writer_put(header, "%*s", margin, "");
    writer_put_flat(header, dimension->length.text);
    writer_put(header, "\n");
    writer_put_line_end(header);
    writer_put(header, "    ) != 0 };\n#endif\n\n");
}

static bool emit_lines_is_number(struct text text)
{
    for (size_t i = 0; i < text.length; i++)
        if (!text_is_digit(text.at[i]))
            return false;
    return true;
}

void emit_length_checks(struct emit_files to, const struct ast_field *fields, struct text name)
{
    for (const struct ast_field *f = fields; f; f = f->next)
        for (const struct ast_dimension *d = f->dimensions; d; d = d->next)
            if (!(f->variable && d == f->dimensions) && !emit_lines_is_number(d->length.text))
                emit_lines_length_check(to, d, name);
}
