#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# reference.sh - the manual pages and the HTML reference are complete: every public name has a page with all
# of its sections, every name in a page exists, every parameter is described, links are valid, the
# pages are well formed, and the examples in the headers compile.
#
# usage: reference.sh SOURCE BUILD CC
. "$(dirname "$0")/tap.sh"
source=$1
build=$2
cc=$3
code=0 out= err=
reference=$source/docs/reference
ls "$source"/include/skua/*.h "$source"/include/skua/compat/*.h "$build"/include/skua/version.h |
  grep -v '/skuac_' >"$work/headers"

# pages AWK FOLDER: makes the pages
pages()
{
  mkdir -p "$2/man3" "$2/man7"
  # shellcheck disable=SC2046 # paths of the tree are words
  run "$1" -v out="$2" -v version=0 -v parameters="$reference/parameters.txt" \
    -f "$reference/parse.awk" -f "$reference/text.awk" -f "$reference/man.awk" $(cat "$work/headers")
}
man=$work/man
pages awk "$man"
ok "pages are made" test "$code" = 0 -a -z "$err"
for awk in mawk gawk original-awk; do
  command -v $awk >/dev/null || continue
  pages $awk "$work/$awk"
  ok "$awk makes equal pages" diff -r "$man" "$work/$awk"
done
out=$(cat "$man/undescribed")
ok "every parameter and return value is described (docs/reference/parameters.txt, or @param): ${out:-all}" test -z "$out"

# Names, found in the headers without regard to their layout: what is left without comments.
code_of()
{
  awk '{
      line = $0
      while (line != "") {
          if (inside) {
              at = index(line, "*/")
              if (!at) break
              line = substr(line, at + 2)
              inside = 0
          }
          at = index(line, "/*")
          printf "%s\n", at ? substr(line, 1, at - 1) : line
          line = at ? substr(line, at + 2) : ""
          inside = at > 0
      }
  }' "$@"
}
# shellcheck disable=SC2046
code_of $(cat "$work/headers") >"$work/code"
{
  sed -E 's/(struct|union|enum) skua_[a-z_]+//g' "$work/code" | # tags are not names by themselves
    grep -oE '(skua|SKUA|CkDirect)_[A-Za-z0-9_]+' | grep -vE '_H$|_STATUS_ENUM$|_$'
  sed -n 's/^ *X(\([A-Z_0-9]*\), .*/SKUA_\1/p' "$work/code"
} | sort -u >"$work/names"
ok "names are found" test "$(grep -c . "$work/names")" -gt 300
out=$(while read -r name; do [ -s "$man/man3/$name.3" ] || echo "$name"; done <"$work/names")
ok "every public name has a page: $out" test -z "$out"
out=$(ls "$man/man3" | sed 's/\.3$//' | sort | comm -23 - "$work/names")
ok "every page has a public name: $out" test -z "$out"

# Headers of generated code define skuac_ and SKUAC_ alone: each other name in them is a public one.
code_of "$source"/include/skua/skuac_*.h >"$work/generated"
out=$({
  grep -oE '\<(skua|SKUA)_[A-Za-z0-9_]+' "$work/generated" | grep -vE '^SKUA_SKUAC_[A-Z]+_H$'
  sed -nE 's/^ *# *define +([A-Za-z_0-9]+).*/\1/p' "$work/generated" | grep -vE '^SKUA(C_|_SKUAC_[A-Z]+_H$)'
} | sort -u | comm -23 - "$work/names")
ok "headers of generated code are found" test "$(grep -c 'skuac_' "$work/generated")" -gt 100
ok "their definitions begin with skuac_ or SKUAC_: $out" test -z "$out"

# The naming rules of docs/guide/interface.md, as far as a name shows them.
out=$(grep -E '^skua_.*(_t|_delete|_deregister|_new)$' "$work/names")
ok "types have no _t, and pairs are create and destroy, register and unregister: $out" test -z "$out"
out=$(grep -oE 'typedef .*\(\*skua_[a-z_]+\)' "$work/code" | grep -oE 'skua_[a-z_]+\)' | tr -d ')' | grep -v '_fn$')
ok "types of functions end in _fn: $out" test -z "$out"
# Arrays and groups are collections, chares objects; threads are joined, detectors end by themselves.
for pair in create:destroy alloc:free open:close unregister:register; do
  out=$(grep -E "^skua_[a-z]+_${pair%:*}\$" "$work/names" |
    grep -vxE 'skua_(array|group|chare|thread|detector)_create' | while read -r name; do
      grep -qx "${name%_*}_${pair#*:}" "$work/names" || echo "$name"
    done)
  ok "a ${pair%:*} has its ${pair#*:}: $out" test -z "$out"
