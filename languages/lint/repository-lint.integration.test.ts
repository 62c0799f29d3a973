import { afterAll, describe, expect, it } from 'vitest'
import { openTestPythonLinter } from './test-linter.fixture.ts'
import { readFixture } from './read-repository.fixture.ts'

const opened = openTestPythonLinter()
afterAll(async () => (await opened).close())

const read = async (files: Record<string, string>) => readFixture(files, await opened)

const faulty = 'import os, sys\nx = 1;\ndef f(): return undefined == None\n'

describe('a repository without a linter', () => {
  it('has a small default, for the Python it requires, and says so', async () => {
    const repository = await read({ 'setup.cfg': '[options]\npython_requires = >=3.8\n', 'a.py': faulty })
    expect(await repository.codes('a.py')).toEqual(['F401', 'F401', 'F821'])
    expect(repository.rulesFor('a.py').lint.source).toBe('default')
    expect(repository.ruffTree?.files['ruff.toml']).toContain('py38')
    expect(repository.notices).toEqual([expect.stringContaining('no configuration of Ruff, flake8 or pycodestyle')])
  })

  it('is not blamed for built-in names behind a version check, nor for syntax newer than its oldest Python', async () => {
    const text =
      'import sys\n\nif sys.version_info >= (3, 11):\n    raise ExceptionGroup\nmatch sys:\n    case 1:\n        import os\n'
    const repository = await read({ 'pyproject.toml': '[project]\nrequires-python = ">=3.8"\n', 'a.py': text })
    expect(await repository.codes('a.py')).toEqual(['F401'])
  })

  it('is not blamed for files of Python 2', async () => {
    const repository = await read({
      'a.py': 'import os\nprint "\\d";\nexec "x" in {}\n',
      'tox.ini': '[flake8]\nselect = E,W,F\n',
    })
    expect(await repository.codes('a.py')).toEqual([])
    expect((await repository.lint('a.py')).syntaxErrors).not.toEqual([])
  })

  it('has nothing to report in stubs', async () => {
    const repository = await read({ 'a.pyi': 'import os\n' })
    expect(repository.rulesFor('a.pyi').lint.isExcluded).toBe(true)
  })
})

describe('a configuration of Ruff that cannot be honoured as a whole', () => {
  it('loses only the rules and values that Ruff does not take, and says so', async () => {
    const repository = await read({
      'ruff.toml':
        'line-length = "x"\n[lint]\nselect = ["E703", "E999", "XYZ1", "F401"]\nignore = ["ANN101", "QQ"]\nisort.lines-after-imports = "two"\nisort.combine-as-imports = true\n[lint.per-file-ignores]\n"b.py" = ["F4", "NOPE"]\n',
      'a.py': faulty,
      'b.py': faulty,
    })
    expect(await repository.codes('a.py')).toEqual(['E703', 'F401', 'F401'])
    expect(await repository.codes('b.py')).toEqual(['E703'])
    expect(repository.notices.map((words) => words.replace(/: .*/, ''))).toEqual(
      repository.notices.map(() => 'ruff.toml'),
    )
    for (const words of [
      'line-length is left out',
      'E999 in lint.select',
      'XYZ1 in lint.select',
      'QQ in lint.ignore',
      'lint.isort.lines-after-imports is left out',
      'NOPE',
    ]) {
      expect(repository.notices.filter((notice) => notice.includes(words))).not.toEqual([])
    }
  })

  it('is passed over when it cannot be parsed, for the next one', async () => {
    const repository = await read({
      'ruff.toml': 'lint.select = [',
      'tox.ini': '[flake8]\nselect = E7\n',
      'a.py': faulty,
    })
    expect(repository.rulesFor('a.py').lint.source).toBe('tox.ini [flake8]')
    expect(await repository.codes('a.py')).toEqual(['E703', 'E711'])
    expect(repository.notices[0]).toContain('ruff.toml cannot be read and is passed over')
  })

  it('says what it extends in vain, and counts the rest', async () => {
    const repository = await read({
      'ruff.toml': 'extend = "gone/ruff.toml"\nlint.select = ["E703"]\n',
      'a.py': faulty,
      'circle/ruff.toml': 'extend = "other-ruff.toml"\nlint.select = ["F401"]\n',
      'circle/other-ruff.toml': 'extend = "ruff.toml"\n',
      'circle/a.py': faulty,
      'outside/ruff.toml': 'extend = "../../ruff.toml"\nlint.select = ["F401"]\n',
      'outside/a.py': faulty,
    })
    expect(await repository.codes('a.py')).toEqual(['E703'])
    expect(await repository.codes('circle/a.py')).toEqual(['F401', 'F401'])
    expect(await repository.codes('outside/a.py')).toEqual(['F401', 'F401'])
    expect(repository.notices.join('\n')).toMatch(
      /gone\/ruff\.toml, which is not read: it is not there[\s\S]*extends itself[\s\S]*outside the repository/,
    )
  })

  it('says nothing of files that govern no Python', async () => {
    const stray = { 'tests/data/ruff.toml': 'broken =', 'docs/.flake8': '[flake8]\n' }
    const repository = await read({ ...stray, 'ruff.toml': 'lint.select = ["F"]\n', 'a.py': '' })
    expect(repository.notices).toEqual([])
  })

  it('that selects nothing has the default of the Ruff that its project pins', async () => {
    const text = 'import os\nfor i in range(0, 3):\n    print(i)\n'
    const configured = { 'pyproject.toml': '[tool.ruff]\nline-length = 100\n', 'a.py': text }
    const now = await read(configured)
    const pinned = await read({ ...configured, 'uv.lock': '[[package]]\nname = "ruff"\nversion = "0.9.1"\n' })
    expect(await now.codes('a.py')).toEqual(['F401', 'I001', 'PIE808'])
    expect(await pinned.codes('a.py')).toEqual(['F401'])
  })

  it('is honoured whatever version it requires, and says so', async () => {
    const config = 'required-version = "==0.4.1"\nlint.select = ["E703"]\n'
    const repository = await read({ 'ruff.toml': config, 'a.py': faulty })
    expect(await repository.codes('a.py')).toEqual(['E703'])
    expect(repository.notices).toEqual([expect.stringContaining('required-version "==0.4.1" does not count')])
  })
})

