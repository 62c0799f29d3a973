import { resolve } from 'node:path'
import { AppError } from '#domain/error.ts'
import { OperationId } from '#domain/ids.ts'
import { requireSameModel } from '#domain/model-kind.ts'
import { isEnded } from '#domain/run.ts'
import type { RetryBody } from '#schemas/intake-schema.ts'
import type { CliContext } from '../cli-context.ts'
import { requirePacks } from '../discover/local-discovery.ts'
import { requireAppliable } from './take-patch.ts'
import { requireKnown } from './known-agents.ts'
import { requireWritable } from './output-file.ts'
import type { Service } from './reach-service.ts'
import { prepareSource, type Submission, submitSource } from './submit-source.ts'

/** The run that is followed: a new one of a folder, an existing one, or the next generation of an ended one. */
type RunSource =
  | { kind: 'folder'; submission: Submission }
  | { kind: 'resume'; runId: string }
  | { kind: 'retry'; runId: string; choice: RetryBody }

export type RunOrder = {
  source: RunSource
  path: string
  /** Undefined: `remora-<run id>.patch` in the current folder. */
  out?: string | undefined
  apply: boolean
  eventsTo?: string | undefined
  /** Undefined: as many as the run needs on this machine. */
  workers?: number | undefined
  /** Lets the embedded services run a setup, whatever the settings say. */
  setsUp?: boolean
  model?: string | undefined
  json: boolean
  /** Shows the run's page in a browser. */
  opens?: boolean
  /** Agents of this installation; a running service may have others. */
  known: readonly string[]
}

/** The run to follow, and the number of the event after which it is followed. */
export type StartedRun = { runId: string; after: number }

/** `start` throws RUN_009 when the service's models are of another kind than the run's. `isSmall`: there are only a few files to work on. */
export type PreparedRun = {
  start: (service: Pick<Service, 'client' | 'modelKind'>) => Promise<StartedRun>
  isSmall: boolean
}

const fewFiles = 20

/** Checks everything that can be wrong with the call, before anything is started or written. */
export async function prepareStart(order: RunOrder, context: CliContext): Promise<PreparedRun> {
  const { config, cwd } = context
  const { source } = order
  if (source.kind === 'folder' && config.apiUrl === undefined) requireKnown(source.submission.agents ?? [], order.known)
  if (source.kind === 'folder' && config.apiUrl === undefined) await requirePacks(config.queries)
  if (source.kind === 'retry') requireOperationIds(source)
  if (order.apply) await requireAppliable(resolve(cwd, order.path), config.searchPath)
  await requireWritable(resolve(cwd, order.out ?? 'remora.patch'))
  if (source.kind !== 'folder') return { start: (service) => startAgain(service, source), isSmall: false }
  const prepared = await prepareSource(order.path, source.submission, context)
  const isSmall = (prepared.packed.files ?? Infinity) <= fewFiles
  const start: PreparedRun['start'] = async ({ client }) => {
    return { runId: await submitSource(client, source.submission, prepared), after: 0 }
  }
  return { start, isSmall }
}

function requireOperationIds({ runId, choice }: Extract<RunSource, { kind: 'retry' }>): void {
  const wrong = choice.operations?.find((id) => !OperationId.safeParse(id).success)
  if (wrong === undefined) return
  const advice = `remora show ${runId} --operations lists them`
  throw new AppError('RUN_004', `"${wrong}" is no operation id; ${advice}`, { advised: true })
}

async function startAgain(
  { client, modelKind }: Pick<Service, 'client' | 'modelKind'>,
  source: Exclude<RunSource, { kind: 'folder' }>,
): Promise<StartedRun> {
  const { run_id: runId, status, request, seq } = await client.getRun(source.runId)
  if (source.kind === 'retry') {
    await client.retry(runId, source.choice)
    return { runId, after: seq }
  }
  if (!isEnded(status)) requireSameModel({ runId, labels: request.labels }, modelKind)
  return { runId, after: 0 }
}
