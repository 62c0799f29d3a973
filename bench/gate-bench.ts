import { parseArgs } from 'node:util'
import { saveReport, sectionHead, table } from './reports/markdown-report.ts'
import { benchPackages } from './repositories/bench-packages.ts'
import { bounds, type GatedPackage, measureGate } from './repositories/gate/measure-gate.ts'
import { cacheFolder } from './repositories/prepare-package.ts'

/**
 * `node bench/gate-bench.ts`: `remora run --verify` with the packages' own tests, while an agent breaks every tenth function. Writes
 * results/gate.md. With `--packages a,b`, or `--quick` (the smallest one), it only prints. Exit code 1 when a test that passed does
 * not pass any more with the patch.
 */
const { packages, quick } = parseArgs({
  options: { packages: { type: 'string' }, quick: { type: 'boolean', default: false } },
}).values

// What it has started ends with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const named = quick ? ['pycodestyle'] : packages?.split(',')
const chosen = benchPackages.filter(({ name }) => named?.includes(name) ?? true)
if (chosen.length < (named?.length ?? 1))
  throw new Error(`there are ${benchPackages.map(({ name }) => name).join(', ')}`)

const measured: GatedPackage[] = []
for (const one of chosen) {
  const result = await measureGate(one, cacheFolder())
  measured.push(result)
  console.log(`${one.name}: ${result.worse.length === 0 ? 'no test is worse' : result.worse.join(', ')}`)
}

const text = `${sectionHead('Tests of repositories with a gate', { command: 'node bench/gate-bench.ts' })}
\`remora run --agents lint,docstring,breaking --verify\` with the rehearsal model over sdists of PyPI. The agent \`breaking\` puts \`not\` behind each
\`return\` of every function that begins in a line of a full ten. The gate is the package's own tests in the sandbox, at most ${bounds.maxRuns} runs in ${bounds.limitS} s; at that bound it leaves out what is not proved. The tests then run outside
of the sandbox without and with the patch; one that got worse is run once more, alone, on both.

${table<GatedPackage>(
  [
    ['', ({ one }) => `**${one.name}** ${one.version}`],
    ['tests passed → worse', ({ passed, worse }) => `${passed} → ${worse.length}`],
    ['functions broken', ({ broken }) => broken],
    ['left out with a failing test', ({ culprits }) => culprits],
    ['of them of other agents', ({ innocentCulprits }) => innocentCulprits],
    ['left out unproved', ({ unproved }) => unproved],
    ['gate', ({ gate }) => gateText(gate)],
  ],
  measured,
)}
${measured.flatMap(({ one, patchApplies }) => (patchApplies ? [] : `\n**Not proved:** the patch of ${one.name} does not apply.\n`)).join('')}
The gate proves that no test gets worse, not that nothing is broken: a broken function stays when no test looks at its results. On a busy
machine fewer changes are proved in the same time.
`
await saveReport('gate', text, { quick: named !== undefined })
process.exitCode = measured.every(({ worse, patchApplies }) => worse.length === 0 && patchApplies) ? 0 : 1

function gateText(gate: GatedPackage['gate']): string {
  if (gate === null) return 'none'
  const { verdict, reason, runs, duration_ms: ms } = gate
  const why = reason === undefined ? '' : verdict === 'passed' ? ', at the bound' : `: ${reason}`
  return `${verdict}, ${runs} runs in ${Math.round(ms / 1_000)} s${why}`
}
