# SPDX-License-Identifier: Apache-2.0
#
# With TILEFOLD_MUST_FAIL defined a case must not compile, and an error must match the regular
# expression of its `// expect:` line, and none that of a `// never:` line, if there is one. Where a
# line `// errors: N` stands, there are N errors at most: a sentence does not help behind a page of
# others. `// options:` are the compiler's for this case, `// options of the failure:` those that must
# not compile.
#
# As it stands each case, its control, must compile. The controls are compiled together, each in a
# namespace, since most of the time goes into the headers: but for those with options of their own,
# and those with a line `// alone: WHY`.
#
#     python3 check.py CASE COMPILER [OPTION]...
#     python3 check.py --controls COMPILER [OPTION]... -- CASE...
import pathlib
import re
import subprocess
import sys
import tempfile


def compiled(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def options_of(text, line="options"):
    found = re.search(rf"^// {line}: (.+)$", text, re.MULTILINE)
    return found[1].split() if found else []


def is_alone(text):
    return bool(options_of(text) or options_of(text, "alone"))


def read(case):
    return pathlib.Path(case).read_text(encoding="utf-8")


def complaint(case, command):
    """What is wrong with the case, or None."""
    text = read(case)
    expected = re.search(r"^// expect: (.+)$", text, re.MULTILINE)
    never = re.search(r"^// never: (.+)$", text, re.MULTILINE)
    if not expected:
        return f"{case} has no line '// expect: REGEX'"
    most = re.search(r"^// errors: (\d+)$", text, re.MULTILINE)
    command = command + options_of(text)
    if is_alone(text):
        control = compiled(command + [case])
        if control.returncode != 0:
            return f"the control does not compile:\n{control.stdout}"
    bad = compiled(command + options_of(text, "options of the failure") + ["-DTILEFOLD_MUST_FAIL", case])
    if bad.returncode == 0:
        return "it compiles, but must not"
    errors = [line for line in bad.stdout.splitlines() if "error" in line]
    if not any(re.search(expected[1], line) for line in errors):
        return f"no error matches '{expected[1]}':\n{bad.stdout}"
    # g++ and nvcc: "FILE: error: TEXT", "FILE(LINE): error: TEXT"; not nvcc's count of them at the end.
    count = sum(": error" in line for line in errors)
    if most and count > int(most[1]):
        return f"{count} errors, more than {most[1]}:\n{bad.stdout}"
    if never and any(re.search(never[1], line) for line in errors):
        return f"an error matches '{never[1]}':\n{bad.stdout}"
    return None


def complaint_of_controls(command, cases):
    """What is wrong with the controls, or None."""
    texts = {case: read(case) for case in cases}
    together = [case for case in cases if not is_alone(texts[case])]
    if not together:
        return "no case to compile"
    # Headers come first, outside of all namespaces; where a case includes them again, they are empty.
    lines = sorted({line for case in together for line in re.findall(r"^#include <.+>$", texts[case], re.MULTILINE)})
    for number, case in enumerate(together):
        lines.append(f'namespace control_{number} {{\n#include "{pathlib.Path(case).resolve()}"\n}}')
    with tempfile.TemporaryDirectory() as folder:
        unit = pathlib.Path(folder) / f"controls{pathlib.Path(together[0]).suffix}"
        unit.write_text("\n".join(lines) + "\n", encoding="utf-8")
        control = compiled(command + [str(unit)])
    return f"a control does not compile:\n{control.stdout}" if control.returncode != 0 else None


if __name__ == "__main__":
    if sys.argv[1] == "--controls":
        end = sys.argv.index("--")
        problem = complaint_of_controls(sys.argv[2:end], sys.argv[end + 1:])
    else:
        problem = complaint(sys.argv[1], sys.argv[2:])
    if problem:
        sys.exit(problem)
