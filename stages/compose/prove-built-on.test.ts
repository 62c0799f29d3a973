import { describe, expect, it } from 'vitest'
import type { ChangeSet, FileChange } from '#domain/change-set.ts'
import { sha256 } from '#domain/ids.ts'
import { wideRules } from '#languages/lint/wide-rules.fixture.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import { testEvidence } from '#stages/operate/evidence/test-evidence.fixture.ts'
import { type GroupProof, proveComposition } from './prove-composition.ts'

const source = 'def f(x):\n    return x\n\n\ndef g(y):\n    return y\n'
const exporter = 'import json\n\n\ndef dump():\n    return 1\n'
const user = 'import shop.compat\n\n\ndef main():\n    return shop.compat.dump()\n'
const bases = new Map([source, exporter, user].map((text) => [sha256(text), text]))

const stored = new Map<string, string>()
const { checker, python } = await testEvidence()
const deps = {
  evidence: checker,
  python,
  rules: { of: async () => wideRules },
  readBlob: async (hash: string) => Buffer.from(bases.get(hash) ?? ''),
  storeBlob: async (bytes: Uint8Array) => {
    stored.set(sha256(bytes), Buffer.from(bytes).toString())
    return sha256(bytes)
  },
}

type Place = { path?: string; text?: string }

function changing(from: string, to: string, { path = 'a.py', text: base = source }: Place = {}): FileChange {
  const start = base.indexOf(from)
  return { kind: 'edit', path, baseHash: sha256(base), edits: [{ start, end: start + from.length, text: to }] }
}

function set(id: string, files: FileChange[], builtOn: string[] = []): ChangeSet {
  const ids = { changeSetId: id, operationId: `o${id}`, bundle: 'b', nodeId: 'n0000000000000000' }
  return { ...ids, files, ...(builtOn.length === 0 ? {} : { builtOn }), evidence: [] }
}

const summary = (conflicts: readonly { changeSetId: string; errorCode: string; with?: { changeSetId: string } }[]) =>
  conflicts.map(({ changeSetId, errorCode, with: other }) => [changeSetId, errorCode, other?.changeSetId])

describe('a change set that is built on another', () => {
  it('is proved on top of it, in any order', async () => {
    const first = set('c1', [changing('return x', 'return (x)')])
    const second = set('c2', [changing('    return x', '    """Do it."""\n    return (x)')], ['c1'])
    const proven = await proveComposition([second, first], deps)
    expect(proven.conflicts).toEqual([])
    expect(proven.files[0]?.changeSetIds).toEqual(['c1', 'c2'])
    expect(stored.get(proven.files[0]?.resultHash ?? '')).toBe(
      source.replace('    return x', '    """Do it."""\n    return (x)'),
    )
  })

  it('is left out with it when that breaks a file, and so is what is built on both', async () => {
    const breaking = set('c1', [changing('return x', 'return (')])
    const elsewhere = set('c2', [changing('return y', 'return 1', { path: 'b.py' })], ['c1'])
    const onBoth = set('c3', [changing('def g', 'def h', { path: 'b.py' })], ['c1', 'c2'])
    const sound = set('c4', [changing('return y', 'return (y)')])
    const proven = await proveComposition([onBoth, elsewhere, breaking, sound], deps)
    expect(summary(proven.conflicts)).toEqual([
      ['c3', 'WORK_002', 'c1'],
      ['c2', 'WORK_002', 'c1'],
      ['c1', 'WORK_004', undefined],
    ])
    expect(proven.files.map(({ path, changeSetIds }) => [path, changeSetIds])).toEqual([['a.py', ['c4']]])
  })

  it('is the one that breaks a file, with what it is built on in another file, which stays', async () => {
    const other = set('c1', [changing('return x', 'return (x)', { path: 'b.py' })])
    const breaking = set('c2', [changing('return x', 'return (')], ['c1'])
    const more = set('c3', [changing('return y', 'return (y)')])
    const proven = await proveComposition([other, breaking, more], deps)
    expect(summary(proven.conflicts)).toEqual([['c2', 'WORK_004', undefined]])
    expect(proven.files.map(({ path, changeSetIds }) => [path, changeSetIds])).toEqual([
      ['a.py', ['c3']],
      ['b.py', ['c1']],
    ])
  })

  it('is found to break a file together with a set that neither needs', async () => {
    const calls = 'def f(x):\n    x.one()\n    x.two()\n'
    bases.set(sha256(calls), calls)
    const place = { text: calls }
    const first = set('c1', [changing('def f(x)', 'def f(x, y)', place)])
    const comment = set('c2', [changing('x.one()', '# x.one()', place)])
    const on = set('c3', [changing('x.two()', '# x.two()', place)], ['c1'])
    const proven = await proveComposition([first, comment, on], deps)
    expect(summary(proven.conflicts)).toEqual([['c3', 'WORK_004', 'c2']])
  })

  it('is left out when it takes a name away that another file uses, not what it is built on', async () => {
    const first = set('c1', [changing('return 1', 'return 2', { path: 'shop/compat.py', text: exporter })])
    const taking = set('c2', [changing('shop.compat.dump()', 'shop.compat.json', { path: 'shop/main.py', text: user })])
    const removing = set('c3', [changing('import json\n', '', { path: 'shop/compat.py', text: exporter })], ['c1'])
    const proven = await proveComposition([taking, removing, first], deps)
    expect(summary(proven.conflicts)).toEqual([['c3', 'WORK_004', undefined]])
    expect(proven.files.map(({ changeSetIds }) => changeSetIds)).toEqual([['c1'], ['c2']])
  })

  it('names a set that is not to be composed, also when its proof is kept', async () => {
    const rejected = set('c1', [changing('return x', 'return (x)')])
    const on = set('c2', [changing('return y', 'return (y)')], ['c1'])
    const cache = openCachedAnswers<GroupProof>({ max: 10 })
    const proofs = (key: string, make: () => Promise<GroupProof>) => cache.get(key, make)
    const alone = await proveComposition([on], { ...deps, proofs })
    expect(summary(alone.conflicts)).toEqual([['c2', 'WORK_002', undefined]])
    const named = await proveComposition([on], { ...deps, proofs, others: new Map([['c1', rejected]]) })
    expect(summary(named.conflicts)).toEqual([['c2', 'WORK_002', 'c1']])
  })
})
