/* SPDX-License-Identifier: Apache-2.0 */
/* words_test.c - identifiers are found in C, and nothing else is. */
#include "words.h"

#include <stdio.h>
#include <string.h>

#include "tests/tap.h"

static struct code code_of(const char *c)
{
    return (struct code){.text = text_of(c)};
}

static void append(struct text word, void *arg)
{
    char *list = arg;

    snprintf(list + strlen(list), 200 - strlen(list), " %.*s", (int)word.length, word.at);
}

static void expect(const char *c, const char *words)
{
    char list[200] = "";

    for_each_word(code_of(c), append, list);
    if (strcmp(list, words))
        printf("# %s: got%s, expected%s\n", c, list, words);
    OK(!strcmp(list, words), "words:%s", words);
}

int main(void)
{
    expect("", "");
    expect("int n = m1 + _k;", " int n m1 _k");
    expect("self->n + p.x . y + z", " self p z");
    expect("self -> /* of */ n, a", " self a");
    expect("1.5e+3f - 0x1p-2L + .5e3 * x1", " x1");
    expect("case 1 ... n: f(...) ; ...x", " case n f x");
    expect("\"a b\" 'c' L\"d\" u8\"e\" \"\\\"f\" g", " g");
    expect("a // b\nc /* d\n e */ f", " a c f");
    expect("a\n  # define b \\\n c\nd # e", " a d e");
    expect("/* c */ # if x\ny", " y");
    expect("a /* never closed", " a");
    expect("a \"never closed", " a");
    expect("a\\", " a");
    OK(mentions(code_of("x[n]"), text_of("n")), "n is mentioned");
    OK(!mentions(code_of("x.n + nn"), text_of("n")), "a member and a longer word are not n");
    OK(!mentions((struct code){0}, text_of("n")), "no code mentions nothing");
    OK(text_begins(text_of("skua_x"), "skua_") && !text_begins(text_of("sku"), "skua_"),
       "the beginnings of texts");
    return tap_end();
}
