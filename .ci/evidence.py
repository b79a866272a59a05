# SPDX-License-Identifier: Apache-2.0
#
# What the GPU evidence speaks for: each program that needs a GPU, and a digest of the sources that reach it.
# Comments and blanks do not count, nor do time stamps, modes and the place of the checkout. No digest holds the driver,
# the host's compiler, installed libraries and what someone has set in build/gpu/CMakeCache.txt.
import csv
import functools
import hashlib
import json
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERIFIED = ROOT / 'test/gpu_verified.txt'
NUMBERS = ['tests', 'skipped', 'sanitizer_runs']
COLUMNS = ['program', 'digest', *NUMBERS, 'device', 'toolkit']
# What .ci/gpu --all alone runs; the first line of the evidence is without it.
OPTIONAL = {'compile_matrix'}
# Lines of tests that only read what nvcc made (test/compiled_code.cmake): any machine with an nvcc writes them.
COMPILED = ROOT / 'test/compiled_code.csv'
COMPILED_COLUMNS = ['test', 'digest', 'toolkit']

# Files with comments of C++, beside those in include/ that have no suffix; files with comments behind #.
CODE = ('.h', '.hpp', '.cuh', '.cpp', '.cu', '.inc', '.c')
SCRIPTS = ('.py', '.sh', '.cmake', '.txt', '.toml')
# How all programs are compiled.
FLAGS = ['CMakeLists.txt', 'src/host/CMakeLists.txt', 'test/gpu_tests.cmake', 'cmake/add_test.cmake',
         'cmake/own_target.cmake', 'cmake/cuda.cmake', 'cmake/cuda_standard.cmake', 'cmake/dependencies.cmake']
# Mostly of tests on the host: of these files only commands count that set options of the folder, or name GPU tests.
PARTLY_FLAGS = ['test/CMakeLists.txt', 'test/capi/tests.cmake']
OF_GPU_TESTS = re.compile(r'\b(add_compile_\w+|add_definitions|add_link_options|include_directories|link_libraries|'
                          r'link_directories|DIRECTORY|gpu)\b|CMAKE_\w*FLAGS|\bset\(CMAKE_')
# How they are run once more: tests of these names under these tools of compute-sanitizer.
SANITIZED = '*Sanitize*'
SANITIZERS = ['memcheck', 'racecheck', 'initcheck', 'synccheck']


def found(pattern):
    files = (path for path in ROOT.glob(pattern) if '__pycache__' not in path.parts)
    return sorted(path.relative_to(ROOT).as_posix() for path in files if path.is_file())


# Folds on the host have nothing that a GPU runs: CI tests them on every commit.
HOST_ALONE = ('src/host/', 'include/tilefold/detail/host/')


@functools.cache
def programs():
    """The sources of each program, without what those include."""
    all_of = {}
    for source in found('test/**/*_test.cu'):
        if not source.endswith('_nogpu_test.cu') and not source.startswith('test/order_net/'):
            name = 'gpu.' + source.removeprefix('test/').removesuffix('.cu').replace('/', '.')
            all_of[name] = [source]
            if source.startswith('test/src/tool/'):
                all_of[name] += found('src/tool/*.c*') + ['src/tool/CMakeLists.txt']
    all_of['gpu.cuda.per_thread_default_stream_test'] = ['test/cuda/default_stream_test.cu']
    all_of['gpu.two_units_test'] += ['test/two_units_host.cpp']
    for with_nccl in ('cuda.all_gpus_test', 'cuda.ranks_many_results_test', 'cuda.stream_ranks_test', 'nccl.ranks_test'):
        all_of['gpu.' + with_nccl] += ['cmake/nccl.cmake', 'cmake/find_nccl.cmake']
    all_of['gpu.nccl.ranks_test'] += ['examples/ranks/nccl_sum.cu']
    # A program for each few of the family, as many as the build has.
    all_of['gpu.order_net'] = ['test/order_net/cuda_test.cu', 'test/order_net/host_test.cpp']
    all_of['gpu.nvrtc'] = (['test/compilers/nvrtc_test.py', 'test/compilers/kernels.cu'] +
                           [file for file in found('include/tilefold/nvrtc/**/*') if is_code(file)])
    all_of['consumer'] = found('test/consumer/*') + found('cmake/*.cmake') + found('cmake/*.in') + ['CMakeLists.txt']
    library = found('src/capi/**/*.c*') + found('src/capi/**/CMakeLists.txt') + ['src/capi/libtilefold.map']
    all_of['gpu.capi.c_cuda_test'] = ['test/capi/c_cuda_test.cpp', 'test/capi/tests.cmake'] + library
    all_of['compile_matrix'] = ['test/compile_matrix/matrix_test.py', 'test/compile_matrix/kinds.cuh']
    all_of['python.gpu_tests'] = (found('python/gpu_tests/*.py') + found('python/tilefold/**/*.py') + library +
                                  ['python/pyproject.toml', 'README.md'])
    return all_of


