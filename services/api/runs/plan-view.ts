import { z } from '@hono/zod-openapi'
import type { PlanSummary } from '#objects/plan-summary.ts'
import { viewOf } from '../http/schema-parts.ts'
import { SkippedFileShape } from './run-schema.ts'

const SkippedNodes = z
  .strictObject({ reason: z.string(), count: z.int(), examples: z.array(z.string()) })
  .openapi('SkippedNodes', { description: 'Nodes that an agent takes and has no operation on.' })

const PlannedFolder = z
  .strictObject({ path: z.string(), planned: z.int(), estimated_tokens: z.int() })
  .openapi('PlannedFolder')

const AgentPlanView = z
  .strictObject({
    looked_at: z
      .int()
      .openapi({ description: 'nodes of its kinds and languages: those with an operation, and `skipped`' }),
    planned: z.int().openapi({ description: 'operations with a model' }),
    mechanical: z.int().openapi({ description: 'operations that a program does without one' }),
    estimated_tokens: z.int().openapi({ description: 'prompts and replies together' }),
    skipped: z.array(SkippedNodes),
    folders: z.array(PlannedFolder),
  })
  .openapi('AgentPlan')

/** What planning decided: per agent what was looked at, what is planned and where, what is left out and why. */
export const PlanView = z
  .strictObject({
    nodes_looked_at: z.int().optional().openapi({
      description: 'distinct nodes that any agent looked at; absent in runs of earlier versions, as is `beyond_limit`',
    }),
    beyond_limit: z.int().optional().openapi({ description: 'operations that `limits.operations` cut off' }),
    agents: z.record(z.string(), AgentPlanView).openapi('AgentPlans'),
    skipped_files: z.array(SkippedFileShape),
    notices: z.array(z.string()).openapi({ description: "what of the repository's configuration is not honoured" }),
  })
  .openapi('Plan')
type PlanView = z.infer<typeof PlanView>

export function planView(plan: PlanSummary): PlanView {
  const agents = Object.entries(plan.agents).map(([name, agent]) => {
    const folders = agent.folders.map((folder) => viewOf(PlannedFolder, folder, {}))
    return [name, viewOf(AgentPlanView, agent, { folders })] as const
  })
  return viewOf(PlanView, plan, { agents: Object.fromEntries(agents) })
}
