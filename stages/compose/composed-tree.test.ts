import { expect, it } from 'vitest'
import type { ChangeSet, FileChange } from '#domain/change-set.ts'
import { sha256 } from '#domain/ids.ts'
import { defaultPathRules } from '#domain/path-rules.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { aPlannedOperation } from '#testing/open-test-ledger.ts'
import { testEvidence } from '#stages/operate/evidence/test-evidence.fixture.ts'
import { readComposed } from './file-proofs.ts'
import { proveComposition } from './prove-composition.ts'

const { operationId, node } = aPlannedOperation('f')

function aSet(changeSetId: string, ...files: FileChange[]): ChangeSet {
  return { changeSetId, operationId, bundle: 'a', nodeId: node.nodeId, files, evidence: [] }
}

it('reads files as all change sets together make them, and the others as they are', async () => {
  const base: Record<string, string> = { 'a.py': 'one two\n', 'b.py': 'as it is\n', 'gone.py': 'x\n' }
  const edit = (start: number, end: number, text: string): FileChange => ({
    kind: 'edit',
    path: 'a.py',
    baseHash: 'a.py',
    edits: [{ start, end, text }],
  })
  const sets = [
    aSet('c1', edit(0, 3, '1')),
    aSet('c2', edit(4, 7, '2'), { kind: 'create', path: 'new.py', content: 'new\n' }),
    aSet('c3', { kind: 'delete', path: 'gone.py', baseHash: 'gone.py' }),
  ]
  const find = (path: string) =>
    base[path] === undefined ? undefined : { path, hash: path, size: 1, executable: false }
  const read = readComposed(sets, {
    known: new Map(),
    snapshot: async () => ({ find }),
    readBlob: async (hash) => Buffer.from(base[hash] ?? ''),
  })
  const texts = await Promise.all(['a.py', 'b.py', 'new.py', 'gone.py', 'none.py'].map(read))
  expect(texts).toEqual(['1 2\n', 'as it is\n', 'new\n', undefined, undefined])
})

const { checker } = await testEvidence()

it('leaves out samples that only match with a change that is left out', async () => {
  const module = 'def price(sku: int) -> int:\n    return 1\n'
  const samples = {
    source: 'shop.py::price',
    signature: '(sku: str)',
    valid: [{ name: 'usual', arguments: { sku: 'A-1' } }],
    invalid: [{ name: 'a number', why: 'sku', arguments: { sku: 1 } }],
  }
  const making = (id: string, check: 'parses' | 'samples_match', path: string, content: string): ChangeSet => ({
    ...aSet(id, { kind: 'create', path, content }),
    evidence: [{ check, path, ok: true, tool: 'test' }],
  })
  const broken = making('c1', 'parses', 'broken.py', 'def (\n')
  const matching = making('c2', 'samples_match', 'tests/fixtures/shop.price.json', JSON.stringify(samples))
  const python = await loadLanguage('python')
  const { conflicts, files } = await proveComposition([broken, matching], {
    evidence: checker,
    python,
    rules: { of: async () => defaultPathRules },
    readBlob: async () => Buffer.from(module),
    storeBlob: async (bytes) => sha256(bytes),
    // The broken set is what makes the parameter a text.
    readFileOf: (sets) => async () => (sets.includes(broken) ? module.replace('int', 'str') : module),
  })
  expect(conflicts.map(({ changeSetId, errorCode }) => [changeSetId, errorCode])).toEqual([
    ['c1', 'WORK_004'],
    ['c2', 'WORK_004'],
  ])
  expect(files).toEqual([])
})
