/* SPDX-License-Identifier: Apache-2.0 */
/* interconnect_test.c - trees, tori and meshes, hops against a model, and files that are refused.
 */
#include "base/interconnect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tap.h"

static struct ski_interconnect test_of;
static char                    test_error[SKI_INTERCONNECT_TEXT];

static bool interconnect_test_parse(const char *text)
{
    test_error[0] = 0;
    return ski_interconnect_parse(&test_of, "conf", text, strlen(text), test_error);
}

static int interconnect_test_hops(const char *a, const char *b)
{
    int x = ski_interconnect_find(&test_of, -1, a), y = ski_interconnect_find(&test_of, -1, b);

    return x < 0 || y < 0 ? -1 : ski_interconnect_hops(&test_of, x, y);
}

static void test_interconnect_tree(void)
{
    char text[SKI_INTERCONNECT_TEXT];

    OK(interconnect_test_parse("# a machine\n"
                               "switchname=top Switches=mid,leaf2 LinkSpeed=100\n"
                               "SwitchName=mid \\\n   Switches=leaf[0-1]\r\n"
                               "SwitchName=leaf0 Nodes=n[0-1]\n"
                               "\n"
                               "SwitchName=leaf1 Nodes=n2,@7 # some more\n"
                               "SwitchName=leaf2 Nodes=n3\n"
                               "BlockName=far Nodes=m0\n"
                               "BlockSizes=30"),
       "a tree is read: %s", test_error);
    OK(test_of.about.kind == SKUA_INTERCONNECT_TREE && test_of.about.levels == 3 &&
           test_of.about.switches == 6 && test_of.nodes == 6,
       "%d switches in %d levels", test_of.about.switches, test_of.about.levels);
    OK(interconnect_test_hops("n0", "n1") == 1 && interconnect_test_hops("n0", "n0") == 1,
       "one switch");
    OK(interconnect_test_hops("n0", "n2") == 3 && interconnect_test_hops("n2", "n1") == 3,
       "three switches");
    OK(interconnect_test_hops("n0", "n3") == 4 && interconnect_test_hops("n3", "n0") == 4,
       "a tree of uneven depth");
    OK(interconnect_test_hops("m0", "n3") == 4, "two trees");
    OK(ski_interconnect_find(&test_of, 7, "n0") == ski_interconnect_find(&test_of, -1, "@7") &&
           ski_interconnect_find(&test_of, 1, "n3.site.org") ==
               ski_interconnect_find(&test_of, -1, "n3") &&
           ski_interconnect_find(&test_of, 1, "n4") == -1,
       "hosts by number, and by a name with a domain");
    OK(strcmp(ski_interconnect_describe(&test_of, ski_interconnect_find(&test_of, -1, "n1"), text),
              "switches leaf0, mid, top") == 0,
       "%s", text);
    OK(strcmp(ski_interconnect_summary(&test_of, text), "6 switches in 3 levels") == 0, "%s", text);
    OK(ski_interconnect_switch(&test_of, 0, 9) == -1, "nothing above the root");
    ski_interconnect_destroy(&test_of);
}

/* The nodes of a torus or mesh of 3x4x5, against a model. */
static void interconnect_test_grid(bool wraps)
{
    static const int size[] = {3, 4, 5};
    char             text[8192], name[32];
    int              at = sprintf(text, "%s=3x4x5\n", wraps ? "Torus" : "Mesh"), bad = 0;

    for (int i = 0; i < 60; i++)
        at +=
            sprintf(text + at, "NodeName=n%d Coordinates=%d,%d,%d\n", i, i / 20, i / 5 % 4, i % 5);
    OK(interconnect_test_parse(text) && test_of.nodes == 60, "a grid is read: %s", test_error);
    for (int i = 0; i < 3600; i++) {
        int a[] = {i / 60 / 20, i / 60 / 5 % 4, i / 60 % 5}, hops = 0;
        int b[] = {i % 60 / 20, i % 60 / 5 % 4, i % 60 % 5};

        for (int d = 0; d < 3; d++) {
            int way = abs(a[d] - b[d]);

            hops += wraps && size[d] - way < way ? size[d] - way : way;
        }
        sprintf(name, "n%d", i / 60);
        sprintf(text, "n%d", i % 60);
        bad += interconnect_test_hops(name, text) != (hops ? hops : 1);
    }
    OK(bad == 0, "hops of a %s", wraps ? "torus" : "mesh");
    OK(strcmp(ski_interconnect_summary(&test_of, text),
              wraps ? "a torus of 3x4x5" : "a mesh of 3x4x5") == 0,
       "%s", text);
    OK(strcmp(ski_interconnect_describe(&test_of, 0, text), "coordinates 0,0,0") == 0, "%s", text);
    ski_interconnect_destroy(&test_of);
}

