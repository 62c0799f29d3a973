import type { z } from '@hono/zod-openapi'
import { nodeView } from '#domain/code-node.ts'
import type { Operation, Outcome } from '#domain/operation.ts'
import { OperationView, OutcomeView } from '#schemas/operation-schema.ts'
import { isoTime, viewOf } from '../../http/schema-parts.ts'

export function operationView(operation: Operation): OperationView {
  const { bundle, node, startedAt, endedAt, outcome } = operation
  return viewOf(OperationView, operation, {
    agent: bundle,
    node: nodeView(node),
    repeats: operation.repeats?.operationId ?? null,
    started_at: isoTime(startedAt),
    ended_at: isoTime(endedAt),
    outcome: outcome === null ? null : outcomeView(outcome),
  })
}

function outcomeView(outcome: Outcome): z.infer<typeof OutcomeView> {
  const tokens = { prompt: outcome.promptTokens, completion: outcome.completionTokens }
  return viewOf(OutcomeView, outcome, { tokens })
}
