# SPDX-License-Identifier: Apache-2.0
#
# parse.awk - reads the public headers: their declarations, and the comments that describe them.
#
# The headers are laid out by clang-format and documented in one style, so a scan by line is exact:
#
#   /* name.h - one line, then a blank line and prose */    the head: describes the header
#   / * ---- title ---- * /                                 begins a group of declarations
#   /** prose */                                            describes the declarations that follow it up
#                                                           to the next blank line, and the macros of an
#                                                           #if block; before a blank line: the header
#   / * prose * / behind a member, or / ** prose * / before it
#
# When all headers have been read, the function emit() of another file, such as man.awk, is called.  It uses
#
#   headers, header_name[], header_brief[], header_text[]
#   items, and of each item: kind[] (function, type, macro, constant, variable), name[], of_header[],
#   of_group[], doc[] (prose, "\n" between lines), code[] (the declaration without its comments),
#   value_only[] (an inline function that returns something), commented[] (code with comments of members), members[], member_name[item, i], member_doc[item, i]
#   item_of[name]
#
# Tags in prose: "@p name" marks a parameter, "@param name text", "@return text" and "@error CODE text"
# describe one where the sentences do not.

function trim(s)
{
    gsub(/^[ \t]+|[ \t]+$/, "", s)
    return s
}

# The text of a comment without its marks and without the indentation that all of its lines share.
# "\n" stands between lines.
function comment_text(raw,    line, n, i, text, least, beside)
{
    sub(/^[ \t]*\/\*\*?/, "", raw)
    sub(/[ \t]*\*\/[ \t]*$/, "", raw)
    n = split(raw, line, "\n")
    least = 99
    for (i = 2; i <= n; i++) {
        sub(/^[ \t]*\*?/, "", line[i])
        sub(/[ \t]+$/, "", line[i])
        if (line[i] != "") {
            match(line[i], /^ */)
            if (RLENGTH < least)
                least = RLENGTH
        }
    }
    text = trim(line[1])
    beside = text != ""
    if (beside && least == 1)
        least = 2 # prose that begins beside the mark has two blanks, or one where clang-format broke it
    for (i = 2; i <= n; i++) {
        if (beside && line[i] ~ /^ [^ ]/)
            line[i] = " " line[i]
        text = text "\n" substr(line[i], least + 1)
    }
    gsub(/^\n+|\n+$/, "", text)
    return text
}

function item_new(what, its_name)
{
    if (its_name in item_of) # declared twice, for two compilers
        return 0
    items++
    kind[items] = what
    name[items] = its_name
    of_header[items] = headers
    of_group[items] = group
    doc[items] = pending
    members[items] = 0
    item_of[its_name] = items
    return items
}

function member_new(item, its_name, its_doc)
{
    members[item]++
    member_name[item, members[item]] = its_name
    member_doc[item, members[item]] = its_doc
}

