import type { Connection } from '#client/connection.ts'
import { submissionForm } from '#client/multipart.ts'
import { readStream } from '#client/read-stream.ts'
import type { Agenda, Run, RunRequest } from '#client/wire.ts'
import type { PlanView } from '#schemas/plan-schema.ts'

/** Holds what somebody has filled in. Lists are as they were written. */
export type RunForm = {
  agents: readonly string[]
  objective: string
  isApproved: boolean
  paths: string
  operations: string
  budget: string
}

/** Holds what a dry run has found: the plan of the agents, or that of the objective. */
export type Estimate = { run: Run; plan?: PlanView; agenda?: Agenda }

/** Reads a whole number as people write it, `100,000` or `100 000`; undefined for none, NaN for what is no number. */
export function numberIn(text: string): number | undefined {
  const digits = text.replaceAll(/[\s,_]/g, '')
  return digits === '' ? undefined : /^\d+$/.test(digits) ? Number(digits) : Number.NaN
}

const listed = (text: string) => text.split(/[\s,]+/).filter((part) => part !== '')

/** Makes the request that a form comes to; undefined while neither agents nor an objective are named, or a limit is no number. */
export function requestOf(form: RunForm): RunRequest | undefined {
  const agents = [...form.agents]
  const objective = form.objective.trim()
  const paths = listed(form.paths)
  const [operations, tokens] = [numberIn(form.operations), numberIn(form.budget)]
  if (agents.length === 0 && objective === '') return undefined
  if (Number.isNaN(operations) || Number.isNaN(tokens)) return undefined
  return {
    agents,
    ...(objective !== '' && { objective, ...(form.isApproved && { approval: 'plan' as const }) }),
    ...(paths.length > 0 && { paths }),
    ...(operations !== undefined && { limits: { operations } }),
    ...(tokens !== undefined && { budget: { tokens } }),
  }
}

export async function startRun(connection: Connection, request: RunRequest, archive: Blob): Promise<string> {
  return (await connection.json<{ run_id: string }>('/v1/runs', submissionForm(request, archive))).run_id
}

/** Has a run planned of which nothing is done, and returns what its plan says. */
export async function estimate(
  connection: Connection,
  { request, archive, signal }: { request: RunRequest; archive: Blob; signal: AbortSignal },
): Promise<Estimate> {
  // Nobody would approve the plan of what is only estimated.
  const { approval: _, ...planned } = request
  const path = `/v1/runs/${await startRun(connection, { ...planned, dry_run: true }, archive)}`
  for await (const frame of readStream(connection, `${path}/events`, { categories: ['failed'], signal }))
    if (frame.type === 'end') break
  const run = await connection.json<Run>(path, { signal })
  if (run.status !== 'completed') return { run }
  if (request.objective !== undefined)
    return { run, agenda: await connection.json<Agenda>(`${path}/agenda`, { signal }) }
  return { run, plan: await connection.json<PlanView>(`${path}/plan`, { signal }) }
}
