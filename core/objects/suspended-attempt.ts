import { z } from 'zod'
import { isErrorCode, type ErrorCode } from '#domain/error.ts'
import { JournalEntry } from '#domain/external-journal.ts'
import { AskedQuestion } from '#domain/question.ts'
import { RequestedCall, TokenUsage } from '#domain/turn.ts'
import { AttemptRecord } from './attempt-record.ts'

/**
 * A script that waits for an answer: run again with the same inputs over `journal`, it asks the same again. Another text
 * of the script, by its hash, cannot go on where this one stopped.
 */
export const WaitingScript = z.strictObject({
  scriptHash: z.string(),
  inputs: z.record(z.string(), z.unknown()),
  /** What the host answered before it asked. */
  journal: z.array(JournalEntry),
  asked: z.strictObject({ name: z.string(), args: z.array(z.unknown()) }),
})
export type WaitingScript = z.infer<typeof WaitingScript>

/** Where the agent's loop stands. */
export const SuspendedLoop = z.strictObject({
  turn: z.int().min(1),
  /** The calls of this turn that are still to be carried out; the first is the one that waits. */
  calls: z.array(RequestedCall).min(1),
  /** What the loop forgives only so often. */
  corrected: z.boolean(),
  refusedSubmissions: z.int().min(0),
  unverifiedSubmissions: z.int().min(0).default(0),
  overstatedSubmissions: z.int().min(0).default(0),
  /** Why a submission among the calls of this turn before these was not taken; null: there was none. */
  refusal: z
    .strictObject({
      kind: z.enum(['refused', 'unverified', 'overstated']).default('refused'),
      code: z.custom<ErrorCode>(isErrorCode),
      reason: z.string(),
    })
    .nullable(),
})
export type SuspendedLoop = z.infer<typeof SuspendedLoop>

/**
 * An attempt that waits for a person, in one object: what another attempt, in another process on another day, needs to
 * go on. Written before the ledger refers to it.
 */
export const SuspendedAttempt = z.strictObject({
  ...AttemptRecord.omit({ changeSet: true, outcome: true }).shape,
  question: AskedQuestion,
  /** How long this attempt and those it went on from have run, without waiting. */
  spentMs: z.number().min(0),
  usage: TokenUsage,
  loop: SuspendedLoop,
  waiting: WaitingScript,
  written: z.array(z.strictObject({ path: z.string(), text: z.string() })),
})
export type SuspendedAttempt = z.infer<typeof SuspendedAttempt>
