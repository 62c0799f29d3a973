import { z } from '@hono/zod-openapi'
import { Time } from '../http/schema-parts.ts'

const AwayServer = z
  .strictObject({
    url: z.string().openapi({ description: 'without its login' }),
    has_answered: z
      .boolean()
      .openapi({ description: 'whether it has ever answered its workers, if only with an error' }),
    last_error: z.string().nullable(),
    next_probe: Time.nullable().openapi({ description: 'when it is asked next' }),
  })
  .openapi('AwayServer')

const WaitsForModel = z
  .strictObject({
    kind: z.literal('models'),
    model: z.string().openapi({ description: "as bundles name it; `default` for the workers' own" }),
    since: Time.openapi({ description: 'since when none of its servers has worked' }),
    servers: z.array(AwayServer).openapi({ description: 'as live workers see them; none while no worker lives' }),
  })
  .openapi('WaitsForModel')

const WaitsForAnswer = z
  .strictObject({
    kind: z.literal('answer'),
    questions: z.int().openapi({ description: 'that people have to answer' }),
  })
  .openapi('WaitsForAnswer')

const WaitsForStore = z
  .strictObject({
    kind: z.literal('store'),
    store: z.literal('object_store'),
    state: z.enum(['away', 'full']).openapi('StoreState'),
    message: z.string(),
  })
  .openapi('WaitsForStore', {
    description:
      'the object store, as the API or the first worker that cannot use it finds it; the run stays `running`',
  })

const WaitsForBudget = z
  .strictObject({
    kind: z.literal('budget'),
    of: z
      .enum(['run', 'project'])
      .openapi('BudgetOwner', { description: "whose is used up: the run's own, or that of its project for today" }),
    limit: z.int().openapi({ description: 'in tokens' }),
    used: z.int(),
    since: Time,
    resets_at: Time.nullable().openapi({
      description:
        'when the day of a project ends (UTC), and the run goes on; null of a run: it goes on when its budget is raised',
    }),
  })
  .openapi('WaitsForBudget')

/** What operations of a run wait for, and the run does not have in its hands. */
export const WaitingFor = z
  .discriminatedUnion('kind', [WaitsForModel, WaitsForAnswer, WaitsForStore, WaitsForBudget])
  .openapi('WaitingFor')
export type WaitingFor = z.infer<typeof WaitingFor>
