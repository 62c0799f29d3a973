import { safeRules } from '#languages/python/lint/safe-ruff-fixes.ts'
import { type Column, sectionHead, table } from '../../reports/markdown-report.ts'
import { ruffVersion } from '../bench-packages.ts'
import type { Bench } from './test-beds.ts'
import { tryOnTests, type TestTrial } from './try-on-tests.ts'

export type ListProof = TestTrial & { name: string; tests: number }

/** Ruff alone would make every fix of these; the product makes some, on conditions of its own (languages/python/lint/fixable-faults.ts). */
const conditional = ['F401', 'F811', 'F841']

/** Makes the fixes of the product's list at once, where it lies, and runs the tests of the corpus. */
export async function proveList({ openBed }: Bench): Promise<ListProof> {
  const bed = await openBed()
  const rules = [...safeRules].filter((code) => !conditional.includes(code))
  return { name: bed.name, tests: bed.passing.length, ...(await tryOnTests(bed, rules)) }
}

const columns: readonly Column<ListProof>[] = [
  ['corpus', ({ name }) => name],
  ['tests that passed', ({ tests }) => tests],
  ['tests that its fixes change', changedTests],
]

function changedTests({ culprits, together }: ListProof): string {
  const found = [...culprits].map(([rule, changed]) => `${rule}: ${changed.join(', ')}`)
  return [...found, ...(together.length === 0 ? [] : [`several together: ${together.join(', ')}`])].join('; ') || 'none'
}

/** repositories/safe-list.md */
export function renderSafeList(proofs: readonly ListProof[]): string {
  const origin = { command: 'node bench/safe-rules-bench.ts --list', facts: [`Ruff ${ruffVersion}`] }
  return `${sectionHead("The product's safe rules, all at once", origin)}The safe fixes of all rules of
languages/python/lint/safe-ruff-fixes.ts but ${conditional.join(', ')}, whose fixes the product judges one by one, are made in every file but
vendored ones and the data of tests, whatever the repository's own rules are; then its tests run. For each change, halving
finds the rule. \`library\` is Python's standard library with \`python -m test\`; its
test_pdb_breakpoints_preserved_across_interactive_sessions expects a function of pdb.py in line 97, so that every fix
changes it that adds or removes a line above.

${table(columns, proofs)}
`
}
