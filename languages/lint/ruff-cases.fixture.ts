/** Small repositories whose configuration Ruff itself and `readRepositoryLint` must read alike. */
export type RuffCase = { name: string; files: Record<string, string> }

const faulty = 'import os, sys\nx = 1;\nif x == None:\n    l = "a" * 3\n'

/** Many kinds of fault, to see which rules are on. */
const wide = `"""Doc."""
import json
import os
from typing import List, Optional


def Public(a, b: Optional[int] = None) -> List[int]:
    try:
        return [a for a in range(10)]
    except:
        pass


class _Hidden:
    def method(self, x=[]):
        if x == None: return dict()
        return 'this is a line that is longer than seventy-nine and also than eighty-eight characters, by a lot'
`

const layers: RuffCase[] = [
  {
    name: 'the nearest of .ruff.toml, ruff.toml and a pyproject.toml with [tool.ruff]',
    files: {
      'pyproject.toml': '[project]\nname = "a"\nrequires-python = ">=3.9"\n[tool.ruff.lint]\nselect = ["E", "UP"]\n',
      'a.py': wide,
      'both/ruff.toml': 'lint.select = ["F"]\n',
      'both/.ruff.toml': 'lint.select = ["W", "E711"]\n',
      'both/a.py': faulty,
      'other/pyproject.toml': '[project]\nname = "other"\nrequires-python = ">=3.12"\n[tool.black]\n',
      'other/a.py': wide,
      'other/deep/ruff.toml': 'lint.select = ["UP"]\n',
      'other/deep/a.py': wide,
    },
  },
  {
    name: 'a chain of extended configurations, of which the later count more',
    files: {
      'config/ruff-base.toml':
        'line-length = 60\n[lint]\nselect = ["E", "F", "B006"]\nignore = ["E711", "F841"]\nextend-select = ["UP"]\n' +
        '[lint.per-file-ignores]\n"sub/*.py" = ["F401"]\n"b.py" = ["E"]\n[lint.flake8-quotes]\ninline-quotes = "single"\n',
      'middle.ruff.toml':
        'extend = "./config/../config/ruff-base.toml"\nlint.extend-select = ["E7", "Q"]\nlint.ignore = ["UP0"]\n',
      'ruff.toml': 'extend = "middle.ruff.toml"\nlint.extend-select = ["F841", "UP006"]\nlint.ignore = ["B"]\n',
      'a.py': wide,
      'b.py': wide,
      'sub/c.py': faulty,
      'config/sub/c.py': faulty,
      'own/pyproject.toml':
        '[tool.ruff]\nextend = "../ruff.toml"\nlint.select = ["F401"]\nlint.extend-per-file-ignores = {"d.py" = ["F401"]}\n',
      'own/c.py': faulty,
      'own/d.py': faulty,
    },
  },
  {
    name: 'an empty select whose ignores are kept for the next configuration',
    files: {
      'ruff-base.toml': 'lint.select = []\nlint.ignore = ["E501"]\n',
      'ruff.toml': 'extend = "ruff-base.toml"\nlint.select = ["E", "F"]\n',
      'a.py': wide,
    },
  },
  {
    name: 'linter keys at the top, which are deprecated, beside those under lint',
    files: {
      'pyproject.toml':
        '[tool.ruff]\nselect = ["E", "F"]\nextend-ignore = ["E711"]\nper-file-ignores = {"a.py" = ["E703"]}\n' +
        '[tool.ruff.lint]\nextend-select = ["D1"]\n[tool.ruff.pydocstyle]\nconvention = "google"\n',
      'a.py': faulty,
      'b.py': wide,
    },
  },
  {
    name: 'its own selection where nothing is selected',
    files: { 'ruff.toml': 'required-version = ">=0.16"\nline-length = 100\n', 'a.py': wide },
  },
]

const places: RuffCase[] = [
  {
    name: 'patterns of per-file ignores',
    files: {
      'ruff.toml':
        'lint.select = ["ALL"]\n[lint.per-file-ignores]\n"__init__.py" = ["F401"]\n"tests/**" = ["D", "ANN"]\n"**/deep/*.py" = ["E"]\n' +
        '"!src/**.py" = ["UP"]\n"{a,b}*.py" = ["Q"]\n"src/[!x]*.py" = ["PL"]\n"./src/y.py" = ["B"]\n"src/y/" = ["F"]\n"tests" = ["F"]\n',
      'a1.py': wide,
      'src/__init__.py': wide,
      'src/x1.py': wide,
      'src/y.py': wide,
      'src/y/z.py': wide,
      'src/y/deep/b2.py': wide,
      'tests/__init__.py': wide,
      'tests/deep/er/t.py': wide,
      'deep/d.py': wide,
    },
  },
  {
    name: 'files that are excluded, included or not linted',
    files: {
      'ruff.toml':
        'extend-exclude = ["docs/", "gen_*", "src/old/*.py", "*/skip"]\ninclude = ["*.py", "tool"]\nlint.exclude = ["tests/*", "conftest.py"]\nlint.select = ["F"]\n',
      'a.py': faulty,
      'docs/conf.py': faulty,
      'src/docs/conf.py': faulty,
      'gen_a.py': faulty,
      'src/gen_b/c.py': faulty,
      'src/old/a.py': faulty,
      'src/old/b/a.py': faulty,
      'src/skip/a.py': faulty,
      'dist/a.py': faulty,
      'src/venv/a.py': faulty,
      'tests/a/b.py': faulty,
      'tests/b.py': faulty,
      'src/conftest.py': faulty,
      'nested/pyproject.toml': '[tool.ruff]\nexclude = ["here"]\nlint.select = ["E"]\n',
      'nested/here/a.py': faulty,
      'nested/dist/a.py': faulty,
      'nested/docs/a.py': faulty,
      'docs/own/ruff.toml': '',
      'docs/own/a.py': faulty,
    },
  },
  {
    name: 'rules that know a package or a private module',
    files: {
      'ruff.toml': 'lint.select = ["D", "F", "PLC0414"]\n',
      'pack/__init__.py': 'import os\nimport a as a\n__all__ = ["gone"]\n',
      'pack/_private.py': wide,
      'pack/_inner/__init__.py': wide,
      'pack/_inner/open.py': wide,
      'pack/__main__.py': wide,
      '_script.py': wide,
    },
  },
]

