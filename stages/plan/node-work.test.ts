import { describe, expect, it } from 'vitest'
import { operationId } from '#domain/ids.ts'
import type { AgentBundle } from '#domain/agent-bundle.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { defaultLintRules, defaultTextStyle } from '#domain/path-rules.ts'
import { docstringFactsOf, docstringsAt } from '#languages/python/docstring-facts.ts'
import { foldDocstringFacts } from '#languages/python/docstring-survey.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import type { Survey } from './survey/survey-repository.ts'
import type { LintFault } from './survey/survey-pool.ts'
import { findWork } from './node-work.ts'
import type { PinnedBundle } from './pin-bundles.ts'
import { aBundle, nodesOf } from './planning.fixture.ts'

const python = await loadLanguage('python')
const rehearsal = { 'remora.model': 'rehearsal' }

function asking(pinned: PinnedBundle, over: Partial<AgentBundle['file']>): PinnedBundle {
  return { ...pinned, bundle: { ...pinned.bundle, file: { ...pinned.bundle.file, ...over } } }
}

const aLinter = (depth: string, name = 'lint') =>
  asking(aBundle(name, ['file', 'function']), {
    when: 'lint_faults',
    mechanical: 'lint_fixes',
    settings: { depth: { default: depth } },
  })

const aWriter = (scope: string) =>
  asking(aBundle('docstring', ['class', 'function']), {
    when: 'no_docstring',
    settings: { scope: { default: scope } },
  })

/** What a survey says of these files; the faults are the caller's. */
function surveyOf(files: Readonly<Record<string, string>>, faults: Readonly<Record<string, LintFault[]>> = {}): Survey {
  const facts = Object.entries(files).map(
    ([path, text]) => [path, python.read(text, (tree) => docstringsAt(path, docstringFactsOf(tree, text)))] as const,
  )
  const rules = { rules: 0, keptNames: [], agentRanges: [] }
  return {
    rules: {
      v: 1,
      shared: [{ lint: defaultLintRules, text: defaultTextStyle }],
      files: Object.fromEntries(facts.map(([path]) => [path, rules])),
    },
    faults: new Map(facts.map(([path]) => [path, faults[path] ?? []])),
    unlinted: new Map(),
    notUtf8: new Set(),
    isTestData: (path) => path.startsWith('tests/data/'),
    docstrings: foldDocstringFacts(new Map(facts), () => ({})),
    types: new Map(),
    files: [],
    notices: [],
  }
}

/** The functions and classes of a text, each named in it as `def name` or `class name`. */
function definitionsOf(path: string, text: string): CodeNode[] {
  return [...text.matchAll(/(def|class) (\w+)/g)].flatMap((match) => {
    const kind = match[1] === 'class' ? 'class' : 'function'
    return nodesOf(path, [kind, match[2] ?? '']).map((node) => ({ ...node, startByte: match.index }))
  })
}

const fault: LintFault = {
  code: 'F821',
  message: 'm',
  line: 1,
  startByte: 2,
  endByte: 3,
  fixStartByte: 2,
  fixEndByte: 3,
  contextStartByte: 1,
  contextEndByte: 4,
  isFixable: false,
}

