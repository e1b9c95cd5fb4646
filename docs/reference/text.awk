# SPDX-License-Identifier: Apache-2.0
#
# text.awk - with parse.awk: divides the comments of the headers by sentences.
#
# The comment of a function is divided by its sentences: those that begin with "Returns" are the
# return value; those that name a SKUA_ERR_ code or say that the job ends are its errors. Every other
# sentence is the description. A table of codes in the head of a header applies to all of its functions
# that return a skua_status. Sentences of the head that say on which threads functions may be called are
# repeated as the context.
#
# parameters.txt describes parameters that have the same meaning wherever their name occurs, in lines
# "name: text"; those of one function, "function.name: text"; and those of a type, "(type): text". A
# @param of the header takes precedence.

BEGIN {
    while ((getline text < parameters) > 0) {
        at = index(text, ": ")
        if (text ~ /^#/ || !at)
            continue
        if (text ~ /^\(/)
            type_conventional[substr(text, 2, at - 3)] = substr(text, at + 2)
        else
            conventional[substr(text, 1, at - 1)] = substr(text, at + 2)
    }
    close(parameters)
}

# The next sentence of *rest*, which loses it. A sentence ends with a full stop and a blank, but not
# behind an abbreviation or inside "skua_done_...()".
function sentence_next(    at, s, from)
{
    from = 1
    while (match(substr(rest, from), /[.?!]\)? +[A-Z*@`(]/)) {
        at = from + RSTART - 1
        s = substr(rest, 1, at + RLENGTH - 2)
        if (s !~ /(e\.g|i\.e|\.\.)\. *$/) {
            rest = substr(rest, at + RLENGTH - 1)
            return trim(s)
        }
        from = at + RLENGTH
    }
    s = trim(rest)
    rest = ""
    return s
}

# The whatis line of an item: the first sentence up to a colon or semicolon.
function brief_of(text,    s)
{
    sub(/\n\n.*$/, "", text)
    gsub(/\n/, " ", text)
    gsub(/  +/, " ", text)
    rest = text
    s = sentence_next()
    if (s ~ /^[^ :;]+ [^ :;]+ [^ :;]+ [^:;]+[:;] / && s !~ /^In place/)
        sub(/[:;] .*$/, "", s) # unless hardly a word would be left
    if (s ~ /\([^)]*$/)
        sub(/ *\([^)]*$/, "", s)
    sub(/[.:]$/, "", s)
    gsub(/@p /, "", s)
    gsub(/[*`]/, "", s)
    if (s ~ /^[A-Z][a-z]/ || s ~ /^An? /)
        s = tolower(substr(s, 1, 1)) substr(s, 2)
    return s
}

# Splits the parameters of a prototype into param[]; returns their number.
function split_parameters(prototype,    at, i, c, depth, text, n)
{
    at = index(prototype, "(")
    text = substr(prototype, at + 1)
    sub(/\);$/, "", text)
    n = 1
    param[1] = ""
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        if (c == "(")
            depth++
        if (c == ")")
            depth--
        if (c == "," && !depth)
            param[++n] = ""
        else
            param[n] = param[n] c
    }
    for (i = 1; i <= n; i++)
        param[i] = trim(param[i])
    return param[1] == "void" || param[1] == "" ? 0 : n
}

