import { z } from 'zod'
import { OperationId } from '#domain/id-schemas.ts'
import { operationSteps } from '#domain/operation.ts'
import { orNull, Time } from './wire-parts.ts'

/** Says what a running operation does: it makes ready, waits for a slot of the model servers or for their answer, runs a tool, is proved, or waits for a person. */
export const DoingKind = z.enum(['prepare', 'slot', 'model', 'tool', 'proof', 'person']).meta({
  id: 'DoingKind',
  description: 'what an operation does: `slot` waits for a free slot of the model servers, `model` for an answer',
})
export type DoingKind = z.infer<typeof DoingKind>

export const ActiveOperation = z
  .strictObject({
    operation_id: OperationId,
    agent: z.string(),
    path: z.string(),
    qualified_name: z.string(),
    node_id: z.string(),
    status: z.enum(['running', 'waiting']).meta({ id: 'ActiveStatus' }),
    attempt: z.int(),
    turn: z.int().optional().meta({
      description: '0 before its first request to a model; absent while it waits for a person',
    }),
    current_step: z.enum(operationSteps).meta({
      id: 'OperationStep',
      description:
        'the part of its work that it is in: `observing` has been told what a tool returned, `deferred` waits for a person, `synthesizing` is proved',
    }),
    doing: DoingKind,
    tool: z.string().optional().meta({ description: 'the tool that it runs' }),
    question: z.string().optional().meta({ description: 'the id of the question that a person has to answer' }),
    since: Time.meta({
      description: 'since when it does this; of one that waits for a person, when its attempt began',
    }),
  })
  .meta({ id: 'ActiveOperation' })
export type ActiveOperation = z.infer<typeof ActiveOperation>

const Pace = z
  .strictObject({
    operations: z.int().meta({ description: 'that ended' }),
    tokens_in: z.int(),
    tokens_out: z.int(),
  })
  .meta({ id: 'Pace', description: 'of the last minute' })

const EstimatedEnd = z
  .strictObject({
    at: Time,
    how: z.string().meta({ description: 'what it is computed from, in words' }),
  })
  .meta({ id: 'EstimatedEnd', description: 'null where nothing tells it: too little has ended, or the run waits' })
export type EstimatedEnd = z.infer<typeof EstimatedEnd>

/** What happens in a run now. */
export const liveShape = {
  current_step: z.string().meta({ description: 'what the run does now, in words' }),
  active_operations: z.array(ActiveOperation).meta({
    description: 'the first 100 operations that run, or that wait for a person',
  }),
  active: z
    .record(DoingKind, z.int())
    .meta({ id: 'ActiveCounts', description: 'how many operations do what, also those that are not listed' }),
  model_requests: z.int().meta({ description: 'requests that a model server works on' }),
  tokens_in: z.int().meta({ description: 'tokens of the prompts of all answers so far' }),
  tokens_out: z.int().meta({ description: 'tokens of all answers so far' }),
  last_minute: Pace,
  estimated_end: orNull(EstimatedEnd),
} as const
