import { describe, expect, it } from 'vitest'
import { type ChangeSet, type Edit, type Evidence, type FileChange } from '#domain/change-set.ts'
import type { EvidenceCheck } from '#domain/checks.ts'
import { sha256 } from '#domain/ids.ts'
import { wideRules } from '#languages/lint/wide-rules.fixture.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import { testEvidence } from '#stages/operate/evidence/test-evidence.fixture.ts'
import { type GroupProof, proveComposition, type ProofDeps } from './prove-composition.ts'

const source = 'import os\n\n\ndef f(x):\n    if x == None:\n        return f"a"\n    return x\n'
const at = (text: string) => Buffer.byteLength(source.slice(0, source.indexOf(text)))
const docstring: Edit = { start: at('    if x'), end: at('    if x'), text: '    """Do it."""\n' }
const fString: Edit = { start: at('f"a"'), end: at('f"a"') + 1, text: '' }

function set(id: string, edits: Edit[], docstringOnly = false, path = 'a.py'): ChangeSet {
  const files: FileChange[] = [{ kind: 'edit', path, baseHash: sha256(source), edits }]
  const evidence = [{ check: 'docstring_only' as const, path, ok: docstringOnly, tool: 'test' }]
  return {
    changeSetId: id,
    operationId: `o${id.padStart(16, '0')}`,
    bundle: 'b',
    nodeId: 'n0000000000000000',
    files,
    evidence,
  }
}

const exporter = 'import json\nimport os\n\n\ndef dump():\n    return 1\n'
const user = 'import shop.compat\n\n\ndef main():\n    return shop.compat.dump()\n'
const bases = new Map([exporter, user].map((text) => [sha256(text), text]))

const provedBy = (checks: readonly EvidenceCheck[]): Evidence[] =>
  checks.map((check) => ({ check, path: 'a.py', ok: true, tool: 'test' }))

/** A set that replaces one text of a file and was asked for no evidence. */
function only(id: string, from: string, to: string, { path = 'a.py', text: base = source } = {}): ChangeSet {
  const start = Buffer.byteLength(base.slice(0, base.indexOf(from)))
  const edits = [{ start, end: start + Buffer.byteLength(from), text: to }]
  return { ...set(id, []), files: [{ kind: 'edit', path, baseHash: sha256(base), edits }], evidence: [] }
}

const stored = new Map<string, string>()
const { checker, python } = await testEvidence()
const deps: ProofDeps = {
  evidence: checker,
  python,
  rules: { of: async () => wideRules },
  readBlob: async (hash: string) => Buffer.from(bases.get(hash) ?? source),
  storeBlob: async (bytes: Uint8Array) => {
    stored.set(sha256(bytes), Buffer.from(bytes).toString())
    return sha256(bytes)
  },
}
const text = (hash: string | null | undefined) => stored.get(hash ?? '')