/* Hops in a random tree of switches against the distance in its graph. */
static void test_interconnect_random(void)
{
    enum { SWITCHES = 40, NODES = 60 };
    uint64_t seed = tap_seed();
    int      parent[SWITCHES], leaf[NODES], bad = 0, at = 0;
    char     text[8192], a[16], b[16];

    for (int i = 1; i < SWITCHES; i++)
        parent[i] = (int)(tap_random(&seed) % (uint64_t)i);
    for (int i = 0; i < SWITCHES; i++) { /* a switch has switches, or nodes */
        int children = 0;

        at += sprintf(text + at, "SwitchName=s%d Switches=", i);
        for (int k = i + 1; k < SWITCHES; k++)
            if (parent[k] == i)
                at += sprintf(text + at, "%ss%d", children++ ? "," : "", k);
        if (!children)
            at += sprintf(text + at - 9, "Nodes=x%d", i) - 9;
        at += sprintf(text + at, "\n");
    }
    for (int i = 0; i < NODES; i++) {
        do
            leaf[i] = (int)(tap_random(&seed) % SWITCHES);
        while (strstr(text, (sprintf(a, "Nodes=x%d\n", leaf[i]), a)) == NULL);
    }
    OK(interconnect_test_parse(text), "a random tree is read: %s", test_error);
    for (int i = 0; i < NODES; i++)
        for (int k = 0; k < NODES; k++) {
            int x = leaf[i], y = leaf[k], hops = 1;

            for (; x != y; hops++)
                *(x > y ? &x : &y) = parent[x > y ? x : y];
            sprintf(a, "x%d", leaf[i]);
            sprintf(b, "x%d", leaf[k]);
            bad += interconnect_test_hops(a, b) != hops;
        }
    OK(bad == 0, "hops of a random tree");
    ski_interconnect_destroy(&test_of);
}

static void test_interconnect_addresses(void)
{
    OK(ski_interconnect_add_address(&test_of, "top.leaf0.n0") &&
           ski_interconnect_add_address(&test_of, "top.leaf0.n1") &&
           ski_interconnect_add_address(&test_of, "top.leaf1.n2") &&
           ski_interconnect_add_address(&test_of, "top.leaf0.n0"),
       "addresses of Slurm");
    ski_interconnect_finish(&test_of);
    OK(test_of.nodes == 3 && test_of.about.switches == 3 && test_of.about.levels == 2 &&
           interconnect_test_hops("n0", "n1") == 1 && interconnect_test_hops("n0", "n2") == 3,
       "their tree");
    OK(!ski_interconnect_add_address(&test_of, "") &&
           !ski_interconnect_add_address(&test_of, ".n0") &&
           !ski_interconnect_add_address(&test_of, "a..n0") &&
           !ski_interconnect_add_address(&test_of, "a."),
       "invalid addresses");
    ski_interconnect_destroy(&test_of);
    OK(ski_interconnect_add_address(&test_of, "n5"), "a node without switches");
    ski_interconnect_finish(&test_of);
    OK(test_of.about.kind == SKUA_INTERCONNECT_UNKNOWN &&
           ski_interconnect_hops(&test_of, 0, 0) == 1,
       "is in no tree");
    ski_interconnect_destroy(&test_of);
}

/* The reason of an error follows what it quotes, of whatever length, and no control characters. */
static void interconnect_test_quotes(void)
{
    static const char *const format[][2] = {
        {"SwitchName=a Nodes=%s[\n", "a bracket is not closed"},
        {"Torus=%1$s%1$s%1$s\n", "it should be 1 to 6 numbers"},
        {"%1$s%1$s%1$s\n", "is none of the keys"},
        {"SwitchName=a Switches=%s\n", "is not declared"},
        {"SwitchName=%1$s Nodes=a\nSwitchName=b Switches=%1$s\nSwitchName=c Switches=%1$s\n",
         "a tree is needed"},
        {"SwitchName=a Nodes=%1$s,%1$s\n", "is on line 1, too"},
    };
    char name[251], text[1024];

    memset(name, '\033', 250);
    name[250] = '\0';
    for (size_t i = 0; i < sizeof format / sizeof *format; i++) {
        snprintf(text, sizeof text, format[i][0], name);
        OK(!interconnect_test_parse(text) && strstr(test_error, format[i][1]) &&
               !strchr(test_error, '\033'),
           "%s", test_error);
    }
}

