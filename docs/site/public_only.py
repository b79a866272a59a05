#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Leaves in Doxygen's XML what a caller writes: no namespace detail, no private members.

    python3 docs/site/public_only.py build/docs/doxygen/xml

- A template parameter that is constrained by a concept of detail is "class"; the parameter Dispatch is left out.
- A function or a variable whose type is of detail is "auto". A member function that takes or returns such a type is left
  out: the library calls it.
- An alias loses template arguments of detail; one that is of detail itself is left out. So are base classes.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as ET

DETAIL = re.compile(r"\b(?:tilefold::)?detail::(?:\w+::)*")
ARGUMENTS = re.compile(r"<\s*(?:tilefold::)?detail::[^<>]*(?:<[^<>]*>)?[^<>]*>")


def text_of(element):
    return "" if element is None else "".join(element.itertext())


def set_text(element, text):
    if element is not None:
        for child in list(element):
            element.remove(child)
        element.text = text


def open_template(item):
    """Template parameters as a caller gives them; False if the library alone calls this."""
    parameters = item.find("templateparamlist")
    for parameter in list(parameters) if parameters is not None else []:
        kind = text_of(parameter.find("type"))
        if "Dispatch" in kind + text_of(parameter.find("declname")):
            parameters.remove(parameter)
        elif re.search(r"\bdetail::folding\b", kind):
            return False
        elif "detail::" in kind:
            set_text(parameter.find("type"), "class" + ("..." if "..." in kind else ""))
        default = parameter.find("defval")
        set_text(default, DETAIL.sub("", text_of(default)))
    return True


def keep(member, of_class):
    """Rewrites a member; False if it is not for callers."""
    if member.get("prot") != "public" or not open_template(member):
        return False
    kind = member.get("kind")
    type_, definition, arguments = (member.find(tag) for tag in ("type", "definition", "argsstring"))
    # Operations of libtilefold for C++ are arguments of its calls: they have a name.
    for part in (type_, definition, arguments):
        if kind == "function" and re.search(r"\bdetail::op\b", text_of(part)):
            set_text(part, re.sub(r"\bdetail::op\b", "operation", text_of(part)))
    if kind == "typedef":
        for part in (type_, definition):
            set_text(part, ARGUMENTS.sub("", text_of(part)))
        return "detail::" not in text_of(definition)
    if kind == "function" and of_class and "detail::" in text_of(definition) + text_of(arguments):
        return False
    if "detail::" in text_of(type_):
        name = text_of(member.find("qualifiedname")) or text_of(member.find("name"))
        marks = "constexpr " if "constexpr" in text_of(type_) else ""
        set_text(type_, marks + "auto")
        set_text(definition, f"{marks}auto {name}")
    initial = member.find("initializer")
    if kind == "variable" and initial is not None and re.search(r"^\s*(=\s*)?\{|detail::", text_of(initial)):
        member.remove(initial)
    set_text(arguments, DETAIL.sub("", text_of(arguments)))
    return "detail::" not in text_of(definition)


def main(folder):
    for path in sorted(pathlib.Path(folder).glob("*.xml")):
        tree = ET.parse(path)
        for compound in tree.iter("compounddef"):
            open_template(compound)
            for base in compound.findall("basecompoundref"):
                if "detail::" in text_of(base):
                    compound.remove(base)
            of_class = compound.get("kind") in ("class", "struct")
            for section in compound.findall("sectiondef"):
                for member in section.findall("memberdef"):
                    if not keep(member, of_class):
                        section.remove(member)
                if not section.findall("memberdef"):
                    compound.remove(section)
        tree.write(path, encoding="UTF-8", xml_declaration=True)


if __name__ == "__main__":
    main(sys.argv[1])
