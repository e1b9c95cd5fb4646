/* SPDX-License-Identifier: Apache-2.0 */
/* ident_test.c - finds the identifiers of C code and nothing else. */
#include "syntax/ident.h"

#include <stdio.h>
#include <string.h>

#include "tests/tap.h"

static struct source_code ident_test_code(const char *c)
{
    return (struct source_code){.text = text_of(c)};
}

static void ident_test_append(struct text word, void *arg)
{
    char *list = arg;

    snprintf(list + strlen(list), 200 - strlen(list), " %.*s", (int)word.length, word.at);
}

static void ident_test_expect(const char *c, const char *words)
{
    char list[200] = "";

    ident_for_each(ident_test_code(c), ident_test_append, list);
    if (strcmp(list, words))
        printf("# %s: got%s, expected%s\n", c, list, words);
    OK(!strcmp(list, words), "words:%s", words);
}

/* Returns whether the last `return` of @p c is in a lambda. */
static bool ident_test_in_lambda(const char *c)
{
    const char *at = NULL;

    for (const char *next = c; (next = strstr(next, "return")); next++)
        at = next;
    return ident_is_in_lambda(ident_test_code(c), (struct text){at, 6});
}

static void ident_test_lambdas(void)
{
    OK(ident_test_in_lambda("sort(a, a + 3, [](int x, int y) { return x < y; });"), "a lambda");
    OK(ident_test_in_lambda("auto f = [&, n] { if (n) { return; } };"), "a block in a lambda");
    OK(ident_test_in_lambda("f([=](int x) mutable -> std::pair<int, int> { return {x, x}; });"),
       "a lambda with a type of its result");
    OK(!ident_test_in_lambda("f([] { return 1; }); if (a[i](x)) { return; }"), "after a lambda");
    OK(!ident_test_in_lambda("int a[] = {[0] = 1, [1] = 2}; if (a[b[0]]) { return; }"),
       "not after subscripts");
    OK(!ident_test_in_lambda("if (n) [[likely]] { return; }"), "not after an attribute");
    OK(!ident_test_in_lambda("for (auto x : a[1]) { return; }"), "not after a list in a loop");
    OK(ident_test_in_lambda("return [] { return 2; };"), "a lambda that is a result");
}

int main(void)
{
    ident_test_expect("", "");
    ident_test_expect("int n = m1 + _k;", " int n m1 _k");
    ident_test_expect("self->n + p.x . y + z", " self p z");
    ident_test_expect("self -> /* of */ n, a", " self a");
    ident_test_expect("1.5e+3f - 0x1p-2L + .5e3 * x1", " x1");
    ident_test_expect("case 1 ... n: f(...) ; ...x", " case n f x");
    ident_test_expect("\"a b\" 'c' L\"d\" u8\"e\" \"\\\"f\" g", " g");
    ident_test_expect("a // b\nc /* d\n e */ f", " a c f");
    ident_test_expect("a\n  # define b \\\n c\nd # e", " a d e");
    ident_test_expect("/* c */ # if x\ny", " y");
    ident_test_expect("a /* never closed", " a");
    ident_test_expect("a \"never closed", " a");
    ident_test_expect("a\\", " a");
    ident_test_expect("1'000'000 + 0xf'f + a'b'c", " a c");
    ident_test_expect("R\"(a \" b)\" + u8R\"x(c)\" d)x\" + e", " e");
    ident_test_expect("R\"a b\" c + xR\"(d)\"", " R c xR");
    ident_test_lambdas();
    OK(ident_is_mentioned(ident_test_code("x[n]"), text_of("n")), "n is mentioned");
    OK(!ident_is_mentioned(ident_test_code("x.n + nn"), text_of("n")),
       "a member and a longer word are not n");
    OK(!ident_is_mentioned((struct source_code){0}, text_of("n")),
       "empty code contains no identifier");
    OK(text_starts_with(text_of("skua_x"), "skua_") && !text_starts_with(text_of("sku"), "skua_"),
       "the beginnings of texts");
    return tap_end();
}
