# SPDX-License-Identifier: Apache-2.0
#
# Compiles one case twice: as it stands it must compile; with TILEFOLD_MUST_FAIL defined it must not,
# and an error must match the regular expression of its `// expect:` line, and none that of a
# `// never:` line, if there is one. Where a line `// errors: N` stands, there are N errors at most: a
# sentence does not help behind a page of others. `// options:` are the compiler's for this case,
# `// options of the failure:` those that must not compile.
#
#     python3 check.py CASE COMPILER [OPTION]...
import re
import subprocess
import sys


def compile_case(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def complaint(case, command):
    """What is wrong with the case, or None."""
    with open(case, encoding="utf-8") as source:
        text = source.read()
    expected = re.search(r"^// expect: (.+)$", text, re.MULTILINE)
    never = re.search(r"^// never: (.+)$", text, re.MULTILINE)
    if not expected:
        return f"{case} has no line '// expect: REGEX'"
    most = re.search(r"^// errors: (\d+)$", text, re.MULTILINE)
    options = re.search(r"^// options: (.+)$", text, re.MULTILINE)
    command = command + (options[1].split() if options else [])
    control = compile_case(command + [case])
    if control.returncode != 0:
        return f"the control does not compile:\n{control.stdout}"
    failing = re.search(r"^// options of the failure: (.+)$", text, re.MULTILINE)
    command = command + (failing[1].split() if failing else [])
    bad = compile_case(command + ["-DTILEFOLD_MUST_FAIL", case])
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


if __name__ == "__main__":
    problem = complaint(sys.argv[1], sys.argv[2:])
    if problem:
        sys.exit(problem)
