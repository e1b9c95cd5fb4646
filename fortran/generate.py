#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""generate.py - the Fortran module `skua`, made from the public headers.

  generate.py FOLDER INCLUDE...    writes FOLDER/skua.f90 and FOLDER/skua_inline.c

A struct becomes a type with bind(c), a constant a parameter, a callback type an abstract interface,
a function an interface with bind(c). Where that would require c_loc, c_funloc or c_null_char, the
interface has the suffix _c, and a procedure of the plain name calls it and takes

  any variable or contiguous array   for memory           (void *)
  a procedure                        for a callback
  a character string                 for a C string

Functions that are inline in C are compiled in skua_inline.c. A function whose parameters have no
counterpart in Fortran is named in a comment of the module, with the reason; those that Fortran calls
in another way are written by hand (by_hand.f90).
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "scripts"))
sys.dont_write_bytecode = True  # the source folder stays as it is
import headers  # noqa: E402

KINDS = {"int": "integer(c_int)", "unsigned": "integer(c_int)", "unsigned int": "integer(c_int)",
         "size_t": "integer(c_size_t)", "ptrdiff_t": "integer(c_ptrdiff_t)",
         "int8_t": "integer(c_int8_t)", "uint8_t": "integer(c_int8_t)",
         "unsigned char": "integer(c_int8_t)", "int16_t": "integer(c_int16_t)",
         "uint16_t": "integer(c_int16_t)", "int32_t": "integer(c_int32_t)",
         "uint32_t": "integer(c_int32_t)", "int64_t": "integer(c_int64_t)",
         "uint64_t": "integer(c_int64_t)", "long long": "integer(c_long_long)",
         "float": "real(c_float)", "double": "real(c_double)", "bool": "logical(c_bool)",
         "char": "character(kind=c_char)"}

# Written by hand, or of no use in Fortran: internals of inline functions.
BY_HAND = {"skua_main", "skua_program", "skua_abort"}
INTERNAL = {"skua_stream_here", "skua_stream_open", "skua_stream_full", "skua_stream_nowhere"}

# Memory that the runtime or the program holds by its address: a type(c_ptr), not a variable.
ADDRESSES = {"arg", "self", "pointer"}

# Pointers to arrays whose length is known otherwise, and pointers that may be NULL.
ARRAYS = {"coord", "stride", "count", "offset", "block", "counts", "offsets", "values", "indices",
          "nearest"}
OPTIONAL = {"old", "ends", "params", "bytes", "stride", "major", "minor", "patch"}


def inline_name(function):
    """The name in skua_inline.c of what is inline in C."""
    return "skuaf" + function.name[len("skua"):]


class Unsupported(Exception):
    pass