describe('a configuration of Ruff', () => {
  it('counts as Ruff reads it: the nearest, with what it extends, by the path of the file and the Python of its project', async () => {
    const { codes, rulesFor, notices } = await read({
      'pyproject.toml':
        '[project]\nrequires-python = ">=3.12"\n[tool.ruff.lint]\nselect = ["F", "UP"]\n[tool.ruff.lint.per-file-ignores]\n"tests/*" = ["F401"]\n',
      'a.py': 'import os\ndef f[T](x: T): ...\nimport json  # noqa: F401\n',
      'tests/a.py': 'import os\nx = y\n',
      'sub/base-ruff.toml': '[lint]\nselect = ["E7", "D103"]\n',
      'sub/ruff.toml': 'extend = "base-ruff.toml"\nexclude = ["made"]\nlint.extend-select = ["INP", "RUF100"]\n',
      'sub/b.py': 'x = 1;\nimport sys  # noqa: INP001\ndef f(): pass\n',
      'sub/_own/c.py': 'def f(): pass\n',
      'sub/made/d.py': 'x = 1;\n',
      'preview/ruff.toml': 'preview = true\nlint.select = ["E3"]\n',
      'preview/e.py': 'x = 1\ndef f(): pass\n',
    })
    expect(notices).toEqual([])
    expect(await codes('a.py')).toEqual(['F401'])
    expect(await codes('tests/a.py')).toEqual(['F821'])
    expect(await codes('sub/b.py')).toEqual(['D103', 'E703', 'RUF100'])
    expect(await codes('sub/_own/c.py')).toEqual(['D103', 'INP001'])
    expect(rulesFor('sub/made/d.py').lint.isExcluded).toBe(true)
    expect(await codes('preview/e.py')).toEqual(['E302'])
  })
})

describe('the order of imports', () => {
  const config = 'lint.select = ["I"]\nlint.isort.known-third-party = ["tool"]\n'
  const sorted = 'import json\nimport socket\n\nimport requests\nimport tool\n\nimport app\nimport tests\n'

  it('knows what lies in the repository, but what belongs to Python stays its own', async () => {
    const modules = { 'src/app/__init__.py': '', 'src/socket.py': '', 'tests/a.py': sorted, 'tool/a.py': sorted }
    const { codes } = await read({ 'ruff.toml': config, ...modules })
    expect(await codes('tests/a.py')).toEqual([])
  })

  it('counts the package of a file as its own', async () => {
    const text = 'import json\n\nimport requests\n\nimport deep\n'
    const { codes } = await read({ 'ruff.toml': config, 'lib/deep/__init__.py': text, 'lib/other.py': text })
    expect(await codes('lib/deep/__init__.py')).toEqual([])
    expect(await codes('lib/other.py')).toEqual(['I001'])
  })
})

