# SPDX-License-Identifier: Apache-2.0
#
# doxygen.awk - with parse.awk and text.awk: writes the public headers in the form that doxygen needs.
#
#   awk -v out=FOLDER -v parameters=parameters.txt -f parse.awk -f text.awk -f doxygen.awk HEADERS...
#
# The comments of the headers are written to be read in place, as prose. The copies in FOLDER have
# the same declarations, with the parts of each comment marked: parameters, return value, errors, context.

function put(line)
{
    print line > page
}

# Prose of one line: escapes asterisks and angle brackets, and marks parameters as code.
function inline(s,    result, w)
{
    while (match(s, /@p [A-Za-z_0-9]+|`[^`]+`|[*][A-Za-z]([^*]*[A-Za-z])?[*]|[*][a-z_]+[ ,.;]|[<>&]/)) {
        result = result substr(s, 1, RSTART - 1)
        w = substr(s, RSTART, RLENGTH)
        s = substr(s, RSTART + RLENGTH)
        if (w ~ /^\*.*[ ,.;]$/)
            result = result "`" substr(w, 1, length(w) - 1) "`" substr(w, length(w))
        else
            result = result (w ~ /^[<>&]$/ ? "\\" w : w)
    }
    return result s
}

# Prose with its tables as lists and its drawings as they are.
function put_prose(text,    line, n, i, l, indent, mode, term, in_code)
{
    n = split(text, line, "\n")
    for (i = 1; i <= n; i++) {
        l = line[i]
        match(l, /^ */)
        indent = RLENGTH
        if (l ~ /^@code/)
            in_code = 1
        if (in_code) {
            put(l)
            if (l ~ /^@endcode/)
                in_code = 0
            continue
        }
        if (mode == "drawing" && l != "" && indent < 4) {
            put("@endverbatim")
            mode = ""
        }
        if (mode == "drawing") {
            put(l)
            continue
        }
        if (indent >= 4 && mode != "table") {
            put("@verbatim")
            put(l)
            mode = "drawing"
        } else if (indent >= 2 && (l ~ /^ *- / || match(trim(l), /  +/))) {
            if (mode != "table")
                put(" *")
            l = trim(l)
            if (l !~ /^- /) {
                match(l, /  +/)
                l = "- `" substr(l, 1, RSTART - 1) "`: " substr(l, RSTART + RLENGTH)
                gsub(/``/, "`", l)
            }
            put(" * " inline(l))
            mode = "table"
        } else if (mode == "table" && l != "") {
            if (indent)
                put(" *   " inline(trim(l)))
            else {
                put(" *")
                put(" * " inline(l))
                mode = ""
            }
        } else {
            put(l == "" ? " *" : " * " inline(trim(l)))
            if (l == "")
                mode = ""
        }
    }
    if (mode == "drawing")
        put("@endverbatim")
}

function put_function(item,    text, n, i, its, its_type, status, table, s)
{
    text = take_tags(doc[item])
    status = code[item] ~ /^skua_status /
    divide(text, code[item] !~ /^void [^*]/)
    put("/**")
    put_prose(description)
    n = split_parameters(code[item])
    for (i = 1; i <= n; i++) {
        its = parameter_name(param[i])
        its_type = describe_parameter(item, its, param[i])
        if (its_type != "")
            put(" * @param " its " " inline(its_type))
    }
    if (code[item] !~ /^void [^*]/)
        put(" * @return " inline(return_text(item, status)))
    s = error_text(item, status)
    table = errors_table(item, status)
    if (s table != "") {
        put(" * @par Errors")
        if (s != "")
            put(" * " inline(s))
        if (table != "")
            put_prose(table)
    }
    s = context_of(of_header[item])
    if (s != "") {
        put(" * @par Context")
        put(" * " inline(s))
    }
    put(" */")
    put(code[item])
    put("")
}

function put_other(item)
{
    put("/**")
    put_prose(doc[item] != "" ? doc[item] : header_brief[of_header[item]])
    put(" */")
    put(kind[item] == "macro" ? code[item] : commented[item] != "" ? commented[item] : code[item])
    put("")
}

# The first page: an overview, and a table of the headers.
function put_mainpage(    h, brief)
{
    page = out "/mainpage.dox"
    put("/** @mainpage The interface of Skua")
    put(" *")
    put(" * Skua is a runtime for parallel programs in C. A program consists of PEs, each of which delivers messages to")
    put(" * handlers and to objects, and accesses the memory of other PEs by one-sided operations. The header")
    put(" * `skua/skua.h` includes all headers but those of compatibility. Programs link with `-lskua`; `pkg-config")
    put(" * --cflags --libs skua` prints the flags.")
    put(" *")
    put(" * Each header explains its concept and lists its functions:")
    put(" *")
    put(" * | header | |")
    put(" * |---|---|")
    for (h = 1; h <= headers; h++) {
        brief = header_brief[h]
        sub(/\.$/, "", brief)
        if (header_short(h) != "skua")
            put(" * | skua/" header_name[h] " | " inline(brief) " |")
    }
    put(" *")
    put(" * The same text is in the manual: `man skua_send` for a function, `man skua-message` for a header, `man 7")
    put(" * skua` for the list of headers. The guide, in `docs/guide/` of the source and of an installation,")
    put(" * explains how they are used together. Names that begin with `skuac_` are for code that the translator")
    put(" * `skuac` generates, and are not listed here.")
    put(" */")
    close(page)
}

function emit(    h, i)
{
    put_mainpage()
    for (h = 1; h <= headers; h++) {
        page = out "/" header_name[h]
        put("/** @file skua/" header_name[h])
        put(" * @brief " toupper(substr(header_brief[h], 1, 1)) substr(header_brief[h], 2))
        put(" *")
        put_prose(header_text[h])
        put(" */")
        for (i = 1; i <= items; i++)
            if (of_header[i] == h) {
                if (kind[i] == "function")
                    put_function(i)
                else
                    put_other(i)
            }
        close(page)
    }
}