class Generator:
    def __init__(self, found):
        self.found = found
        self.taken = {f.name.lower() for f in found.functions}
        self.taken |= {n.lower() for n in [*found.structs, *found.callbacks, *found.opaque]}

    def constant(self, name):
        """The name of a constant. Fortran does not distinguish case: one that has the name of a type or
        function gets that of its enumeration in front, as SKUA_OP_STATISTICS."""
        of = next((e for e, (constants, _) in self.found.enums.items() if name in constants), "#")
        if name.lower() not in self.taken or of.startswith("#"):
            return name
        return of.upper() + name[len("SKUA"):]

    # ---- types -------------------------------------------------------------------------------

    def scalar(self, type_):
        """The Fortran type of a value, or None."""
        type_ = type_.replace("const ", "").strip()
        if type_ in self.found.structs:
            return f"type({type_})"
        if type_ in self.found.enums:
            return "integer(c_int)"
        if type_ in self.found.handles:
            return "type(c_ptr)"
        return KINDS.get(type_)

    def member(self, type_):
        if "(*" in type_.replace(" ", "") or type_ in self.found.callbacks:
            return "type(c_funptr)"
        if type_.endswith("*"):
            return "type(c_ptr)"
        made = self.scalar(type_)
        if not made:
            raise Unsupported(f"a member of type {type_}")
        return made

    @staticmethod
    def zero(type_):
        """The initial value of a member: all are zero, as in a static variable of C."""
        for kind, value in (("integer", "0"), ("real", "0"), ("logical", ".false._c_bool"),
                            ("character", "c_null_char"), ("type(c_ptr)", "c_null_ptr"),
                            ("type(c_funptr)", "c_null_funptr")):
            if type_.startswith(kind):
                return f" = {value}"
        return ""  # a type with initial values of its own

    def result(self, function):
        if function.result == "void":
            return None
        if function.result.endswith("*"):
            return "type(c_ptr)"
        made = self.scalar(function.result)
        if not made:
            raise Unsupported(f"a result of type {function.result}")
        return made

    def parameter(self, function, index):
        """How C takes a parameter (declaration), and how Fortran gives it (declaration, expression):
        None if in the same way."""
        type_, name = function.parameters[index]
        bare = type_.replace("const ", "").rstrip("* ").strip()
        stars = type_.count("*")
        if type_ in self.found.callbacks:
            return (f"type(c_funptr), value :: {name}", f"procedure({type_}) :: {name}",
                    f"c_funloc({name})")
        if "(" in type_:
            return self.unnamed_callback(type_, name)
        if stars == 0:
            made = self.scalar(type_)
            if not made:
                raise Unsupported(f"{name} of type {type_}")
            return f"{made}, value :: {name}", None, None
        if stars == 1 and bare == "void":
            return self.memory(function, type_, name)
        if stars == 1 and bare == "char":
            return self.string(function, type_, name)
        if stars == 1 and bare in self.found.opaque:
            return f"type(c_ptr), value :: {name}", None, None
        return self.reference(function, index), None, None

    def unnamed_callback(self, type_, name):
        spelled = "".join(type_.split())
        known = {"bool(*)(void*arg)": "skua_condition_fn", "void(*)(void*arg)": "skua_thread_fn",
                 "void(*)(void*self,void*arg)": "skua_each_fn"}
        if spelled not in known:
            raise Unsupported(f"{name} of type {type_}")
        return (f"type(c_funptr), value :: {name}", f"procedure({known[spelled]}) :: {name}",
                f"c_funloc({name})")

    def memory(self, function, type_, name):
        raw = f"type(c_ptr), value :: {name}"
        if name in ADDRESSES or function.name.endswith("_free"):
            return raw, None, None
        intent = "intent(in), " if type_.startswith("const") else ""
        return raw, f"type(*), dimension(..), {intent}target, contiguous :: {name}", f"c_loc({name})"

    def string(self, function, type_, name):
        raw = f"type(c_ptr), value :: {name}"
        if not type_.startswith("const"):
            raise Unsupported(f"{name} of type {type_}")
        # A name that is registered stays valid for the life of the program.
        keep = function.name.endswith("_register") or function.name == "skua_thread_set_name"
        made = f"skua_string_kept({name})" if keep else f"c_loc({name}_c)"
        return raw, f"character(len=*), intent(in) :: {name}", made

    def reference(self, function, index):
        """A pointer to one variable or to an array: an array if a number of elements follows."""
        type_, name = function.parameters[index]
        made = "type(c_ptr)" if type_.count("*") == 2 else self.scalar(type_.rstrip("* "))
        if not made or type_.count("*") > 2:
            raise Unsupported(f"{name} of type {type_}")
        following = function.parameters[index + 1:index + 2]
        counted = following and following[0][1] in ("n", "count", "bits") and "*" not in following[0][0]
        array = counted or name in ARRAYS
        read = "*const" in type_ if type_.count("*") == 2 else type_.startswith("const")
        intent = "in" if read else "inout"
        optional = ", optional" if name in OPTIONAL else ""
        return f"{made}, intent({intent}){optional} :: {name}{'(*)' if array else ''}"

    # ---- text --------------------------------------------------------------------------------

    def header(self, function, raw):
        """The lines of an interface with bind(c)."""
        declared = [self.parameter(function, i) for i in range(len(function.parameters))]
        result = self.result(function)
        kind = "function" if result else "subroutine"
        names = ", ".join(name for _, name in function.parameters)
        tail = " result(skua_result)" if result else ""
        bound = function.name if function.exported else inline_name(function)
        lines = [f"{kind} {raw}({names}) &", f"    bind(c, name=\"{bound}\"){tail}", "  import"]
        lines += [f"  {d[0]}" for d in declared]
        if result:
            lines.append(f"  {result} :: skua_result")
        return lines + [f"end {kind}"]

    def wrapper(self, function):
        """The lines of a procedure that converts its arguments."""
        declared = [self.parameter(function, i) for i in range(len(function.parameters))]
        result = self.result(function)
        kind = "function" if result else "subroutine"
        names = ", ".join(name for _, name in function.parameters)
        tail = " result(skua_result)" if result else ""
        lines = [f"{kind} {function.name}({names}){tail}"]
        locals_, before, arguments = [], [], []
        for (_, name), (raw, given, expression) in zip(function.parameters, declared):
            lines.append(f"  {given or raw}")
            arguments.append(expression or name)
            if expression == f"c_loc({name}_c)":
                locals_.append(f"  character(kind=c_char), target :: {name}_c(len({name}) + 1)")
                before.append(f"  {name}_c = skua_string_c({name})")
        call = f"{function.name}_c( &\n      {', '.join(arguments)})"
        if result:
            lines.append(f"  {result} :: skua_result")
        lines += locals_ + before
        lines.append(f"  skua_result = {call}" if result else f"  call {call}")
        return lines + [f"end {kind}"]

    def needs_wrapper(self, function):
        return any(self.parameter(function, i)[1] for i in range(len(function.parameters)))

    def struct(self, name, sizes):
        lines = [f"type, bind(c) :: {name}"]
        for type_, member, extents, inner in self.found.structs[name].fields:
            array = f"({', '.join(reversed(extents))})" if extents else ""
            if inner is None:
                made = self.member(type_)
                lines.append(f"  {made} :: {member}{array}{self.zero(made)}")
            else:  # a union: words that are aligned as it is
                size, align = sizes[name, member]
                lines.append(f"  integer(c_int{8 * align}_t) :: {member or 'members'}({size // align}) = 0")
        return lines + [f"end type {name}"]

    def callback(self, name, result, parameters):
        function = headers.Function(name, result, parameters, "", True)
        lines, made = [], self.result(function)
        kind = "function" if made else "subroutine"
        names = ", ".join(n for _, n in parameters)
        lines = [f"{kind} {name}({names}) bind(c)" + (" result(skua_result)" if made else ""), "  import"]
        for i, (type_, n) in enumerate(parameters):
            bare = type_.rstrip("* ").replace("const ", "")
            if type_.endswith("*") and bare in ("void", "char", *self.found.opaque):
                lines.append(f"  type(c_ptr), value :: {n}" if type_.count("*") == 1
                             else f"  type(c_ptr), intent(inout) :: {n}(*)")
            else:  # a callback gets numbers as arrays
                lines.append("  " + self.parameter(function, i)[0] + ("(*)" if "*" in type_ and bare in KINDS else ""))
        if made:
            lines.append(f"  {made} :: skua_result")
        return lines + [f"end {kind} {name}"]


