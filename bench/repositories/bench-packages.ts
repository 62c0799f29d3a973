/** How a repository checks its own style, and the same as arguments of Ruff where that linter is another one. */
export type Linter =
  | { tool: 'ruff'; ruff: readonly string[] }
  | { tool: 'flake8'; ruff: readonly string[] }
  | { tool: 'pycodestyle'; ruff: readonly string[] }
  /** It configures none: the product's default rules are used. */
  | { tool: 'none'; ruff: readonly string[] }

export type TypeChecker = { tool: 'mypy' | 'pyright' | 'zuban'; args: readonly string[] }

/** One sdist of PyPI, pinned by version and hash. `requirements/NAME.txt` pins what its tests and checks need. */
export type BenchPackage = {
  name: string
  version: string
  /** Of the sdist `NAME-VERSION.tar.gz`. */
  sha256: string
  /** The folder its modules are imported from. */
  sources: '.' | 'src'
  /** Arguments of pytest. */
  tests: readonly string[]
  linter: Linter
  types: readonly TypeChecker[]
}

/** The version of Ruff that the product links, as a program. */
export const ruffVersion = '0.17.3'
export const pyrightVersion = '1.1.414'

const ownRuff: Linter = { tool: 'ruff', ruff: [] }

/** The product's default rules, for a repository that configures no linter. */
const noLinter: Linter = { tool: 'none', ruff: ['--isolated', '--select', 'F,E9,W605'] }

export const benchPackages: readonly BenchPackage[] = [
  {
    name: 'attrs',
    version: '26.1.0',
    sha256: 'd03ceb89cb322a8fd706d4fb91940737b6642aa36998fe130a9bc96c985eff32',
    sources: 'src',
    // Each case of test_mypy.yml starts a mypy of its own, and needs a plugin that the `tests` group does not have.
    tests: [],
    linter: ownRuff,
    types: [
      { tool: 'mypy', args: ['typing-examples'] },
      { tool: 'mypy', args: ['src/attrs/__init__.pyi', 'src/attr/__init__.pyi', 'src/attr/validators.pyi'] },
      { tool: 'pyright', args: [] },
    ],
  },
  {
    name: 'boltons',
    version: '26.2.0',
    sha256: 'd39cfd15c1a1c3bd4d705c82252fa9edb8e4f5e8cc039f8e39afac7b1b47e92c',
    sources: '.',
    tests: ['--doctest-modules', 'boltons', 'tests'],
    linter: noLinter,
    types: [],
  },
  {
    name: 'click',
    version: '8.5.1',
    sha256: '9bbfada76703fd1d784b83eea012e3e8c6a001a876543ef104fa56aaaeb072b4',
    sources: 'src',
    tests: [],
    linter: ownRuff,
    types: [
      { tool: 'mypy', args: [] },
      { tool: 'pyright', args: [] },
    ],
  },
  {
    name: 'invoke',
    version: '3.0.3',
    sha256: '437b6a622223824380bfb4e64f612711a6b648c795f565efc8625af66fb57f0c',
    sources: '.',
    // Its pytest.ini, which the sdist lacks, sets the same; -s because its runners read standard input.
    tests: ['-s', '-o', 'python_files=*', 'tests'],
    linter: ownRuff,
    types: [{ tool: 'mypy', args: ['invoke'] }],
  },
  {
    name: 'jinja2',
    version: '3.1.6',
    sha256: '0137fb05990d35f1275a587e9aee6d56da821fc83491a0fb838183be43f66d6d',
    sources: 'src',
    tests: [],
    linter: ownRuff,
    types: [{ tool: 'mypy', args: [] }],
  },
  {
    name: 'numpydoc',
    version: '1.11.0',
    sha256: '26db0adaac8087e98da05c86b11198defd962aef7c21f4dffd2703c8c6eb4187',
    sources: '.',
    tests: ['--pyargs', 'numpydoc'],
    linter: ownRuff,
    types: [],
  },
  {
    name: 'packaging',
    version: '26.3',
    sha256: '94edc256424af38762eb31306eed28beb9f0efc50a8837492c9d6fd6004aed79',
    sources: 'src',
    tests: [],
    linter: ownRuff,
    // The noxfile it also lists is not in the sdist; this mypy knows Python 3.9 no more.
    types: [{ tool: 'mypy', args: ['--python-version', '3.10', 'src', 'tests'] }],
  },
  {
    name: 'paramiko',
    version: '5.1.0',
    sha256: '239b5f9b2a53006cd54f83cf8495ee742083708ead947882c8dd2786de79f39b',
    sources: '.',
    tests: [],
    linter: ownRuff,
    types: [],
  },
  {
    name: 'parso',
    version: '0.8.7',
    sha256: 'eaaac4c9fdd5e9e8852dc778d2d7405897ec510f2a298071453e5e3a07914bb1',
    sources: '.',
    tests: [],
    linter: {
      tool: 'flake8',
      ruff: ['--isolated', '--select', 'E,F,W', '--ignore', 'E722,E226', '--line-length', '100'],
    },
    types: [{ tool: 'zuban', args: [] }],
  },
  {
    name: 'pycodestyle',
    version: '2.15.0',
    sha256: '318f5db083869b4c4dad922d0b11124fb27ab181b6730b93371da671e31bd50e',
    sources: '.',
    // Most of its tests need a module `testing` that the sdist does not have.
    tests: ['--continue-on-collection-errors'],
    linter: {
      tool: 'pycodestyle',
      ruff: ['--isolated', '--select', 'E,W', '--ignore', 'E226,E24', '--line-length', '79'],
    },
    types: [],
  },
  {
    name: 'requests',
    version: '2.34.2',
    sha256: 'f288924cae4e29463698d6d60bc6a4da69c89185ad1e0bcc4104f584e960b9ed',
    sources: 'src',
    tests: [],
    linter: ownRuff,
    types: [{ tool: 'pyright', args: [] }],
  },
]