describe('the work of agents on nodes', () => {
  const file = nodesOf('a.py', ['file', 'a.py', ['function', 'f'], ['function', 'g'], ['function', 'h']])
  const survey = surveyOf({ 'a.py': '' }, { 'a.py': [fault] })
  const worksOf = async (pinned: PinnedBundle, labels: Readonly<Record<string, string>>) => {
    const work = await findWork(file, [pinned], { survey, labels })
    return { works: file.flatMap((node) => work.of(pinned)(node).works), ...work }
  }

  it('leaves what needs a model alone with the rehearsal model, and says how much that is', async () => {
    const { works, notices } = await worksOf(aLinter('auto'), rehearsal)
    expect(works).toEqual([])
    expect(notices).toEqual([
      'lint: 1 lint fault in 1 file without a safe fix left as it is: no model is asked (lint.depth: safe)',
    ])
  })

  it.each(['safe', 'model'])(
    'says how many unused imports stay for the users of a library, at depth %s',
    async (depth) => {
      const offered: LintFault = { ...fault, code: 'F401', mustStay: 'others may import x', withheld: 'offered' }
      const linter = aLinter(depth)
      const noticesOf = async (...faults: LintFault[]) =>
        (await findWork(file, [linter], { survey: surveyOf({ 'a.py': '' }, { 'a.py': faults }), labels: {} })).notices
      expect(await noticesOf(offered, { ...offered, line: 2 })).toEqual([
        'lint: 2 unused imports in 1 file left: others may import what they bind from a public module; once __all__ lists what a module offers, the rest may go',
      ])
      expect(await noticesOf({ ...offered, withheld: 'ours' })).toEqual([])
    },
  )

  it('asks a model of servers, and also the rehearsal model where the settings say so', async () => {
    expect(await worksOf(aLinter('auto'), { 'remora.model': 'servers' })).toMatchObject({
      works: ['agent'],
      notices: [],
    })
    expect(await worksOf(aLinter('auto'), {})).toMatchObject({ works: ['agent'] })
    expect(await worksOf(aLinter('model'), rehearsal)).toMatchObject({ works: ['agent'] })
    expect(await worksOf(aLinter('safe'), {})).toMatchObject({ works: [] })
  })

  it('is not in the data of tests, unless the settings ask for all', async () => {
    const path = 'tests/data/a.py'
    const data = nodesOf(path, ['file', path, ['function', 'f'], ['function', 'g']])
    const surveyed = surveyOf({ [path]: '' }, { [path]: [{ ...fault, isFixable: true }] })
    const found = async (scope: string) => {
      const linter = aLinter('auto')
      const { file: bundle } = linter.bundle
      const settings = { ...bundle.settings, scope: { default: scope } }
      const scoped = { ...linter, bundle: { ...linter.bundle, file: { ...bundle, settings } } }
      return data.map((await findWork(data, [scoped], { survey: surveyed, labels: {} })).of(scoped))
    }
    expect((await found('code'))[0]).toMatchObject({ works: [], reason: expect.stringContaining('is test data') })
    expect((await found('all'))[0]).toMatchObject({ works: ['mechanical'] })
  })

  it('is not in Go where no worker has gofmt', async () => {
    const nodes = nodesOf('a.go', ['function', 'f'], 'go')
    const linter = asking(aLinter('model'), { languages: ['go'] })
    const surveyed = { ...survey, faults: new Map([['a.go', [{ ...fault, startByte: 0, endByte: 1 }]]]) }
    const programs = { programs: { names: ['python3'] } }
    const work = await findWork(nodes, [linter], { survey: surveyed, programs, labels: {} })
    expect(nodes.map(work.of(linter))).toEqual([{ works: [], reason: 'no worker has gofmt' }])
  })

  it('notes for the workers where each agent works, of all agents together', async () => {
    const bundles = [aLinter('model'), aLinter('model', 'other_lint')]
    const { rules } = await findWork(file, bundles, { survey, labels: {} })
    expect(rules?.files['a.py']?.agentRanges).toEqual([
      { operationId: operationId(file[1]?.nodeId ?? '', 'lint'), startByte: 1, endByte: 3 },
      { operationId: operationId(file[1]?.nodeId ?? '', 'other_lint'), startByte: 1, endByte: 3 },
    ])
    expect(survey.rules.files['a.py']?.agentRanges).toEqual([])
  })

  it('is everywhere for an agent that always has some, and where nothing was surveyed', async () => {
    const always = aBundle('test', ['function'])
    const all = await findWork(file, [always], { survey, labels: {} })
    expect(all.of(always)(file[0] ?? fail())).toEqual({ works: ['agent'] })
    const lint = aLinter('safe')
    const unsurveyed = await findWork(file, [lint], { survey: undefined, labels: {} })
    expect(unsurveyed.of(lint)(file[0] ?? fail()).works).toEqual(['agent'])
  })
})

function fail(): never {
  throw new Error('there is no such node')
}

describe('the work of docstrings', () => {
  const source = [
    'def public():',
    '    return 1',
    'def _private():',
    '    return 1',
    'def described():',
    '    """Is described."""',
    'class Stock:',
    '    x = 1',
    '',
  ].join('\n')
  const files = { 'pkg/a.py': source, 'tests/test_a.py': 'def test_a():\n    return 1\n' }
  const nodes = Object.entries(files).flatMap(([path, text]) => definitionsOf(path, text))
  const namesIn = async (scope: string) => {
    const writer = aWriter(scope)
    const work = await findWork(nodes, [writer], { survey: surveyOf(files), labels: {} })
    return nodes.filter((node) => work.of(writer)(node).works.length > 0).map(({ name }) => name)
  }

  it('is on public definitions of the product by default, and on more in wider scopes', async () => {
    expect(await namesIn('public')).toEqual(['public', 'Stock'])
    expect(await namesIn('private')).toEqual(['public', '_private', 'Stock'])
    expect(await namesIn('all')).toEqual(['public', '_private', 'Stock', 'test_a'])
    expect(await namesIn('auto')).toEqual(['public', 'Stock'])
  })

  it('names why a definition gets none, also where its file cannot be read', async () => {
    const writer = aWriter('public')
    const unlinted = new Map([['unread.py', 'it took longer than 10000 ms']])
    const [unread = fail()] = nodesOf('unread.py', ['function', 'f'])
    const work = await findWork([...nodes, unread], [writer], { survey: { ...surveyOf(files), unlinted }, labels: {} })
    const reasons = Object.fromEntries([...nodes, unread].map((node) => [node.name, work.of(writer)(node).reason]))
    expect(reasons).toEqual({
      public: undefined,
      Stock: undefined,
      _private: 'is private (scope: private includes it)',
      described: 'has a docstring',
      test_a: 'is in a test (scope: all includes it)',
      f: 'it took longer than 10000 ms',
    })
  })

  it('is on no node of a file in another encoding, whatever the agent does', async () => {
    const survey = { ...surveyOf(files), notUtf8: new Set(['latin.py']) }
    const [inLatin = fail()] = nodesOf('latin.py', ['function', 'f'])
    const always = aBundle('test', ['function'])
    const work = await findWork([inLatin], [always, aWriter('public')], { survey, labels: {} })
    for (const bundle of [always, aWriter('public')]) {
      expect(work.of(bundle)(inLatin)).toEqual({ works: [], reason: 'its file is not UTF-8' })
    }
  })
})