done

# Sections.  A page of an enum's value leads to that of the enum.
complete()
{
  awk '
    /^\.so / { so = 1 }
    /^\.SH / { section = $0; sub(/^\.SH /, "", section); have[section] = 0; next }
    section == "SYNOPSIS" && /\);/ { is_function = 1 }
    section == "SYNOPSIS" && /^\\fBvoid \\?%?[a-zA-Z_]+\(/ { is_void = 1 }
    section && !/^\./ && /[a-z]/ { have[section]++ }
    section && /^\.B/ { have[section]++ }
    END {
        if (so) exit
        need = "NAME SYNOPSIS DESCRIPTION"
        if (FILENAME ~ /\.3$/) need = need " SEE_ALSO"
        if (FILENAME ~ /\.3$/ && is_function && !("FUNCTIONS" in have) && !("MEMBERS" in have)) wants = 1
        n = split(need, part, " ")
        for (i = 1; i <= n; i++) {
            gsub(/_/, " ", part[i])
            if (!have[part[i]]) print FILENAME ": no " part[i]
        }
        if (("PARAMETERS" in have) && !have["PARAMETERS"]) print FILENAME ": empty PARAMETERS"
        if (("ERRORS" in have) && !have["ERRORS"]) print FILENAME ": empty ERRORS"
        if (("RETURN VALUE" in have) && !have["RETURN VALUE"]) print FILENAME ": empty RETURN VALUE"
    }' "$1"
}
out=$(for page in "$man"/man?/*; do complete "$page"; done)
ok "pages are complete: $out" test -z "$out"
out=$(awk -f "$reference/parse.awk" -f "$reference/list.awk" $(cat "$work/headers") |
  awk '$1 == "function" { print $2 }' | while read -r name; do
    for section in "LIBRARY" "ERRORS" "SEE ALSO"; do
      grep -qx ".SH $section" "$man/man3/$name.3" || echo "$name: no $section"
    done
  done)
ok "pages of functions have their sections: $out" test -z "$out"

# Pages contain all text of the comments: no word is lost where sentences are divided.
cat >"$work/lost.awk" <<'END'
function emit(    i, n, k, word, page, line, text)
{
    for (i = 1; i <= items; i++) {
        page = man "/man3/" name[i] ".3"
        text = ""
        while ((getline line < page) > 0)
            text = text " " line
        close(page)
        gsub(/\\%|\\f[BIR]/, "", text)
        line = doc[i]
        gsub(/@[a-z]+/, " ", line)
        n = split(line, word, /[^A-Za-z]+/)
        for (k = 1; k <= n; k++)
            if (length(word[k]) > 3 && !index(text, word[k]))
                print name[i] ": " word[k]
    }
}
END
# shellcheck disable=SC2046
out=$(awk -v man="$man" -f "$reference/parse.awk" -f "$work/lost.awk" $(cat "$work/headers"))
ok "pages contain all text of the comments: ${out:-yes}" test -z "$out"

# Names and pages that pages mention.  Settings have the prefix SKUA_, too.
sed -n 's/^CONFIG(\([a-z_0-9]*\),.*/SKUA_\1/p' "$source"/src/base/config_defs.h | tr '[:lower:]' '[:upper:]' >"$work/settings"
grep -oE '(struct|union|enum) skua_[a-z_]+' "$work/code" | sed 's/.* //' | sort -u - "$work/settings" "$work/names" >"$work/known"
out=$(cat "$man"/man?/* | sed 's/\\%//g' | grep -oE '(skua|SKUA|CkDirect)_[A-Za-z0-9_]+' |
  grep -vE '_$|^skua_$' | sort -u | comm -23 - "$work/known")
ok "every name in the pages exists: $out" test -z "$out"
out=$(cat "$man"/man?/* | sed 's/\\%//g; s/\\-/-/g; s/\\f[BIR]//g; s/^\.BR //; s/ (/(/' | grep -oE '[A-Za-z_-]+[A-Za-z_0-9-]*\([37]\)' | sort -u |
  while read -r name; do
    section=${name#*(}
    section=${section%)}
    page=$man/man$section/${name%(*}.$section
    [ -e "$page" ] || [ "$name" = "skua-environment(7)" ] || echo "$name"
  done)
ok "every page that a page refers to exists: $out" test -z "$out"

if command -v groff >/dev/null; then
  run groff -I "$man" -z -ww -man -Tutf8 "$man"/man3/* "$man"/man7/*
  ok "groff has no warning" test "$code" = 0 -a -z "$err"
fi
if command -v mandoc >/dev/null; then
  run mandoc -T lint -W error "$man"/man7/*
  ok "mandoc has no error" test "$code" = 0 -a -z "$out"
fi
if command -v man >/dev/null && man --version 2>/dev/null | grep -q '^man '; then
  run env MANPAGER=cat MANWIDTH=80 man --warnings -l "$man/man3/skua_put.3"
  ok "man prints a page" has "$code $err$out" '^0 skua_put\(3\)|SYNOPSIS'
  run env MANPAGER=cat man -M "$man" SKUA_ERR_NOMEM
  ok "man finds the page of a value" has "$out" 'skua_status'
fi

# Examples: blocks between @code and @endcode, at file scope or as statements.
xargs awk -v base="$work/example" '
  /@code/    { inside = 1; text = ""; file = 0; next }
  /@endcode/ { inside = 0; n++; name = base n ".c"
               print "#include \"" context "\"" > name
               print (file ? text : "void example(void);\nvoid example(void)\n{\n" text "}\n") > name
               close(name); next }
  inside     { line = $0; sub(/^ *\* ?/, "", line); text = text line "\n"; if (line ~ /^ *(static|struct|int main)/) file = 1 }
' context="$source/tests/reference_context.h" <"$work/headers"
ok "headers have examples" test -e "$work/example1.c"
for example in "$work"/example*.c; do
  run "$cc" -std=gnu17 -Wall -Wno-unused -Werror -I"$source/include" -I"$build/include" -fsyntax-only "$example"
  ok "an example of a header compiles: $(sed -n 5p "$example")" test "$code" = 0
done

if ! command -v doxygen >/dev/null; then
  echo "# doxygen is not installed: the HTML reference is not tested"
  tap_end
fi
html=$work/html
mkdir -p "$work/marked/skua/compat"
# shellcheck disable=SC2046
run awk -v out="$work/marked/skua" -v parameters="$reference/parameters.txt" \
  -f "$reference/parse.awk" -f "$reference/text.awk" -f "$reference/doxygen.awk" $(cat "$work/headers")
ok "headers are marked for doxygen" test "$code" = 0 -a -z "$err"
sed "s|@SKUA_REFERENCE@|$work|g; s|@CMAKE_CURRENT_SOURCE_DIR@|$reference|g; s|@PROJECT_VERSION@|0|g" \
  "$reference/Doxyfile.in" >"$work/Doxyfile"
run doxygen "$work/Doxyfile"
ok "doxygen makes HTML" test "$code" = 0 -a -f "$html/index.html"
out=$(cat "$work/warnings")
ok "without a warning: $out" test -z "$out"
ok "with a search" test -f "$html/search/search.js"
grep -ohE '<name>[A-Za-z_0-9]+</name>' "$work/skua.tag" | sed 's/<[^>]*>//g' | sort -u >"$work/tagged"
out=$(comm -23 "$work/names" "$work/tagged")
ok "every public name is in it: $out" test -z "$out"

# Links: "file" or "file#anchor".
for page in "$html"/*.html; do
  file=$(basename "$page")
  grep -oE ' href="[^":]+"' "$page" | sed 's/ href="//; s/"$//' | sed "s|^#|$file#|"
done | sort -u >"$work/links"
for page in "$html"/*.html; do
  grep -oE ' (id|name)="[^"]+"' "$page" | sed 's/.*="//; s/"$//' | sed "s|^|$(basename "$page")#|"
done | sort -u >"$work/anchors"
sed 's/#.*//' "$work/links" | sort -u | while read -r file; do
  [ -e "$html/$file" ] || echo "$file"
done >"$work/dead"
grep '#' "$work/links" | comm -23 - "$work/anchors" >>"$work/dead"
out=$(cat "$work/dead")
ok "HTML has links" test "$(grep -c . "$work/links")" -gt 300
ok "no link of the HTML reference is dead: $out" test -z "$out"
tap_end
