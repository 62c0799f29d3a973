import type { Doing } from '#store/ledger/live-state.ts'
import type { AgentEvent } from '../agent/journal.ts'

/** What an attempt does without an event that tells it. */
export type Untold = 'slot' | 'model' | 'proof'

/** Follows what an attempt does. Times are of this machine's clock, in ms since the epoch. */
export function openDoing() {
  let now: Doing = { kind: 'prepare', turn: 0, afterTool: false, sinceMs: Date.now() }
  let told: Doing | undefined
  const set = (next: Pick<Doing, 'kind' | 'what'>, { turn, afterTool }: Pick<Doing, 'turn' | 'afterTool'> = now) => {
    now = { ...next, turn, afterTool, sinceMs: Date.now() }
  }
  return {
    after(event: AgentEvent) {
      const next = doingAfter(event)
      if (next === undefined) return
      const turn = turnOf(event) ?? now.turn
      const goesOn = now.turn === 0 && turn > 1 // an attempt that another one has begun
      set(next, { turn, afterTool: now.afterTool || goesOn || event.event === 'tool.returned' })
    },
    does(kind: Untold) {
      if (now.kind !== kind) set({ kind })
    },
    /** Undefined where the ledger knows it already. */
    untold: () => (now === told ? undefined : now),
    wasTold: (doing: Doing | undefined) => void (told = doing ?? told),
  }
}

function doingAfter({ event, toolName }: AgentEvent): Pick<Doing, 'kind' | 'what'> | undefined {
  switch (event) {
    case 'model.requested':
      return { kind: 'slot' }
    case 'tool.called':
      return { kind: 'tool', ...(toolName !== undefined && { what: toolName }) }
    case 'model.responded':
    case 'tool.returned':
      return { kind: 'prepare' }
    default:
      return undefined
  }
}

function turnOf({ data }: AgentEvent): number | undefined {
  return 'turn' in data && typeof data.turn === 'number' ? data.turn : undefined
}
