import { spawnSync } from 'node:child_process'

/** Programs that some tests need and a machine may not have, each with arguments that show that it works. */
const proofs = {
  git: ['--version'],
  python3: ['-c', 'import ast, unittest'],
} as const

export type NeededProgram = keyof typeof proofs

const said = new Set<NeededProgram>()

/**
 * For `skipIf`: whether this machine lacks one of the programs that a test needs. The reason is printed once per test
 * file.
 *
 *     it.skipIf(lacks('git'))('makes a patch that git applies', …)
 */
export function lacks(...programs: NeededProgram[]): boolean {
  const missing = programs.filter((name) => !works(name))
  for (const name of missing.filter((one) => !said.has(one))) {
    said.add(name)
    process.stderr.write(`no working ${name} on the PATH: what needs it is skipped\n`)
  }
  return missing.length > 0
}

const known = new Map<NeededProgram, boolean>()

function works(name: NeededProgram): boolean {
  const before = known.get(name)
  if (before !== undefined) return before
  const { status } = spawnSync(name, proofs[name], { stdio: 'ignore' })
  known.set(name, status === 0)
  return status === 0
}
