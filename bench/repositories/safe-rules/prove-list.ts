import { safeRules } from '#lint/safe-fixes.ts'
import { ruffVersion } from '../bench-packages.ts'
import type { Bench } from './test-beds.ts'
import { tryOnTests, type TestTrial } from './try-on-tests.ts'

export type ListProof = TestTrial & { name: string; tests: number }

/** Ruff alone would make every fix of these; the product makes some, on conditions of its own (core/lint/fixable-faults.ts). */
const conditional = ['F401', 'F811', 'F841']

/** Makes the fixes of the product's list at once, where it lies, and runs the tests of the corpus. */
export async function proveList({ openBed }: Bench): Promise<ListProof> {
  const bed = await openBed()
  const rules = [...safeRules].filter((code) => !conditional.includes(code))
  return { name: bed.name, tests: bed.passing.length, ...(await tryOnTests(bed, rules)) }
}

export function renderSafeList(proofs: readonly ListProof[]): string {
  const today = new Date().toISOString().slice(0, 10)
  const rows = proofs.map(({ name, tests, culprits, together }) => {
    const found = [...culprits].map(([rule, changed]) => `${rule}: ${changed.join(', ')}`)
    const changed = [...found, ...(together.length === 0 ? [] : [`several together: ${together.join(', ')}`])]
    return `| ${name} | ${tests} | ${changed.join('; ') || 'none'} |`
  })
  return `# The product's safe rules, all at once

Written by \`node bench/safe-rules-bench.ts --list\` on ${today}: Ruff ${ruffVersion}. The safe fixes of all rules of
core/lint/safe-fixes.ts but ${conditional.join(', ')}, whose fixes the product judges one by one, are made in every file but
vendored ones and the data of tests, whatever the repository's own rules are; then its tests run. For each change, halving
finds the rule. \`library\` is Python's standard library with \`python -m test\`; its
test_pdb_breakpoints_preserved_across_interactive_sessions expects a function of pdb.py in line 97, so that every fix
changes it that adds or removes a line above.

| corpus | tests that passed | tests that its fixes change |
| --- | --- | --- |
${rows.join('\n')}
`
}