const blocks =
  'import json\nimport app\nimport requests\nimport tests\nimport tool\nfrom nested import x\nimport test\nimport own.part\n\nprint(json)\n'

const others: RuffCase[] = [
  {
    name: 'the order of imports, by what lies in the repository',
    files: {
      'pyproject.toml':
        '[tool.ruff.lint]\nselect = ["I", "TC"]\n[tool.ruff.lint.isort]\nknown-third-party = ["tool"]\n',
      'src/app/__init__.py': blocks,
      'src/app/a.py': `import json\n\nimport requests\nimport tool\n\nimport app\nimport tests\n\nprint(json, app, requests, tests, tool)\n`,
      'src/app/b.py': `import json\n\nimport app\nimport requests\n\nprint(json, app, requests)\n`,
      'tests/__init__.py': '',
      'tests/a.py': blocks,
      'test/a.py': blocks,
      'tool/a.py': blocks,
      'lib/nested/__init__.py': `import json\n\nimport requests\n\nimport nested.x\n\nprint(json, requests, nested)\n`,
      'lib/nested/inner/__init__.py': `import json\n\nimport nested.x\nimport requests\n\nprint(json, requests, nested)\n`,
      'lib/plain.py': `import nested.x\nimport requests\n\nprint(requests, nested)\n`,
      'sub/ruff.toml': 'src = ["lib*"]\nlint.select = ["I"]\nlint.isort.detect-same-package = false\n',
      'sub/lib1/json.py': '',
      'sub/lib1/socket.py': '',
      'sub/lib1/y.py': `import json\nimport socket\n\nimport requests\n\nprint(json, socket, requests)\n`,
      'sub/lib1/own/part.py': blocks,
      'sub/lib1/x.py': `import requests\n\nimport own.part\n\nprint(requests, own)\n`,
    },
  },
  {
    name: 'comments that switch rules off',
    files: {
      'ruff.toml': 'lint.select = ["E", "F", "RUF100"]\nlint.per-file-ignores = {"b.py" = ["F401"]}\n',
      'a.py': 'import os  # noqa: F401\nimport sys  # noqa\nimport re  # noqa: E501\nx = 1;  # NOQA:E703\n',
      'b.py': 'import os  # noqa: F401\n',
      'c.py': '# ruff: noqa: F401\nimport os, sys\n',
      'd.py': '# flake8: noqa\nimport os, sys\n',
      'e.py': '#!/usr/bin/env python\n# ruff: noqa\nimport os, sys\n',
    },
  },
  {
    name: 'preview, rules by name, and preview rules that are named',
    files: {
      'ruff.toml':
        'preview = true\n[lint]\nselect = ["E", "F", "unused-noqa"]\nper-file-ignores = {"b.py" = ["unused-import"]}\n',
      'a.py': faulty + 'y = [1,2]\nz = x+1 # noqa: E501\n',
      'b.py': faulty + 'y = [1,2]\n',
      'c/ruff.toml': '[lint]\npreview = true\nexplicit-preview-rules = true\nselect = ["E", "E231"]\n',
      'c/a.py': faulty + 'y = [1,2]\n\n\n\n\nz = x+1\n',
    },
  },
  {
    name: 'versions of Python, for files and by requires-python',
    files: {
      'pyproject.toml':
        '[project]\nname = "a"\nrequires-python = ">= 3.9, != 3.9.1, <4"\n[tool.ruff]\nper-file-target-version = {"new/*.py" = "py313", "old.py" = "py38"}\nlint.select = ["UP", "F", "B905"]\n',
      'a.py': `${wide}\nprint(ExceptionGroup, zip([], []))\n`,
      'old.py': `${wide}\nprint(zip([], []))\n`,
      'new/a.py': `${wide}\nprint(ExceptionGroup, zip([], []))\n`,
    },
  },
  {
    name: 'options of plugins, limits and widths',
    files: {
      'ruff.toml':
        'line-length = 100\nindent-width = 8\nbuiltins = ["_"]\n[lint]\nselect = ["E", "W", "F", "Q", "C90", "D", "N", "PLR"]\n' +
        '[lint.pycodestyle]\nmax-line-length = 90\nmax-doc-length = 30\n[lint.mccabe]\nmax-complexity = 1\n[lint.pydocstyle]\nconvention = "numpy"\n' +
        '[lint.flake8-quotes]\ninline-quotes = "single"\n[lint.pylint]\nmax-args = 1\n[lint.pep8-naming]\nignore-names = ["Public"]\n',
      'a.py': `${wide}print(_("a text"))  # a comment that is longer than thirty characters\n`,
    },
  },
]

export const ruffCases: readonly RuffCase[] = [...layers, ...places, ...others]
