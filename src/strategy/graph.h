/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h - whether the strategy graph can be used: it needs the module skua-scotch.so. */
#ifndef SKI_GRAPH_H
#define SKI_GRAPH_H

#include <stdbool.h>

/** Returns whether skua-scotch.so is installed where ski_config says; false before
 *  ski_config_load(). */
bool ski_graph_available(void);

#endif