@functools.cache
def compiled_code():
    """The same of the tests that read what nvcc made. Folds on the host have no part in that."""
    all_of = {
        'adaptor_loads': ['test/adaptor_loads_test.py', 'test/support/adaptor_loads.cu'],
        'architectures': found('test/architectures/*'),
        'contraction.kernels': ['test/contraction/kernels_test.py'] + found('test/contraction/*.cu'),
        'default_kernels': ['test/default_kernels_test.py', 'test/support/default_kernels.cu'],
        'kernel_table': ['test/kernel_table/kernel_table.py', 'test/kernel_table/calls.cuh',
                         'test/kernel_table/kernel_table.csv'],
    }
    # disassembler.sh names the version of nvdisasm.
    common = ['test/compiled_code.cmake', 'test/support/machine_code.py', 'cmake/disassembler.sh']
    return {name: sources + common for name, sources in all_of.items()}


def line_of(test):
    """The program whose line in the evidence speaks for a test of CTest's."""
    for of_several in ('gpu.order_net', 'consumer'):
        if test.startswith(of_several + '.'):
            return of_several
    return test


def is_code(file):
    return file.endswith(CODE) or (file.startswith('include/') and '.' not in os.path.basename(file))


# Blanks and comments, or what only looks like a comment: strings, raw strings, and characters (not digits' separators).
TOKEN = re.compile(r'((?:\s|//[^\n]*|/\*.*?\*/)+)|R"([^()\s]*)\(.*?\)\2"|"(?:\\.|[^"\\\n])*"|'
                   r'(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
# A comment behind a command has no quotation marks: so no # in a string is taken for one.
SCRIPT_COMMENT = re.compile(r'^\s*#(?!!).*$|\s#[^"\'\n]*$', re.MULTILINE)


def without_comment(token):
    """What stands for a token: blanks and comments become the end of a line, one blank or, beside a bracket, nothing."""
    if not token[1]:
        return token[0]
    if '\n' in token[1]:
        return '\n'
    before, after = token.string[token.start() - 1:token.start()], token.string[token.end():token.end() + 1]
    return '' if before in '([{,' or after in ')]},;' else ' '


@functools.cache
def text_at(file, changed):
    text = (ROOT / file).read_text()
    if is_code(file):
        text = TOKEN.sub(without_comment, text)
    elif file.endswith(SCRIPTS):
        text = SCRIPT_COMMENT.sub('', text)
    elif file.endswith('.md'):  # examples alone
        text = '\n'.join(re.findall(r'^```.*?^```$', text, re.MULTILINE | re.DOTALL))
    return '\n'.join(line.rstrip() for line in text.splitlines() if line.strip())


@functools.cache
def text_of(file):
    """A file without comments, lines without spaces at their ends and none that are empty."""
    return text_at(file, os.stat(ROOT / file).st_mtime_ns)


@functools.cache
def hash_of(file):
    return hashlib.sha256(f'{file}\n{text_of(file)}'.encode()).hexdigest()


INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
INCLUDE_FOLDERS = ('include', 'test', 'src', 'src/tool', 'src/capi', '')
IMPORT = re.compile(r'^\s*(?:from|import)\s+([\w.]+)', re.MULTILINE)
IMPORT_FOLDERS = ('test/support', 'test/contraction', 'python', 'python/tests', 'docs/site')


@functools.cache
def is_file(file):
    return not file.startswith('..') and os.path.isfile(ROOT / file)


@functools.cache
def included_by(file):
    """Files of this checkout that a file includes or imports, whatever conditions it puts on that."""
    if is_code(file):
        names, folders = INCLUDE.findall(text_of(file)), INCLUDE_FOLDERS
    elif file.endswith('.py'):
        names = [name.strip('.').replace('.', '/') + '.py' for name in IMPORT.findall(text_of(file))]
        folders = IMPORT_FOLDERS
    else:
        return ()
    places = [[os.path.normpath(f'{folder}/{name}'.lstrip('/')) for folder in (os.path.dirname(file), *folders)]
              for name in names]
    return tuple(next(filter(is_file, paths)) for paths in places if any(map(is_file, paths)))


def closure(sources):
    """These files and all that they include."""
    reached = set()
    left = list(sources)
    while left:
        file = left.pop()
        if file not in reached:
            reached.add(file)
            left += included_by(file)
    return reached


def reached_by(sources):
    """The closure, but for folds on the host, whose own includes count."""
    return {file for file in closure(sources) if not file.startswith(HOST_ALONE)}


def flags_of_gpu_tests(file):
    commands = re.findall(r'^\s*\w+\(.*?\)$', text_of(file), re.MULTILINE | re.DOTALL)
    return '\n'.join(command.strip() for command in commands if OF_GPU_TESTS.search(command))


def flags():
    """How all programs are compiled and run."""
    presets = json.loads((ROOT / 'CMakePresets.json').read_text())['configurePresets']
    used = [{key: value for key, value in preset.items() if key not in ('displayName', 'description')}
            for preset in presets if preset['name'] in ('base', 'gpu')]
    return ([hash_of(file) for file in FLAGS] + [flags_of_gpu_tests(file) for file in PARTLY_FLAGS] +
            [json.dumps([used, SANITIZED, SANITIZERS], sort_keys=True)])


def digests_of(all_of, common):
    result = {}
    for name, sources in sorted(all_of.items()):
        parts = common + [hash_of(file) for file in sorted(reached_by(sources))]
        result[name] = hashlib.sha256('\n'.join(parts).encode()).hexdigest()[:16]
    return result


@functools.cache
def digests():
    """The digest of each program, by name."""
    return digests_of(programs(), flags())


@functools.cache
def compiled_digests():
    """The same of the tests that read what nvcc made."""
    return digests_of(compiled_code(), [])


def overall(digest_of):
    """One digest of all programs but those that are optional."""
    lines = [f'{name} {digest}\n' for name, digest in sorted(digest_of.items()) if name not in OPTIONAL]
    return hashlib.sha256(''.join(lines).encode()).hexdigest()


@functools.cache
def warn(text):
    """Says it once."""
    print(f'tilefold: {text}', file=sys.stderr)


def is_whole(row):
    return set(row) == set(COLUMNS) and None not in row.values() and all(row[column].isdigit() for column in NUMBERS)


def verified():
    """The rows of the evidence by program, without damaged ones."""
    if not VERIFIED.exists():
        return {}
    lines = VERIFIED.read_text().splitlines()
    header = ','.join(COLUMNS)
    table = list(csv.DictReader(lines[lines.index(header):])) if header in lines else []
    for row in table:
        if not is_whole(row):
            warn(f'test/gpu_verified.txt has a damaged line, which counts for nothing: {row["program"]}')
    return {row['program']: row for row in table if is_whole(row)}


def stale(toolkit=None, gpus=1):
    """
    Programs whose sources are not those of the evidence; with a toolkit, also those of another one. Where there are
    several GPUs, also those that skipped tests where there was one.
    """
    rows = verified()
    def is_current(name, digest):
        row = rows.get(name)
        return row and row['digest'] == digest and toolkit in (None, row['toolkit']) and not (
            gpus > 1 and row['device'].startswith('1 x') and int(row['skipped']))
    return [name for name, digest in digests().items() if not is_current(name, digest)]


def skipped():
    """How many tests were skipped, by program, where the evidence is current."""
    now = digests()
    return {name: int(row['skipped']) for name, row in verified().items()
            if int(row['skipped']) and row['digest'] == now.get(name)}


def record(row):
    """Puts the row of a program into the evidence."""
    write(verified() | {row['program']: row})


def withdraw(name):
    """Takes the row of a program out of it."""
    rows = verified()
    if rows.pop(name, None):
        write(rows)


def write(rows):
    """Rows of programs that are no more go. The totals are of current rows."""
    known, now = programs(), digests()
    rows = {name: row for name, row in rows.items() if name in known}
    current = [row for name, row in rows.items() if row['digest'] == now.get(name)]
    tests = sum(int(row['tests']) - int(row['skipped']) for row in current)
    runs = sum(int(row['sanitizer_runs']) for row in current)
    whole = ROOT / 'build/gpu_verified.txt'
    whole.parent.mkdir(exist_ok=True)
    with whole.open('w') as out:
        out.write(overall({name: row['digest'] for name, row in rows.items()}) + '\n')
        out.write(f'passed: {tests} GPU tests, {runs} runs under compute-sanitizer\n')
        writer = csv.DictWriter(out, COLUMNS, lineterminator='\n')
        writer.writeheader()
        writer.writerows(rows[name] for name in sorted(rows))
    whole.replace(VERIFIED)  # whoever is stopped here has the old file, not half of one


def compiled():
    """The rows of tests that read what nvcc made, by test."""
    if not COMPILED.exists():
        return {}
    with COMPILED.open() as file:
        return {row['test']: row for row in csv.DictReader(file)}


def stale_compiled(toolkit):
    """Those of them that have not passed of these sources by this nvcc."""
    rows = compiled()
    return [name for name, digest in compiled_digests().items()
            if rows.get(name) != dict(zip(COMPILED_COLUMNS, (name, digest, toolkit)))]


def record_compiled(names, toolkit):
    """Writes that they have passed."""
    rows = compiled() | {name: dict(zip(COMPILED_COLUMNS, (name, compiled_digests()[name], toolkit))) for name in names}
    whole = COMPILED.with_suffix('.new')
    with whole.open('w') as out:
        writer = csv.DictWriter(out, COMPILED_COLUMNS, lineterminator='\n')
        writer.writeheader()
        writer.writerows(rows[name] for name in sorted(rows) if name in compiled_code())
    whole.replace(COMPILED)


def forget():
    """Reads files that have changed anew from now on."""
    for value in list(globals().values()):
        if hasattr(value, 'cache_clear') and value not in (text_at, warn):
            value.cache_clear()
