/* SPDX-License-Identifier: Apache-2.0 */
/* module_test.c - modules are searched for where the setting says; a missing or damaged one is
 * reported with a reason. */
#include "base/module.h"

#include <string.h>

#include "base/config.h"
#include "base/fake_tree.h"
#include "tests/tap.h"

int main(void)
{
    struct fake_tree tree;
    char             path[4096], expected[128], reason[256] = "";

    if (!fake_tree_create(&tree))
        return 1;
    ski_config_load();
    ski_config.driver_path = tree.root;
    OK(!ski_module_find("fake", path, sizeof path), "a module that is not there is not found");
    OK(!ski_module_open("fake", reason, sizeof reason) && strstr(reason, "skua-fake.so"),
       "and the reason names it");
    OK(fake_tree_write(&tree, "skua-fake.so", "not a library"), "a file of that name");
    snprintf(expected, sizeof expected, "%s/skua-fake.so", tree.root);
    OK(ski_module_find("fake", path, sizeof path) && strcmp(path, expected) == 0, "is found");
    OK(!ski_module_find("fake", path, strlen(expected)), "but not if the path has no room");
    reason[0] = '\0';
    OK(!ski_module_open("fake", reason, sizeof reason) && reason[0],
       "a file that is not a library gives a reason: %s", reason);
    ski_config.driver_path = "auto";
    OK(!ski_module_find("fake", path, sizeof path), "the default folders do not have it");
    OK(fake_tree_remove(&tree), "the fake tree is removed");
    return tap_end();
}
