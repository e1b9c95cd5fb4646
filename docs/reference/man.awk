# SPDX-License-Identifier: Apache-2.0
#
# man.awk - with parse.awk: writes manual pages of the public headers.
#
#   awk -v out=FOLDER -v version=1.0.0 -v parameters=parameters.txt -f parse.awk -f text.awk -f man.awk HEADERS...
#
# FOLDER has the folders man3 and man7. The file `undescribed` in it lists parameters without a text.
#
# A page in section 3 for each function, type and macro; a page of its own redirects (.so) each value of
# an enum to its type. A page in section 7 for each header, skua-NAME(7), with its prose and a line for
# each declaration, and skua(7), the list of the headers.

BEGIN {
    quote = sprintf("%c", 39)
}

# ---- roff --------------------------------------------------------------------------------------

function put(line)
{
    print line > page
}

function plain(s)
{
    gsub(/\\/, "\\e", s)
    gsub(/-/, "\\-", s)
    return s
}

# Prose may hyphenate where it has a dash between words.
function words(s)
{
    gsub(/\\/, "\\e", s)
    return s
}

function bold(s)
{
    return "\\fB" plain(s) "\\fR"
}

function is_header(word,    i)
{
    for (i = 1; i <= headers; i++)
        if (header_name[i] == word)
            return i
    return 0
}

# A reference to an item; remembered for SEE ALSO.
function refer(word, called)
{
    if (word in item_of && word != subject)
        mentioned[word] = 1
    return "\\%" bold(word) (called ? (word in item_of && word != subject ? "(3)" : "()") : "")
}

# Prose to roff, on one line.
function inline(s,    out_text, w, before)
{
    while (match(s, /@p [A-Za-z_0-9]+|\*\*[^*]+\*\*|\*[A-Za-z]([^*]*[A-Za-z])?\*|`[^`]+`|[A-Za-z_0-9]+(\(\)|[.]h)|(skua|SKUA)_[A-Za-z_0-9]+|->|[*&]?[a-z_]+->[a-z_]+/)) {
        w = substr(s, RSTART, RLENGTH)
        before = substr(s, 1, RSTART - 1)
        s = substr(s, RSTART + RLENGTH)
        out_text = out_text words(before)
        if (w ~ /^@p /)
            out_text = out_text "\\fI" substr(w, 4) "\\fR"
        else if (w ~ /^\*\*/)
            out_text = out_text "\\fB" words(substr(w, 3, length(w) - 4)) "\\fR"
        else if (w ~ /^\*[A-Za-z].*\*$/)
            out_text = out_text "\\fI" words(substr(w, 2, length(w) - 2)) "\\fR"
        else if (w ~ /^`/)
            out_text = out_text bold(substr(w, 2, length(w) - 2))
        else if (w ~ /\(\)$/)
            out_text = out_text (w ~ /^(skua|CkDirect)/ ? refer(substr(w, 1, length(w) - 2), 1) : bold(substr(w, 1, length(w) - 2)) "()")
        else if (w ~ /\.h$/)
            out_text = out_text (is_header(w) ? bold("skua-" substr(w, 1, length(w) - 2)) "(7)" : bold(w))
        else if (w ~ /->/)
            out_text = out_text (w == "->" ? "\\->" : bold(w))
        else
            out_text = out_text refer(w, 0)
    }
    return out_text words(s)
}

