import { OpenAPIHono, z } from '@hono/zod-openapi'
import { AppError } from '#domain/error.ts'
import { ProjectId } from '#domain/ids.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { dayOf, type Usage } from '#store/ledger/usage.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import { Day, UsageGroup, type UsageRow, UsageView } from '#schemas/usage-schema.ts'
import type { ApiEnv, Caller } from '../../http/api-env.ts'
import { endpoint, jsonAnswer, requireOperator } from '../../http/endpoint.ts'
import { findProject, type ProjectRouteDeps } from '../access/project-routes.ts'

const prose = `
Counted when the result of an operation is passed on, which is within a second of its end as a rule; days are kept for 400 days, also
when their runs are deleted. Another project than that of the token, and \`by=project\`, need the token that the service was started with.`

export const usageEndpoints = {
  get: endpoint('runs:read', ['PROJECT_001'], {
    method: 'get',
    path: '/v1/usage',
    operationId: 'getUsage',
    summary: 'Tokens and time by day, agent or project',
    description: prose.trim(),
    request: {
      query: z.strictObject({
        since: Day.optional().openapi({ description: 'the first day; 29 days before `until` without it' }),
        until: Day.optional().openapi({ description: 'the last day; today without it' }),
        by: UsageGroup.default('day'),
        project_id: ProjectId.optional(),
      }),
    },
    responses: { 200: jsonAnswer('the figures', UsageView) },
  }),
} as const

export type UsageRouteDeps = ProjectRouteDeps & { ledger: Pick<Ledger, 'readUsage'> }

const dayMs = 24 * 3600 * 1000
const usualDays = 30
const mostDays = 400
const projectsAtOnce = 8

export function usageRoutes(deps: UsageRouteDeps): OpenAPIHono<ApiEnv> {
  const routes = new OpenAPIHono<ApiEnv>()
  routes.openapi(usageEndpoints.get, async (c) => {
    const { by, project_id: wanted, until = dayOf(Date.now()), ...given } = c.req.valid('query')
    const since = given.since ?? dayOf(Date.parse(until) - (usualDays - 1) * dayMs)
    const days = daysBetween(since, until)
    const projects = await projectsOf({ by, wanted, caller: c.get('caller') }, deps)
    const used = await mapBounded(projects, projectsAtOnce, async (project) =>
      (await deps.ledger.readUsage(project, days)).map((usage) => ({ ...usage, project })),
    )
    const groups = Map.groupBy(used.flat(), (usage) => usage[by])
    const rows = [...groups].map(([of, own]) => ({ of, ...sum(own.map(({ usage }) => usage)) }))
    const total = sum(used.flat().map(({ usage }) => usage))
    return c.json({ since, until, by, rows: rows.toSorted(by === 'day' ? byName : byTokens), total }, 200)
  })
  return routes
}

function daysBetween(since: string, until: string): string[] {
  const [first, last] = [Date.parse(since), Date.parse(until)]
  const count = Math.round((last - first) / dayMs) + 1
  if (count < 1) throw new AppError('INTAKE_008', '`since` is after `until`.')
  if (count > mostDays) throw new AppError('INTAKE_008', `At most ${mostDays} days may be asked for.`)
  return Array.from({ length: count }, (_none, at) => dayOf(first + at * dayMs))
}

type Choice = { by: UsageView['by']; wanted: ProjectId | undefined; caller: Caller }

async function projectsOf({ by, wanted, caller }: Choice, { projects }: UsageRouteDeps): Promise<ProjectId[]> {
  const isForeign = wanted !== undefined && wanted !== caller.projectId
  if (by === 'project' || isForeign) requireOperator(caller)
  if (isForeign) await findProject(wanted, projects)
  if (wanted !== undefined || by !== 'project') return [wanted ?? caller.projectId]
  return (await projects.list()).map(({ projectId }) => projectId)
}

function sum(usages: readonly Usage[]): Omit<UsageRow, 'of'> {
  const of = (figure: keyof Usage) => usages.reduce((total, usage) => total + usage[figure], 0)
  return {
    operations: of('operations'),
    turns: of('turns'),
    prompt_tokens: of('promptTokens'),
    completion_tokens: of('completionTokens'),
    duration_ms: of('durationMs'),
    proposed: of('proposed'),
    accepted: of('accepted'),
  }
}

const byName = (left: UsageRow, right: UsageRow) => (left.of < right.of ? -1 : 1)
const tokensOf = (row: UsageRow) => row.prompt_tokens + row.completion_tokens
const byTokens = (left: UsageRow, right: UsageRow) => tokensOf(right) - tokensOf(left) || byName(left, right)
