import { join } from 'node:path'
import { openModelPool } from '#models/model-pool.ts'
import { watchEvents } from '#stages/watch/detectors.ts'
import { aHistory } from '#stages/watch/histories.fixture.ts'
import { openSpending } from '#stages/operate/agent/typed-submission.ts'
import { reviewWindow } from '#stages/watch/review-window.ts'
import { usualThresholds } from '#stages/watch/usual-thresholds.fixture.ts'
import { unwatched } from '#stages/watch/watch-state.ts'
import { aNewRun } from '#testing/open-test-ledger.ts'
import { repository } from '../program.ts'
import { type ModelOrder, playRun, requestLimitS, type RunEvent } from './measure-server.ts'
import { modelName } from './start-server.ts'

/** `decisions`: by their kind. `ends`: by status and code. `reviews`: of windows of the watcher, by what came of them. */
export type ObjectiveFigures = {
  runs: number
  decisions: Record<string, number>
  ends: Record<string, number>
  reasons: string[]
  reviews: Record<string, number>
}

const objective = 'every function has a docstring'
const decided = new Set(['agenda.decided', 'conductor.decided', 'objective.refined'])
const ends = new Set(['run.completed', 'run.blocked', 'run.failed', 'run.cancelled'])
const shownReasons = 5

/** Has the model plan some runs of the example for an objective, and judge as many windows of histories with a planted trouble. */
export async function measureObjective(order: ModelOrder, runs: number): Promise<ObjectiveFigures> {
  const figures: ObjectiveFigures = { runs, decisions: {}, ends: {}, reasons: [], reviews: {} }
  const reasons = new Set<string>()
  for (let run = 0; run < runs; run += 1) {
    const source = join(repository, 'examples/inventory')
    const { events } = await playRun(order, { source, agents: 'docstring', limit: 2, objective })
    for (const event of events.filter((one) => decided.has(one.event))) count(figures.decisions, decisionOf(event))
    for (const event of events.filter((one) => ends.has(one.event))) {
      count(figures.ends, [event.event, event.error_code ?? ''].join(' ').trim())
      if (typeof event.data['reason'] === 'string') reasons.add(event.data['reason'].slice(0, 300))
    }
  }
  for (let seed = 1; seed <= runs; seed += 1) count(figures.reviews, await reviewOf(order, seed))
  return { ...figures, reasons: [...reasons].slice(0, shownReasons) }
}

function decisionOf({ event, data }: RunEvent): string {
  return event === 'agenda.decided' ? 'plan' : event === 'objective.refined' ? 'refine' : String(data['kind'])
}

async function reviewOf({ url, signal }: ModelOrder, seed: number): Promise<string> {
  const { events, budget } = aHistory(seed, 'failure_spike')
  const [window] = watchEvents(unwatched, events, { thresholds: usualThresholds, budget }).pending
  if (window === undefined) return 'no window'
  const limits = { requestTimeoutMs: requestLimitS * 1000, retryBudgetMs: 1, maxInFlight: 1 }
  const model = openModelPool({ endpoints: [{ url }], ...limits })
  try {
    const run = { ...aNewRun(), status: 'running', phase: 'execution', counts: {} } as const
    const asked = async () => ({ model: modelName, temperature: 0, toolChoice: 'required' }) as const
    const seen = events.filter(({ seq }) => seq >= window.from_seq && seq <= window.to_seq)
    const spending = openSpending({ budget: null, day: { granted: null, returned: 0 } }, async () => 'reserved')
    const review = await reviewWindow({ model, asked }, { run, window, events: seen, spending }, signal)
    return review.kind === 'failed' ? `failed ${review.code ?? ''}: ${review.reason.slice(0, 200)}` : review.kind
  } finally {
    await model.close()
  }
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1
}
