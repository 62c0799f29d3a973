import type { Command } from 'commander'
import { AppError } from '#domain/error.ts'
import type { ApiClient } from '../api-client.ts'
import type { ChangeView, OperationView } from '../api-views.ts'
import type { CliContext } from '../cli-context.ts'
import { visible } from '../visible.ts'
import { reachRuns } from '../run/reach-service.ts'

type DiffOptions = { json?: true }

const pageSize = 100

/** `remora diff RUN [OPERATION]`: the proposed patch, or what one operation changed. */
export function addDiffCommand(program: Command, context: CliContext): void {
  program
    .command('diff')
    .description('print the proposed patch of a run, or what one operation changed')
    .argument('<run>', 'run id')
    .argument('[operation]', 'operation id')
    .option('--json', 'print one JSON document')
    .action(async (runId: string, operationId: string | undefined, options: DiffOptions) => {
      const service = await reachRuns(context)
      try {
        const diff =
          operationId === undefined
            ? await wholePatch(service.client, runId)
            : (await changeOf(service.client, runId, operationId)).diff
        const document = { run_id: runId, operation_id: operationId, diff }
        // A pipe gets what git applies, a terminal what a person may look at.
        const shown = context.columns === undefined ? diff : visible(diff)
        context.io.out(options.json ? `${JSON.stringify(document)}\n` : shown)
        if (diff === '') context.io.err(`${runId} changes nothing\n`)
      } finally {
        await service.close()
      }
    })
}

async function wholePatch(client: ApiClient, runId: string): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const part of (await client.readPatch(runId)) ?? []) parts.push(part)
  return Buffer.concat(parts).toString()
}

async function changeOf(client: ApiClient, runId: string, operationId: string): Promise<ChangeView> {
  for (let cursor: string | undefined; ;) {
    const page = await client.listChanges(runId, { ...(cursor === undefined ? {} : { cursor }), limit: pageSize })
    const change = page.changes.find((candidate) => candidate.operation_id === operationId)
    if (change !== undefined) return change
    if (page.next === null) throw withoutChange(runId, await client.getOperation(runId, operationId))
    cursor = page.next
  }
}

function withoutChange(runId: string, { operation_id: id, status, outcome }: OperationView): AppError {
  const operation = `operation ${id} of run ${runId}`
  if (outcome === null) return new AppError('RUN_006', `${operation} has not ended: it is ${status}`)
  const { error_code: code, reason, summary } = outcome
  if (code === undefined) return new AppError('RUN_004', `${operation} changed nothing`)
  return new AppError('RUN_004', `${operation} is ${status}: ${code} ${reason ?? summary}`)
}
