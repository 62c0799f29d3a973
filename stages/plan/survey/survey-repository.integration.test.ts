import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sha256 } from '#domain/ids.ts'
import { goLintRules } from '#domain/path-rules.ts'
import { testGofmt } from '#languages/go/lint/go-linter.fixture.ts'
import type { Linter } from '#languages/lint/linter.ts'
import { openTestLinter } from '#languages/lint/test-linter.fixture.ts'
import { pathRulesOf } from '#store/objects/repository-rules.ts'
import { openSurveyPool, type SurveyPool } from './survey-pool.ts'
import { type Survey, surveyRepository } from './survey-repository.ts'

const gofmt = await testGofmt(process.env)
let surveys: SurveyPool
let linter: Linter
beforeAll(async () => {
  surveys = openSurveyPool({ threads: 2 })
  linter = await openTestLinter({ searchPath: gofmt.searchPath })
})
afterAll(async () => {
  await surveys.close()
  await linter.close()
})

type Surveying = {
  isLinted?(path: string): boolean
  signal?: AbortSignal
  onRead?(path: string): void
  pool?: SurveyPool
  by?: Linter
}

async function surveyOf(
  files: Readonly<Record<string, string | Uint8Array>>,
  { isLinted = () => true, signal = AbortSignal.timeout(60_000), onRead, pool = surveys, by = linter }: Surveying = {},
): Promise<Survey> {
  const stored = Object.entries(files).map(([path, content]) => ({ path, bytes: Buffer.from(content) }))
  const byHash = new Map(stored.map((file) => [sha256(file.path), file]))
  const input = {
    files: stored.map(({ path, bytes }) => ({ path, hash: sha256(path), size: bytes.length })),
    facts: new Map(),
    isWorkedOn: isLinted,
    async read(hash: string) {
      const file = byHash.get(hash)
      if (file === undefined) throw new Error(`nothing is stored as ${hash}`)
      onRead?.(file.path)
      return file.bytes
    },
  }
  const surveyMore = await surveyRepository(input, { surveys: pool, linter: by }, signal)
  return surveyMore(new Set(Object.keys(files).filter(isLinted)))
}

const codesOf = ({ faults }: Survey, path: string) => faults.get(path)?.map(({ code }) => code)

