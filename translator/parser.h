/* SPDX-License-Identifier: Apache-2.0 */
/* parser.h - from a source to a tree, by recursive descent: one function for each rule of the
 * grammar (docs/internals/translator.md).  Errors are reported (diagnostic.h); the parser then
 * goes on with the next statement, member or item, so that several are found at once. */
#ifndef PARSER_H
#define PARSER_H

#include "tree.h"

/** Always a tree: of what could be understood. */
struct tree *parse(struct source *source);

#endif
