# SPDX-License-Identifier: Apache-2.0
#
# Every file that repeats the version says what include/tilefold/config.hpp says.
#
#     python3 versions_test.py SOURCE_DIR
import pathlib
import re
import sys
import tempfile

# Where the whole version stands, and where its first two numbers do. Each pattern is found at least once.
WHOLE = {
    "CHANGELOG.md": r"\A(?:.*\n)*?## (\d\S*?),",  # the newest entry
    "CITATION.cff": r"^version: (\S+)$",
    "docs/versions.md": r"^\| file \| `libtilefold\.so\.([\d.]+)`",
    "packaging/conda/recipe.yaml": r'^  version: "(.+)"$',
    "packaging/README.md": r"version (\d[\d.]*\d)|`(?:REF )?v([\d.]+)`|tilefold@([\d.]+)",
    "packaging/spack/repo/packages/tilefold/package.py": r'version\("(\d[^"]*)"|tag="v(.+)"|tilefold@([\d.]+)',
    "packaging/vcpkg/ports/tilefold/vcpkg.json": r'^  "version": "(.+)",$',
}
MINOR = {
    "docs/c.md": r"`libtilefold\.so\.([\d.]+)`",
    "docs/versions.md": r"find_package\(tilefold ([\d.]+)\)|takes ([\d.]+)\.x|asks for \| `libtilefold\.so\.([\d.]+)`"
                        r"|package \| `libtilefold(\d[\d.]*)`",
    "packaging/deb/build.sh": r"libtilefold(\d[\d.]*)",
    "packaging/README.md": r"libtilefold(\d[\d.]*)",
    # A library with another SOVERSION is another library: its names begin anew.
    "src/capi/libtilefold.map": r"\A(?:.*\n)*?TILEFOLD_([\d.]+) \{",
    "test/consumer/CMakeLists.txt": r"find_package\(tilefold ([\d.]+) ",
}


def version_of_headers(source, header, prefix):
    text = (source / "include/tilefold" / header).read_text(encoding="utf-8")
    return ".".join(re.search(rf"^#define {prefix}_{part} (\d+)$", text, re.M)[1]
                    for part in ("MAJOR", "MINOR", "PATCH"))


def complaints(source):
    version = version_of_headers(source, "config.hpp", "TILEFOLD_VERSION")
    found = []
    if version_of_headers(source, "tilefold.h", "TILEFOLD_C_VERSION") != version:
        found.append(f"include/tilefold/tilefold.h does not say {version}")
    for expected, places in ((version, WHOLE), (version.rpartition(".")[0], MINOR)):
        for file, pattern in places.items():
            text = (source / file).read_text(encoding="utf-8")
            said = ["".join(match.groups(default="")) for match in re.finditer(pattern, text, re.M)]
            if not said or set(said) != {expected}:
                found.append(f"{file} says {', '.join(said) or 'nothing'}, not {expected}")
    return found


def check_that_each_is_found(source):
    """A copy of another version: every file of it complains."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for file in ["include/tilefold/config.hpp", "include/tilefold/tilefold.h", *WHOLE, *MINOR]:
            (copy / file).parent.mkdir(parents=True, exist_ok=True)
            (copy / file).write_bytes((source / file).read_bytes())
        config = copy / "include/tilefold/config.hpp"
        text = config.read_text(encoding="utf-8")
        config.write_text(re.sub(r"(VERSION_MINOR) \d+", r"\1 987", text), encoding="utf-8")
        expected = 1 + len(WHOLE) + len(MINOR)
        found = complaints(copy)
        if len(found) != expected:
            sys.exit(f"of another version {len(found)} complain, and {expected} should: {found}")


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1])
    check_that_each_is_found(root)
    wrong = complaints(root)
    if wrong:
        sys.exit("\n".join(wrong))
