import { type Command, Option } from 'commander'
import { AppError } from '#domain/error.ts'
import { PatchKind } from '#domain/run.ts'
import { nodePlace } from '#domain/timeline/words.ts'
import type { ApiClient } from '../api-client.ts'
import { allChanges } from '../api-lists.ts'
import { describePatch, emptyPatchText, leftOutDocument, readLeftOut } from '../apply/left-out-sets.ts'
import type { CliContext } from '../cli-context.ts'
import { secretMark } from '#platform/secrets/redactor.ts'
import type { ChangeView } from '#schemas/change-schema.ts'
import type { OperationView } from '#schemas/operation-schema.ts'
import { shortTime } from '../wording.ts'
import { visible } from '../terminal-text.ts'
import { type Service, withComposedRuns, withRuns } from '../run/reach-service.ts'
import { describeUnfinished, unfinishedRuns } from '../run/unfinished-runs.ts'
import { bothTexts, isCurrent, rulesOf, whoText, whyText } from '../run/describe-decisions.ts'
import { findOperations } from '../run/find-operation.ts'
import { leftOutText } from '../progress/result-report.ts'

export function addDiffCommand(command: Command, context: CliContext): void {
  command
    .argument('<run>', 'run id')
    .argument(
      '[operation...]',
      '[AGENT] PATH [NAME] as "remora show" prints it, or any number of paths and of ids of operations; a PATH is all of the file',
    )
    .addOption(
      new Option('--of <patch>', 'of a whole run: all that nobody has rejected, or what was accepted')
        .choices(PatchKind.options)
        .default('proposed'),
    )
    .option('--json', 'print one JSON document')
    .action(async (runId: string, operation: string[], { of, json = false }: { of: PatchKind; json?: boolean }) => {
      const printing = { json, context }
      if (operation.length > 0) {
        await withRuns(context, ({ client }) => printChanges(client, { runId, operation }, printing))
        return
      }
      await withComposedRuns(context, (service) => printPatch(service, { runId, of }, printing))
    })
}

type Printing = { json: boolean; context: CliContext }

async function printPatch(
  { client, stack, modelKind }: Service,
  { runId, of }: { runId: string; of: PatchKind },
  { json, context }: Printing,
): Promise<void> {
  const unfinished = stack && (await unfinishedRuns(client, { modelKind }))
  if (unfinished) context.io.err(describeUnfinished(unfinished, context.config.modelUrls))
  const parts: Uint8Array[] = []
  for await (const part of (await client.readPatch(runId, of)) ?? []) parts.push(part)
  const diff = Buffer.concat(parts).toString()
  const leftOut = await readLeftOut(client, runId, of)
  const document = { run_id: runId, diff, ...leftOutDocument(leftOut) }
  context.io.out(json ? `${JSON.stringify(document)}\n` : shownDiff(diff, context))
  context.io.err(describePatch(leftOut))
  if (diff !== '') return
  context.io.err(of === 'accepted' ? `run ${runId}: ${emptyPatchText(leftOut)}\n` : `run ${runId} changes nothing\n`)
}

type Changed = { operation: OperationView; changes: ChangeView[] }

/** Prints diffs to stdout and all else to stderr, for a pipe to git. RUN_006 when the only operation named has not ended. */
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
  if (json) return context.io.out(`${JSON.stringify(changesDocument(runId, ids, all))}\n`)
  for (const { operation: done, changes } of all) {
    context.io.err(visible(describeEnd(done, changes.length > 0)))
    for (const change of changes) {
      const related = isCurrent(change) ? await relatedLines(client, runId, change) : ''
      context.io.err(visible(`${describeChange(change, { runId, ids })}${related}`))
      if (!isCurrent(change)) continue
      context.io.out(shownDiff(change.diff, context))
      if (change.diff.includes(secretMark)) context.io.err(hiddenNote(runId))
    }
  }
}

function hiddenNote(runId: string): string {
  return `  ${secretMark} hides a secret: this diff is to be read; git can apply the patch, "remora diff ${runId}"\n`
}

async function changedBy(client: ApiClient, runId: string, operationId: string): Promise<Changed> {
  const changes = await Array.fromAsync(allChanges(client, runId, operationId))
  return { operation: await client.getOperation(runId, operationId), changes }
}

function requireEnded(runId: string, { operation, changes }: Partial<Changed> = {}): void {
  if (operation === undefined || operation.outcome !== null || changes?.length !== 0) return
  const { operation_id: id, status } = operation
  throw new AppError('RUN_006', `operation ${id} of run ${runId} has not ended: it is ${status}`)
}

