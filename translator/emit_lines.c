/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_lines.c - what is wrong in the header is reported with the line of the interface file.
 *
 * Types and included files of the user's end up in the header, where a compiler would complain
 * about them.  When the generated source is compiled, the header says before them where they stand:
 *
 *     #ifdef jacobi_ci__line_1              in the header
 *     typedef
 *     #line jacobi_ci__line_1 "jacobi.ci"
 *                        grid
 *     #line 40 "jacobi.ci.h"
 *         Block__type_1;
 *     #endif
 *
 *     #define jacobi_ci__line_1 12          in the source, before it includes the header
 *
 * The numbers are not in the header, which would else change, and with it all that includes it,
 * whenever a line is added to a body.
 */
#include "emit_parts.h"

#include <string.h>

#include "arena.h"

static const char *define_line(struct files to, struct place place)
{
    const char *macro = arena_print("%s__line_%u", to.lines->stem, ++to.lines->count);

    put(&to.lines->defines, "#define %s %u\n", macro, place.line);
    return macro;
}

void emit_include(struct files to, const struct item *item)
{
    const char *macro = define_line(to, item->place);

    put(to.header, "#ifdef %s\n", macro);
    put_line_at(to.header, macro, item->place);
    put(to.header, "#include %.*s\n#else\n#include %.*s\n#endif\n", TEXT(item->is.code.text),
        TEXT(item->is.code.text));
    put_line_end(to.header);
}

/* Of a struct by its size, since a typedef would do without one; of another by its name. */
static void put_check(struct files to, const struct believed *believed, struct text name)
{
    struct writer *header = to.header;
    const char    *macro  = define_line(to, believed->type.place);
    const char    *check  = arena_print("%.*s__type_%u", TEXT(name), to.lines->count);
    const char    *size   = believed->whole ? "sizeof(" : "";
    int            margin = (int)believed->type.place.column - 1 - (int)strlen(size);

    put(header, "#ifdef %s\n", macro);
    if (believed->whole)
        put(header, "enum { %s =\n", check);
    else
        put(header, "typedef\n");
    put_line_at(header, macro, believed->type.place);
    put(header, "%*s%s", margin > 0 ? margin : 0, "", size);
    put_flat(header, believed->type.text);
    put(header, "\n");
    put_line_end(header);
    if (believed->whole)
        put(header, "    ) };\n#endif\n\n");
    else
        put(header, "    %s;\n#endif\n\n", check);
}

/* Whether a type further on in the list, which is the other way round, is the same. */
static bool is_repeated(const struct believed *believed)
{
    for (const struct believed *b = believed->next; b; b = b->next)
        if (b->unit == believed->unit && b->whole == believed->whole &&
            text_equal(b->type.text, believed->type.text))
            return true;
    return false;
}

void emit_type_checks(struct files to, const void *unit, struct text name)
{
    for (const struct believed *b = to.lines->tree->believed; b; b = b->next)
        if (b->unit == unit && !is_repeated(b))
            put_check(to, b, name);
}
