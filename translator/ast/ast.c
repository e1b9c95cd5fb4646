/* SPDX-License-Identifier: Apache-2.0 */
/* ast.c - see ast.h: the keywords that belong to its enumerations. */
#include "ast/ast.h"

const char *const ast_attribute_names[] = {
    "threaded",        "sync",       "expedited",  "immediate", "inline",  "local",
    "reductiontarget", "createhere", "createhome", "nokeep",    "notrace", "aggregate",
    "resume",          "position",   "load",       NULL,
};

const char *const ast_class_kind_names[] = {"mainchare", "chare",     "group", "nodegroup",
                                            "array",     "interface", NULL};

const char *const ast_class_attribute_names[] = {"migratable", "bypointer", "moved", NULL};
