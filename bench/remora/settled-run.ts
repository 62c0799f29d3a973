import type { ChangeSet, Edit, Evidence } from '#domain/change-set.ts'
import { changeChecks } from '#domain/checks.ts'
import { changeSetId, defaultProject, newToken, type RunId, sha256 } from '#domain/ids.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import type { AttemptRecord } from '#store/objects/attempt-record.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import { putAttemptRecord } from '#store/objects/stored-records.ts'
import { nodeSource } from '../model/node-source.ts'
import type { BenchStack } from './bench-stack.ts'
import { nodeOf, planNodes, startRun } from './plan-run.ts'

/** `culprits`: in so many of its files one change set breaks the composed file. */
export type SettledRun = { first: number; operations: number; perFile: number; culprits: number }

const cost = { turns: 3, promptTokens: 2_700, completionTokens: 120, durationMs: 900 }
const settledAtOnce = 32
/** Each message of a stored conversation, in characters: a record of 12 messages has about 25 KB. */
const messageLength = 2_000

/**
 * A run whose operations have all succeeded, each with a docstring for one function; several functions share a file. No
 * worker took part: it waits to be composed, and the dispatcher leaves it alone until then.
 */
export async function settledRun(
  stack: BenchStack,
  { first, operations, perFile, culprits }: SettledRun,
): Promise<RunId> {
  const files = Array.from({ length: Math.ceil(operations / perFile) }, (_, at) =>
    fileOf(first + at * perFile, perFile),
  )
  const nodes = files.flatMap(({ path, parts }) => parts.map((part) => nodeOf({ ...part, path })))
  const runId = await planNodes(stack, { files, nodes: nodes.slice(0, operations) })
  stack.hold(runId)
  await startRun(stack, runId)
  const contents = new Map(files.map(({ path, file }) => [path, file]))
  const broken = new Set(files.slice(0, culprits).map(({ parts }) => parts.at(-1)?.name))
  for (;;) {
    const { taken } = await stack.ledger.dispatch(runId, 1_000)
    if (taken.length === 0) return runId
    await mapBounded(taken, settledAtOnce, async (job) => {
      const answer = await stack.ledger.claim({ runId, ...job }, newToken())
      if (answer.kind !== 'claimed') throw new Error(`operation ${job.operationId} is ${answer.kind}`)
      const { attempt } = answer
      await settle(stack, attempt, {
        file: contents.get(attempt.node.path) ?? '',
        breaks: broken.has(attempt.node.name),
      })
    })
  }
}

function fileOf(first: number, count: number) {
  const parts: Omit<ReturnType<typeof nodeSource>, 'file' | 'path'>[] = []
  let file = ''
  for (let number = first; number < first + count; number++) {
    const { name, text } = nodeSource(number)
    parts.push({ name, text, startByte: file.length })
    file += `${text}\n\n\n`
  }
  return { path: `src/part_${first}.py`, file: `${file.trimEnd()}\n`, parts }
}

async function settle(stack: BenchStack, attempt: Attempt, change: { file: string; breaks: boolean }): Promise<void> {
  const changeSet = docstringFor(attempt, change)
  const outcome = { status: 'succeeded' as const, summary: 'done', changedFiles: [attempt.node.path], ...cost }
  const made = { ...outcome, changeSetId: changeSet.changeSetId }
  const recordHash = await putAttemptRecord(stack.objects, defaultProject, recordOf(attempt, changeSet, made))
  await stack.ledger.settle(attempt, 1, { outcome: { ...made, recordHash }, events: [] })
}

function docstringFor(
  { operationId, bundle, node }: Attempt,
  { file, breaks }: { file: string; breaks: boolean },
): ChangeSet {
  const start = file.indexOf('\n', node.startByte) + 1
  const edits: Edit[] = [{ start, end: start, text: '    """Greet the one who is named."""\n' }]
  const last = file.indexOf('    return', start)
  if (breaks) edits.push({ start: last, end: last + '    return'.length, text: '    return (' })
  const files = [{ kind: 'edit' as const, path: node.path, baseHash: sha256(file), edits }]
  const proofs = changeChecks.map((check): Evidence => ({ check, path: node.path, ok: true, tool: 'bench' }))
  const id = changeSetId(operationId, files)
  return { changeSetId: id, operationId, bundle, nodeId: node.nodeId, files, evidence: proofs }
}

function recordOf(attempt: Attempt, changeSet: ChangeSet, outcome: AttemptRecord['outcome']): AttemptRecord {
  const { runId, operationId, bundle, bundleHash } = attempt
  const content = operationId.padEnd(messageLength, ' word')
  const messages = Array.from({ length: 12 }, () => ({ role: 'user' as const, content }))
  return {
    v: 1,
    runId,
    operationId,
    attempt: 1,
    bundle,
    bundleHash,
    model: 'fake',
    versions: {},
    startedAt: 0,
    messages,
    replies: [],
    exchanges: [],
    tools: [],
    reads: { contents: {}, listings: {}, absences: [] },
    changeSet,
    outcome,
  }
}
