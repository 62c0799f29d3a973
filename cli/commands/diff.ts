import type { Command } from 'commander'
import { AppError } from '#domain/error.ts'
import type { ApiClient } from '../api-client.ts'
import type { ChangeView, OperationView } from '../api-views.ts'
import type { CliContext } from '../cli-context.ts'
import { nodePlace } from '../node-place.ts'
import { visible } from '../visible.ts'
import { describeChange } from '../run/describe-change.ts'
import { reachRuns } from '../run/reach-service.ts'
import { findOperations } from '../transcript/find-operation.ts'

const pageSize = 100

/**
 * `remora diff RUN [OPERATION]`: the proposed patch, or what one operation, or all in a file, changed, also where the patch is
 * without it.
 */
export function addDiffCommand(program: Command, context: CliContext): void {
  program
    .command('diff')
    .description(
      'print the proposed patch of a run, or what one operation, or all in a file, changed, also if it was left out of the patch',
    )
    .argument('<run>', 'run id')
    .argument(
      '[operation...]',
      'operation id, or [AGENT] PATH [NAME] as "remora show" prints it; a PATH alone is all of the file',
    )
    .option('--json', 'print one JSON document')
    .action(async (runId: string, operation: string[], { json = false }: { json?: boolean }) => {
      const service = await reachRuns(context)
      try {
        if (operation.length === 0) await printPatch(service.client, runId, { json, context })
        else await printChanges(service.client, { runId, operation }, { json, context })
      } finally {
        await service.close()
      }
    })
}

type Printing = { json: boolean; context: CliContext }

async function printPatch(client: ApiClient, runId: string, { json, context }: Printing): Promise<void> {
  const parts: Uint8Array[] = []
  for await (const part of (await client.readPatch(runId)) ?? []) parts.push(part)
  const diff = Buffer.concat(parts).toString()
  if (json) context.io.out(`${JSON.stringify({ run_id: runId, diff })}\n`)
  else context.io.out(shownDiff(diff, context))
  if (diff === '') context.io.err(`run ${runId} changes nothing\n`)
}

type Changed = { operation: OperationView | undefined; changes: ChangeView[] }

/**
 * The diffs go to stdout, and what else is known of each operation and change set to stderr, so that a pipe gets what git
 * applies. RUN_006 when it is one operation alone that has not ended.
 */
async function printChanges(
  client: ApiClient,
  { runId, operation }: { runId: string; operation: readonly string[] },
  { json, context }: Printing,
): Promise<void> {
  const ids = await findOperations(client, runId, operation)
  const all: Changed[] = []
  for (const id of ids) all.push(await changedBy(client, runId, id))
  const [only, ...others] = all
  if (others.length === 0) requireEnded(runId, only)
  if (json) {
    context.io.out(`${JSON.stringify(changesDocument(runId, ids, all))}\n`)
    return
  }
  for (const { operation: done, changes } of all) {
    if (done !== undefined) context.io.err(visible(describeEnd(done, changes.length > 0)))
    for (const change of changes) {
      context.io.err(visible(describeChange(change)))
      context.io.out(shownDiff(change.diff, context))
    }
  }
}

/** The operation is undefined where an earlier run made the change that the patch of a retry holds. */
async function changedBy(client: ApiClient, runId: string, operationId: string): Promise<Changed> {
  const changes = await changesOf(client, runId, operationId)
  const operation = await client.getOperation(runId, operationId).catch((error: unknown) => {
    if (changes.length > 0 && error instanceof AppError && error.code === 'RUN_004') return undefined
    throw error
  })
  return { operation, changes }
}

function requireEnded(runId: string, { operation, changes }: Partial<Changed> = {}): void {
  if (operation === undefined || operation.outcome !== null || changes?.length !== 0) return
  const { operation_id: id, status } = operation
  throw new AppError('RUN_006', `operation ${id} of run ${runId} has not ended: it is ${status}`)
}

/** How it ended, and why it changed nothing or not all that it was to change. */
function describeEnd({ operation_id: id, agent, node, status, outcome }: OperationView, hasChanges: boolean): string {
  const what = `${agent} ${id}  ${nodePlace(node.path, node.qualified_name)}`
  if (outcome === null) return `${what}  has not ended: it is ${status}\n`
  const { error_code: code, reason, summary } = outcome
  const why = code === undefined ? summary : `${code} ${reason ?? summary}`
  return `${what}  ${status}${hasChanges || status === 'unchanged' ? '' : ', changed nothing'}: ${why}\n`
}

/** `operation_id` where one operation was asked for. */
function changesDocument(runId: string, ids: readonly string[], all: readonly Changed[]) {
  const changes = all.flatMap((one) => one.changes)
  return {
    run_id: runId,
    ...(ids.length === 1 && { operation_id: ids[0] }),
    operations: all.flatMap(({ operation }) => (operation === undefined ? [] : [operation])),
    diff: changes.map((change) => change.diff).join(''),
    changes,
  }
}

/** A pipe gets what git applies, a terminal what a person may look at. */
function shownDiff(diff: string, { columns }: CliContext): string {
  return columns === undefined ? diff : visible(diff)
}

async function changesOf(client: ApiClient, runId: string, operationId: string): Promise<ChangeView[]> {
  const changes: ChangeView[] = []
  for (let cursor: string | undefined; ;) {
    const page = await client.listChanges(runId, {
      operation_id: operationId,
      ...(cursor === undefined ? {} : { cursor }),
      limit: pageSize,
    })
    changes.push(...page.changes)
    if (page.next === null) return changes
    cursor = page.next
  }
}
