#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# names.sh - a name has one meaning: no function is defined in two files of src/, translator/ and
# tools/, no struct, union or enum tag is defined twice in them or in include/, and comments treat
# machines as things (no "who", no "somebody") in sentences that stand alone (none begins with "The
# same").  Settings that comments name exist.
#
# usage: names.sh SOURCE-FOLDER
#
# The tree is laid out by clang-format, so a scan by line is exact: the brace that opens a function
# stands alone in column 1, the one that opens a struct ends its line.  An offence is printed as
# file:line: text.
. "$(dirname "$0")/tap.sh"
cd "$1" || exit 1
code=0 out= err=

# Files of which a build has one: they define the same functions on purpose.
cat >"$work/variants" <<'END'
src/base/arch_aarch64.h        src/base/arch_x86_64.h
src/base/topology_hwloc.c      src/base/topology_plain.c
src/boot/pmix.c                src/boot/pmix_none.c
src/checkpoint/checksum_xxhash.c src/checkpoint/checksum_none.c
END
# Names that a contract gives to several programs: main(), and the entries of a fuzzer.
shared='main|LLVMFuzzerTestOneInput|LLVMFuzzerInitialize'

cat >"$work/scan.awk" <<'END'
# Prints "f NAME file:line" for a function that is defined, "s NAME file:line" for a static one,
# "t TAG file:line" for a tag, "c file:line TEXT" for a line of a comment ("c!": for its first).
function flush_comment(text, first)
{
    gsub(/^[ \t*]+|[ \t*]+$/, "", text)
    if (text != "")
        print (first ? "c! " : "c ") FILENAME ":" FNR " " text
    return text != ""
}

