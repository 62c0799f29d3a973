import type { ModelRequest } from '#domain/turn.ts'
import type { HistoryLimits } from './history.ts'

/** How the loop asks, and the limits it keeps. */
export type AgentSettings = HistoryLimits &
  Pick<ModelRequest, 'model' | 'temperature' | 'maxTokens' | 'parallelCalls' | 'constraint' | 'prefixKey'> & {
    /** Of all turns but the last, which must submit. */
    toolChoice: 'required' | 'auto'
    maxTurns: number
    /** Calls of one reply that run at once, of tools that only read. */
    parallelTools: number
    /** How often a submission that does not hold is given back. */
    verifyAttempts: number
  }
