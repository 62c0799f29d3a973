import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { AppError } from '#domain/error.ts'
import { PatchKind } from '#domain/run.ts'
import { plural } from '#domain/timeline/words.ts'
import { openScratchFolder } from '#platform/scratch-folder.ts'
import type { ApiClient } from '../api-client.ts'
import { changesWhere } from '../api-lists.ts'
import { applyChanges } from '../apply/apply-changes.ts'
import { commitChanges, requireCheckout, requireCommittable } from '../apply/commit-changes.ts'
import {
  describePatch,
  emptyPatchText,
  leftOutDocument,
  type LeftOutSets,
  readLeftOut,
} from '../apply/left-out-sets.ts'
import type { Step, StepResult } from '../apply/merge-changes.ts'
import type { CliContext } from '../cli-context.ts'
import { patchedFolder } from '../discover/repository-around.ts'
import { type Service, withComposedRuns } from '../run/reach-service.ts'
import { isFolder } from '../run/take-patch.ts'
import { describeUnfinished, unfinishedRuns } from '../run/unfinished-runs.ts'
import { visible, visibleName } from '../terminal-text.ts'
import { shownPath } from '../wording.ts'

type ApplyOptions = { to: string; of: PatchKind; commit?: true; json?: true }

export function addApplyCommand(command: Command, context: CliContext): void {
  command
    .argument('<run>', 'run id')
    .option('--to <path>', 'the folder that the run was made from, or a copy of it', '.')
    .addOption(
      new Option('--of <changes>', 'which changes: those that were accepted, or all that nobody has rejected')
        .choices(PatchKind.options)
        .default('accepted'),
    )
    .option('--commit', 'commit the changed files, and nothing else, to the git checkout')
    .option('--json', 'print one JSON document')
    .action(async (runId: string, options: ApplyOptions) => {
      const named = resolve(context.cwd, options.to)
      if (!(await isFolder(named))) {
        const isThere = (await stat(named).catch(() => undefined)) !== undefined
        const text = `--to needs a folder, but ${options.to} is not ${isThere ? 'one' : 'there'}`
        throw new AppError('CONFIG_003', text, isThere ? {} : { phase: 'usage' })
      }
      await using scratch = await openScratchFolder('remora-apply-')
      const order = { ...options, runId, named, scratch: scratch.path }
      const { applied, leftOut } = await withComposedRuns(context, (service) => applyRun(service, order, context))
      if (options.json) context.io.out(`${JSON.stringify({ ...applied, ...leftOutDocument(leftOut) })}\n`)
      else printApplied(applied, leftOut, context)
      // What is proposed may collide; what was accepted somebody has asked for.
      if (options.of === 'accepted' && leftOut.count > 0) context.io.exit(leftOut.inPatch === 0 ? 1 : 3)
    })
}

type ApplyOrder = ApplyOptions & { runId: string; named: string; scratch: string }

type Applied = {
  run_id: string
  of: PatchKind
  folder: string
  files: { path: string; result: StepResult }[]
  /** Null when there was nothing to commit; absent when it was not asked for. */
  commit?: string | null
}

async function applyRun(
  { client, stack, modelKind, signal }: Service,
  { runId, of, named, scratch, commit }: ApplyOrder,
  context: CliContext,
): Promise<{ applied: Applied; leftOut: LeftOutSets }> {
  const { config, io } = context
  const unfinished = stack && (await unfinishedRuns(client, { modelKind }))
  if (unfinished !== undefined) io.err(describeUnfinished(unfinished, config.modelUrls))
  const run = await client.getRun(runId)
  const folder = await patchedFolder(named, run.request)
  const checkout = commit === undefined ? undefined : await requireCheckout(folder, config.settings.own)
  const leftOut = await readLeftOut(client, runId, of)
  const beforeWriting = async (steps: readonly Step[]) => checkout && requireCommittable(checkout, steps, signal)
  const steps = await applyChanges(client, { runId, of, folder, scratch, signal, beforeWriting }, context)
  const files = steps.map(({ path, result }) => ({ path, result }))
  const applied = { run_id: runId, of, folder, files }
  if (checkout === undefined) return { applied, leftOut }
  const paths = steps.map(({ path }) => path)
  if (paths.length === 0) return { applied: { ...applied, commit: null }, leftOut }
  const message = await commitMessage(client, { runId, of, steps })
  const id = await commitChanges(checkout, { paths, message, scratch, signal })
  return { applied: { ...applied, commit: id ?? null }, leftOut }
}

type Committed = { runId: string; of: PatchKind; steps: readonly Step[] }

/** Names the run, and of each agent how many change sets the changes are made of. */
async function commitMessage(client: ApiClient, { runId, of, steps }: Committed): Promise<string> {
  const sets = new Map<string, number>()
  const verdicts = of === 'accepted' ? ['accepted'] : ['accepted', 'pending']
  for (const verdict of verdicts) {
    for await (const { agent, is_redone: isRedone, conflict } of changesWhere(client, runId, { verdict })) {
      const isMeant = conflict === undefined && (verdict === 'accepted' || !isRedone)
      if (isMeant) sets.set(agent, (sets.get(agent) ?? 0) + 1)
    }
  }
  const agents = Array.from(sets, ([agent, count]) => `${agent}: ${plural(count, 'change set')}`).toSorted()
  const files = `in ${plural(steps.length, 'file')}`
  return [`Apply the ${of} changes of Remora run ${runId}`, '', ...agents, files, ''].join('\n')
}

const resultTexts: Readonly<Record<StepResult, string>> = {
  created: 'created',
  changed: 'changed',
  merged: 'merged with what has changed since',
  deleted: 'deleted',
  there: 'there already',
}

function printApplied(
  { run_id: runId, of, folder, files, commit }: Applied,
  leftOut: LeftOutSets,
  { io, cwd }: CliContext,
): void {
  io.err(describePatch(leftOut))
  if (files.length === 0) {
    const what = of === 'accepted' ? emptyPatchText(leftOut) : 'it changes nothing'
    return io.out(`run ${runId}: nothing to apply, ${what}\n`)
  }
  for (const { path, result } of files) io.out(`${visibleName(path)}  ${resultTexts[result]}\n`)
  const written = files.filter(({ result }) => result !== 'there').length
  const where = visible(shownPath(folder, cwd))
  io.out(written === 0 ? `all of it is there already: ${where}\n` : `${plural(written, 'file')} written: ${where}\n`)
  if (commit !== undefined) io.out(commit === null ? 'nothing to commit\n' : `committed as ${commit}\n`)
}