# The name that a declaration without comments declares: the last word before (, [, = or ;.
function declared_name(text)
{
    sub(/ *__attribute__.*$/, "", text)
    if (match(text, /\(\*[A-Za-z_0-9]+\)/))
        return substr(text, RSTART + 2, RLENGTH - 3)
    sub(/[ \t]*[;=[(].*$/, "", text)
    sub(/[ \t]*:.*$/, "", text)
    match(text, /[A-Za-z_0-9]+[ \t]*$/)
    return trim(substr(text, RSTART))
}

# Members of a struct and values of an enum, and the code without comments.
function parse_body(item, text, is_enum,    line, n, i, j, l, c, before, out, what, start)
{
    n = split(text, line, "\n")
    before = ""
    for (i = 1; i <= n; i++) {
        l = line[i]
        c = ""
        if (l ~ /^#/)
            continue
        if ((start = index(l, "/*")) > 0) {
            c = substr(l, start)
            l = substr(l, 1, start - 1)
            while (c !~ /\*\// && i < n)
                c = c "\n" line[++i]
            c = comment_text(c)
            sub(/[ \t]+$/, "", l)
        }
        if (trim(l) == "") {
            if (c != "")
                before = c
            if (out != "" && c == "" && out !~ /\n$/)
                out = out "\n"
            continue
        }
        if (match(l, /[A-Z_]+_MAP\(/)) {
            what = substr(l, RSTART, RLENGTH - 1)
            for (j = 1; j <= map_entries[what]; j++) {
                l = "    " map_name[what, j] " = " map_code[what, j] ","
                out = out l "\n"
                commented[item] = commented[item] l " /**< " map_text[what, j] " */\n"
                member_new(item, map_name[what, j], map_text[what, j])
            }
            continue
        }
        out = out l "\n"
        what = before != "" ? before : c
        gsub(/\n/, " ", what)
        commented[item] = commented[item] l (what != "" ? " /**< " what " */" : "") "\n"
        if (i == 1 || i == n || l ~ /^}/)
            continue
        what = trim(l)
        if (is_enum) {
            if (match(what, /^[A-Z][A-Z_0-9]*/))
                member_new(item, substr(what, 1, RLENGTH), before != "" ? before : c)
        } else if (what ~ /;$/ && what !~ /^}/) {
            member_new(item, member_names(what), before != "" ? before : c)
        } else if (match(what, /^} [a-z_]+;/)) {
            member_new(item, declared_name(what), c)
        }
        before = ""
    }
    sub(/\n$/, "", out)
    return out
}

# "a, b" of "int32_t a[6], b[6];"
function member_names(text,    part, n, i, out)
{
    if (text ~ /\(/)
        return declared_name(text)
    n = split(text, part, ",")
    for (i = 1; i <= n; i++)
        out = out (i > 1 ? ", " : "") declared_name(part[i])
    return out
}

function without_comments(text)
{
    while (match(text, /\/\*([^*]|\*[^\/])*\*\//))
        text = substr(text, 1, RSTART - 1) substr(text, RSTART + RLENGTH)
    return text
}

function take_function(text,    its, is_inline)
{
    text = without_comments(text)
    gsub(/[ \t\n]+/, " ", text)
    is_inline = text ~ /^static inline / && text !~ /^static inline void [^*]/
    sub(/^(SKUA_API|SKUA_HOT_API|static inline) /, "", text)
    sub(/ ?__attribute__ ?\(\(.*\)\)/, "", text)
    sub(/ *[;{] *$/, "", text)
    if (text ~ /^extern /) {
        its = item_new("variable", declared_name(text))
    } else {
        match(text, /[A-Za-z_0-9]+\(/)
        its = item_new("function", substr(text, RSTART, RLENGTH - 1))
    }
    if (its) {
        code[its] = text ";"
        value_only[its] = is_inline && name[its] ~ /^skua_/
    }
}

function take_type(text,    its, line, n, plain)
{
    n = split(text, line, "\n")
    if (text ~ /^enum [a-z_]* ?\{/ || text ~ /^typedef (struct|union|enum)[^;]*\{/) {
        plain = line[n]
        sub(/^}[ ]*/, "", plain)
        sub(/;.*$/, "", plain)
        if (plain == "") { # an enum without a name: its first value names the page
            plain = without_comments(text)
            match(plain, /SKUA_[A-Z_0-9]+/)
            its = item_new("constants", substr(plain, RSTART, RLENGTH))
        } else {
            its = item_new("type", plain)
        }
        if (its)
            code[its] = parse_body(its, text, text ~ /^(typedef )?enum/)
        return
    }
    text = without_comments(text)
    gsub(/[ \t\n]+/, " ", text)
    its = item_new("type", declared_name(text))
    if (its)
        code[its] = text
}

function take_macro(text,    its, its_name, line, n, i, m)
{
    match(text, /^#define [A-Za-z_0-9]+/)
    its_name = substr(text, 9, RLENGTH - 8)
    if (its_name ~ /_H$/ || (its_name !~ /^(SKUA|skua)_/ && its_name !~ /^CkDirect/))
        return
    its = item_new("macro", its_name)
    gsub(/[ \t]*\\\n[ \t]*/, " ", text)
    if (text ~ /_MAP\(X\)/) {
        m = its_name
        map_entries[m] = 0
        line[1] = text
        while (match(text, /X\([A-Z_0-9]+, *-?[0-9]+, *"[^"]*"\)/)) {
            i = ++map_entries[m]
            split(substr(text, RSTART + 2, RLENGTH - 3), line, /, */)
            map_name[m, i] = "SKUA_" line[1]
            map_code[m, i] = line[2]
            n = substr(text, RSTART, RLENGTH)
            text = substr(text, RSTART + RLENGTH)
            sub(/^[^"]*"/, "", n)
            sub(/"\)$/, "", n)
            map_text[m, i] = toupper(substr(n, 1, 1)) substr(n, 2) "."
        }
        text = "#define " m "(X) ..."
    }
    if (its && !code[its]) {
        gsub(/[ \t]+/, " ", text)
        code[its] = text
    }
}

# static const skua_op SKUA_SUM = {0};
function take_constant(text,    its)
{
    gsub(/[ \t]+/, " ", text)
    its = item_new("constant", declared_name(text))
    if (its) {
        sub(/^static /, "", text)
        code[its] = text
    }
}

FNR == 1 {
    headers++
    header_name[headers] = FILENAME
    sub(/^.*\/skua\//, "", header_name[headers])
    if (header_name[headers] !~ /\.h$/)
        header_name[headers] = FILENAME
    header_brief[headers] = ""
    header_text[headers] = ""
    group = pending = raw = taking = ""
    seen_head = depth = kept = 0
}

# Inside a comment or a declaration of several lines.
raw != "" {
    raw = raw "\n" $0
    if ($0 ~ /\*\/[ \t]*$/)
        comment_end()
    next
}
taking == "macro" {
    text = text "\n" $0
    if ($0 !~ /\\$/) {
        take_macro(text)
        taking = ""
    }
    next
}
taking == "function" {
    text = text "\n" $0
    declaration_end($0)
    next
}
taking == "type" {
    text = text "\n" $0
    if ($0 ~ /^}.*;/ || (text !~ /\{/ && $0 ~ /;/)) {
        take_type(text)
        taking = ""
    }
    next
}
taking == "body" {
    if ($0 ~ /^}/)
        taking = ""
    next
}

function declaration_end(line)
{
    taking = "function"
    if (line ~ /^\{/) {
        sub(/\n\{[^\n]*$/, "", text)
        take_function(text)
        taking = "body"
    } else if (line ~ /;[ \t]*$/) {
        take_function(text)
        taking = ""
    }
}

function comment_end(    its_text, at)
{
    its_text = comment_text(raw)
    if (its_text ~ /^@(cond|endcond)$/) {
        pending = "" # between them: nothing of the interface
    } else if (raw ~ /^\/\*\*/) {
        pending = its_text
    } else if (its_text ~ /^-+ .* -+$/) {
        gsub(/^-+ *| *-+$/, "", its_text)
        group = its_text
    } else if (!seen_head && its_text ~ /^[a-z_]+\.h - /) {
        seen_head = 1
        at = index(its_text, " - ")
        header_brief[headers] = substr(its_text, at + 3)
        at = index(header_brief[headers], "\n\n")
        if (at) {
            header_text[headers] = substr(header_brief[headers], at + 2)
            header_brief[headers] = substr(header_brief[headers], 1, at - 1)
        }
        gsub(/\n/, " ", header_brief[headers])
    }
    raw = ""
}

/^\/\*/ {
    raw = $0
    if ($0 ~ /\*\/[ \t]*$/)
        comment_end()
    next
}
/^#[ ]*if/ {
    depth++
    if (pending != "" && !kept)
        kept = depth
    next
}
/^#[ ]*endif/ {
    if (kept == depth) {
        kept = 0
        pending = ""
    }
    depth--
    next
}
/^#define / {
    text = $0
    taking = "macro"
    if ($0 !~ /\\$/) {
        take_macro(text)
        taking = ""
    }
    next
}
/^(SKUA_API|SKUA_HOT_API|static inline) / {
    text = $0
    declaration_end($0)
    next
}
/^static const / {
    take_constant($0)
    next
}
/^(typedef|enum) / {
    text = $0
    taking = "type"
    if ($0 ~ /;[ \t]*$/ && $0 !~ /\{/) {
        take_type(text)
        taking = ""
    }
    next
}
/^[ \t]*$/ {
    if (pending != "" && !kept && items_before == items)
        header_text[headers] = header_text[headers] "\n\n" pending
    if (!kept)
        pending = ""
    items_before = items
    next
}

END {
    emit()
}
