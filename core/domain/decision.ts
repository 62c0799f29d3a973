import { z } from 'zod'
import { OperationId, RunId } from './id-schemas.ts'

/** What people, or the policy of a run, say about a change set. `pending`: nothing yet, or not any more. */
export const Verdict = z.enum(['pending', 'accepted', 'rejected'])
export type Verdict = z.infer<typeof Verdict>

export const maxReasonCharacters = 2_000

/** The last decision on a change set. There is one, whichever run of a chain of retries shows the set. */
export const Decision = z.strictObject({
  changeSetId: z.string(),
  verdict: Verdict,
  /** Why, as who decided said it: of a rejection, what the next attempt is told. */
  reason: z.string().nullable(),
  /** Of a set that was decided with another one: with which. A decision of an earlier version has it in `reason`. */
  note: z.string().optional(),
  /** Number of its event; greater than that of every earlier decision. */
  version: z.int().min(1),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** Kind and id of who decided: `human/<token>`. */
  by: z.string(),
  /**
   * What the token of who decided was called then. Kept with the decision: a token may be revoked, and who has decided is still to
   * be known. Absent for a token without a name, and for the operator's and the policy's decisions.
   */
  byName: z.string().optional(),
  /** The agent that made the set. */
  agent: z.string(),
  /** The run and operation that made the set, and the record that holds it. */
  runId: RunId,
  operationId: OperationId,
  recordHash: z.string(),
  /** Of a rejection: the run for whose end its operation is to be tried again, with the reason. */
  retry: RunId.optional(),
})
export type Decision = z.infer<typeof Decision>

/** Whether a person has decided it, and not the policy of the run. */
export function isByPerson({ by }: Pick<Decision, 'by'>): boolean {
  return by.startsWith('human/')
}

/** `eve (human/<token>)`: the name for people to read, the id since names are not unique. */
export function deciderOf({ by, byName }: Pick<Decision, 'by' | 'byName'>): string {
  return byName === undefined ? by : `${byName} (${by})`
}
