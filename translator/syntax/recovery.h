/* SPDX-License-Identifier: Apache-2.0 */
/* recovery.h - resynchronises the parser after an error. */
#ifndef RECOVERY_H
#define RECOVERY_H

#include "syntax/parser.h"

/** Skips a construct that began at @p from and could not be parsed: past the next `;' or
 *  `{ ... }', to a closing brace, or to a # line or one of the keywords @p words at the beginning
 * of a line. */
void recovery_skip_to_next(struct parser *parser, const char *from, const char *const *words);

#endif
