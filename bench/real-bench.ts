import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureOperations } from './real/measure-operations.ts'
import { measureSurvey } from './real/measure-survey.ts'
import { type MeasuredTree, type RealRound, renderReal } from './reports/real-report.ts'
import { median, saveReport } from './reports/markdown-report.ts'
import { realTrees } from './subjects/real-trees.ts'

/**
 * `node bench/real-bench.ts`: what the survey, the operations and the composition of real repositories cost: Python's standard
 * library, and the sources of a TypeScript library. `--limit` is the number of operations of a run, by default 300, so that it
 * takes minutes. Writes results/real.md; with `--quick`, for a part of both trees, it only prints.
 */
const { quick, limit } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, limit: { type: 'string' } },
}).values
const rounds = quick ? 1 : 3
const scale = { limit: Number(limit ?? (quick ? 30 : 300)), slots: 16 }

const startedAt = performance.now()
const dir = await mkdtemp(join(tmpdir(), 'remora-bench-'))
try {
  const measured: (MeasuredTree & { rounds: RealRound[] })[] = []
  for (const tree of await realTrees(dir, { quick })) measured.push({ tree, rounds: [] })
  const loads: number[] = []
  for (let round = 1; round <= rounds; round++) {
    for (const { tree, rounds: all } of measured) {
      console.log(`round ${round} of ${rounds}: ${tree.name}`)
      const survey = await measureSurvey(tree, dir)
      const work = await measureOperations(tree, scale, dir)
      all.push({ survey, work })
      loads.push(loadavg()[0] ?? 0)
      console.log(JSON.stringify({ dryRunCpuMs: survey.dryRun.cpuMs, spent: work.spent, faults: work.faults }))
    }
    const tookMs = performance.now() - startedAt
    // After each round, since one may take long.
    await saveReport('real', renderReal(measured, { ...scale, rounds: round, tookMs, load: median(loads) }), { quick })
  }
  const isProved = measured.every((one) => one.rounds.every(({ work }) => work.faults.length === 0))
  process.exitCode = isProved ? 0 : 1
} finally {
  await rm(dir, { recursive: true, force: true })
}
