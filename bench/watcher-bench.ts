import { parseArgs } from 'node:util'
import { escalationKinds } from '#domain/agenda.ts'
import { aHistory, type TroubleKind } from '#stages/watch/histories.fixture.ts'
import { missed, windowsOf } from '#stages/watch/judge-detectors.fixture.ts'
import { usualThresholds } from '#stages/watch/usual-thresholds.fixture.ts'
import { median, saveReport, sectionHead, table } from './reports/markdown-report.ts'

/**
 * `node bench/watcher-bench.ts`: what the detectors of the watcher choose of simulated runs, healthy ones and others with one planted trouble
 * each. Writes results/watcher.md; with `--quick` it plays a tenth of them and only prints. Fails when a planted trouble is missed.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
/** Those that the thresholds were tuned with are 1 to 999. */
const firstSeed = 50_000_000
const seeds = Array.from({ length: quick ? 20 : 200 }, (_, index) => firstSeed + index)

type Judged = { kind: TroubleKind; runs: number; faults: string[]; shares: number[] }

function judge(kind: TroubleKind): Judged {
  const judged: Judged = { kind, runs: 0, faults: [], shares: [] }
  for (const seed of seeds) {
    const history = aHistory(seed, kind)
    const fault = missed(history, kind)
    judged.runs += 1
    if (fault !== undefined) judged.faults.push(`seed ${seed}: ${fault}`)
    const noticed = windowsOf(history).find((window) => window.kind === kind)
    const { from = 0, until = 1 } = history.trouble ?? {}
    if (noticed !== undefined) judged.shares.push((noticed.at - from) / (until - from))
  }
  return judged
}

let events = 0
const falseAlarms = seeds.flatMap((seed) => {
  const history = aHistory(seed)
  events += history.events.length
  const [window] = windowsOf(history)
  return window === undefined ? [] : [`seed ${seed}: ${window.why}`]
})
const judged = escalationKinds.map(judge)
const faults = judged.flatMap((one) => one.faults)

const text = [
  sectionHead('What the watcher notices', {
    command: 'node bench/watcher-bench.ts',
    facts: ['simulated runs, by the usual thresholds'],
  }),
  `Of ${seeds.length} healthy runs (seeds from ${firstSeed} on, ${Math.round(events / seeds.length)} events each, with failures, timeouts and waits of their own) ${falseAlarms.length} had a`,
  `part chosen: ${falseAlarms.join('; ') || 'none'}.`,
  '',
  'Of runs with one planted trouble, by when it was noticed, of the time allowed (40 further operations; four fifths of the budget; 16 minutes):',
  '',
  table<Judged>(
    [
      ['planted', ({ kind }) => kind],
      ['runs', ({ runs }) => runs],
      ['noticed in time', ({ runs, faults: { length } }) => runs - length],
      ['median', ({ shares }) => `${Math.round(median(shares) * 100)} %`],
      ['last', ({ shares }) => `${Math.round(Math.max(...shares) * 100)} %`],
    ],
    judged,
  ),
  '',
  ...(faults.length === 0 ? [] : [`Not: ${faults.join('; ')}.`, '']),
  `Thresholds: ${Object.entries(usualThresholds)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')}.`,
].join('\n')
await saveReport('watcher', text, { quick })
if (faults.length > 0) process.exitCode = 1
