import type { DecodingConstraint } from '#domain/turn.ts'
import type { ModelPool } from '#models/model-pool.ts'

/** What of a request a side decides. */
export type SideSettings = {
  toolChoice: 'required' | 'auto'
  /** What holds the reply to the form of a call beside it, as a bundle's `grammar.strategy`. */
  constraint: DecodingConstraint
  temperature: number
  maxTokens: number
  /** Whether the system prompt lists the tools. */
  toolGuide: boolean
  /** Whether replies come piece by piece, which tells the time to the first token. */
  stream: boolean
}

/** One of the two that are compared, or the only one: a model on its servers, asked in one way. */
export type Side = {
  /** The servers, for people. */
  servers: string
  /** The name the model is asked for by. */
  model: string
  settings: SideSettings
  pool: Pick<ModelPool, 'complete'>
}