describe('a run’s composed patch', () => {
  it('puts a docstring and a lint fix of one function together', async () => {
    const proven = await proveComposition([set('c1', [fString]), set('c2', [docstring], true)], deps)
    expect(proven.conflicts).toEqual([])
    expect(text(proven.files[0]?.resultHash)).toBe(
      source.replace('    if x', '    """Do it."""\n    if x').replace('f"a"', '"a"'),
    )
    expect(proven.files[0]?.changeSetIds).toEqual(['c1', 'c2'])
  })

  it('coalesces the same fix made for a class and for its method', async () => {
    const proven = await proveComposition([set('c1', [fString]), set('c2', [fString])], deps)
    expect(proven.conflicts).toEqual([])
    expect(text(proven.files[0]?.resultHash)).toBe(source.replace('f"a"', '"a"'))
  })

  it('leaves out the later of two sets that change the same place, whole, and says so', async () => {
    const other = { ...docstring, text: '    """Other."""\n' }
    const proven = await proveComposition([set('c1', [docstring]), set('c2', [other, fString])], deps)
    expect(proven.conflicts).toMatchObject([{ changeSetId: 'c2', path: 'a.py', errorCode: 'WORK_001' }])
    expect(text(proven.files[0]?.resultHash)).toBe(source.replace('    if x', '    """Do it."""\n    if x'))
  })

  it('finds the set that breaks the composed file, leaves it out and keeps the rest', async () => {
    const broken = { start: at('return x'), end: at('return x') + 6, text: 'return (' }
    const proven = await proveComposition([set('c1', [fString]), set('c2', [broken]), set('c3', [docstring])], deps)
    expect(proven.conflicts).toMatchObject([{ changeSetId: 'c2', errorCode: 'WORK_004', byItself: true }])
    expect(proven.files[0]?.changeSetIds).toEqual(['c1', 'c3'])
    expect(proven.files[0]?.evidence.every((one) => one.ok)).toBe(true)
  })

  it('names the set with which one breaks the file that is sound without it', async () => {
    const calls = 'def f(x):\n    x.one()\n    x.two()\n'
    const comment = (id: string, line: string) => {
      const start = calls.indexOf(line)
      const edits = [{ start, end: start, text: '# ' }]
      return { ...set(id, []), files: [{ kind: 'edit' as const, path: 'a.py', baseHash: sha256(calls), edits }] }
    }
    const sets = [comment('c2', 'x.one()'), comment('c3', 'x.two()')]
    const proven = await proveComposition(sets, { ...deps, readBlob: async () => Buffer.from(calls) })
    expect(proven.conflicts).toMatchObject([{ changeSetId: 'c3', errorCode: 'WORK_004', with: { changeSetId: 'c2' } }])
    expect(proven.conflicts[0]).not.toHaveProperty('byItself')
    expect(proven.files[0]?.changeSetIds).toEqual(['c2'])
  })

  it('leaves out what breaks a file of another language, unless no bundle asks that it parses', async () => {
    const broken = (id: string, asked: ChangeSet['evidence']): ChangeSet => ({
      ...set(id, []),
      files: [{ kind: 'create', path: `${id}.ts`, content: 'export function (((\n' }],
      evidence: asked,
    })
    const parses = { check: 'parses' as const, path: 'c1.ts', ok: true, tool: 'test' }
    const proven = await proveComposition([broken('c1', [parses]), broken('c2', [])], deps)
    expect(proven.conflicts).toMatchObject([{ changeSetId: 'c1', path: 'c1.ts', errorCode: 'WORK_004' }])
    expect(proven.files.map(({ path }) => path)).toEqual(['c2.ts'])
  })

  it('leaves out the later of two sets that are wrong only together', async () => {
    const first = only('c1', 'import os\n', '')
    const second = only('c2', 'return x', 'return os.fspath(x)')
    const proven = await proveComposition([first, second], deps)
    expect(proven.conflicts).toMatchObject([{ changeSetId: 'c2', errorCode: 'WORK_004' }])
    expect(proven.conflicts[0]?.reason).toContain('F821 Undefined name `os`')
    const turned = await proveComposition([second, first], deps)
    expect(turned.conflicts).toMatchObject([{ changeSetId: 'c1', errorCode: 'WORK_004' }])
  })

  it('composes and checks again only what a set that is left out touches', async () => {
    const files = ['a.py', 'b.py', 'c.py', 'd.py']
    const sound = files.map((path, place) => only(`c${place}`, 'f"a"', '"a"', { path }))
    const broken = only('c4', 'return x', 'return (', { path: 'b.py' })
    const inC = only('c5', 'return x', 'return (', { path: 'c.py' })
    const ofTwo = { ...inC, files: [...only('c5', 'x == None', 'x is None').files, ...inC.files] }
    const checked: string[] = []
    const told: number[] = []
    const counted: typeof deps.evidence = {
      check(file, checks) {
        checked.push(file.path)
        return deps.evidence.check(file, checks)
      },
    }
    const onFiles = async (count: number) => void told.push(count)
    const writes: string[] = []
    const storeBlob = async (bytes: Uint8Array) => {
      writes.push(Buffer.from(bytes).toString())
      return deps.storeBlob(bytes)
    }
    const proven = await proveComposition([...sound, broken, ofTwo], { ...deps, storeBlob, evidence: counted, onFiles })
    expect(proven.conflicts).toMatchObject([
      { changeSetId: 'c4', path: 'b.py' },
      { changeSetId: 'c5', path: 'c.py' },
    ])
    expect(proven.files.map(({ path, changeSetIds }) => [path, ...changeSetIds])).toEqual(
      files.map((path, place) => [path, `c${place}`]),
    )
    expect(checked.filter((path) => path === 'd.py')).toHaveLength(1)
    expect(told.toSorted((one, other) => one - other)).toEqual([1, 1, 2])
    // No file is stored before it is whole.
    expect(writes).toEqual(files.map(() => source.replace('f"a"', '"a"')))
  })

  it('takes a set in again that only the one left out kept out', async () => {
    const breaking = only('c1', 'return x', 'return (')
    const colliding = only('c2', 'return x', 'return [x]')
    const proven = await proveComposition([breaking, colliding], deps)
    expect(proven.conflicts).toMatchObject([{ changeSetId: 'c1', errorCode: 'WORK_004' }])
    expect(proven.files[0]?.changeSetIds).toEqual(['c2'])
  })

  it('finds each of several sets that break one file, with few proofs', async () => {
    const lines = Array.from({ length: 64 }, (_, place) => `x_${place} = ${place}\n`)
    const whole = lines.join('')
    const sets = lines.map((line, place) => only(`c${place}`, line, `y_${place} = ${place}\n`, { text: whole }))
    for (const place of [9, 40]) sets[place] = only(`c${place}`, lines[place] ?? '', 'y = (\n', { text: whole })
    let checks = 0
    const check: typeof deps.evidence.check = (file, asked) => {
      checks += 1
      return deps.evidence.check(file, asked)
    }
    const readBlob = async () => Buffer.from(whole)
    const proven = await proveComposition(sets, { ...deps, evidence: { check }, readBlob })
    expect(proven.conflicts.map(({ changeSetId }) => changeSetId)).toEqual(['c9', 'c40'])
    expect(proven.conflicts.every((conflict) => conflict.with === undefined)).toBe(true)
    expect(proven.files[0]?.changeSetIds).toHaveLength(62)
    expect(checks).toBeLessThan(25)
  })

  it('checks again that docstrings alone changed nothing else', async () => {
    const proven = await proveComposition([set('c1', [docstring], true)], deps)
    expect(proven.files[0]?.evidence.map((one) => one.check)).toEqual(['parses', 'lint_before_after', 'docstring_only'])
  })
})

