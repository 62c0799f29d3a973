import { cp, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { BenchPackage } from '../bench-packages.ts'
import { runTests } from '../check-tree.ts'
import { lostTests } from '../compare-states.ts'
import { retryLost } from '../measure-package.ts'
import { preparePackage } from '../prepare-package.ts'
import { applyPatch, startRemora } from '../run-remora.ts'

const Result = z.object({
  result: z.looseObject({
    agents: z.record(z.string(), z.looseObject({ succeeded: z.int() })),
    gate: z
      .looseObject({
        verdict: z.string(),
        reason: z.string().optional(),
        tests: z.int().nullable(),
        failing_total: z.int(),
        runs: z.int(),
        duration_ms: z.number(),
        left_out: z.int(),
      })
      .nullable(),
    conflicts: z.array(z.looseObject({ agent: z.string().optional(), error_code: z.string(), reason: z.string() })),
  }),
})

/** What a gate made of the work of three agents, one of which breaks every tenth function. */
export type GatedPackage = {
  one: BenchPackage
  /** Tests of the sdist that pass outside of the sandbox, and those of them that do not any more with the patch. */
  passed: number
  worse: readonly string[]
  flaky: readonly string[]
  patchApplies: boolean
  /** Change sets of the breaking agent, and those left out: with a failing test, or unproved when the gate had to end. */
  broken: number
  culprits: number
  innocentCulprits: number
  unproved: number
  gate: z.infer<typeof Result>['result']['gate']
}

const agentsDir = fileURLToPath(new URL('agents', import.meta.url))
export const bounds = { maxRuns: 120, limitS: 300 }

/**
 * Runs lint, docstring and the breaking agent over a package with its own tests as the gate, in the sandbox, which has the package's
 * virtual environment; applies the patch and runs the tests outside of it, before and after.
 */
export async function measureGate(one: BenchPackage, cache: string): Promise<GatedPackage> {
  const prepared = await preparePackage(one, cache)
  const [before, after] = [join(prepared.work, 'before'), join(prepared.work, 'after-gate')]
  for (const tree of [before, after]) {
    await rm(tree, { recursive: true, force: true })
    await cp(prepared.tree, tree, { recursive: true, verbatimSymlinks: true })
  }
  console.log(`${one.name}: remora run`)
  const tests = ['-m', 'pytest', '-q', ...one.tests].join(' ')
  const command = `PYTHONPATH=/workspace/${one.sources}:/workspace PYTHONHASHSEED=0 ${prepared.python} ${tests}`
  const run = await startRemora(prepared.tree, {
    folder: join(prepared.work, 'remora-gate'),
    work: prepared.work,
    // Tests have keys of their own, which are not sent otherwise.
    options: ['--agents', 'lint,docstring,breaking', '--include-secrets', '--verify', command],
    env: {
      REMORA_AGENTS_DIR: agentsDir,
      REMORA_SANDBOX_PATHS: dirname(dirname(prepared.python)),
      REMORA_SANDBOX_MEMORY_MB: '2048',
      REMORA_SANDBOX_PROCESSES: '512',
      REMORA_SANDBOX_TIMEOUT_S: '600',
      REMORA_VERIFY_MAX_RUNS: String(bounds.maxRuns),
      REMORA_VERIFY_LIMIT_S: String(bounds.limitS),
    },
  })
  const { result } = Result.parse(JSON.parse(run.result))
  const patchApplies = await applyPatch(run.patch, after, prepared.work)
  const states = {
    before: await runTests({ one, prepared, tree: before }),
    after: await runTests({ one, prepared, tree: after }),
  }
  const lost = await retryLost({ one, prepared, tree: after }, lostTests(states.before, states.after))
  const convicted = result.conflicts.filter(({ error_code: code }) => code === 'WORK_007')
  const proved = convicted.filter(({ reason }) => !reason.startsWith('not proved'))
  return {
    one,
    passed: states.before.passed.length,
    ...lost,
    patchApplies,
    broken: result.agents['breaking']?.succeeded ?? 0,
    culprits: proved.length,
    innocentCulprits: proved.filter(({ agent }) => agent !== 'breaking').length,
    unproved: (result.gate?.left_out ?? 0) - proved.length, // the list of conflicts is cut, with the culprits first
    gate: result.gate,
  }
}
