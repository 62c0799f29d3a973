import { z } from 'zod'
import { OperationId } from './id-schemas.ts'

/** People, or the policy of a run, say this about a change set. `pending` stands for nothing yet, or not any more. */
export const Verdict = z.enum(['pending', 'accepted', 'rejected'])
export type Verdict = z.infer<typeof Verdict>

export const maxReasonCharacters = 2_000

/** The last decision on a change set. */
export const Decision = z.strictObject({
  changeSetId: z.string(),
  verdict: Verdict,
  /** Says why, in the words of the person who decided. The next attempt is told the reason of a rejection. */
  reason: z.string().nullable(),
  /** Names the other set that this one was decided with. */
  note: z.string().optional(),
  /** Is the number of its event; greater than that of every earlier decision. */
  version: z.int().min(1),
  /** Is in milliseconds since the epoch. */
  at: z.number(),
  /** Gives kind and id of who decided: `human/<token>`. */
  by: z.string(),
  /** Keeps the name that the token had then, since it may be revoked. Is absent without a name, and for the operator and the policy. */
  byName: z.string().optional(),
  agent: z.string(),
  /** The operation that made the set, and the record that holds it. */
  operationId: OperationId,
  recordHash: z.string(),
  /** Asks, with a rejection, for the operation to be tried again after the end of the run, with the reason. */
  retry: z.literal(true).optional(),
})
export type Decision = z.infer<typeof Decision>

export function isByPerson({ by }: Pick<Decision, 'by'>): boolean {
  return by.startsWith('human/')
}

/** Writes `eve (human/<token>)`: the name for people to read, the id since names are not unique. */
export function deciderOf({ by, byName }: Pick<Decision, 'by' | 'byName'>): string {
  return byName === undefined ? by : `${byName} (${by})`
}
