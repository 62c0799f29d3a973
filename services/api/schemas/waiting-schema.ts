import { z } from 'zod'
import { Time } from './wire-parts.ts'

const AwayServer = z
  .strictObject({
    url: z.string().meta({ description: 'without its login' }),
    has_answered: z.boolean().meta({ description: 'whether it has ever answered its workers, if only with an error' }),
    last_error: z.string().nullable(),
    next_probe: Time.nullable().meta({ description: 'when it is asked next' }),
  })
  .meta({ id: 'AwayServer' })
export type AwayServer = z.infer<typeof AwayServer>

const WaitsForModel = z
  .strictObject({
    kind: z.literal('models'),
    model: z.string().meta({ description: "as bundles name it; `default` for the workers' own" }),
    since: Time.meta({ description: 'since when none of its servers has worked' }),
    servers: z.array(AwayServer).meta({ description: 'as live workers see them; none while no worker lives' }),
  })
  .meta({ id: 'WaitsForModel' })

const WaitsForAnswer = z
  .strictObject({
    kind: z.literal('answer'),
    questions: z.int().meta({ description: 'that people have to answer' }),
  })
  .meta({ id: 'WaitsForAnswer' })

const WaitsForStore = z
  .strictObject({
    kind: z.literal('store'),
    store: z.literal('object_store'),
    state: z.enum(['away', 'full']).meta({ id: 'StoreState' }),
    message: z.string(),
  })
  .meta({
    id: 'WaitsForStore',
    description:
      'the object store, as the API or the first worker that cannot use it finds it; the run stays `running`',
  })

const WaitsForBudget = z
  .strictObject({
    kind: z.literal('budget'),
    of: z.enum(['run', 'project']).meta({
      id: 'BudgetOwner',
      description: "whose is used up: the run's own, or that of its project for today",
    }),
    limit: z.int().meta({ description: 'in tokens' }),
    used: z.int(),
    needs: z.int().nullable().meta({
      description: 'the least tokens that a request waits for, where something is left and it is too little',
    }),
    since: Time,
    resets_at: Time.nullable().meta({
      description:
        'when the day of a project ends (UTC), and the run goes on; null of a run: it goes on when its budget is raised',
    }),
  })
  .meta({ id: 'WaitsForBudget' })

const WaitsForApproval = z
  .strictObject({ kind: z.literal('approval'), since: Time })
  .meta({ id: 'WaitsForApproval', description: 'a person has to approve its plan, whose hash the agenda has' })

const WaitsForTool = z
  .strictObject({ kind: z.literal('tool'), operations: z.int() })
  .meta({ id: 'WaitsForTool', description: 'operations without a slot whose tools take long; the run stays `running`' })

/** Names what a run waits for, and does not have in its hands. */
export const WaitingFor = z
  .discriminatedUnion('kind', [
    WaitsForModel,
    WaitsForAnswer,
    WaitsForStore,
    WaitsForBudget,
    WaitsForApproval,
    WaitsForTool,
  ])
  .meta({ id: 'WaitingFor' })
export type WaitingFor = z.infer<typeof WaitingFor>
