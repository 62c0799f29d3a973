import type { AgentBundle } from '#domain/agent-bundle.ts'

/** A bundle of the run and the hash it is pinned by. */
export type PinnedBundle = { hash: string; bundle: AgentBundle }
