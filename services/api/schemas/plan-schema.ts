import { z } from 'zod'
import { SkippedFileShape } from './run-schema.ts'

const SkippedNodes = z
  .strictObject({ reason: z.string(), count: z.int(), examples: z.array(z.string()) })
  .meta({ id: 'SkippedNodes', description: 'Nodes that an agent takes and has no operation on.' })

export const PlannedFolder = z
  .strictObject({ path: z.string(), planned: z.int(), estimated_tokens: z.int() })
  .meta({ id: 'PlannedFolder' })

export const AgentPlanView = z
  .strictObject({
    looked_at: z
      .int()
      .meta({ description: 'nodes of its kinds and languages: those with an operation, and `skipped`' }),
    planned: z.int().meta({ description: 'operations with a model' }),
    mechanical: z.int().meta({ description: 'operations that a program does without one' }),
    estimated_tokens: z.int().meta({ description: 'prompts and replies together' }),
    skipped: z.array(SkippedNodes),
    folders: z.array(PlannedFolder),
  })
  .meta({ id: 'AgentPlan' })

/** Says what planning decided: per agent what was looked at, what is planned and where, what is left out and why. */
export const PlanView = z
  .strictObject({
    nodes_looked_at: z.int().meta({ description: 'distinct nodes that any agent looked at' }),
    beyond_limit: z
      .int()
      .meta({ description: 'operations that `limits.operations` cut off, among the nodes that were looked at' }),
    unchanged: z.int().optional().meta({
      description:
        'nodes that were not looked at because they have not changed; absent where the run is compared with nothing',
    }),
    agents: z.record(z.string(), AgentPlanView).meta({ id: 'AgentPlans' }),
    skipped_files: z.array(SkippedFileShape),
    notices: z.array(z.string()).meta({ description: "what of the repository's configuration is not honoured" }),
  })
  .meta({ id: 'Plan' })
export type PlanView = z.infer<typeof PlanView>
