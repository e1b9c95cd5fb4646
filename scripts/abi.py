#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""abi.py - the binary interface of the library, as the public headers declare it.

  abi.py map INCLUDE...     prints the symbol map of the library, for the linker
  abi.py list INCLUDE...    prints the interface as text: functions with their parameters, sizes and
                            offsets of structs, values of constants
  abi.py names INCLUDE...   prints the names that the library exports

INCLUDE are the folders with skua/*.h. A compiler (CC, else cc) expands the headers and computes sizes
and values; those of structs with pointers hold on 64-bit systems, which are all that Skua runs on.

src/skua.map and tests/abi/skua.txt are the output of this script when the interface last changed;
`make abi` writes them again, and tests/abi.sh compares them with the headers.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # the source folder stays as it is
import headers  # noqa: E402

COMPILER = os.environ.get("CC", "cc")


def everything(folders):
    """The declarations of all public headers, those for generated code among them."""
    names = [str(p.relative_to(Path(f) / "skua")) for f in folders
             for p in sorted((Path(f) / "skua").glob("**/*.h"))]
    return headers.read(folders, names, COMPILER)


def exported(found):
    names = [f.name for f in found.functions if f.exported]
    return sorted(names + [name for _, name, _ in found.variables])


def print_map(found):
    print("/* SPDX-License-Identifier: Apache-2.0 */")
    print("/* skua.map - the names that the library exports: made by `make abi` from the headers. */")
    print("SKUA_1.0 {\nglobal:")
    for name in exported(found):
        print(f"    {name};")
    print("local:\n    *;\n};")


def prototype(name, result, parameters, variadic=False):
    types = [type_ for type_, _ in parameters] + ["..."] * variadic
    return f"{result} {name}({', '.join(types) or 'void'})".replace("* ", "*")


def members_of(struct, path=""):
    """Paths of all members, those of nested structs and unions among them, with their types."""
    for type_, name, extents, inner in struct.fields:
        here = f"{path}{name}"
        if inner is None:
            yield here, type_ + "".join(f"[{e}]" for e in extents)
        else:
            yield from members_of(inner, here + "." if name else path)


def probe(found):
    """A C program that prints sizes, offsets and values."""
    lines = ["#include <stdio.h>", "#include <stddef.h>"]
    lines += [f"#include <skua/{h}>" for h in sorted({s.header for s in found.structs.values()} |
                                                     {h for _, h in found.enums.values()} |
                                                     {h for _, h in found.macros.values()})]
    lines.append("int main(void)\n{")
    for name in sorted(found.structs):
        struct = found.structs[name]
        type_ = name if struct.typedef else f"struct {name}"
        lines.append(f'    printf("struct {name}: %zu bytes, aligned to %zu\\n", sizeof({type_}), '
                     f"_Alignof({type_}));")
        for path, member in members_of(struct):
            lines.append(f'    printf("    %zu %zu {member} {path}\\n", offsetof({type_}, {path}), '
                         f"sizeof((({type_} *)0)->{path}));")
    for name in sorted(found.enums):
        constants, _ = found.enums[name]
        title = "constants" if name.startswith("#") else f"enum {name}"
        size = "sizeof(int)" if name.startswith("#") else f"sizeof({name})"
        lines.append(f'    printf("{title}: %zu bytes\\n", {size});')
        lines += [f'    printf("    {c} = %d\\n", (int){c});' for c in constants]
    for name in sorted(found.macros):
        text, header = found.macros[name]
        if header != "version.h" and not text.startswith('"'):
            lines.append(f'    printf("#define {name} %lld\\n", (long long){name});')
    return "\n".join(lines + ["    return 0;", "}"]) + "\n"


def print_list(found, folders):
    print("# The binary interface of Skua: made by `make abi` from the headers. A line that changes or\n"
          "# goes breaks programs that were compiled before; a line that is new does not.")
    for _, name, header in sorted(found.variables, key=lambda v: v[1]):
        print(f"variable {name}")
    for f in sorted(found.functions, key=lambda f: f.name):
        if f.exported:
            print("function " + prototype(f.name, f.result, f.parameters, f.variadic))
    for name in sorted(found.callbacks):
        result, parameters, _ = found.callbacks[name]
        print("callback " + prototype(name, result, parameters))
    for name in sorted(found.casts):
        print(f"#define {name} {found.casts[name][0]}")
    sys.stdout.flush()
    with tempfile.TemporaryDirectory() as work:
        source = Path(work) / "probe.c"
        source.write_text(probe(found))
        subprocess.run([COMPILER, "-std=gnu17", "-w", *[f"-I{f}" for f in folders], "-o",
                        f"{work}/probe", source], check=True)
        subprocess.run([f"{work}/probe"], check=True)


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("map", "list", "names"):
        sys.exit(__doc__.strip())
    what, folders = sys.argv[1], [str(Path(f).resolve()) for f in sys.argv[2:]]
    found = everything(folders)
    many = [f"{f.name} ({len(f.parameters)})" for f in found.functions if len(f.parameters) > 6]
    if many:
        sys.exit(f"functions with more than six parameters: {', '.join(many)}")
    if what == "map":
        print_map(found)
    elif what == "list":
        print_list(found, folders)
    else:
        print("\n".join(exported(found)))


main()
