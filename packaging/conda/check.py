# SPDX-License-Identifier: Apache-2.0
"""The recipe beside this file, by rattler-build's Python interface (py-rattler-build of PyPI).

python3 check.py render          with conda-forge's names of compilers; its version is the header's
python3 check.py build OUTPUT    built and tested into OUTPUT by the system's compiler, TBB and Highway: the
                                 recipe without its requirements, for no channel is asked for them
"""
import pathlib
import re
import sys

import rattler_build

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
RECIPE = HERE / "recipe.yaml"
VARIANTS = """
cxx_compiler: [gxx]
cxx_compiler_version: ["13"]
c_stdlib: [sysroot]
c_stdlib_version: ["2.17"]
"""


def version_of_header():
    text = (SOURCE / "include/tilefold/config.hpp").read_text(encoding="utf-8")
    return ".".join(re.search(rf"TILEFOLD_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def render():
    recipe = rattler_build.Stage0Recipe.from_yaml(RECIPE.read_text(encoding="utf-8"))
    (rendered,) = recipe.render(rattler_build.VariantConfig.from_yaml(VARIANTS))
    package = rendered.recipe.package
    print(rattler_build.rattler_build_version(), package.name, package.version)
    assert (package.name, package.version) == ("tilefold", version_of_header())


def without_requirements(text):
    """Each block `requirements:` of the recipe is left out, with what is indented below it."""
    kept, below = [], None
    for line in text.splitlines(keepends=True):
        indent = len(line) - len(line.lstrip())
        if below is not None and (indent > below or not line.strip()):
            continue
        below = indent if line.strip() == "requirements:" else None
        if below is None:
            kept.append(line)
    return "".join(kept)


def build(output):
    output = pathlib.Path(output).resolve()
    folder = output / "recipe"
    folder.mkdir(parents=True, exist_ok=True)
    text = without_requirements(RECIPE.read_text(encoding="utf-8"))
    text = text.replace("path: ../..", f"path: {SOURCE}").replace("${CMAKE_ARGS}", "")
    recipe = folder / "recipe.yaml"
    recipe.write_text(text, encoding="utf-8")
    channel = output / "channel"
    for platform in ("noarch", "linux-64"):
        (channel / platform).mkdir(parents=True, exist_ok=True)
        (channel / platform / "repodata.json").write_text('{"packages": {}, "packages.conda": {}}\n')
    rattler_build.build_recipes([recipe], channel=[channel.as_uri()], output_dir=output / "packages", no_build_id=True)


if __name__ == "__main__":
    {"render": render, "build": build}[sys.argv[1]](*sys.argv[2:])
