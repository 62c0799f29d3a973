import { refuse } from './answers.ts'
import type { Viewer } from './authenticate.ts'
import type { World } from './world.ts'

export type RateLimits = ReturnType<typeof openRateLimits>

const hourMs = 3_600_000

/** The hourly budget of requests that each installation, the app, and everybody without credentials has. */
export function openRateLimits(world: Pick<World, 'now'>, options: { limit: number }) {
  const budgets = new Map<string, { used: number; resetAt: number }>()
  let { limit } = options

  function budgetOf(viewer: Viewer) {
    const key = viewer.kind === 'installation' ? String(viewer.token.installation.id) : viewer.kind
    const known = budgets.get(key)
    if (known !== undefined && known.resetAt > world.now().getTime()) return known
    const fresh = { used: 0, resetAt: world.now().getTime() + hourMs }
    budgets.set(key, fresh)
    return fresh
  }

  function stateOf(viewer: Viewer) {
    const { used, resetAt } = budgetOf(viewer)
    return { limit, used, remaining: Math.max(limit - used, 0), reset: Math.ceil(resetAt / 1_000) }
  }

  return {
    /** From now on, for all budgets; `endsInMs`: those that there are begin anew then. */
    set(newLimit: number, { endsInMs }: { endsInMs?: number } = {}) {
      limit = newLimit
      if (endsInMs === undefined) return
      for (const budget of budgets.values()) budget.resetAt = world.now().getTime() + endsInMs
    },
    spend(viewer: Viewer): void {
      const budget = budgetOf(viewer)
      const who = viewer.kind === 'installation' ? `installation ID ${viewer.token.installation.id}` : viewer.kind
      if (budget.used >= limit) refuse(403, `API rate limit exceeded for ${who}.`)
      budget.used++
    },
    headers(viewer: Viewer): Record<string, string> {
      const state = stateOf(viewer)
      const entries = Object.entries(state).map(([name, value]) => [`x-ratelimit-${name}`, String(value)])
      return { ...Object.fromEntries(entries), 'x-ratelimit-resource': 'core' }
    },
  }
}
