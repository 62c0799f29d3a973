import type { Command } from 'commander'
import { AppError } from '#domain/error.ts'
import type { ApiClient } from '../api-client.ts'
import type { ChangeView, OperationView } from '../api-views.ts'
import type { CliContext } from '../cli-context.ts'
import { visible } from '../visible.ts'
import { describeChange } from '../run/describe-change.ts'
import { reachRuns } from '../run/reach-service.ts'
import { findOperation } from '../transcript/find-operation.ts'

const pageSize = 100

/** `remora diff RUN [OPERATION]`: the proposed patch, or what one operation changed, also where the patch is without it. */
export function addDiffCommand(program: Command, context: CliContext): void {
  program
    .command('diff')
    .description(
      'print the proposed patch of a run, or what one operation changed, also if it was left out of the patch',
    )
    .argument('<run>', 'run id')
    .argument('[operation...]', 'operation id, or [AGENT] PATH [NAME] as "remora show" prints it')
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

/** The diffs go to stdout, and what else is known of each change set to stderr, so that a pipe gets what git applies. */
async function printChanges(
  client: ApiClient,
  { runId, operation }: { runId: string; operation: readonly string[] },
  { json, context }: Printing,
): Promise<void> {
  const operationId = await findOperation(client, runId, operation)
  const changes = await changesOf(client, runId, operationId)
  if (changes.length === 0) throw withoutChange(runId, await client.getOperation(runId, operationId))
  const diff = changes.map((change) => change.diff).join('')
  if (json) {
    context.io.out(`${JSON.stringify({ run_id: runId, operation_id: operationId, diff, changes })}\n`)
    return
  }
  for (const change of changes) {
    context.io.err(visible(describeChange(change)))
    context.io.out(shownDiff(change.diff, context))
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

function withoutChange(runId: string, { operation_id: id, status, outcome }: OperationView): AppError {
  const operation = `operation ${id} of run ${runId}`
  if (outcome === null) return new AppError('RUN_006', `${operation} has not ended: it is ${status}`)
  const { error_code: code, reason, summary } = outcome
  if (code === undefined) return new AppError('RUN_004', `${operation} changed nothing`)
  return new AppError('RUN_004', `${operation} changed nothing, its status is ${status}: ${code} ${reason ?? summary}`)
}
