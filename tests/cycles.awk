# SPDX-License-Identifier: Apache-2.0
#
# cycles.awk - include cycles, for layers.sh.
#
# usage: grep -n '#include "' FILES | awk -v files=LIST -f cycles.awk
#
# A module is foo.h and foo.c of one folder; a file without a header of its name is one by itself.
# Module A depends on B if a file of A includes B's header.  Printed are the strongly connected
# components of more than one module:
#   - among the modules of a folder;
#   - among the sub-folders of a layer, where each module of the layer's own folder counts as a
#     sub-folder of its own.
# An include that `excepted' lists ("A B", each without its suffix) is ignored.
function folder_of(path)
{
    return match(path, /\/[^\/]*$/) ? substr(path, 1, RSTART - 1) : "."
}

function module_of(path)
{
    sub(/\.[chS]$/, "", path)
    return path
}

# src/core/net/peer -> src/core; translator/parse/lexer -> translator
function layer_of(path,    part, n)
{
    n = split(path, part, "/")
    if (part[1] == "src")
        return n > 2 ? part[1] "/" part[2] : part[1]
    return part[1]
}

function resolve(name, file,    i, n, roots, path)
{
    path = folder_of(file) "/" name
    if (path in exists)
        return path
    n = split("src/|translator/|tools/|tools/skuarun/|", roots, "|")
    for (i = 1; i <= n; i++)
        if ((roots[i] name) in exists)
            return roots[i] name
    return ""
}

function edge(graph, from, to, why)
{
    if (from == to)
        return
    nodes[graph] = nodes[graph] (index(nodes[graph] " ", " " from " ") ? "" : " " from)
    nodes[graph] = nodes[graph] (index(nodes[graph] " ", " " to " ") ? "" : " " to)
    reach[from, to] = 1
    if (!((from, to) in reason))
        reason[from, to] = why
}

# The node of a module among the sub-folders of its layer.
function part_of(module, layer)
{
    return folder_of(module) == layer ? module : folder_of(module) "/"
}

function components(graph, what,    node, n, i, j, k, done, list, count, edges)
{
    n = split(nodes[graph], node, " ")
    for (k = 1; k <= n; k++)
        for (i = 1; i <= n; i++)
            if ((node[i], node[k]) in reach)
                for (j = 1; j <= n; j++)
                    if ((node[k], node[j]) in reach)
                        reach[node[i], node[j]] = 1
    for (i = 1; i <= n; i++) {
        if (node[i] in done || !((node[i], node[i]) in reach))
            continue
        list = ""
        edges = ""
        count = 0
        for (j = 1; j <= n; j++) {
            if (!((node[i], node[j]) in reach && (node[j], node[i]) in reach))
                continue
            done[node[j]] = 1
            list = list " " node[j]
            count++
            for (k = 1; k <= n; k++)
                if ((node[j], node[k]) in reason && (node[i], node[k]) in reach && (node[k], node[i]) in reach)
                    edges = edges "\n  " reason[node[j], node[k]] " -> " node[k]
        }
        if (what == "modules" || list ~ /\/( |$)/) # else it is one of modules, which is said elsewhere
            print "cycle of " count " " what " of " substr(graph, 3) ":" list edges
    }
}

BEGIN {
    while ((getline path < files) > 0)
        exists[path] = 1
    n = split(excepted, pair, "\n")
    for (i = 1; i <= n; i++)
        if (split(pair[i], word, " ") >= 2)
            except[word[1], word[2]] = 1
}

# file:line:#include "name"
{
    split($0, part, ":")
    if (!match($0, /"[^"]*"/))
        next
    to = resolve(substr($0, RSTART + 1, RLENGTH - 2), part[1])
    if (to == "")
        next
    from = module_of(part[1])
    to = module_of(to)
    if (from == to || (from, to) in except)
        next
    why = part[1] ":" part[2]
    if (folder_of(from) == folder_of(to))
        edge("m " folder_of(from), from, to, why)
    layer = layer_of(from)
    if (layer == layer_of(to) && folder_of(from) != folder_of(to))
        edge("s " layer, part_of(from, layer), part_of(to, layer), why)
    else if (layer == layer_of(to) && folder_of(from) == layer) # modules of the layer itself
        edge("s " layer, from, to, why)
}

END {
    for (graph in nodes)
        components(graph, graph ~ /^m/ ? "modules" : "sub-folders")
}