# Returns the line without its comments and strings; prints comments.
function strip(line,    rest, at, text, c, two)
{
    text = ""
    while (line != "") {
        if (in_comment) {
            at = index(line, "*/")
            if (!at) {
                if (flush_comment(line, first))
                    first = 0
                return text
            }
            flush_comment(substr(line, 1, at - 1), first)
            line = substr(line, at + 2)
            in_comment = 0
            continue
        }
        at = match(line, /\/\*|\/\/|"|'/)
        if (!at)
            return text line
        text = text substr(line, 1, at - 1)
        two = substr(line, at, 2)
        c = substr(line, at, 1)
        rest = substr(line, at)
        if (two == "/*") {
            in_comment = 1
            first = 1
            line = substr(rest, 3)
        } else if (two == "//") {
            flush_comment(substr(rest, 3), 1)
            return text
        } else if (c == "\"" && match(rest, /^"([^"\\]|\\.)*"/) || c == "'" && match(rest, /^'([^'\\]|\\.)*'/)) {
            text = text c c
            line = substr(rest, RLENGTH + 1)
        } else {
            text = text c
            line = substr(rest, 2)
        }
    }
    return text
}

# The expansion of a macro that begins in column 1 is unknown, and attributes are not names.
function function_name(head)
{
    while (match(head, /__attribute__ *\(\([^()]*(\([^()]*\))?[^()]*\)\)/))
        head = substr(head, 1, RSTART - 1) " " substr(head, RSTART + RLENGTH)
    if (head ~ /=/ || !match(head, /[A-Za-z_][A-Za-z_0-9]* *\(/))
        return ""
    head = substr(head, RSTART, RLENGTH - 1)
    sub(/ *$/, "", head)
    return head
}

FNR == 1 {
    in_comment = 0
    head = ""
    continued = 0
}

{
    was = in_comment
    line = strip($0)
    if (continued || line ~ /^[ \t]*#/) { # the preprocessor's
        continued = line ~ /\\$/
        next
    }
    if (match(line, /(^|[^A-Za-z_0-9])(struct|union|enum) +[^(){};=,*]*\{/) ||
        match(line, /(^|[^A-Za-z_0-9])(struct|union|enum) +__attribute__\(\([^{};]*\)\) +[^(){};=,*]*\{/)) {
        tag = substr(line, RSTART, RLENGTH - 1)
        sub(/ *:.*$/, "", tag)
        sub(/ *$/, "", tag)
        sub(/^.*[^A-Za-z_0-9]/, "", tag)
        if (tag != "" && tag !~ /^(struct|union|enum)$/)
            print "t " tag " " FILENAME ":" FNR
    }
    if (line ~ /^\{[ \t]*$/) {
        name = function_name(head)
        if (name != "")
            print (head ~ /(^| )static / ? "s " : "f ") name " " FILENAME ":" where
        head = ""
    } else if (line ~ /^[A-Za-z_]/ && line !~ /[;{}]/ && line !~ /:$/) {
        if (line ~ /^[A-Za-z_].*\(/ || head == "")
            where = FNR
        head = (line ~ /\(/ && head ~ /\)$/ ? "" : head " ") line
    } else if (line ~ /^[ \t]/ && line !~ /[;{}]/) {
        if (head != "")
            head = head " " line
    } else if (line ~ /[;{}]/) {
        head = ""
    }
}
END

find src translator tools include -name '*.[ch]' | sort >"$work/code"
find src translator tools include tests bench apps examples -name '*.[ch]' | sort >"$work/all"
xargs awk -f "$work/scan.awk" <"$work/code" >"$work/defined"
xargs awk -f "$work/scan.awk" <"$work/all" | grep '^c' >"$work/comments"

# Functions that more than one file defines; variants count as one file.
grep '^[fs] ' "$work/defined" | grep -v ' include/' | grep -vE "^. ($shared) " >"$work/functions"
awk 'NR == FNR { for (i = 1; i <= NF; i++) group[$i] = $1; next }
     {
         file = $3
         sub(/:[0-9]+$/, "", file)
         key = file in group ? group[file] : file
         where[$2] = where[$2] "\n  " $3
         if (!(($2, key) in seen)) {
             seen[$2, key] = 1
             files[$2]++
         }
     }
     END { for (name in files) if (files[name] > 1) print name "()" where[name] }' \
  "$work/variants" "$work/functions" >"$work/twice"
ok "functions are found" test "$(grep -c . "$work/functions")" -gt 1000
twice=$(grep -c '^[^ ]' "$work/twice")
cat "$work/twice"
ok "no function is defined in two files ($twice are)" test "$twice" = 0

# A static function carries its module's word, so its name has two words at least.
grep '^s ' "$work/defined" | grep -v '_test\.c:' | awk '$2 !~ /_/ { print $3 ": " $2 "()" }' >"$work/single"
single=$(grep -c . "$work/single")
cat "$work/single"
ok "no static function has a single word for a name ($single have)" test "$single" = 0

# Constants that bound a number end in _MIN or _MAX, as those of limits.h.
grep -nE '\b[A-Z][A-Z0-9_]*_(LEAST|MOST)\b' $(grep -v '^include' "$work/code") >"$work/limits"
limits=$(grep -c . "$work/limits")
cat "$work/limits"
ok "no constant ends in _LEAST or _MOST ($limits do)" test "$limits" = 0

# Tags, in the same way.  What driver.h declares and does not define is opaque: each driver, and
# seal.c in front of them, defines it for itself.
sed -n 's/^struct \(ski_[a-z_]*\);.*/\1/p' src/transport/driver.h >"$work/opaque"
ok "opaque types of drivers are found" test -s "$work/opaque"
grep '^t ' "$work/defined" | awk 'NR == FNR { opaque[$1] = 1; next }
  !($2 in opaque && $3 ~ /^src\/transport\//)' "$work/opaque" - >"$work/tags"
awk 'NR == FNR { for (i = 1; i <= NF; i++) group[$i] = $1; next }
     {
         file = $3
         sub(/:[0-9]+$/, "", file)
         key = file in group && group[file] != file ? "" : $3
         where[$2] = where[$2] "\n  " $3
         if (key != "")
             times[$2]++
     }
     END { for (name in times) if (times[name] > 1) print "tag " name where[name] }' \
  "$work/variants" "$work/tags" >"$work/twice"
twice=$(grep -c '^[^ ]' "$work/twice")
cat "$work/twice"
ok "no tag is defined twice ($twice are)" test "$twice" = 0

# Persons are users, authors and the like; everything else is a thing.
persons='[Uu]sers?|[Aa]uthors?|[Rr]eaders?|[Pp]rogrammers?|[Dd]evelopers?|[Pp]eople|[Tt]hose of you'
sed -E "s/($persons),? who(m)?//g" "$work/comments" |
  grep -iE '(^|[^a-z_0-9"-])(who|whom|somebody|someone|nobody|everybody|anybody|he|his|him|she|her)([^a-z_0-9"(]|$)' |
  sed 's/^c!* //; s/ /: /' >"$work/people"
people=$(grep -c . "$work/people")
cat "$work/people"
ok "no comment calls a thing who, somebody, nobody or he ($people lines do)" test "$people" = 0

grep -iE '^c! [^ ]+ the same([^a-z]|$)' "$work/comments" | sed 's/^c! //; s/ /: /' >"$work/same"
same=$(grep -c . "$work/same")
cat "$work/same"
ok "no comment begins with \"The same\" ($same do)" test "$same" = 0

# Settings that comments name, in backquotes or as words with an underscore, exist: a comment with a former
# name misleads.  The lines of a comment are joined first.
sed -n 's/^CONFIG(\([a-z_0-9]*\),.*/\1/p' src/base/config_defs.h | sort -u >"$work/settings"
ok "settings are found" test -s "$work/settings"
find src include translator tools -name '*.[ch]' -exec cat {} + | tr '\n' ' ' | sed 's/ \*  */ /g' |
  grep -oE '[Ss]ettings? (`[a-z_0-9]+`|[a-z0-9]+_[a-z_0-9]+)' | sed 's/^[^ ]* //; s/`//g' | sort -u |
  comm -23 - "$work/settings" >"$work/former"
former=$(tr '\n' ' ' <"$work/former")
ok "settings that comments name exist: ${former:-all}" test ! -s "$work/former"
tap_end
