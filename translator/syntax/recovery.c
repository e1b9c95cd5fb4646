/* SPDX-License-Identifier: Apache-2.0 */
/* recovery.c - see recovery.h. */
#include "syntax/recovery.h"

#include "syntax/c_code.h"

/* Takes a token and, if it opens a bracket, everything up to the closing one.  Returns whether a
 * declaration or a statement may end here. */
static bool recovery_skip_one(struct parser *parser)
{
    struct lexer_token token = parser_next(parser);

    if (parser_is_punctuator(&token, '(') || parser_is_punctuator(&token, '[') ||
        parser_is_punctuator(&token, '{'))
        c_code_skip_brackets(parser);
    return token.kind == TOKEN_DIRECTIVE || parser_is_punctuator(&token, ';') ||
           (parser_is_punctuator(&token, '{') && !parser_at_keyword(parser, "else"));
}

static bool recovery_is_beginning(const struct lexer_token *token, const char *const *words)
{
    return token->first &&
           (token->kind == TOKEN_DIRECTIVE ||
            (token->kind == TOKEN_IDENTIFIER && text_index_in(token->text, words) >= 0));
}

void recovery_skip_to_next(struct parser *parser, const char *from, const char *const *words)
{
    while (!parser_at_end(parser) && !parser_at_punctuator(parser, '}')) {
        const struct lexer_token *token = parser_peek(parser);

        if (token->text.at != from && recovery_is_beginning(token, words))
            return;
        if (recovery_skip_one(parser))
            return;
    }
}
