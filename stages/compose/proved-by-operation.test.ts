import { describe, expect, it } from 'vitest'
import type { ChangeSet, Evidence } from '#domain/change-set.ts'
import { sha256 } from '#domain/ids.ts'
import { wideRules } from '#languages/lint/wide-rules.fixture.ts'
import { testEvidence } from '#stages/operate/evidence/test-evidence.fixture.ts'
import { provedByOperation } from './file-proofs.ts'
import { proveComposition } from './prove-composition.ts'

const source = 'def one():\n    return 1\n\n\ndef two():\n    return 2\n'
const { checker, linter, python } = await testEvidence()

type Given = { id: string; path: string; after?: string; text?: string; proof?: Partial<Evidence>; builtOn?: string[] }

/** A set that puts `text` behind `after`, with evidence of the checks that every composed Python file needs. */
function setOf({ id, path, after = 'def one():\n', text = '    """One."""\n', proof = {}, builtOn }: Given): ChangeSet {
  const start = source.indexOf(after) + after.length
  const checks = ['parses', 'lint_before_after'] as const
  const evidence = checks.map((check): Evidence => ({ check, path, ok: true, tool: linter.version, ...proof }))
  const files = [{ kind: 'edit' as const, path, baseHash: sha256(source), edits: [{ start, end: start, text }] }]
  const made = { changeSetId: id, operationId: `o${id}`, bundle: 'b', nodeId: 'n0000000000000000', files, evidence }
  return builtOn === undefined ? made : { ...made, builtOn }
}

/** The paths of the files that the composition checked itself, the proofs of all, and the paths of its conflicts. */
async function compose(...sets: ChangeSet[]) {
  const checked = new Set<string>()
  const evidence: typeof checker = {
    ...checker,
    async check(file, checks) {
      checked.add(file.path)
      return checker.check(file, checks)
    },
  }
  const { files, conflicts } = await proveComposition(sets, {
    evidence,
    python,
    rules: { of: async () => wideRules },
    readBlob: async () => Buffer.from(source),
    storeBlob: async (bytes) => sha256(bytes),
    provedBefore: provedByOperation(sets, checker.tools),
  })
  const proofs = files.map((file) => file.evidence.map(({ check, ok }) => `${check} ${ok}`).join())
  return { checked: [...checked].toSorted(), proofs, conflicts: conflicts.map(({ path }) => path) }
}

describe('a file that one set makes alone', () => {
  it('has the proof of its operation, where the tools of this worker made all of it', async () => {
    const { checked, proofs, conflicts } = await compose(
      setOf({ id: 'c1', path: 'alone.py' }),
      setOf({ id: 'c2', path: 'by_another_version.py', proof: { tool: 'ruff 0.0.1' } }),
      setOf({ id: 'c3', path: 'failed.py', proof: { ok: false } }),
      setOf({ id: 'c4', path: 'of_another_file.py', proof: { path: 'alone.py' } }),
      setOf({ id: 'c5', path: 'in_part.py', proof: { check: 'parses' } }),
      setOf({ id: 'c6', path: 'built_on.py', builtOn: [] }),
    )
    expect(checked).toEqual(['built_on.py', 'by_another_version.py', 'failed.py', 'in_part.py', 'of_another_file.py'])
    expect(proofs).toEqual(Array.from({ length: 6 }, () => 'parses true,lint_before_after true'))
    expect(conflicts).toEqual([])
  })

  it('keeps what running its tests has shown, and nothing is proved of the tests of several sets together', async () => {
    const path = 'tests/test_a.py'
    const ran: Evidence[] = [{ check: 'tests_pass', path, ok: true, tool: 'unittest', version: '3.11.2', after: 2 }]
    const withTests = (set: ChangeSet): ChangeSet => ({ ...set, evidence: [...set.evidence, ...ran] })
    const first = withTests(setOf({ id: 'c1', path }))
    expect((await compose(first)).proofs).toEqual(['parses true,lint_before_after true,tests_pass true'])
    const other = withTests(setOf({ id: 'c2', path, after: 'def two():\n', text: '    """Two."""\n' }))
    const unproved = ['parses true,lint_before_after true,not_checked true']
    expect((await compose(first, other)).proofs).toEqual(unproved)
    const plain = setOf({ id: 'c3', path, after: 'def two():\n', text: '    """Two."""\n' })
    expect((await compose(plain, first)).proofs, 'whichever set comes first').toEqual(unproved)
  })

  it('is proved anew where another set changes it, too', async () => {
    const first = setOf({ id: 'c1', path: 'shared.py' })
    const other = setOf({ id: 'c2', path: 'shared.py', after: 'def two():\n', text: '    """Two."""\n' })
    expect((await compose(first, other)).checked).toEqual(['shared.py'])
    const broken = setOf({ id: 'c3', path: 'shared.py', after: 'def two():\n', text: '    return (\n' })
    expect((await compose(first, broken)).conflicts).toEqual(['shared.py'])
  })
})
