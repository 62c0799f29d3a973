import { z } from 'zod'
import { ProjectId } from '#domain/id-schemas.ts'
import { BudgetTokens } from '#domain/run.ts'
import { Time } from './wire-parts.ts'

export const ProjectView = z
  .strictObject({
    project_id: ProjectId,
    created_at: Time.nullable().meta({ description: 'null for `default`, which is always there' }),
  })
  .meta({ id: 'Project' })
export type ProjectView = z.infer<typeof ProjectView>

export const ProjectPage = z.strictObject({ projects: z.array(ProjectView) }).meta({ id: 'ProjectPage' })

export const ProjectParams = z.object({ project_id: ProjectId })
const tokensADay = BudgetTokens.nullable()

export const ProjectBudgetView = z
  .strictObject({
    project_id: ProjectId,
    tokens_per_day: tokensADay.meta({ description: 'what counts: the smaller of the next two; null: any number' }),
    set_by_operator: tokensADay,
    set_by_project: tokensADay,
    used_today: z.int().meta({ description: 'by answers of models, also in attempts that go on or were lost' }),
    resets_at: Time.meta({ description: 'midnight in UTC' }),
  })
  .meta({ id: 'ProjectBudget' })
export type ProjectBudgetView = z.infer<typeof ProjectBudgetView>

export const ProjectBudgetBody = z
  .strictObject({
    tokens_per_day: tokensADay.meta({ description: 'prompts and replies together; null: any number' }),
  })
  .meta({ id: 'ProjectBudgetRequest' })
