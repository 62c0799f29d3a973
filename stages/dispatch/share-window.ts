import type { ProjectId, RunId } from '#domain/ids.ts'
import { weightOf } from '#domain/run.ts'

export type Demand = {
  runId: RunId
  projectId: ProjectId
  /** 0 runs first … 9. */
  priority: number
  demand: number
}

type Claim = { id: string; weight: number; least: number; most: number }

/**
 * Returns how many operations of each run may be enqueued or running at once. Projects share the window equally, and the runs of
 * a project share its part by the weight `10 − priority`: priority 0 gets ten times what priority 9 gets. What one cannot use
 * goes to the others by the same rule (max-min). A run with demand gets at least 1, even where the window is smaller than the
 * number of runs, and never more than its demand; a run without demand is left out of the result. Whole numbers; the order of
 * `demands` does not matter, ties go to the lower id, which is the older run.
 */
export function shareWindow(demands: readonly Demand[], window: number): Map<RunId, number> {
  const byProject = Map.groupBy(
    demands.filter(({ demand }) => demand > 0),
    ({ projectId }) => projectId,
  )
  const projects = [...byProject].map(([id, runs]) => {
    return { id, weight: 1, least: runs.length, most: runs.reduce((sum, { demand }) => sum + demand, 0) }
  })
  const parts = shareOut(projects, window)
  return new Map([...byProject].flatMap(([id, runs]) => [...shareOut(runs.map(claimOf), parts.get(id) ?? 0)]))
}

function claimOf({ runId, priority, demand }: Demand): Claim {
  return { id: runId, weight: weightOf(priority), least: 1, most: demand }
}

/** Says what the dispatcher may hand out, in operations. */
export type Window = {
  /** Limits those that are enqueued or running. */
  size: number
  /** Counts those that are enqueued or running, of all runs. */
  underWay: number
  /** Counts the operations that the workers can run at once. The part above the window is kept for runs that begin. */
  operations: number
}

/**
 * Returns how many operations a run with `underWay` of its `share` may have dispatched now: what is free of the window, and, of
 * what the workers open beyond it, half of what is left less what the run has already. A run with nothing under way has one in
 * any case.
 */
export function openingsOf({ share, underWay }: { share: number; underWay: number }, window: Window): number {
  const wanted = Math.max(0, share - underWay)
  const free = Math.max(0, window.size - window.underWay)
  if (wanted <= free) return wanted
  const room = window.operations - (window.underWay + free) - (underWay + free)
  const beyond = Math.max(0, Math.ceil(room / 2))
  return Math.min(wanted, Math.max(free + beyond, underWay === 0 ? 1 : 0))
}

const halvings = 60

/**
 * Raises one level for all claims: at a level each has `weight × level`, within its bounds. Units that cannot be shared
 * out evenly go to the claim with the lowest level first (D'Hondt).
 */
function shareOut(claims: readonly Claim[], total: number): Map<string, number> {
  let [low, high] = [0, 1 + Math.max(0, ...claims.map(({ most }) => most))]
  for (let step = 0; step < halvings; step++) {
    const level = (low + high) / 2
    if (sumAt(level, claims) > total) high = level
    else low = level
  }
  const next = claims.filter((claim) => shareAt(high, claim) > shareAt(low, claim)).toSorted(byId)
  const first = new Set(next.slice(0, Math.max(0, Math.floor(total) - sumAt(low, claims))))
  return new Map(claims.map((claim) => [claim.id, shareAt(low, claim) + (first.has(claim) ? 1 : 0)]))
}

function shareAt(level: number, { weight, least, most }: Claim): number {
  return Math.min(most, Math.max(least, Math.floor(weight * level)))
}

function sumAt(level: number, claims: readonly Claim[]): number {
  return claims.reduce((sum, claim) => sum + shareAt(level, claim), 0)
}

function byId(left: Claim, right: Claim): number {
  return left.id < right.id ? -1 : 1
}
