import { describe, expect, it } from 'vitest'
import type { ChangeSet, Edit, Evidence } from '#domain/change-set.ts'
import type { TextCheck } from '#domain/checks.ts'
import { sha256 } from '#domain/ids.ts'
import { wideRules } from '#languages/lint/wide-rules.fixture.ts'
import { testEvidence } from '#stages/operate/evidence/test-evidence.fixture.ts'
import { proveComposition, type ProofDeps } from './prove-composition.ts'

const { checker, python } = await testEvidence()

type Given = { path: string; asks: TextCheck[]; builtOn?: string[] }

/** A set that replaces texts of a file, each by the one behind it, and has passed the checks that it was asked for. */
function aSet(id: string, base: string, { path, asks, builtOn }: Given, ...replaced: [string, string][]): ChangeSet {
  const edits = replaced.map(([from, text]): Edit => {
    const start = Buffer.byteLength(base.slice(0, base.indexOf(from)))
    return { start, end: start + Buffer.byteLength(from), text }
  })
  return {
    changeSetId: id,
    operationId: `o${id.padStart(16, '0')}`,
    bundle: 'b',
    nodeId: 'n0000000000000000',
    files: [{ kind: 'edit', path, baseHash: sha256(base), edits }],
    ...(builtOn && { builtOn }),
    evidence: asks.map((check): Evidence => ({ check, path, ok: true, tool: 'test' })),
  }
}

/** Composes changes of one file, with the contents of the tree that `tree` makes of the sets in it. */
async function compose(base: string, sets: readonly ChangeSet[], tree: ProofDeps['readFileOf'] = () => undefined) {
  const stored = new Map<string, string>()
  const { files, conflicts } = await proveComposition(sets, {
    evidence: checker,
    python,
    rules: { of: async () => wideRules },
    readBlob: async () => Buffer.from(base),
    async storeBlob(bytes) {
      stored.set(sha256(bytes), Buffer.from(bytes).toString())
      return sha256(bytes)
    },
    readFileOf: tree,
  })
  const evidence = files.flatMap((file) => file.evidence)
  const [text] = files.map(({ resultHash }) => stored.get(resultHash ?? ''))
  const proved = evidence.map(({ check, ok, inPart = false }) => `${check} ${ok}${inPart ? ' in part' : ''}`)
  return { text, conflicts, proved }
}

const source = 'import os\n\n\ndef f(x, y):\n    # why\n    return x\n\n\ndef g(x):\n    return x\n'
const asked = (...asks: TextCheck[]): Given => ({ path: 'a.py', asks })

describe('a check that one of several changes of a file was asked for', () => {
  const own = aSet('c1', source, asked('names_kept', 'bodies_kept'), ['import os', 'import os  # noqa: F401'])

  it('says nothing against what another one does, that was not asked for it', async () => {
    const other = aSet('c2', source, asked(), ['def g(x):\n    return x\n', 'g = f\n'])
    for (const sets of [
      [own, other],
      [other, own],
    ]) {
      const { conflicts, proved } = await compose(source, sets)
      expect(conflicts).toEqual([])
      expect(proved).toEqual([
        'parses true',
        'lint_before_after true',
        'names_kept true in part',
        'bodies_kept true in part',
      ])
    }
  })

  it('is made of it on top of what the others do: two that are wrong only together are found', async () => {
    const docstring = '    """Add.\n\n    Args:\n        x: One.\n        y: Two.\n    """\n'
    const documenting = aSet('c1', source, asked('parameters_documented', 'docstring_only'), [
      '    # why\n',
      `${docstring}    # why\n`,
    ])
    const narrowing = aSet('c2', source, asked('comments_kept'), ['f(x, y)', 'f(x)'])
    expect((await compose(source, [documenting])).conflicts).toEqual([])
    const { conflicts } = await compose(source, [documenting, narrowing])
    expect(conflicts).toMatchObject([{ changeSetId: 'c2', errorCode: 'WORK_004', with: { changeSetId: 'c1' } }])
    expect(conflicts[0]).not.toHaveProperty('byItself')
    expect(conflicts[0]?.reason).toMatch(/^parameters_documented fails for the composed file: /)
  })

  it('says nothing against what is built on it, or what it is built on, that was not asked for it', async () => {
    const given = (asks: TextCheck[], builtOn?: string[]) => ({ path: 'a.py', asks, ...(builtOn && { builtOn }) })
    const one = aSet('c1', source, given(['docstring_only']), ['    # why\n', '    """Do it."""\n    # why\n'])
    const between = aSet('c2', source, given([], ['c1']), [
      '    # why\n    return x\n',
      '    """Do it."""\n    # why\n    return y\n',
    ])
    const last = aSet('c3', source, given(['docstring_only'], ['c1', 'c2']), [
      '    # why\n    return x\n',
      '    """Do it now."""\n    # why\n    return y\n',
    ])
    const { text, conflicts, proved } = await compose(source, [one, between, last])
    expect(conflicts).toEqual([])
    expect(text).toContain('    """Do it now."""\n    # why\n    return y\n')
    expect(proved).toContain('docstring_only true in part')
    const more = aSet('c3', source, given(['docstring_only'], ['c1', 'c2']), [
      '    # why\n    return x\n',
      '    """Do it now."""\n    # why\n    return 1\n',
    ])
    const refused = await compose(source, [one, between, more])
    expect(refused.conflicts).toMatchObject([
      { changeSetId: 'c3', reason: 'docstring_only fails: the code changes', byItself: true },
    ])
  })
})

it('a change that fails since another file is changed is not said to break its file by itself', async () => {
  const samples = {
    source: 'shop.py::price',
    signature: '(sku: str)',
    valid: [{ name: 'old', arguments: { sku: 'A' } }],
    invalid: [{ name: 'no text', why: 'sku must be a string', arguments: { sku: 1 } }],
  }
  const text = `${JSON.stringify(samples)}\n` // Python, too: it is the base of both files
  const naming = aSet('c1', text, { path: 'tests/shop.price.json', asks: ['samples_match'] }, ['old', 'usual'])
  const renaming = aSet('c2', text, { ...asked(), path: 'shop.py' }, ['no text', 'number'])
  const tree: ProofDeps['readFileOf'] = (sets) => async (path) =>
    path === 'shop.py' ? `def price(${sets.includes(renaming) ? 'code' : 'sku'}: str): ...\n` : undefined
  const alone = await compose(text, [naming], tree)
  expect(alone.conflicts).toEqual([])
  const { conflicts } = await compose(text, [naming, renaming], tree)
  expect(conflicts).toMatchObject([{ changeSetId: 'c1', errorCode: 'WORK_004' }])
  expect(conflicts[0]).not.toHaveProperty('byItself')
})
