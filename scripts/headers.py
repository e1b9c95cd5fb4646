# SPDX-License-Identifier: Apache-2.0
"""headers.py - the declarations of the public headers, for scripts that check or translate them.

The C preprocessor expands the headers, so that names that macros generate are found as well; line
markers identify the header of a declaration. The headers are plain C: a declaration at
the top level is a function, a variable, a typedef, a struct or an enum. Any other declaration ends the
script with an error, so that none is silently left out.
"""
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Function:
    name: str
    result: str
    parameters: list  # of (type, name)
    header: str
    exported: bool  # else static inline
    variadic: bool = False


@dataclass
class Struct:
    name: str
    fields: list  # of (type, name, array extents, Struct of an anonymous member or None)
    header: str
    union: bool = False
    typedef: bool = True  # else its name is a tag


@dataclass
class Headers:
    functions: list = field(default_factory=list)
    variables: list = field(default_factory=list)  # of (type, name, header)
    structs: dict = field(default_factory=dict)  # by name
    opaque: dict = field(default_factory=dict)  # structs that are not defined: header
    handles: dict = field(default_factory=dict)  # typedefs of pointers to them: header
    enums: dict = field(default_factory=dict)  # name, or "" and a number: ([constant], header)
    callbacks: dict = field(default_factory=dict)  # name: (result, parameters, header)
    macros: dict = field(default_factory=dict)  # numbers and strings: (text, header)
    casts: dict = field(default_factory=dict)  # macros ((handle)number): (text, handle, header)


def fail(header, text):
    sys.exit(f"{header}: cannot be understood: {' '.join(text.split())[:200]}")