function put_line(s)
{
    if (s ~ /^[.']/)
        s = "\\&" s
    put(s)
}

# A paragraph: each sentence begins a line.
function put_paragraph(text)
{
    rest = text
    while (rest != "")
        put_line(inline(sentence_next()))
}

# Prose with paragraphs, lists, tables and code: the indentation determines the kind of a block.
#   none                    a paragraph
#   2 or 3, "- text"        an item of a list
#   2 or 3, "term  text"    a line of a table; deeper lines continue it
#   4 or more, or @code     code, as it is
function put_prose(text,    line, n, i, l, indent, mode, item_text, term, paragraph, first)
{
    n = split(text, line, "\n")
    line[n + 1] = ""
    mode = ""
    first = 1
    for (i = 1; i <= n + 1; i++) {
        l = line[i]
        match(l, /^ */)
        indent = RLENGTH
        if (mode == "code") {
            if (in_tag ? l ~ /^@endcode/ : (l != "" && indent < 4) || i > n) {
                put(".EE")
                put(".in")
                mode = ""
                if (in_tag) {
                    in_tag = 0
                    continue
                }
            } else {
                if (l == "" && !in_tag && (i == n || line[i + 1] !~ /^    /))
                    continue
                sub(/^    /, "", l)
                put_line(plain(l == "" ? "\\&" : l) )
                continue
            }
        }
        if (mode == "item" && (l == "" || indent <= item_indent)) {
            put_line(inline(item_text))
            mode = "items"
        }
        if (mode == "item") {
            item_text = item_text " " trim(l)
            continue
        }
        if (mode == "paragraph" && (l == "" || indent >= 2 || l ~ /^@/)) {
            put_paragraph(paragraph)
            mode = ""
        }
        if (l == "")
            continue
        if (l ~ /^@code/ || (indent >= 4 && mode != "items")) {
            in_tag = l ~ /^@code/
            put(".PP")
            put(".in +4n")
            put(".EX")
            if (!in_tag)
                put_line(plain(substr(l, 5)))
            mode = "code"
            continue
        }
        if (indent >= 2) {
            term = trim(l)
            item_indent = indent
            if (term ~ /^- /) {
                put(".IP \\(bu 3")
                item_text = substr(term, 3)
                item_indent++
            } else if (match(term, /  +/)) {
                item_text = trim(substr(term, RSTART))
                term = substr(term, 1, RSTART - 1)
                put(".TP")
                put_line(term ~ /[(,]/ ? inline(term) : bold(term))
                item_indent++
            } else {
                item_text = term
                put(".IP")
            }
            mode = "item"
            continue
        }
        if (mode == "paragraph") {
            paragraph = paragraph " " trim(l)
        } else {
            if (!first)
                put(".PP")
            paragraph = l
            mode = "paragraph"
        }
        first = 0
    }
}

# ---- parts of a page ----------------------------------------------------------------------------

function page_begin(its_name, section, brief)
{
    page = out "/man" section "/" its_name "." section
    subject = its_name
    split("", mentioned)
    put(".\\\" SPDX-License-Identifier: Apache-2.0")
    put(".\\\" Made from the public headers of Skua.")
    put(".TH " plain(its_name) " " section " \"\" \"Skua " version "\" \"Skua Programmer" quote "s Manual\"")
    put(".ad l")
    put(".SH NAME")
    sub(/\.$/, "", brief)
    put(plain(its_name) " \\- " words(brief)) # no fonts: whatis reads this line
}

function put_library()
{
    put(".SH LIBRARY")
    put("Skua")
    put(".RI ( libskua ,")
    put(".BR \"pkg\\-config \\-\\-libs skua\" )")
}

function put_include(item)
{
    put(".SH SYNOPSIS")
    put(".nf")
    put(".B #include <skua/" plain(header_name[of_header[item]]) ">")
    put(".PP")
}

# A parameter: types are bold, its name is italic.
function parameter_roff(text,    its, at)
{
    its = parameter_name(text)
    if (its == "...")
        return bold(text)
    if (match(text, /\(\*[a-z_A-Z0-9]+\)/))
        at = RSTART + 2
    else {
        match(text, "[^A-Za-z_0-9]" its "(\\[.*)?$")
        at = RSTART + 1
    }
    return bold(substr(text, 1, at - 1)) "\\fI" its "\\fR" (substr(text, at + length(its)) == "" ? "" : bold(substr(text, at + length(its))))
}

function put_prototype(prototype,    n, i, line, width, indent, piece, piece_width)
{
    n = split_parameters(prototype)
    line = substr(prototype, 1, index(prototype, "("))
    indent = length(line)
    width = indent
    line = bold(line)
    if (!n)
        line = line bold("void")
    for (i = 1; i <= n; i++) {
        piece = parameter_roff(param[i]) bold(i < n ? "," : "")
        piece_width = length(param[i]) + 2
        if (i > 1 && width + piece_width > 72) {
            put_line(line)
            line = sprintf("%" (indent > 40 ? 12 : indent) "s", "")
            width = length(line)
        } else if (i > 1) {
            line = line " "
            width++
        }
        line = line piece
        width += piece_width
    }
    put_line(line bold(");"))
}

function put_code(text,    line, n, i)
{
    n = split(text, line, "\n")
    for (i = 1; i <= n; i++)
        put(line[i] == "" ? "" : "\\fB" (line[i] ~ /^[.']/ ? "\\&" : "") plain(line[i]) "\\fR")
}

function put_see_also(item, header,    i, n, t, w, count, done)
{
    put(".SH SEE ALSO")
    t = ""
    count = 0
    for (i = 1; i <= items; i++) {
        w = name[i]
        if (i != item && (w in mentioned || (item && of_header[i] == of_header[item] && of_group[i] == of_group[item] && near_name(w, name[item])))) {
            if (count++ < 16)
                t = t ".BR \\%" plain(w) " (3),\n"
        }
    }
    if (header)
        t = t ".BR \\%skua\\-" plain(header_short(header)) " (7),\n"
    put(t ".BR skua (7)")
}

# Names that share their second word, such as skua_channel_put and skua_channel_open.
function near_name(a, b,    x, y)
{
    split(a, x, "_")
    split(b, y, "_")
    return x[2] == y[2] || a ~ ("_" y[2]) || b ~ ("_" x[2])
}

# ---- pages --------------------------------------------------------------------------------------

function page_of_function(item,    text, n, i, its, t, status, table, type)
{
    text = take_tags(doc[item])
    status = code[item] ~ /^skua_status /
    divide(text, code[item] !~ /^void [^*]/)
    page_begin(name[item], 3, brief_of(text))
    put_library()
    put_include(item)
    put_prototype(code[item])
    put(".fi")
    put(".SH DESCRIPTION")
    put_prose(description)
    n = split_parameters(code[item])
    t = 0
    for (i = 1; i <= n; i++) {
        its = parameter_name(param[i])
        type = describe_parameter(item, its, param[i])
        if (!t++)
            put(".SH PARAMETERS")
        put(".TP")
        put("\\fI" its "\\fR")
        put_line(inline(type == "" ? "A " base_type(param[i]) "." : type))
        if (type == "" && text !~ ("@p " its "[^a-z_]"))
            print name[item] "." its > (out "/undescribed")
    }
    if (code[item] !~ /^void [^*]/) {
        put(".SH RETURN VALUE")
        type = return_text(item, status)
        if (type == "")
            print name[item] "()" > (out "/undescribed")
        put_paragraph(type)
    }
    put(".SH ERRORS")
    table = errors_table(item, status)
    if (table != "") {
        put_prose(table)
        put(".PP")
    }
    put_paragraph(error_text(item, status))
    t = context_of(of_header[item])
    if (t != "") {
        put(".SH CONTEXT")
        put_paragraph(t)
    }
    for (i = 1; i <= n; i++) {
        type = base_type(param[i])
        if (type in item_of)
            mentioned[type] = 1
    }
    put_see_also(item, of_header[item])
    close(page)
}

# Members that have a comment; the others are in the synopsis.
function put_members(item, title,    m, text, any)
{
    if (is_internal(item))
        return
    for (m = 1; m <= members[item]; m++) {
        text = member_doc[item, m]
        if (text == "")
            continue
        if (!any++)
            put(".SH " title)
        put(".TP")
        put("\\fB" plain(member_name[item, m]) "\\fR")
        gsub(/\n/, " ", text)
        gsub(/  +/, " ", text)
        if (text != "")
            text = toupper(substr(text, 1, 1)) substr(text, 2)
        if (text != "" && text !~ /[.]$/)
            text = text "."
        put_line(text == "" ? "\\&" : inline(text))
    }
}

# Structs whose members a program does not use.
function is_internal(item)
{
    return doc[item] ~ /members are[ \n]internal/
}

function users_of(item,    i, t, pattern)
{
    pattern = "(^|[^a-zA-Z_0-9])" name[item] "([^a-zA-Z_0-9(]|$)"
    for (i = 1; i <= items; i++)
        if (kind[i] == "function" && code[i] ~ pattern)
            t = t ".TP\n.BR " plain(name[i]) " (3)\n" inline(brief_of(take_tags(doc[i]))) "\n"
    if (t != "") {
        put(".SH FUNCTIONS")
        put(substr(t, 1, length(t) - 1))
    }
}

function page_of_other(item,    text, m)
{
    text = take_tags(doc[item])
    if (text == "")
        text = header_brief[of_header[item]]
    page_begin(name[item], 3, brief_of(text))
    put_library()
    put_include(item)
    if (kind[item] == "macro")
        put_code(macro_synopsis(code[item]))
    else if (is_internal(item))
        put_code("typedef struct { /* internal */ } " name[item] ";")
    else
        put_code(code[item])
    put(".fi")
    put(".SH DESCRIPTION")
    put_prose(text)
    put_members(item, code[item] ~ /^(typedef )?enum/ ? "VALUES" : "MEMBERS")
    if (kind[item] == "type" && name[item] != "skua_status")
        users_of(item)
    put_see_also(item, of_header[item])
    close(page)
    if (code[item] ~ /^(typedef )?enum/)
        for (m = 1; m <= members[item]; m++)
            if (member_name[item, m] != name[item] && !(member_name[item, m] in item_of)) {
                print ".so man3/" name[item] ".3" > (out "/man3/" member_name[item, m] ".3")
                close(out "/man3/" member_name[item, m] ".3")
            }
}

function put_kind(h, what, title,    i, t)
{
    for (i = 1; i <= items; i++)
        if (of_header[i] == h && index(what, kind[i])) {
            if (!t++)
                put(".SH " title)
            put(".TP")
            put(".BR " plain(name[i]) " (3)")
            put_line(inline(brief_of(take_tags(doc[i]))))
        }
}

function page_of_header(h,    i, last, any)
{
    page_begin("skua-" header_short(h), 7, header_brief[h])
    put_library()
    put(".SH SYNOPSIS")
    put(".B #include <skua/" plain(header_name[h]) ">")
    put(".SH DESCRIPTION")
    put_prose(header_text[h] != "" ? header_text[h] : toupper(substr(header_brief[h], 1, 1)) substr(header_brief[h], 2))
    last = "none"
    for (i = 1; i <= items; i++) {
        if (of_header[i] != h || kind[i] != "function")
            continue
        if (!any++)
            put(".SH FUNCTIONS")
        if (of_group[i] != last && of_group[i] != "")
            put(".SS " toupper(substr(of_group[i], 1, 1)) substr(of_group[i], 2))
        last = of_group[i]
        put(".TP")
        put(".BR " plain(name[i]) " (3)")
        put_line(inline(brief_of(take_tags(doc[i]))))
    }
    put_kind(h, "type constants", "TYPES")
    put_kind(h, "macro constant variable", "MACROS AND CONSTANTS")
    split("", mentioned)
    put_see_also(0, 0)
    close(page)
}

function page_of_all(    h, type)
{
    page_begin("skua", 7, "the interface of Skua, a runtime for parallel programs")
    put_library()
    put(".SH SYNOPSIS")
    put(".B #include <skua/skua.h>")
    put(".SH DESCRIPTION")
    put("A program of Skua consists of PEs, each of which delivers messages to handlers and to objects, and")
    put("accesses the memory of other PEs by one\\-sided operations.")
    put("The header")
    put(".I <skua/skua.h>")
    put("includes all others but those of compatibility.")
    put("Every function, type and macro has a page in section 3, such as")
    put(".BR skua_send (3);")
    put("every header has a page in section 7 that explains the concept and lists its declarations.")
    put(".PP")
    put("Names that begin with")
    put(".B skuac_")
    put("are for code that")
    put(".BR skuac (1)")
    put("generates.")
    put(".SH HEADERS")
    for (h = 1; h <= headers; h++) {
        if (header_short(h) == "skua")
            continue
        put(".TP")
        put(".BR skua\\-" plain(header_short(h)) " (7)")
        type = header_brief[h]
        sub(/\.$/, "", type)
        put_line(inline(type) ".")
    }
    put(".SH SEE ALSO")
    put(".BR skua (1),")
    put(".BR skuac (1),")
    put(".BR skuarun (1),")
    put(".BR skua\\-environment (7)")
    close(page)
}

function emit(    i)
{
    printf "" > (out "/undescribed")
    for (i = 1; i <= items; i++)
        if (kind[i] == "function")
            page_of_function(i)
        else
            page_of_other(i)
    for (i = 1; i <= headers; i++)
        if (header_short(i) != "skua")
            page_of_header(i)
    page_of_all()
}