describe('a proof that is kept', () => {
  function kept() {
    const cache = openCachedAnswers<GroupProof>({ max: 10 })
    const counts = { proved: 0, stored: 0 }
    const counting: ProofDeps = {
      ...deps,
      proofs: (key, make) => cache.get(key, make),
      evidence: {
        ...deps.evidence,
        check: (...about) => {
          counts.proved += 1
          return deps.evidence.check(...about)
        },
      },
      storeBlob: (bytes) => {
        counts.stored += 1
        return deps.storeBlob(bytes)
      },
    }
    return { counting, counts }
  }

  it('is used again for the same sets, whose files are stored again', async () => {
    const { counting, counts } = kept()
    const first = await proveComposition([set('c1', [docstring])], counting)
    const { proved } = counts
    expect(await proveComposition([set('c1', [docstring])], counting)).toEqual(first)
    expect(counts).toEqual({ proved, stored: 2 })
  })

  it('is not that of the same sets with other evidence', async () => {
    const { counting } = kept()
    const loose = only('c1', '        return f"a"\n', '        pass\n')
    expect((await proveComposition([loose], counting)).conflicts).toEqual([])
    const strict = { ...loose, evidence: provedBy(['bodies_kept']) }
    expect((await proveComposition([strict], counting)).conflicts).toMatchObject([{ errorCode: 'WORK_004' }])
  })
})

it('a deleted file is checked like any other, and modes go with the files', async () => {
  const baseHash = sha256(source)
  const files: FileChange[] = [
    { kind: 'delete', path: 'a.py', baseHash, executable: true },
    { kind: 'create', path: 'b.sh', content: 'x\n', executable: true },
    { kind: 'edit', path: 'c.py', baseHash, edits: [], executable: false },
  ]
  const tidy: ChangeSet = { ...set('c1', []), files, evidence: [] }
  const proven = await proveComposition([tidy], deps)
  expect(proven.files).toMatchObject([
    { path: 'a.py', resultHash: null, executable: true },
    { path: 'b.sh', baseHash: null, executable: true },
    { path: 'c.py', baseHash, resultHash: baseHash, executable: false },
  ])
  expect(proven.files[0]?.evidence.at(-1)).toMatchObject({ check: 'not_checked', of: 'names_kept' })
  const rules = { of: async () => ({ ...wideRules, keptNames: [''] }) }
  expect((await proveComposition([tidy], { ...deps, rules })).conflicts, 'another file imports it').toMatchObject([
    {
      changeSetId: 'c1',
      path: 'a.py',
      errorCode: 'WORK_004',
      reason: expect.stringMatching(/^names_kept fails$|^names_kept fails: /),
    },
  ])
})

describe('the names of a composed tree', () => {
  const inExporter = { path: 'shop/compat.py', text: exporter }
  const inUser = { path: 'shop/main.py', text: user }
  const removing = only('c1', 'import json\n', '', inExporter)
  const removingAnother = only('c3', 'import os\n', '', inExporter)
  const taking = only('c2', 'shop.compat.dump()', 'shop.compat.json', inUser)

  it('are there for every file of it: the later of two sets that do not go together is left out', async () => {
    const proven = await proveComposition([removing, taking], deps)
    const reason = 'with it, shop/main.py uses "json" of shop/compat.py, which is gone'
    expect(proven.conflicts).toMatchObject([
      { changeSetId: 'c2', errorCode: 'WORK_004', path: 'shop/compat.py', reason },
    ])
    expect(proven.files.map(({ path }) => path)).toEqual(['shop/compat.py'])
    const turned = await proveComposition([taking, removingAnother, removing], deps)
    expect(turned.conflicts).toMatchObject([{ changeSetId: 'c1', reason }])
    expect(turned.files.map(({ changeSetIds }) => changeSetIds)).toEqual([['c3'], ['c2']])
  })

  it('are not there when their file is deleted', async () => {
    const files: FileChange[] = [{ kind: 'delete', path: inExporter.path, baseHash: sha256(exporter) }]
    const proven = await proveComposition([taking, { ...removing, files }], deps)
    expect(proven.conflicts).toMatchObject([{ changeSetId: 'c1', path: 'shop/compat.py' }])
  })

  it('are not there when a file is deleted that another change imports, without a name of it', async () => {
    const files: FileChange[] = [{ kind: 'delete', path: inExporter.path, baseHash: sha256(exporter) }]
    const importing = only('c2', 'shop.compat.dump()', 'shop.compat.__name__', inUser)
    const proven = await proveComposition([importing, { ...removing, files }], deps)
    const reason = 'with it, shop/main.py uses shop/compat.py, which is gone'
    expect(proven.conflicts).toMatchObject([{ changeSetId: 'c1', path: 'shop/compat.py', reason }])
  })
})