static void test_interconnect_refused(void)
{
    static const char *const bad[][2] = {
        {"", "conf:1: the file describes neither"},
        {"\n\nSwitch=a Nodes=b\n", "conf:3: \"Switch=a\" is none of the keys"},
        {"SwitchName=a\n", "conf:1: a switch has either Nodes= or Switches="},
        {"SwitchName=a Nodes=b Switches=c\n", "conf:1: a switch has either"},
        {"SwitchName=a Nodes=b\nNodes=c\n", "conf:2: a line has one of"},
        {"SwitchName=a BlockName=c Nodes=b\n", "conf:1: a line has one of"},
        {"SwitchName=a Nodes=\n", "conf:1: Nodes= has no value"},
        {"SwitchName=a Nodes=b Nodes=c\n", "conf:1: Nodes= comes twice"},
        {"SwitchName=a \\\n Nodes=b[1-\n", "conf:1: Nodes=b[1-: a bracket is not closed"},
        {"SwitchName=a Nodes=b\nSwitchName=a Nodes=c\n", "conf:2: switch a is declared on line 1"},
        {"SwitchName=a Nodes=b\nSwitchName=c Nodes=d,b\n", "conf:2: node b is on line 1"},
        {"SwitchName=a Switches=b\n", "conf:1: switch b is not declared"},
        {"SwitchName=a Nodes=n\nSwitchName=b Switches=a\nSwitchName=c Switches=a\n",
         "conf:3: switch a is linked to switch b, too"},
        {"SwitchName=a Switches=b\nSwitchName=b Switches=a\n", "is linked to itself"},
        {"SwitchName=a Switches=a\n", "conf:1: switch a is linked to itself"},
        {"Torus=4x0\n", "conf:1: dimension 1 has size 0"},
        {"Torus=4x\n", "conf:1: Torus=4x: it should be 1 to 6 numbers"},
        {"Torus=1x1x1x1x1x1x1\n", "1 to 6 numbers"},
        {"Torus=99999\n", "1 to 6 numbers"},
        {"Torus=2x2\nMesh=2x2\n", "conf:2: a torus or mesh, but line 1 describes another"},
        {"Torus=2x2\nSwitchName=a Nodes=b\n", "conf:2: a switch, but line 1"},
        {"SwitchName=a Nodes=b\nTorus=2x2\n", "conf:2: a torus or mesh, but line 1"},
        {"NodeName=a Coordinates=0,0\nTorus=2x2\n", "conf:1: Coordinates= before"},
        {"Torus=2x2\nNodeName=a\n", "conf:2: NodeName= needs Coordinates="},
        {"Torus=2x2\nNodeName=a Coordinates=0\n", "conf:2: 1 coordinates, but line 1 has 2"},
        {"Torus=2x2\nNodeName=a Coordinates=0,2\n", "conf:2: coordinate 1 is 2"},
        {"Torus=2x2\nNodeName=a Coordinates=0,-1\n", "conf:2: Coordinates=0,-1"},
        {"SwitchName=s Nodes=n[0-9999999]\n", "conf:1: there are more than 1048576 nodes"},
    };
    char folder[] = "/tmp/interconnect_testXXXXXX", fifo[64];

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        OK(!interconnect_test_parse(bad[i][0]) && strstr(test_error, bad[i][1]), "%s", test_error);
    OK(!ski_interconnect_parse(&test_of, "conf", "a\0b", 3, test_error), "a zero: %s", test_error);
    OK(!ski_interconnect_read(&test_of, "/does/not/exist", test_error) &&
           strstr(test_error, "/does/not/exist: No such file"),
       "%s", test_error);
    OK(!ski_interconnect_read(&test_of, "/", test_error), "%s", test_error);
    OK(mkdtemp(folder) && snprintf(fifo, sizeof fifo, "%s/fifo", folder) > 0 &&
           mkfifo(fifo, 0600) == 0 && !ski_interconnect_read(&test_of, fifo, test_error),
       "a FIFO is not waited for: %s", test_error);
    unlink(fifo);
    rmdir(folder);
}

int main(void)
{
    test_interconnect_tree();
    interconnect_test_grid(true);
    interconnect_test_grid(false);
    test_interconnect_random();
    test_interconnect_addresses();
    interconnect_test_quotes();
    test_interconnect_refused();
    return tap_end();
}
