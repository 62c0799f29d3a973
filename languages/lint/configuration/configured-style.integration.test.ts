import { afterAll, describe, expect, it } from 'vitest'
import { openTestPythonLinter } from '../test-linter.fixture.ts'
import { readFixture } from '../read-repository.fixture.ts'

const opened = openTestPythonLinter()
afterAll(async () => (await opened).close())

describe('the style of texts', () => {
  it.each([
    [
      { 'ruff.toml': 'line-length = 79\nindent-width = 2\n[format]\nquote-style = "single"\n' },
      { lineLength: 79, indent: '  ', docstringQuotes: '"""' },
    ],
    [
      { 'ruff.toml': 'lint.select = ["E"]\nlint.pydocstyle.convention = "numpy"\n' },
      { lineLength: 88, docstringStyle: 'numpy' },
    ],
    [
      { 'ruff.toml': 'line-length = 100\n[lint.pycodestyle]\nmax-line-length = 110\nmax-doc-length = 72\n' },
      { lineLength: 100, docLength: 72 },
    ],
    [
      { 'ruff.toml': '[format]\nindent-style = "tab"\n[lint.flake8-quotes]\ndocstring-quotes = "single"\n' },
      { indent: '\t', docstringQuotes: "'''" },
    ],
    [
      { 'pyproject.toml': '[tool.ruff.lint]\nselect = ["F"]\n[tool.black]\nline-length = 120\n' },
      { lineLength: 120, docstringQuotes: '"""' },
    ],
    [
      { 'pyproject.toml': '[tool.pylint.format]\nmax-line-length = 100\n[tool.black]\n' },
      { lineLength: 100, docstringQuotes: '"""' },
    ],
    [{ '.pylintrc': '[MASTER]\n[FORMAT]\nmax-line-length=110\n' }, { lineLength: 110 }],
    [{ 'setup.cfg': '[flake8]\nignore = E501\n[isort]\nline_length = 90\n' }, { lineLength: 90 }],
    [{ 'setup.cfg': '[flake8]\nignore = E501\n' }, { lineLength: 79 }],
    [
      { '.editorconfig': '[*.py]\nmax_line_length = 99\nindent_style = tab\n[*.js]\nmax_line_length = 1\n' },
      { lineLength: 99, indent: '\t' },
    ],
    [
      {
        '.editorconfig':
          '[*]\nmax_line_length = off\nindent_style = space\nindent_size = tab\ntab_width = 3\nquote_type = double\n',
      },
      { indent: '   ', docstringQuotes: '"""' },
    ],
    [
      { 'setup.cfg': '[flake8]\ndocstring-convention = google\ndocstring-quotes = """\n' },
      { lineLength: 79, docstringStyle: 'google', docstringQuotes: '"""' },
    ],
    [{ 'pyproject.toml': '[tool.numpydoc_validation]\nchecks = []\n' }, { docstringStyle: 'numpy' }],
    [
      { 'pyproject.toml': '[tool.pydoclint]\nstyle = "sphinx"\n[tool.pydocstyle]\nconvention = "pep257"\n' },
      { docstringStyle: 'sphinx' },
    ],
    [{ '.pydocstyle': '[pydocstyle]\nconvention = google\n' }, { docstringStyle: 'google' }],
    [{ 'tox.ini': '[darglint]\ndocstring_style=sphinx\n' }, { docstringStyle: 'sphinx' }],
    [{}, {}],
  ])('of %j is %j', async (files, style) => {
    const { styleOf } = await readFixture({ ...files, 'src/a.py': '' }, await opened)
    expect(styleOf('src/a.py')).toEqual(style)
  })
})