def computed(lines, folders, compiler):
    """The words of the lines that a C program prints whose main() consists of `lines`."""
    head = ["#include <stdio.h>", "#include <skua/skua.h>", "int main(void)", "{"]
    with tempfile.TemporaryDirectory() as work:
        source = Path(work) / "probe.c"
        source.write_text("\n".join(head + lines + ["    return 0;", "}"]))
        subprocess.run([compiler, "-std=gnu17", "-w", *[f"-I{f}" for f in folders], "-o",
                        f"{work}/probe", source], check=True)
        emulator = os.environ.get("EMULATOR", "").split()  # of a cross build
        text = subprocess.run([*emulator, f"{work}/probe"], check=True, capture_output=True, text=True).stdout
    return [line.split() for line in text.splitlines()]


def union_sizes(found, folders, compiler):
    """Sizes and alignments of unions within structs, by the names of struct and member: those of the
    largest member."""
    lines = []
    for struct in found.structs.values():
        for _, member, _, inner in struct.fields:
            for path in [f"{member}.{m[1]}" if member else m[1] for m in inner.fields] if inner else []:
                one = f"(({struct.name} *)0)->{path}"
                lines.append(f'    printf("{struct.name} %zu %zu {member}\\n", sizeof({one}), '
                             f"_Alignof(__typeof__({one})));")
    sizes = {}
    for struct, size, align, *member in computed(lines, folders, compiler):
        key = (struct, "".join(member))
        most, strictest = sizes.get(key, (0, 1))
        most, strictest = max(most, int(size)), max(strictest, int(align))
        sizes[key] = (-(-most // strictest) * strictest, strictest)
    return sizes


def constant_values(found, folders, compiler):
    """The values of enumerators and of macros that are numbers, in the order of the headers."""
    names = [c for constants, _ in found.enums.values() for c in constants]
    names += [m for m, (text, _) in found.macros.items() if not text.startswith('"')]
    lines = [f'    printf("{n} %lld\\n", (long long){n});' for n in names]
    return [(name, int(value)) for name, value in computed(lines, folders, compiler)]


def ordered(structs):
    """Names of structs, each after those that it contains."""
    done, order = set(), []

    def visit(name):
        if name in done:
            return
        done.add(name)
        for type_, _, _, _ in structs[name].fields:
            if type_ in structs:
                visit(type_)
        order.append(name)

    for name in structs:
        visit(name)
    return order


def broken(line, indent):
    """A line of at most 130 characters, continued where it is longer."""
    line = " " * indent + line
    made = []
    while len(line) > 120:
        cut = max(line.rfind(", ", 0, 118) + 1, indent + 4)
        made.append(line[:cut] + " &")
        line = " " * (indent + 6) + line[cut:].lstrip()
    return made + [line]


def module(found, sizes, constants):
    made = Generator(found)
    interfaces, procedures, missing = [], [], []
    types, callbacks = [], []
    for name in ordered(found.structs):
        try:
            types += made.struct(name, sizes) + [""]
        except Unsupported as reason:
            missing.append(f"{name}: {reason}")
    extra = {"skua_condition_fn": ("bool", [("void *", "arg")]),
             "skua_thread_fn": ("void", [("void *", "arg")]),
             "skua_each_fn": ("void", [("void *", "self"), ("void *", "arg")])}
    named = {n: (r, p) for n, (r, p, _) in found.callbacks.items()}
    for name, (result, parameters) in {**named, **{n: e for n, e in extra.items() if n not in named}}.items():
        try:
            callbacks += made.callback(name, result, parameters) + [""]
        except Unsupported as reason:
            missing.append(f"{name}: {reason}")
    inlines = []
    for function in found.functions:
        if function.name in BY_HAND | INTERNAL:
            continue
        try:
            if function.variadic:
                raise Unsupported("a variable number of arguments")
            wrapped = made.needs_wrapper(function)
            interfaces += made.header(function, function.name + ("_c" if wrapped else "")) + [""]
            if wrapped:
                procedures += made.wrapper(function) + [""]
            if not function.exported:
                inlines.append(function)
        except Unsupported as reason:
            missing.append(f"{function.name}: {reason}")
    for name, (_, handle, header) in found.casts.items():  # a constant of C, a function in Fortran
        made_by = headers.Function(name, handle, [], header, False)
        interfaces += made.header(made_by, name) + [""]
        inlines.append(made_by)
    values = []
    for name, value in constants:
        fortran = made.constant(name)
        if fortran.lower() in made.taken:
            missing.append(f"{name}: a type or function has this name")
        else:
            values.append(f"integer(c_int), parameter :: {fortran} = {value}")
    return fill(values, types, callbacks, interfaces, procedures, missing), inlines


def fill(values, types, callbacks, interfaces, procedures, missing):
    """The template by_hand.f90 with the generated lines in place of its markers."""
    parts = {"constants": (values, 2), "types": (types, 2), "callbacks": (callbacks, 4),
             "interfaces": (interfaces, 4), "procedures": (procedures, 2),
             "missing": ([f"! {m}" for m in missing] or ["! none"], 2)}
    lines = []
    for line in (HERE / "by_hand.f90").read_text().splitlines():
        marker = line.strip()
        if marker.startswith("!@"):
            text, indent = parts[marker[2:]]
            for one in text:
                lines += [part for piece in one.split("\n") for part in broken(piece, indent)]
        else:
            lines.append(line)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def inline_source(functions):
    """C functions for what is inline in C."""
    lines = ["/* SPDX-License-Identifier: Apache-2.0 */",
             "/* skua_inline.c - inline functions of the headers, compiled for Fortran: made by generate.py. */",
             "#include <skua/skua.h>", ""]
    for f in functions:
        parameters = ", ".join(f"{t} {n}".replace("* ", "*") for t, n in f.parameters) or "void"
        call = f"{f.name}({', '.join(n for _, n in f.parameters)})" if f.name.islower() else f.name
        head = f"{f.result} {inline_name(f)}({parameters})".replace("* ", "*")
        lines += [f"{head};", head, "{", f"    {'return ' if f.result != 'void' else ''}{call};", "}", ""]
    lines += ["void skuaf_abort(const char *text);", "void skuaf_abort(const char *text)", "{",
              '    skua_abort("%s", text);', "}", ""]
    return "\n".join(lines)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    out, folders = Path(sys.argv[1]), [str(Path(f).resolve()) for f in sys.argv[2:]]
    compiler = os.environ.get("CC", "cc")
    found = headers.read(folders, ["skua.h"], compiler)
    sizes = union_sizes(found, folders, compiler)
    text, inlines = module(found, sizes, constant_values(found, folders, compiler))
    out.mkdir(parents=True, exist_ok=True)
    (out / "skua.f90").write_text(text)
    (out / "skua_inline.c").write_text(inline_source(inlines))


main()