describe('fixes', () => {
  it('are not made where the configuration calls them unsafe or unfixable', async () => {
    const text = 'import os\nx = f"x"\nif not x is None:\n    pass\n'
    const config = 'lint.select = ["F", "E7"]\nlint.extend-unsafe-fixes = ["F541"]\nlint.unfixable = ["E714"]\n'
    const { lint } = await read({ 'ruff.toml': config, 'a.py': text, '__init__.py': text })
    const fixed = async (path: string) =>
      (await lint(path)).diagnostics.filter(({ fix }) => fix !== undefined).map(({ code }) => code)
    expect(await fixed('a.py')).toEqual(['F401'])
    expect(await fixed('__init__.py')).toEqual([])
  })

  it('are known by their codes in preview, too', async () => {
    const { lint } = await read({ 'ruff.toml': 'preview = true\nlint.select = ["F"]\n', 'a.py': 'import os\n' })
    expect((await lint('a.py')).diagnostics).toMatchObject([{ code: 'F401', fix: [{ text: '' }] }])
  })
})

describe('flake8', () => {
  it('counts where no configuration of Ruff does, by its nearest file with its section', async () => {
    const repository = await read({
      'top/setup.cfg': '[metadata]\nname = x\n',
      'top/tox.ini':
        '[flake8]\nmax-line-length = 100\nper-file-ignores =\n  tests/*: F401,E7\n  tests/special.py: E703\nexclude = build,./docs\n',
      'top/a.py': faulty,
      'top/tests/a.py': faulty,
      'top/tests/special.py': faulty,
      'top/docs/conf.py': faulty,
      'top/src/docs/a.py': faulty,
      'top/sub/ruff.toml': 'lint.select = ["E7"]\n',
      'top/sub/a.py': faulty,
    })
    expect(repository.rulesFor('top/a.py').lint.source).toBe('top/tox.ini [flake8]')
    expect(await repository.codes('top/a.py')).toEqual(['E302', 'E401', 'E703', 'E711', 'F401', 'F401', 'F821'])
    expect(await repository.codes('top/tests/a.py')).toEqual(['E302', 'E401', 'F821'])
    expect(await repository.codes('top/tests/special.py')).not.toContain('E703')
    expect(await repository.codes('top/tests/special.py')).toContain('F401')
    expect(repository.rulesFor('top/docs/conf.py').lint.isExcluded).toBe(true)
    expect(repository.rulesFor('top/src/docs/a.py').lint.isExcluded).toBe(false)
    expect(repository.rulesFor('top/sub/a.py').lint.source).toBe('top/sub/ruff.toml')
  })

  it('says once which of its codes Ruff does not have', async () => {
    const { notices } = await read({
      '.flake8': '[flake8]\nselect = E12,F,B950,WPS\ndoctests = true\n',
      'a.py': '',
      'b/c.py': '',
    })
    expect(notices.join('\n')).toMatch(/E121.*F824.*WPS/)
    expect(notices.join('\n')).toMatch(/B950 is left out/)
    expect(notices.join('\n')).toMatch(/doctests/)
  })

  it('leaves a rule stable that Ruff judges otherwise in preview', async () => {
    const text = 'import a.b\nimport a.c\n\nprint(a.b,a.c)\n'
    const { codes } = await read({ 'setup.cfg': '[flake8]\n', 'a.py': text })
    expect(await codes('a.py')).toEqual(['E231'])
  })

  it('gives way to pycodestyle alone where there is no section for it', async () => {
    const { codes, styleOf } = await read({
      'tox.ini': '[pycodestyle]\nmax_doc_length = 72\nignore = E401\n',
      'a.py': faulty,
    })
    expect(await codes('a.py')).toEqual(['E302', 'E703', 'E711'])
    expect(styleOf('a.py')).toEqual({ lineLength: 79, docLength: 72 })
  })
})

it('answers for three thousand files at once', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 3_000 }, (_, index) => [`p${index % 30}/f${index % 300}/m${index}.py`, '']),
  )
  const perFile = Array.from({ length: 60 }, (_, index) => `"**/f${index}/*.py" = ["E501", "D10${index % 8}"]`)
  const config = `exclude = ["build"]\nlint.select = ["E"]\n[lint.per-file-ignores]\n${perFile.join('\n')}\n`
  const { rulesFor } = await read({ ...files, 'ruff.toml': config, '.editorconfig': '[*]\nmax_line_length = 90\n' })
  expect(Object.keys(files).every((path) => rulesFor(path).style.lineLength === 88)).toBe(true)
})
