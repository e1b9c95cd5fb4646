/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_tree.h - for unit tests: a folder of fake files, such as those of /sys or /proc.
 */
#ifndef SKI_FAKE_TREE_H
#define SKI_FAKE_TREE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct fake_tree {
    char root[32];
};

/** Creates an empty tree.  Returns whether that succeeded. */
static inline bool fake_tree_create(struct fake_tree *tree)
{
    snprintf(tree->root, sizeof tree->root, "/tmp/skua-tree.XXXXXX");
    return mkdtemp(tree->root) != NULL;
}

/** Writes @p text to the file @p name, with the folders that it needs.  Returns whether that
 *  succeeded. */
static inline bool fake_tree_write(const struct fake_tree *tree, const char *name, const char *text)
{
    char  path[256], *slash;
    FILE *file;
    bool  written;

    snprintf(path, sizeof path, "%s/%s", tree->root, name);
    for (slash = path + strlen(tree->root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(path, 0755);
    }
    file = fopen(path, "w");
    if (!file)
        return false;
    written = fputs(text, file) >= 0;
    return fclose(file) == 0 && written;
}

/** Removes the tree.  Returns whether that succeeded. */
static inline bool fake_tree_remove(const struct fake_tree *tree)
{
    char command[64];

    snprintf(command, sizeof command, "rm -r %s", tree->root);
    return system(command) == 0;
}

#endif
