/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_flow_test.c - the lowering of structured control flow: resume points, waits and frames of
 * the generated functions.  tests/skuac/flow compares the behaviour of the generated code with a
 * model.
 */
#include "check/checker.h"
#include "emit/emit.h"
#include "support/bump.h"
#include "support/diagnostic.h"
#include "syntax/parse_file.h"
#include "tests/tap.h"

static char generated[64 * 1024];

/* Generates code for an entry `run` with the given body into `generated`. */
static void emit_flow_test_translate(const char *body)
{
    char *text = bump_printf("module m { chare C { state { int n; } entry C(); entry void a(int k);"
                             " entry void b(int k, int v); entry void run() { %s } }; }",
                             body);
    struct ast_tree *tree;
    struct writer    header, source;

    diagnostic_begin(NULL);
    tree         = parse_file(source_from_memory("m.ci", text, strlen(text)));
    generated[0] = 0;
    if (diagnostic_error_count() || !check_tree(tree))
        return;
    emit_to_memory(tree, &header, &source);
    if (source.length < sizeof generated) {
        memcpy(generated, source.at, source.length);
        generated[source.length] = 0;
    }
    writer_free(&header);
    writer_free(&source);
}

static unsigned emit_flow_test_count(const char *pattern)
{
    unsigned count = 0;

    for (const char *at = generated; (at = strstr(at, pattern)); at++)
        count++;
    return count;
}

static bool emit_flow_test_has(const char *pattern)
{
    return emit_flow_test_count(pattern) > 0;
}

static void emit_flow_test_when(void)
{
    emit_flow_test_translate(
        "serial { } when a(int k) serial { } when b[3](int k, int v) serial { }");
    OK(emit_flow_test_has("goto at_1;") && emit_flow_test_has("goto at_2;") &&
           !emit_flow_test_has("goto at_3;"),
       "each `when' is a resume point");
    OK(emit_flow_test_has("skuac_flow_want(skua_this, 0, 0, 0); /* a */") &&
           emit_flow_test_has("skuac_flow_want_reference(skua_this, 0, 1, 0, "),
       "a `when' with a reference number requests it");
    OK(!emit_flow_test_has("skuac_flow_keep("),
       "a message is not copied if nothing waits meanwhile");
    emit_flow_test_translate("when a(int k), b(int j, int v) when a(int i) serial { }");
    OK(emit_flow_test_has("skuac_flow_match(skua_this, 2, 1)") &&
           emit_flow_test_has("skuac_wait wait[2];"),
       "a `when' waits for all its messages at once");
    OK(emit_flow_test_count("skuac_flow_keep(") == 2,
       "messages that are held while waiting are kept");
}

static void emit_flow_test_branches(void)
{
    emit_flow_test_translate(
        "overlap { when a(int k) serial { } when b(int k, int v) serial { } }");
    OK(emit_flow_test_has("&C__run__1_type") && emit_flow_test_has("&C__run__2_type") &&
           !emit_flow_test_has("&C__run__3_type"),
       "each branch of an `overlap' has a frame");
    OK(emit_flow_test_count("skuac_flow_join(skua_this, 1)") == 1, "and they are joined");
    emit_flow_test_translate("case { when a(int k) serial { } when b(int k, int v) serial { } }");
    OK(emit_flow_test_has("skuac_flow_want(skua_this, 1, 1, 1); /* b */") &&
           emit_flow_test_has("switch (skua_this->chosen)"),
       "the alternatives of a `case' are numbered");
    emit_flow_test_translate("int i = 0; forall [j] (0 : 3) when a[j](int k) serial { i += j; }");
    OK(emit_flow_test_has(
           "skua_outer_1 = (struct C__run__frame *)(void *)skua_frame->frame.parent"),
       "an inner frame reaches the variables of the outer one");
}

static void emit_flow_test_loops(void)
{
    emit_flow_test_translate("for (int i = 0; i < 3; i++) while (self->n) serial { }");
    OK(emit_flow_test_has(
           "for (C__run_first_1(self, skua_frame); C__run_while_2(self, skua_frame);") &&
           emit_flow_test_has("while (C__run_while_4(self, skua_frame)) {"),
       "loops are loops of C, and each expression a function");
    OK(!emit_flow_test_has("switch (skua_this->at)"), "without a wait there is no resume point");
}

int main(void)
{
    emit_flow_test_when();
    emit_flow_test_branches();
    emit_flow_test_loops();
    bump_free_all();
    return tap_end();
}
