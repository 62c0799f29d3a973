import { resolve } from 'node:path'
import { AppError } from '#domain/error.ts'
import { OperationId } from '#domain/ids.ts'
import { requireSameModel } from '#domain/model-kind.ts'
import type { CliContext } from '../cli-context.ts'
import { hasEnded } from '../has-ended.ts'
import { requireAppliable } from './apply-patch.ts'
import { requireKnown } from './known-agents.ts'
import { requireWritable } from './output-file.ts'
import type { Service } from './reach-service.ts'
import type { RunOrder, RunSource } from './run-order.ts'
import { prepareSource, submitSource } from './submit-source.ts'

/** Answers the id of the run to follow. RUN_009 when the service's models are of another kind than the run's. */
export type StartRun = (service: Pick<Service, 'client' | 'modelKind'>) => Promise<string>

/** Everything that can be wrong with the call is said here, before anything is started or made. */
export async function prepareStart(order: RunOrder, context: CliContext): Promise<StartRun> {
  const { config, cwd } = context
  const { source } = order
  if (source.kind === 'folder' && config.apiUrl === undefined) requireKnown(source.submission.agents, order.known)
  if (source.kind === 'folder' && config.apiUrl === undefined) await requirePacks(config)
  if (source.kind === 'retry') requireOperationIds(source)
  if (order.apply) await requireAppliable(resolve(cwd, order.path), config.searchPath)
  await requireWritable(resolve(cwd, order.out ?? 'remora.patch'))
  if (source.kind !== 'folder') return (service) => startAgain(service, source)
  const prepared = await prepareSource(order.path, source.submission, context)
  return ({ client }) => submitSource(client, source.submission, prepared)
}

/** DISC_001, DISC_002, DISC_003 or DISC_005 as discovery would say, before anything is started. Remora's own need no check. */
async function requirePacks({ queries }: CliContext['config']): Promise<void> {
  if (queries.userDir === undefined) return
  const { requireSoundPacks } = await import('../../services/discovery/load-sound-packs.ts')
  await requireSoundPacks(queries)
}

function requireOperationIds({ runId, operations }: Extract<RunSource, { kind: 'retry' }>): void {
  const wrong = operations.find((id) => !OperationId.safeParse(id).success)
  if (wrong === undefined) return
  const advice = `remora show ${runId} --operations lists them`
  throw new AppError('RUN_004', `"${wrong}" is no operation id; ${advice}`)
}

async function startAgain(
  { client, modelKind }: Pick<Service, 'client' | 'modelKind'>,
  source: Exclude<RunSource, { kind: 'folder' }>,
): Promise<string> {
  if (source.kind === 'retry') return (await client.retry(source.runId, source)).run_id
  const { run_id: runId, status, request } = await client.getRun(source.runId)
  if (!hasEnded(status)) requireSameModel({ runId, labels: request.labels }, modelKind)
  return runId
}
