/* SPDX-License-Identifier: Apache-2.0 */
/* recovery_test.c - the parser resumes at the next declaration or statement after an error. */
#include "syntax/recovery.h"

#include "support/bump.h"
#include "support/diagnostic.h"
#include "tests/tap.h"

/* Returns whether the parser resumes at @p next after it has skipped the beginning of @p text. */
static bool recovery_test_resumes(const char *text, const char *next)
{
    static const char *const words[] = {"entry", "state", NULL};
    struct source           *source  = source_from_memory("a.ci", text, strlen(text));
    struct parser parser = {.source = source, .lexer = lexer_start(source), .last_end = text};

    diagnostic_begin(NULL);
    recovery_skip_to_next(&parser, text, words);
    return text_is(parser_peek(&parser)->text, next) && !diagnostic_error_count();
}

int main(void)
{
    OK(recovery_test_resumes("a b; c", "c"), "behind a semicolon");
    OK(recovery_test_resumes("a (b; c) d; e", "e"), "semicolons in brackets do not count");
    OK(recovery_test_resumes("a { b; } c", "c"), "behind a block");
    OK(recovery_test_resumes("if a { b; } else { c; } d", "d"), "after an else branch");
    OK(recovery_test_resumes("a b } c", "}"), "before a closing brace");
    OK(recovery_test_resumes("a\nentry b", "entry"), "at a keyword that begins a line");
    OK(recovery_test_resumes("a entry b; c", "c"), "but not at one within a line");
    OK(recovery_test_resumes("entry\nb; c", "c"), "nor at the token where the error is");
    OK(recovery_test_resumes("a\n# b\nc", "# b"), "at a directive");
    OK(recovery_test_resumes("a (b", ""), "at the end of the file");
    bump_free_all();
    return tap_end();
}
