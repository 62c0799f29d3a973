import { randomUUID } from 'node:crypto'
import type { RunId } from '#domain/ids.ts'
import { isEnded, type Run } from '#domain/run.ts'
import { delay } from '#platform/clock.ts'
import { until } from '#testing/until.ts'
import { sourceFolder } from '../source-folder.ts'
import type { PushedHistory } from './chaos-host.ts'
import type { ChaosStack } from './chaos-stack.ts'
import type { HistoryRun } from './check-run.ts'
import type { History } from './draw-history.ts'
import { describeFault, type Fault } from './fault.ts'
import { type FaultTargets, injectFault } from './inject-fault.ts'
import { submitWithRetries } from './chaos-clients.ts'
import { openRandom } from '#platform/seeded-random.ts'

export type FaultyRuns = {
  runs: HistoryRun[]
  /** A line per fault: its kind, and what it affected. */
  met: string[]
  /** What was pushed; undefined when nothing was. */
  pushed: PushedHistory | undefined
  violations: string[]
}

/** Submits the history's runs, makes its pushes and injects its faults, each at its time; resolves when the last fault is over. */
export async function runWithFaults(
  history: History,
  stack: ChaosStack,
  onAccepted: (runId: RunId) => void,
): Promise<FaultyRuns> {
  const violations: string[] = []
  const archive = await packed(history.source)
  const startedAt = performance.now()
  const rest = (atMs: number) => delay(Math.max(0, startedAt + atMs - performance.now()))
  const submitted = history.submissions.map(async ({ atMs, request }) => {
    await rest(atMs)
    const runId = await submitWithRetries(stack.api, { request, archive, key: randomUUID() })
    onAccepted(runId)
    return runId
  })
  const answers = Promise.allSettled(submitted)
  const pushing = history.repository && stack.host?.push(history, rest)
  const cancelled = new Set<number>()
  const faults = history.faults.map(({ kind }) => kind)
  const targets = { stack, latencyMs: history.latencyMs, random: openRandom(history.seed + 1), runOf: at(submitted) }
  const met = await Promise.all(
    history.faults.map(async (fault) => {
      const begun = fault.after === undefined ? rest(fault.atMs) : restAfter(fault.after, fault.atMs, targets)
      const what = await begun
        .then(() => injectFault(fault, targets))
        .catch((error: unknown) => `could not be made: ${String(error)}`)
      if (what.startsWith('could not')) violations.push(`${describeFault(fault)} ${what}`)
      if (fault.kind === 'cancel_run' && what.startsWith('answered 2')) cancelled.add(fault.run)
      return `${describeFault(fault)}: ${what}`
    }),
  )
  const runs: HistoryRun[] = []
  for (const [number, answer] of (await answers).entries()) {
    const submission = history.submissions[number]
    if (answer.status === 'rejected') violations.push(`submission ${number}: ${String(answer.reason)}`)
    else if (submission !== undefined)
      runs.push({ runId: answer.value, request: submission.request, cancelled: cancelled.has(number), faults })
  }
  return { runs, met, pushed: await pushing, violations }
}

const comesWithinMs = 120_000

/** What is waited for may never come: a run may end before an operation of it waits for a tool. */
async function restAfter([what, run]: NonNullable<Fault['after']>, ms: number, { stack, runOf }: FaultTargets) {
  const runId = await runOf(run)
  const has = ({ deferred, status }: Run) => isEnded(status) || (what === 'deferred' && deferred > 0)
  await until(() => stack.ledger.getRun(runId), { holds: has, withinMs: comesWithinMs }).catch(() => {})
  await delay(ms)
}

function at(submitted: readonly Promise<RunId>[]): (submission: number) => Promise<RunId> {
  return async (submission) => {
    const runId = await submitted[submission]
    if (runId === undefined) throw new Error(`there is no submission ${submission}`)
    return runId
  }
}

async function packed(source: History['source']): Promise<Uint8Array> {
  const folder = await sourceFolder(source)
  try {
    return await folder.pack()
  } finally {
    await folder.remove()
  }
}