def split_top(text, separator):
    """Splits at separators outside of brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += c in "([{"
        depth -= c in ")]}"
        if c == separator and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return parts + [text[start:]]


def matching(text, at):
    """The index of the bracket that closes the one at index `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += text[i] in "([{"
        depth -= text[i] in ")]}"
        if depth == 0:
            return i
    raise ValueError(text)


def tidy(type_):
    """A type, spelled in one way."""
    type_ = " ".join(re.sub(r"\b(_Bool)\b", "bool", type_).split())
    return re.sub(r"\s*\*\s*", " *", type_).replace("* *", "**").strip()


def declarator(text, header):
    """The type, name and array extents of a member or parameter that is no function pointer."""
    extents = re.findall(r"\[([^\]]*)\]", text)
    text = re.sub(r"\[[^\]]*\]", "", text).strip()
    found = re.fullmatch(r"(.*?[\s*])([A-Za-z_]\w*)", text, re.S)
    if not found:
        fail(header, text)
    return tidy(found[1]), found[2], [e.strip() for e in extents]


def parameters(text, header):
    """The parameters of a function as (type, name), and whether more may follow."""
    text = text.strip()
    variadic = text.endswith("...")
    made = []
    if text in ("void", ""):
        return made, variadic
    for part in split_top(text, ","):
        part = part.strip()
        pointer = re.fullmatch(r"(.*)\(\s*\*\s*(\w+)\s*\)\s*\((.*)\)", part, re.S)
        if part == "...":
            continue
        if pointer:
            made.append((tidy(f"{pointer[1]} (*)({pointer[3]})"), pointer[2]))
            continue
        type_, name, extents = declarator(part, header)
        made.append((tidy(type_ + " *") if extents else type_, name))
    return made, variadic


def members(text, header):
    """The members of a struct or union."""
    made = []
    for part in split_top(text, ";"):
        part = part.strip()
        nested = re.match(r"(struct|union)\s*\{", part)
        pointer = re.fullmatch(r"(.*)\(\s*\*\s*(\w+)\s*\)\s*\((.*)\)", part, re.S)
        if not part:
            continue
        if nested:
            close = matching(part, nested.end() - 1)
            inner = Struct("", members(part[nested.end():close], header), header, nested[1] == "union")
            made.append((nested[1], part[close + 1:].strip(), [], inner))
        elif pointer:
            made.append((tidy(f"{pointer[1]} (*)({pointer[3]})"), pointer[2], [], None))
        else:
            first, *others = split_top(part, ",")
            type_, name, extents = declarator(first, header)
            made.append((type_, name, extents, None))
            base = tidy(type_.rstrip("* "))
            for other in others:
                type_, name, extents = declarator(base + " " + other, header)
                made.append((type_, name, extents, None))
    return made


def add_enum(found, name, body, header):
    constants = [re.split(r"[\s=]", c.strip())[0] for c in split_top(body, ",") if c.strip()]
    found.enums[name or f"#{len(found.enums)}"] = (constants, header)


def add_function(found, text, header):
    inline = re.match(r"static inline\b", text)
    exported = 'visibility("default")' in text
    text = re.sub(r"\b__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", " ", text)
    text = re.sub(r"^static inline\b", "", text.strip()).strip()
    if not inline and not exported:
        fail(header, text)
    head = re.match(r"([^()]*?)\b(\w+)\s*\(", text, re.S)
    close = matching(text, head.end() - 1)
    made, variadic = parameters(text[head.end():close], header)
    found.functions.append(Function(head[2], tidy(head[1]), made, header, exported, variadic))


def add_typedef(found, text, header):
    body = re.match(r"(struct|union|enum)\s*(\w*)\s*\{", text)
    pointer = re.fullmatch(r"(.*)\(\s*\*\s*(\w+)\s*\)\s*\((.*)\)", text, re.S)
    if body:
        close = matching(text, body.end() - 1)
        name = text[close + 1:].strip()
        inside = text[body.end():close]
        if body[1] == "enum":
            add_enum(found, name, inside, header)
        else:
            found.structs[name] = Struct(name, members(inside, header), header, body[1] == "union")
    elif pointer:
        found.callbacks[pointer[2]] = (tidy(pointer[1]), parameters(pointer[3], header)[0], header)
    elif re.fullmatch(r"struct\s+(\w+)\s+\1", text):
        found.opaque[text.split()[1]] = header
    elif re.fullmatch(r"struct\s+\w+\s*\*\s*\w+", text):
        found.handles[re.split(r"[\s*]+", text)[-1]] = header
    else:
        fail(header, text)


def add_declaration(found, text, header):
    text = text.strip().rstrip(";").strip()
    if not text:
        return
    if text.startswith("typedef"):
        add_typedef(found, text[len("typedef"):].strip(), header)
    elif re.match(r"struct\s+\w+\s*\{", text):
        body = re.match(r"struct\s+(\w+)\s*\{", text)
        close = matching(text, body.end() - 1)
        known = found.opaque.pop(body[1], None)
        found.structs[body[1]] = Struct(body[1], members(text[body.end():close], header), header,
                                        typedef=known is not None)
    elif re.match(r"enum\s*\{", text):
        add_enum(found, "", text[text.index("{") + 1:matching(text, text.index("{"))], header)
    elif re.search(r"\bextern\b", text):
        plain = re.sub(r"\b__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", " ", text)
        type_, name, _ = declarator(re.sub(r"\bextern\b", " ", plain), header)
        found.variables.append((type_, name, header))
    else:
        add_function(found, text, header)


def declarations(text):
    """The declarations of preprocessed text without line markers."""
    depth, start, body = 0, 0, False
    for i, c in enumerate(text):
        if c == "{" and depth == 0:
            before = text[start:i].rstrip()
            body = before.endswith(")") and "static inline" in before
        depth += c in "([{"
        depth -= c in ")]}"
        if depth == 0 and (c == ";" or (c == "}" and body)):
            yield text[start:i + 1]
            start, body = i + 1, False
    if text[start:].strip():
        sys.exit(f"headers end within a declaration: {text[start:][:200]}")


def add_macros(found, lines):
    """Object-like macros that stand for a number, a string or a handle."""
    for path, line in lines:
        macro = re.match(r"#define (\w+) (.+)", line)
        cast = macro and re.fullmatch(r"\(\((\w+)\)\d+\)", macro[2].strip())
        if cast and cast[1] in found.handles:
            found.casts[macro[1]] = (macro[2].strip(), cast[1], path)
        if macro and re.fullmatch(r"\(?-?(0x[0-9a-fA-F]+|\d+)\)?|\".*\"", macro[2].strip()):
            found.macros[macro[1]] = (macro[2].strip(), path)


def read(folders, names, compiler="cc"):
    """The declarations of the headers skua/NAME in these folders, which may include each other."""
    source = "".join(f"#include <skua/{name}>\n" for name in names)
    flags = [f"-I{folder}" for folder in folders]
    text = subprocess.run([compiler, "-std=gnu17", "-E", "-dD", *flags, "-x", "c", "-"], input=source,
                          check=True, capture_output=True, text=True).stdout
    roots = [str(Path(folder) / "skua") + "/" for folder in folders]
    found, here, kept, macros = Headers(), None, {}, []
    for line in text.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            root = next((r for r in roots if marker[1].startswith(r)), None)
            here = marker[1][len(root):] if root else None
        elif here and line.startswith("#"):
            macros.append((here, line))
        elif here:
            kept.setdefault(here, []).append(line)
    for header, lines in kept.items():
        for declaration in declarations("\n".join(lines)):
            add_declaration(found, declaration, header)
    add_macros(found, macros)
    return found