function parameter_name(text)
{
    if (text == "...")
        return text
    if (match(text, /\(\*[a-z_A-Z0-9]+\)/))
        return substr(text, RSTART + 2, RLENGTH - 3)
    sub(/\[.*$/, "", text)
    match(text, /[A-Za-z_0-9]+$/)
    return substr(text, RSTART)
}

# Takes the tags out of a comment, into tagged_parameter[], tagged_return and tagged_errors.
function take_tags(text,    line, n, i, rest_text, l, tag, where, in_code)
{
    split("", tagged_parameter)
    tagged_return = tagged_errors = where = ""
    n = split(text, line, "\n")
    for (i = 1; i <= n; i++) {
        l = line[i]
        if (l ~ /^@code/)
            in_code = 1
        if (l ~ /^@param /) {
            sub(/^@param /, "", l)
            match(l, /^[A-Za-z_0-9]+/)
            tag = substr(l, 1, RLENGTH)
            tagged_parameter[tag] = trim(substr(l, RLENGTH + 1))
            where = "param"
        } else if (l ~ /^@return /) {
            tagged_return = substr(l, 9)
            where = "return"
        } else if (l ~ /^@error /) {
            l = substr(l, 8)
            match(l, /^[A-Z_]+/)
            tagged_errors = tagged_errors "\n  " substr(l, 1, RLENGTH) "  " trim(substr(l, RLENGTH + 1))
            where = "error"
        } else if (l == "" || in_code) {
            where = ""
            rest_text = rest_text "\n" l
        } else if (where == "param") {
            tagged_parameter[tag] = tagged_parameter[tag] " " trim(l)
        } else if (where == "return") {
            tagged_return = tagged_return " " trim(l)
        } else if (where == "error") {
            tagged_errors = tagged_errors "\n      " trim(l)
        } else {
            rest_text = rest_text "\n" l
        }
        if (l ~ /^@endcode/)
            in_code = 0
    }
    gsub(/^\n+|\n+$/, "", rest_text)
    return rest_text
}

# Divides the plain paragraphs of a comment by sentences: description, returns, errors.
function divide(text, returns_something,    block, n, i, s, own, number)
{
    description = returns = errors = ""
    number = 0
    n = split(text, block, "\n\n")
    for (i = 1; i <= n; i++) {
        if (block[i] ~ /(^|\n) / || block[i] ~ /@code/) { # with a list, a table or code: as it is
            description = description (description == "" ? "" : "\n\n") block[i]
            number++
            continue
        }
        rest = block[i]
        gsub(/\n/, " ", rest)
        own = ""
        while (rest != "") {
            s = sentence_next()
            if (number++ && s ~ /SKUA_ERR_/ && s !~ /^Returns |[Rr]eturns SKUA_ERR_|^Failures/) {
                errors = errors (errors == "" ? "" : " ") s # it says more than that
                own = own (own == "" ? "" : " ") s
            } else if (number > 1 && (s ~ /SKUA_ERR_/ || s ~ /[Ee]nds the job (if|with an error|when)/ || s ~ /ends the job\.$/))
                errors = errors (errors == "" ? "" : " ") s
            else if (returns_something && s ~ /^Returns / && s !~ /^Returns (immediately|when|as soon)[ ,:.]/ && number > 1)
                returns = returns (returns == "" ? "" : " ") s
            else
                own = own (own == "" ? "" : " ") s
        }
        if (own != "")
            description = description (description == "" ? "" : "\n\n") own
    }
}

# The lines "SKUA_ERR_X   text" of a header's head, or of the header whose failures are those of this one.
function error_table(h,    line, n, i, t, on)
{
    if (match(header_text[h], /failures are those of [a-z_]+[.]h/)) {
        t = substr(header_text[h], RSTART + 22, RLENGTH - 22)
        for (i = 1; i <= headers; i++)
            if (header_name[i] == t)
                return error_table(i)
    }
    t = ""
    n = split(header_text[h], line, "\n")
    for (i = 1; i <= n; i++) {
        if (line[i] ~ /^ +SKUA_ERR_[A-Z]+  /) {
            t = t "\n" line[i]
            on = 1
        } else if (on && line[i] ~ /^      /) {
            t = t "\n" line[i]
        } else {
            on = 0
        }
    }
    return substr(t, 2)
}

# Sentences of the head about the threads that may call.
function context_of(h,    block, n, i, s, t)
{
    n = split(header_text[h], block, "\n\n")
    for (i = 1; i <= n; i++) {
        if (block[i] ~ /(^|\n)  /)
            continue
        rest = block[i]
        gsub(/\n/, " ", rest)
        while (rest != "") {
            s = sentence_next()
            if (s ~ /(All|Most|The) functions .*called on/ || s ~ /Any (PE|thread)/ || s ~ /are called on (that|a|the thread)/ || s ~ /[Oo]nly calls with/)
                t = t (t == "" ? "" : " ") s
        }
    }
    return t
}

# The return value of a function whose comment has no sentence about it: the object that it creates.
function returned(item,    type)
{
    type = code[item]
    sub(/ \**[A-Za-z_0-9]+\(.*$/, "", type)
    if (name[item] ~ /_(alloc|alloc_bits)$/ && type == "void")
        return "The address of the memory."
    if (name[item] ~ /_(create|create_[a-z]+|create[0-9]|createHandle|register|make|alloc|alloc_[a-z]+|open|open_[a-z]+|lend|after|every)$/)
        return "The new " type "."
    return ""
}

# The return value, after divide(): "" if nothing describes it.
function return_text(item, status,    s)
{
    if (tagged_return != "")
        return tagged_return
    if (status) {
        s = "SKUA_OK on success, a negative skua_status on failure (see ERRORS)."
        if (name[item] ~ /_nb$/ || doc[item] ~ /SKUA_PENDING/)
            s = s " SKUA_PENDING if the operation has begun and is not complete."
        return s (returns == "" ? "" : " " returns)
    }
    rest = description
    gsub(/\n/, " ", rest)
    s = sentence_next()
    if (s ~ /^Returns /)
        return s (returns == "" ? "" : " " returns)
    if (match(s, /[ ,]returns [^.:;]+/)) # "Waits for it and returns its index."
        return "Returns " substr(s, RSTART + 9, RLENGTH - 9) "." (returns == "" ? "" : " " returns)
    return returns != "" ? returns : returned(item)
}

# The codes that a function returns, as lines "  CODE  text".
function errors_table(item, status,    s)
{
    s = substr(tagged_errors, 2)
    if (status && error_table(of_header[item]) != "")
        s = s (s == "" ? "" : "\n") error_table(of_header[item])
    return s
}

# The sentences about errors besides that table.
function error_text(item, status,    s)
{
    s = errors
    if (status)
        return s (s == "" ? "" : " ") "A failure is also reported to the error callback and on standard error: skua_error_set_callback()."
    if (s == "" && value_only[item])
        return "None. The call computes a value."
    return s != "" ? s : "The call returns no status. A mistake that it detects ends the job with an error on standard error: skua_error_set_callback()."
}

function describe_parameter(item, its, type,    key)
{
    if (its in tagged_parameter)
        return tagged_parameter[its]
    if ((name[item] "." its) in conventional)
        return conventional[name[item] "." its]
    if (its in conventional)
        return conventional[its]
    return type_conventional[base_type(type)]
}

function base_type(text)
{
    gsub(/const |struct |[*]/, "", text)
    sub(/\[.*$/, "", text)
    sub(/ [A-Za-z_0-9]+$/, "", text)
    return trim(text)
}

function header_short(h,    s)
{
    s = header_name[h]
    sub(/^.*\//, "", s)
    sub(/\.h$/, "", s)
    return s
}

# Values of constants are shown, the bodies of other macros are not.
function macro_synopsis(text)
{
    if (match(text, /^#define [A-Za-z_0-9]+\([^)]*\)/))
        return substr(text, 1, RLENGTH)
    if (text ~ /__attribute__|\{/)
        sub(/^#define [A-Za-z_0-9]+/, "&\n", text)
    sub(/\n.*$/, "", text)
    return text
}
