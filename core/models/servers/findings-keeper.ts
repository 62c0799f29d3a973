import type { Findings } from './findings.ts'

/** Who probes a server for a model, and what was found: one process alone, or all together (shared-findings.ts). */
export type FindingsKeeper = {
  /**
   * `mine`: nobody probes, and it is this process's turn until it rests. `others`: another does, look again
   * soon. `rest`: what is known goes for so long, in milliseconds. Never rejects.
   */
  turn(server: string, model: string): Promise<Turn>
  /** Keeps the turn, which another takes otherwise after a while, until the answer is called. Neither rejects. */
  keepTurn(server: string, model: string): () => Promise<void>
  /** What has been found so far in this turn. Never rejects. */
  note(server: string, model: string, findings: Findings): Promise<void>
  /** Ends the turn: what was found goes for so long. Never rejects. */
  rest(server: string, model: string, findings: Findings, restMs: number): Promise<void>
  /** Ends the rest of what is known, unless that was done within a minute. Never rejects. */
  doubt(server: string, model: string): Promise<void>
}

export type Turn =
  | { kind: 'mine'; known: Findings | undefined }
  | { kind: 'others'; known: Findings | undefined }
  | { kind: 'rest'; known: Findings; restMs: number }

/** For a process that has its servers to itself. */
export function openLocalFindings(): FindingsKeeper {
  return {
    turn: async () => ({ kind: 'mine', known: undefined }),
    keepTurn: () => async () => {},
    async note() {},
    async rest() {},
    async doubt() {},
  }
}