/** Says how the operation ended, and the reason where it changed nothing or less than it was to change. */
function describeEnd({ operation_id: id, agent, node, status, outcome }: OperationView, hasChanges: boolean): string {
  const what = `${agent} ${id}  ${nodePlace(node.path, node.qualified_name)}`
  if (outcome === null) return `${what}  has not ended: it is ${status}\n`
  const { error_code: code, reason, summary } = outcome
  const why = code === undefined ? summary : `${code} ${reason ?? summary}`
  return `${what}  ${status}${hasChanges || status === 'unchanged' ? '' : ', changed nothing'}: ${why}\n`
}

function describeChange(change: ChangeView, shown: { runId: string; ids: readonly string[] }): string {
  const { change_set_id: id, rules, evidence, conflict } = change
  const decided = `  change set ${id}${rules.length === 0 ? '' : ` (${rules.join(', ')})`}: ${decisionText(change)}`
  if (!isCurrent(change)) {
    const isAsked = shown.ids.includes(change.operation_id)
    const other = isAsked
      ? `to have it all the same: remora accept ${shown.runId} ${id}`
      : `remora diff ${shown.runId} ${change.operation_id}`
    return `${[decided, `  of an earlier attempt: ${other}`, ...quoted(change.diff)].join('\n')}\n`
  }
  const leftOut =
    conflict === undefined
      ? []
      : [
          `  left out of the patch: ${leftOutText(conflict)}`,
          ...(conflict.with ? bothTexts(conflict, ' makes of it') : []),
        ]
  return [decided, ...leftOut, ...evidence.map(evidenceLine)].map((line) => `${line}\n`).join('')
}

const namedSets = 5

async function relatedLines(client: ApiClient, runId: string, change: ChangeView): Promise<string> {
  const namesOf = async (ids: readonly string[]) => {
    const names = await Promise.all(ids.slice(0, namedSets).map((id) => nameOfSet(client, runId, id)))
    return `${names.join(', ')}${ids.length > namedSets ? ` and ${ids.length - namedSets} more` : ''}`
  }
  const { built_on: needed, needed_by: dependents } = change
  const on = needed.length === 0 ? '' : `  built on ${await namesOf(needed)}\n`
  return dependents.length === 0 ? on : `${on}  others are built on it: ${await namesOf(dependents)}\n`
}

/** `lint shop/stock.py (E713) c0123456789abcdef` */
async function nameOfSet(client: ApiClient, runId: string, id: string): Promise<string> {
  const { changes } = await client.listChanges(runId, { change_set_id: id, limit: 1 })
  const [change] = changes
  if (change === undefined) return id
  return [change.agent, nodePlace(change.path, change.qualified_name), ...rulesOf(change), id].join(' ')
}

/** Is shown beside the new diff, for people: git must not take it for one. */
function quoted(diff: string): string[] {
  const lines = diff.replace(/\n$/, '').split('\n')
  return lines.filter((line) => !/^(?:diff --git|index) /.test(line)).map((line) => `  | ${line}`)
}

/** `rejected by human/t0123, 2026-05-01 12:30 UTC: too long` */
function decisionText({ verdict, decision }: ChangeView): string {
  if (decision === null) return verdict
  const again = verdict === 'pending' ? 'pending again' : verdict
  return `${again}, by ${whoText(decision)} ${shortTime(decision.decided_at)} UTC${whyText(decision)}`
}

function evidenceLine({ check, of, path, ok, detail }: ChangeView['evidence'][number]): string {
  const more = detail === undefined ? '' : `: ${detail}`
  if (of !== undefined) return `  ${of} ${check.replaceAll('_', ' ')}  ${path}${more}`
  return `  ${check} ${ok ? 'holds' : 'fails'}  ${path}${more}`
}

/** `operation_id` is there when one operation was named. */
function changesDocument(runId: string, ids: readonly string[], all: readonly Changed[]) {
  const changes = all.flatMap((changed) => changed.changes)
  return {
    run_id: runId,
    ...(ids.length === 1 && { operation_id: ids[0] }),
    operations: all.flatMap(({ operation }) => (operation === undefined ? [] : [operation])),
    diff: changes
      .filter(isCurrent)
      .map((change) => change.diff)
      .join(''),
    changes,
  }
}

/** A pipe gets the bytes that git applies, a terminal a text without control characters. */
function shownDiff(diff: string, { columns }: CliContext): string {
  return columns === undefined ? diff : visible(diff)
}
