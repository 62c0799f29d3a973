import { z } from 'zod'
import { delay } from '#platform/clock.ts'
import { storeEnv } from '../../tests/services.ts'
import type { Moment, WholeSystem } from './whole-system.ts'

const RunState = z.looseObject({
  status: z.string(),
  phase: z.string(),
  counts: z.record(z.string(), z.int()),
})
export type FollowedRun = {
  state: z.infer<typeof RunState>
  /** What the system had done when the run was first seen in a phase, and when it had `ended`. */
  reached: Map<string, Moment>
}

const ended = ['completed', 'failed', 'cancelled']

/** Asks for a run every `pollMs` until it has ended. */
export async function followRun(
  system: WholeSystem,
  runId: string,
  { pollMs, onPoll }: { pollMs: number; onPoll?: () => Promise<void> },
): Promise<FollowedRun> {
  const reached = new Map<string, Moment>()
  for (;;) {
    const state = RunState.parse(await (await system.services.api.ask(`/v1/runs/${runId}`)).json())
    const phase = ended.includes(state.status) ? 'ended' : state.phase
    if (!reached.has(phase)) reached.set(phase, await system.moment())
    await onPoll?.()
    if (phase === 'ended') return { state, reached }
    await delay(pollMs)
  }
}

/** `remora verify` as its user calls it: the time with the program's start, and what it says where it finds something. */
export async function verifyRun(
  { programs, stores }: WholeSystem,
  runId: string,
): Promise<{ ms: number; fault: string[] }> {
  const startedAt = performance.now()
  const program = programs.start(['cli/remora.mjs', 'verify', runId], { env: storeEnv(stores) })
  const code = await program.exited
  return { ms: performance.now() - startedAt, fault: code === 0 ? [] : [`verify: ${program.out()}${program.err()}`] }
}