describe('the survey of a repository', () => {
  it('leaves what documents, entry points and files that cannot be read name of a module', async () => {
    const files = {
      'shop/__init__.py': '',
      'shop/tools.py': 'import json\nimport os\nimport re\nimport sys\n\nX = 1\n',
      'pyproject.toml': '[project.scripts]\nrun = "shop.tools:json"\n',
      'README.rst': 'See ``shop.tools.os``.\n',
      'slow.py': 'from shop.tools import re\n',
    }
    const survey: SurveyPool['survey'] = async (question) =>
      question.python.text === files['slow.py'] ? { unreadable: 'it takes too long' } : surveys.survey(question)
    const found = await surveyOf(files, { pool: { ...surveys, survey } })
    expect(found.faults.get('shop/tools.py')?.filter(({ isFixable }) => isFixable)).toMatchObject([
      { removes: ['sys'] },
    ])
    expect(found.notices).toContainEqual(expect.stringContaining('slow.py is not read'))
  })

  it('finds the faults under the rules of the repository, in source order, and which of them have a safe fix', async () => {
    const source = 'import os\n\n\ndef f(items):\n    if not 1 in items:\n        return undefined\n'
    const survey = await surveyOf({ 'a.py': source })
    expect(survey.faults.get('a.py')).toMatchObject([
      { code: 'F401', line: 1, isFixable: true, removes: ['os'] },
      { code: 'E713', line: 5, isFixable: true },
      { code: 'F821', line: 6, isFixable: false },
    ])
    const configured = await surveyOf({ 'ruff.toml': '[lint]\nselect = ["F821"]\n', 'a.py': source })
    expect(codesOf(configured, 'a.py')).toEqual(['F821'])
    expect(pathRulesOf(configured.rules, 'a.py').lint.source).toContain('ruff.toml')
  })

  it('keeps an import that another file takes from the module, also one that no agent works on', async () => {
    const files = {
      'shop/__init__.py': '',
      'shop/compat.py': 'import json\nimport os\n',
      'tests/test_models.py': 'from shop.compat import json\n\nprint(json)\n',
    }
    const survey = await surveyOf(files, { isLinted: (path) => path === 'shop/compat.py' })
    expect(survey.faults.get('shop/compat.py')).toMatchObject([
      { code: 'F401', line: 1, isFixable: false, mustStay: 'other files use json from here' },
      { code: 'F401', line: 2, isFixable: true },
    ])
    expect(survey.faults.has('tests/test_models.py')).toBe(false)
    expect(pathRulesOf(survey.rules, 'shop/compat.py').keptNames).toEqual(['json', ''])
  })

  it('leaves to the users of a library what they may import from its public modules, and fixes the rest', async () => {
    const compat = 'import os\nfrom json import dumps, loads\nfrom abc import ABC\n'
    const files = {
      'pyproject.toml': '[project]\nname = "shop"\n',
      'src/shop/__init__.py': '',
      'src/shop/compat.py': compat,
      'src/shop/_compat.py': compat,
      'src/shop/listed.py': `${compat}__all__ = ["ABC"]\n`,
      'tests/test_shop.py': 'from shop.compat import ABC\n\nprint(ABC)\n',
    }
    const survey = await surveyOf(files)
    expect(survey.faults.get('src/shop/compat.py')).toMatchObject([
      { line: 1, isFixable: true },
      {
        line: 2,
        isFixable: false,
        withheld: 'offered',
        mustStay: expect.stringMatching(/^others may import \w+ from this public module$/),
      },
      { line: 2, isFixable: false, withheld: 'offered' },
      { line: 3, isFixable: false, mustStay: 'other files use ABC from here' },
    ])
    const kept = (path: string) => pathRulesOf(survey.rules, path).keptNames
    expect(kept('src/shop/compat.py')).toEqual(['ABC', '', 'dumps', 'loads'])
    const fixable = ({ faults }: Survey, path: string) => faults.get(path)?.map(({ isFixable }) => isFixable)
    expect(fixable(survey, 'src/shop/_compat.py')).toEqual([true, true, true, true])
    expect(fixable(survey, 'src/shop/listed.py')).toEqual([true, true, true])
    const application = await surveyOf({ ...files, 'pyproject.toml': '[tool.black]\n' })
    expect(fixable(application, 'src/shop/compat.py')).toEqual([true, true, true, false])
  })

  it('leaves the docstrings alone that a file of the repository reads', async () => {
    const add = 'from .base import Command\n\n\nclass Add(Command):\n    x = 1\n\n\nclass Other:\n    y = 1\n'
    const survey = await surveyOf({
      'pkg/base.py': 'class Command:\n    def help(self):\n        return type(self).__doc__\n',
      'pkg/add.py': add,
    })
    const reason = (name: string) =>
      survey.docstrings.reasonToSkip('pkg/add.py', add.indexOf(`class ${name}`), 'public')
    expect(reason('Add')).toContain('pkg/base.py:3 reads the docstring of')
    expect(reason('Other')).toBeUndefined()
    expect(survey.notices).toContainEqual(expect.stringContaining('pkg/base.py:3'))
  })

  it('says why a file is not linted, and names those whose imports it does not know', async () => {
    const survey = await surveyOf({
      'ruff.toml': 'extend-exclude = ["old"]\n',
      'old/a.py': 'import os\n',
      'stub.pyi': 'import os\n',
      'latin.py': Buffer.from('# caf\xe9\nimport os\n', 'latin1'),
      'huge.py': 'import os\n'.repeat(500_000),
      'nested.py': `x = a${'.b()'.repeat(5_000)}\n`,
      'long.py': `x = ${'1 + '.repeat(1000)}1\n`,
      'notes.txt': 'import os\n',
    })
    expect(Object.fromEntries(survey.unlinted)).toEqual({
      'old/a.py': "the repository's linter leaves it out",
      'stub.pyi': 'it is a stub',
      'latin.py': 'it is not UTF-8',
      'huge.py': 'it is larger than 4,000,000 bytes',
      'nested.py': expect.stringContaining('cannot be linted'),
    })
    expect([...survey.notUtf8]).toEqual(['latin.py'])
    expect([...survey.faults]).toEqual([['long.py', []]])
    expect(survey.notices).toEqual([
      'huge.py is not read (it is larger than 4,000,000 bytes): what it uses of other files is not all known',
    ])
  })

  it('keeps what files that are not linted take of others', async () => {
    const taking = (name: string) => `from lib import ${name}\n\nprint(${name})\n`
    const survey = await surveyOf({
      'ruff.toml': 'extend-exclude = ["old"]\n',
      'lib.py': 'import a\nimport b\nimport c\nimport d\nimport e\n',
      'old/one.py': taking('a'),
      'two.pyi': taking('b'),
      'three.py': Buffer.from(`# caf\xe9\n${taking('c')}`, 'latin1'),
      'four.py': `${taking('d')}x = a${'.b()'.repeat(5_000)}\n`,
    })
    expect(survey.faults.get('lib.py')?.map(({ removes, isFixable }) => [removes, isFixable])).toEqual([
      [['a'], false],
      [['b'], false],
      [['c'], false],
      [['d'], false],
      [['e'], true],
    ])
  })

  it('keeps an import of the repository’s own package that may be made for its effect, also from a folder beside it', async () => {
    const survey = await surveyOf({
      'src/shop/__init__.py': 'registered = []\n',
      'scripts/serve.py': 'import shop\nimport shelve\n',
    })
    expect(survey.faults.get('scripts/serve.py')).toMatchObject([
      { line: 1, isFixable: false, mustStay: expect.stringContaining('shop is a module of the repository') },
      { line: 2, isFixable: true },
    ])
    expect(pathRulesOf(survey.rules, 'scripts/serve.py').ownModules).toEqual(['serve', 'shop'])
  })

  it('asks nobody to mend an import that has to stay, also where the linter has no safe fix for it', async () => {
    const optional = 'try:\n    import fast_json\n\n    HAVE = True\nexcept ImportError:\n    HAVE = False\n'
    const survey = await surveyOf({ 'pkg/__init__.py': 'from .stock import Stock\n', 'pkg/stock.py': optional })
    const stays = [...survey.faults].flatMap(([path, faults]) => faults.map(({ mustStay }) => `${path}: ${mustStay}`))
    expect(stays).toEqual([
      'pkg/__init__.py: it is part of what the package offers',
      'pkg/stock.py: it stands in a try statement',
    ])
  })

  it('reads a file with a syntax error, and reports no fault in it', async () => {
    const broken = 'import os\n\n\ndef f(:\n    return os\n'
    const survey = await surveyOf({ 'broken.py': broken, 'a.py': 'import os\n' })
    expect(codesOf(survey, 'broken.py')).toEqual([])
    expect(codesOf(survey, 'a.py')).toEqual(['F401'])
    expect(survey.docstrings.reasonToSkip('broken.py', broken.indexOf('def'), 'public')).toMatch(/syntax|no function/)
  })

  it('counts in bytes where the text is not ASCII', async () => {
    const source = '# 😀 é €\nx = f"é"\ny = f"price"\n'
    const survey = await surveyOf({ 'a.py': source })
    const [first, second] = survey.faults.get('a.py') ?? []
    const bytesOf = ({ startByte = 0, endByte = 0 } = {}) => Buffer.from(source).subarray(startByte, endByte).toString()
    expect([bytesOf(first), bytesOf(second)]).toEqual(['f"é"', 'f"price"'])
    expect(second).toMatchObject({ contextStartByte: Buffer.byteLength('# 😀 é €\nx = f"é"\n') })
  })

  it('gives an agent the statement around a fault, unless that is long', async () => {
    const short = 'if True:\n    a = undefined\n'
    const long = `if True:\n    b = unknown\n${'    c = 1\n'.repeat(60)}`
    const source = short + long
    const contexts = (await surveyOf({ 'a.py': source })).faults
      .get('a.py')
      ?.map(({ contextStartByte, contextEndByte }) => source.slice(contextStartByte, contextEndByte))
    expect(contexts).toEqual([short.trimEnd(), 'b = unknown'])
  })

  it('stops when it is asked to, without reading the rest', async () => {
    const stopped = new AbortController()
    const read: string[] = []
    const files = Object.fromEntries(Array.from({ length: 100 }, (_none, at) => [`m${at}.py`, 'x = 1\n']))
    const onRead = (path: string) => {
      read.push(path)
      if (read.length === 3) stopped.abort(new Error('the run was cancelled'))
    }
    await expect(surveyOf(files, { signal: stopped.signal, onRead })).rejects.toThrow('the run was cancelled')
    expect(read.length).toBeLessThan(20)
  })

  it('fails when its threads are ended meanwhile, and takes no file for one that cannot be read', async () => {
    const pool = openSurveyPool({ threads: 1 })
    const survey = surveyOf({ 'a.py': 'x = 1\n', 'b.py': 'x = 1\n' }, { pool, onRead: () => void pool.close() })
    await expect(survey).rejects.toMatchObject({ code: 'AGENT_010' })
    await pool.close()
  })
})

