import { z } from 'zod'
import { LeftOut, next, Time } from './run-views.ts'

export const OperationView = z.looseObject({
  operation_id: z.string(),
  agent: z.string(),
  status: z.string(),
  node: z.looseObject({ qualified_name: z.string(), path: z.string(), kind: z.string() }),
  outcome: z
    .looseObject({
      summary: z.string(),
      error_code: z.string().optional(),
      reason: z.string().optional(),
      change_set_id: z.string().optional(),
    })
    .nullable(),
})
export type OperationView = z.infer<typeof OperationView>

export const OperationPage = z.object({ operations: z.array(OperationView), next })

export const QuestionView = z.looseObject({
  request_id: z.string(),
  operation_id: z.string(),
  agent: z.string(),
  path: z.string(),
  qualified_name: z.string(),
  question: z.string(),
  choices: z.array(z.string()).nullable(),
  status: z.string(),
  asked_at: Time,
  expires_at: Time,
  answer: z.string().nullable(),
})
export type QuestionView = z.infer<typeof QuestionView>

export const QuestionPage = z.object({ questions: z.array(QuestionView), next })

export const ChangeView = z.looseObject({
  change_set_id: z.string(),
  operation_id: z.string(),
  agent: z.string(),
  path: z.string().default(''),
  qualified_name: z.string().default(''),
  diff: z.string(),
  evidence: z
    .array(
      z.looseObject({
        check: z.string(),
        /** Of `not_checked`: the check that could not be made. */
        of: z.string().optional(),
        path: z.string(),
        ok: z.boolean(),
        detail: z.string().optional(),
      }),
    )
    .default([]),
  /** Whether a later retry ran its operation again: it counts only if it is accepted. */
  is_redone: z.boolean().default(false),
  conflict: LeftOut.optional(),
})
export type ChangeView = z.infer<typeof ChangeView>

export const ChangePage = z.object({ changes: z.array(ChangeView), next })
