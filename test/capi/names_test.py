# SPDX-License-Identifier: Apache-2.0
#
# Operations, types and status codes have one name and one number wherever they are listed: in tilefold.h, in src/capi,
# in precompiled.hpp, in the Python package and in docs/c.md. No compiler compares these lists.
#
#     python3 names_test.py SOURCE_DIR
import ast
import pathlib
import re
import sys

HEADER = "include/tilefold/tilefold.h"
TYPES = "src/capi/types.hpp"
PRECOMPILED = "include/tilefold/precompiled.hpp"
LIBRARY = "python/tilefold/_library.py"
OPERATIONS = "python/tilefold/_operations.py"
DTYPES = "python/tilefold/_dtypes.py"
ERRORS = "python/tilefold/_errors.py"
PAGE = "docs/c.md"
FILES = (HEADER, TYPES, PRECOMPILED, LIBRARY, OPERATIONS, DTYPES, ERRORS, PAGE)


def between(text, begin, end):
    return text.split(begin, 1)[1].split(end, 1)[0]


def enumerators(text):
    """Of the body of an enum: name and number."""
    found, number = {}, 0
    for name, given in re.findall(r"(\w+)(?:\s*=\s*(\d+))?\s*(?:,|$)", re.sub(r"//.*|/\*.*?\*/", "", text).strip()):
        number = int(given) if given else number
        found[name] = number
        number += 1
    return found


def value_of(text, name, known=()):
    """What a Python file assigns to a name, of literals and of names in `known`."""
    for node in ast.parse(text).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Tuple):
            if name in (one.id for one in target.elts):
                return ast.literal_eval(node.value)[[one.id for one in target.elts].index(name)]
        elif isinstance(target, ast.Name) and target.id == name:
            return eval(compile(ast.Expression(node.value), name, "eval"), {}, dict(known))
    raise LookupError(name)


def differ(what, one, other):
    missing, more = [x for x in one if x not in other], [x for x in other if x not in one]
    if missing or more:
        return [f"{what}: missing {missing}, too many {more}"]
    return [] if list(one) == list(other) else [f"{what}: another order"]


def complaints(text):
    """What is wrong, a line each, of the texts of FILES."""
    header = {name: number for body in re.findall(r"enum \{(.*?)\};", text[HEADER], re.S)
              for name, number in enumerators(body).items()}
    ops = list(enumerators(between(text[TYPES], "enum class op : std::uint8_t {", "};")))
    names = re.findall(r'"(\w+)"', between(text[TYPES], "op_names[num_ops] = {", "};"))
    found = differ("names of the operations of types.hpp", ops, names)
    named = names[:-1]
    if names[-1] != "statistics":
        found.append("the last operation is not statistics, which has no name for users")

    rows = re.findall(r'\{\{(TILEFOLD_\w+), (\d+), 1\}, "(\w+)"\}', text[TYPES])
    types = ["bool" if one == "boolean" else one
             for one in enumerators(between(text[TYPES], "enum class dtype : std::uint8_t {", "};"))]
    found += differ("rows of the types of types.hpp", types, [name for _, _, name in rows])
    codes = {(header.get(code), int(bits)): name for code, bits, name in rows}

    variables = re.findall(r'inline constexpr detail::op<.*?> (\w+)\{\s*"(\w+)"(?:, "(\w+)")?\}', text[PRECOMPILED])
    found += [f"precompiled.hpp: {name} is called {of_c}" for name, of_c, _ in variables if name != of_c]
    found += differ("operations of precompiled.hpp", sorted(named),
                    sorted(name for _, *both in variables for name in both if name))

    aliases = value_of(text[LIBRARY], "ALIASES")
    found += [f"_library.py: {alias} stands for {of_c}" for alias, of_c in aliases.items() if of_c not in named]
    own = value_of(text[OPERATIONS], "_AS_ITEMS")
    rounded = value_of(text[OPERATIONS], "ROUNDED", {"_AS_ITEMS": own})
    of_types = re.findall(r"case op::(\w+):", between(text[TYPES], "constexpr bool is_rounded(op which) {", "default:"))
    found += differ("ROUNDED of _operations.py", sorted(of_types), sorted(name.decode() for name in rounded))
    known = {name: value_of(text[DTYPES], name) for name in ("BOOL", "BFLOAT16", "FLOAT64")}
    of_python = value_of(text[DTYPES], "NAMES", known)
    found += differ("NAMES of _dtypes.py", sorted(codes.items(), key=str), sorted(of_python.items(), key=str))
    for name in ("INVALID_ARGUMENT", "UNKNOWN_OP", "UNSUPPORTED", "EMPTY", "BAD_SHAPE", "FORMAT"):
        if value_of(text[ERRORS], name) != header.get("TILEFOLD_" + name):
            found.append(f"_errors.py: {name} is not that of tilefold.h")

    cells = [row.split("|")[1] for row in between(text[PAGE], "### Operations\n", "\nReal types").splitlines()
             if row.startswith("| `")]
    found += differ("operations of docs/c.md", sorted(named), sorted(re.findall(r"`(\w+)`", " ".join(cells))))
    listed = re.findall(r"\w+", between(text[PAGE], "### Names\n", "\n###"))
    return found + [f"the names of docs/c.md have no {name}" for name in [*named, *aliases] if name not in listed]


#: Mistakes that must be found: the file, what is replaced, and by what.
PLANTED = [
    (TYPES, '    "min",\n    "max",', '    "max",\n    "min",'), (TYPES, "  sum32,\n", ""),
    (TYPES, '    "summary",\n', '    "summery",\n'), (TYPES, "    case op::l2:\n", ""),
    (TYPES, '"int16"}', '"int61"}'), (HEADER, "TILEFOLD_BFLOAT = 4", "TILEFOLD_BFLOAT = 3"),
    (HEADER, "TILEFOLD_EMPTY = 5", "TILEFOLD_EMPTY = 15"), (PRECOMPILED, 'any{"any"}', 'any{"all"}'),
    (PRECOMPILED, '{"sum", "sum32"}', '{"sum"}'), (LIBRARY, '"argmin": "arg_min"', '"argmin": "argmin"'),
    (OPERATIONS, 'b"l1", ', ""), (DTYPES, '(1, 16): "uint16"', '(1, 16): "int16"'), (PAGE, "| `bit_and`, ", "| "),
    (PAGE, "`sum32`", "`sum33`"), (PAGE, "`argmin`, `argmax`", "`argmin`"),
]


def main(source):
    text = {name: (pathlib.Path(source) / name).read_text() for name in FILES}
    found = complaints(text)
    for name, old, new in PLANTED:
        if text[name].count(old) < 1:
            found.append(f"{name} has no {old!r}: this test plants a mistake there")
        elif not complaints({**text, name: text[name].replace(old, new, 1)}):
            found.append(f"{name} with {new!r} for {old!r} was not noticed")
    print("\n".join(found) or f"{len(FILES)} files agree; {len(PLANTED)} planted mistakes were found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