describe('the survey of Go', () => {
  const files = {
    'a.go': 'package a\n\nfunc f() []T {\n  return []T{T{1}}\n}\n\nvar  é = 1\n',
    'testdata/b.go': 'package b\nvar  a = 1\n',
    'test/e2e/util.go': 'package e2e\n\nvar a = 1\n',
    'broken.go': 'package a\n\nfunc (\n',
    'utf16.go': Buffer.from('package a\n', 'utf16le').subarray(0, 7).fill(0xff),
  }

  it.skipIf(gofmt.lack !== undefined)('finds what gofmt would change, and why a file is not linted', async () => {
    const survey = await surveyOf(files)
    expect(survey.faults.get('a.go')).toMatchObject([
      { code: 'gofmt-s', line: 4, isFixable: true },
      { code: 'gofmt', line: 7, isFixable: true },
    ])
    expect(survey.faults.get('test/e2e/util.go')).toEqual([])
    expect(['testdata/b.go', 'test/e2e/util.go', 'a.go'].map(survey.isTestData)).toEqual([true, false, false])
    expect(Object.fromEntries(survey.unlinted)).toEqual({
      'broken.go': expect.stringMatching(/^gofmt cannot parse it: line 3: /),
      'utf16.go': 'it is not UTF-8',
    })
    expect(pathRulesOf(survey.rules, 'a.go').lint).toEqual(goLintRules)
    expect(survey.notices).toEqual([])
  })

  it('leaves it alone where there is no gofmt, and says so once', async () => {
    const none = await openTestLinter()
    const survey = await surveyOf({ ...files, 'a.py': 'import os\n' }, { by: none })
    await none.close()
    expect(survey.notices.filter((words) => words.includes('Go'))).toEqual([
      'Go is not linted: there is no gofmt on the search path',
    ])
    expect([...survey.faults.keys()]).toEqual(['a.py'])
    expect(survey.unlinted.get('a.go')).toBe('there is no gofmt')
    expect(pathRulesOf(survey.rules, 'a.go').lint.suffix).toBeUndefined()
  })
})
