# SPDX-License-Identifier: Apache-2.0
#
# What libtilefold.so shows is the committed list, each name with the version that it came with; and
# all of it is what tilefold.h declares. Its local statics that are made at a first call, each with a
# lock that a child of fork() could find held, are those that src/capi/host.cpp makes before a fork.
#
#     python3 symbols_test.py NM LIBRARY SOURCE_DIR VERSION
import pathlib
import re
import subprocess
import sys


def complaints(shown, committed, declared, soname, version):
    """What is wrong, a line each."""
    found = []
    for name in sorted(committed - shown):
        found.append(f"{name} is gone: programs that call it no longer start")
    for name in sorted(shown - committed):
        found.append(f"{name} is shown and not committed (test/capi/symbols.txt)")
    names = {name.split("@")[0] for name in shown}
    found += [f"{name} is declared and not shown" for name in sorted(declared - names)]
    found += [f"{name} is shown and not declared" for name in sorted(names - declared)]
    if soname != f"libtilefold.so.{version}":
        found.append(f"the library calls itself {soname}")
    return found


def symbols(nm, library):
    lines = subprocess.run([nm, "-D", "--defined-only", "--with-symbol-versions", library],
                           check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    # An absolute symbol is the version itself.
    return {line.split()[2] for line in lines if line.split()[1] != "A"}


MADE_BEFORE_A_FORK = {"kernels", "dots", "log_softmax_kernels"}
OF_TESTS = {"targets_of_machine"}


def unknown_locks(names):
    """Local statics with a lock, but those of kernels for GPUs and of CUB, which no child of a fork can use."""
    found = []
    for name in names:
        of = re.search(r"guard variable for (.*)::[\w\[\]:]+$", name)
        if of and not re.search("cuda|cub::|3cub", name):
            function = re.sub(r"<.*>", "", of[1].partition("(anonymous namespace)::")[2] or of[1])
            if re.sub(r"\(.*", "", function).rpartition("::")[2] not in MADE_BEFORE_A_FORK | OF_TESTS:
                found.append(f"{name}: make it without a lock (found_once), or before a fork (src/capi/host.cpp)")
    return found


def local_symbols(nm, library):
    return subprocess.run([nm, "-C", library], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def soname_of(library):
    data = pathlib.Path(library).read_bytes()
    found = re.search(rb"\0(libtilefold\.so\.[0-9.]+)\0", data)
    return found[1].decode() if found else None


def main(nm, library, source, version):
    source = pathlib.Path(source)
    committed = set((source / "test/capi/symbols.txt").read_text(encoding="utf-8").split())
    header = (source / "include/tilefold/tilefold.h").read_text(encoding="utf-8")
    declared = set(re.findall(r"TILEFOLD_API [^;(]*?\b(tilefold_\w+)\(", header))
    shown = symbols(nm, library)
    # The check finds what it is for.
    some = next(iter(shown))
    assert complaints(shown - {some}, committed, declared, f"libtilefold.so.{version}", version)
    assert complaints(shown | {"x@@X"}, committed, declared, f"libtilefold.so.{version}", version)
    assert complaints(shown, committed, declared, "libtilefold.so.9", version)
    row = "0 b guard variable for tilefold::N_AVX2::rows<double>::fold<3>(double const*, long)::lanes"
    inline = "0 u guard variable for tilefold::name()::text[abi:cxx11]"
    assert len(unknown_locks([row, inline, row.replace("fold<3>", "dots")])) == 2
    found = unknown_locks(local_symbols(nm, library))
    found += complaints(shown, committed, declared, soname_of(library), version)
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
