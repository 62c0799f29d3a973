import { describe, expect, it } from 'vitest'
import type { TextCheck } from '#domain/checks.ts'
import { defaultPathRules } from '#domain/path-rules.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { testEvidence } from '#stages/operate/evidence/test-evidence.fixture.ts'
import { readSignature } from './checks.ts'

const { checker } = await testEvidence()

const source = 'from kinds import Kind\ndef price(sku: str, kind: Kind = Kind.A) -> int:\n    return 1\n'
const kinds = 'from enum import Enum\nclass Kind(Enum):\n    A = "a"\n    B = "b"\n'
const sound = {
  source: 'shop.py::price',
  signature: '(sku: str, kind: Kind = Kind.A)',
  valid: [{ name: 'usual', arguments: { sku: 'A-1', kind: 'b' } }],
  invalid: [{ name: 'no member', why: 'kind must be a or b', arguments: { sku: 'A-1', kind: 'c' } }],
}

async function evidenceOf(
  content: object | string,
  checks: readonly TextCheck[] = ['samples_match'],
  tree: Record<string, string> = { 'shop.py': source, 'kinds.py': kinds },
) {
  const after = typeof content === 'string' ? content : `${JSON.stringify(content)}\n`
  const file = { path: 'tests/fixtures/shop.price.json', before: undefined, after, rules: defaultPathRules }
  return checker.check({ ...file, readFile: async (path) => tree[path] }, checks)
}

describe('proof that samples match the definition in the tree', () => {
  it('is given while they do', async () => {
    expect(await evidenceOf(sound, ['parses', 'samples_match'])).toMatchObject([
      { check: 'parses', ok: true },
      { check: 'samples_match', ok: true, tool: 'tree-sitter-python' },
    ])
  })

  it.each([
    [
      'a valid case that the types refuse',
      { ...sound, valid: [{ name: 'x', arguments: { sku: 1 } }] },
      'valid case "x": sku',
    ],
    [
      'an invalid case that they accept',
      { ...sound, invalid: [{ name: 'x', why: 'kind', arguments: { sku: '', kind: 'a' } }] },
      'accept it',
    ],
    [
      'a signature that is not the one of the source',
      { ...sound, signature: '(sku: str)' },
      'the signature of shop.py::price is (sku: str, kind',
    ],
    ['a definition that is not there', { ...sound, source: 'shop.py::cost' }, 'shop.py::cost is no function'],
    ['a file that is not there', { ...sound, source: '../shop.py::price' }, '../shop.py::price is no function'],
    ['other JSON', '{"a": 1}', 'no file of samples'],
  ])('is refused for %s, which gets through without it', async (_, content, says) => {
    expect((await evidenceOf(content, ['parses'])).every(({ ok }) => ok)).toBe(true)
    const [evidence] = await evidenceOf(content)
    expect(evidence).toMatchObject({ check: 'samples_match', ok: false, detail: expect.stringContaining(says) })
  })

  it('follows the types to where they are: a member that is gone makes the case wrong', async () => {
    const tree = { 'shop.py': source, 'kinds.py': kinds.replace('    B = "b"\n', '') }
    expect(await evidenceOf(sound, ['samples_match'], tree)).toMatchObject([
      { ok: false, detail: expect.stringContaining('kind') },
    ])
  })

  it('reads no more than 200 files for a signature, however many modules its types name', async () => {
    const numbers = Array.from({ length: 300 }, (_, at) => at)
    const parameters = numbers.map((at) => `a${at}: T${at}`).join(', ')
    const imports = numbers.map((at) => `from m${at} import T${at}\n`).join('')
    const asked: string[] = []
    const readFile = async (path: string) => {
      asked.push(path)
      return path === 'shop.py' ? `${imports}def price(${parameters}): ...\n` : undefined
    }
    const answer = await readSignature(
      { path: 'shop.py', qualifiedName: 'price' },
      readFile,
      await loadLanguage('python'),
    )
    expect(answer.kind).toBe('unfit')
    expect(asked).toHaveLength(200)
  })

  it('is said to be missing where other files cannot be read, and refused for a deleted file', async () => {
    const file = { path: 'a.json', before: '{}', rules: defaultPathRules }
    const [unread] = await checker.check({ ...file, after: JSON.stringify(sound) }, ['samples_match'])
    expect(unread).toMatchObject({ check: 'not_checked', of: 'samples_match' })
    const [gone] = await checker.check({ ...file, after: undefined }, ['samples_match'])
    expect(gone).toMatchObject({ check: 'samples_match', ok: false })
  })
})
