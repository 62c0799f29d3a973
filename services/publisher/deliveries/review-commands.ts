import { placesOfSets } from '#change-sets/sets-of-run.ts'
import type { Evidence } from '#domain/change-set.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { AppError, undefinedOn } from '#domain/error.ts'
import { OperationId } from '#domain/ids.ts'
import type { ModelKind } from '#domain/model-kind.ts'
import type { Operation } from '#domain/operation.ts'
import { pathGlobs } from '#domain/path-globs.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { decide, type DecideDeps } from '#stages/review/decide.ts'
import { goesOn, requireRetryable, wantedAgain } from '#stages/review/reopen-runs.ts'
import { cell, code, collapsed, plural, table } from '#stages/publish/markdown.ts'

export type ReviewCommands = ReturnType<typeof openReviewCommands>

export type ReviewDeps = {
  ledger: DecideDeps['ledger'] & Pick<Ledger, 'endedOperations' | 'operationsOfSets' | 'reopen'>
  records: DecideDeps['records']
  modelKind: ModelKind | undefined
  decline(run: Run, changeSetIds: readonly string[]): Promise<void>
  wantAgain(run: Run, changeSetIds: readonly string[]): Promise<void>
  /** Returns the sets that people have declined in the repository, in this run or an earlier one. */
  declinedOf(run: Run, changeSetIds: readonly string[]): Promise<ReadonlySet<string>>
}

const origin = { kind: 'publisher', id: 'github' } as const

/** Does what people ask for at the code host of a run, with the same decisions as the API. `login` is their account there. */
export function openReviewCommands(deps: ReviewDeps) {
  return {
    /** Accepts what is in the composed patch and nobody has decided on, or declined in an earlier run; returns how many these are. */
    acceptAll: (run: Run, login: string) => acceptAll(run, login, deps),
    /** Rejects the changes of a path, a glob or a definition (path, space, name), with what is built on them. Undefined: there are none. */
    rejectPath: (run: Run, path: string, login: string) => rejectPath(run, { path, login }, deps),
    /** The run is reopened once for a `key`. RUN_006, RUN_009, INTAKE_007. */
    retry: (run: Run, key: string) => retry(run, key, deps),
    /** Says how the work on a file, a definition or an operation ended, and was checked. Undefined: the run has nothing of that name. */
    explain: (run: Run, what: string) => explain(run, what, deps),
    /** People do not want these changes: the same ones are not proposed again. */
    decline: deps.decline,
    /** They want them after all. */
    wantAgain: deps.wantAgain,
  }
}

const human = (login: string) => ({ kind: 'human' as const, id: `github/${login}`, name: login })

async function acceptAll(run: Run, login: string, deps: ReviewDeps): Promise<number> {
  const open = await openSets(run, deps)
  const declined = await deps.declinedOf(run, open)
  const verdict = { verdict: 'accepted' as const, reason: null, version: undefined, isBulk: true as const }
  const wanted = open.filter((id) => !declined.has(id)).map((changeSetId) => ({ changeSetId, ...verdict }))
  const { decisions } = await decide(run, wanted, { by: human(login), deps })
  return [...decisions.values()].filter(({ isMade }) => isMade).length
}

/** Counts the changes of one rejection; those that were rejected before are not counted. */
export type Rejection = { rejected: number; refused: number }

async function rejectPath(
  run: Run,
  { path, login }: { path: string; login: string },
  deps: ReviewDeps,
): Promise<Rejection | undefined> {
  const ids = await setsMeant(run, path, deps)
  if (ids.length === 0) return undefined
  const verdict = { verdict: 'rejected' as const, reason: `rejected in a comment by ${login}`, version: undefined }
  const wanted = ids.map((changeSetId) => ({ changeSetId, ...verdict }))
  const { decisions, refused } = await decide(run, wanted, { by: human(login), deps, withDependents: true })
  await deps.decline(run, [...decisions.keys()])
  return { rejected: [...decisions.values()].filter(({ isMade }) => isMade).length, refused: refused.length }
}

/** Returns the change sets of the files that a path or a glob means, else of the definition that is named behind its path. */
async function setsMeant(run: Run, what: string, deps: ReviewDeps): Promise<string[]> {
  const composition = await deps.records.readComposition(run)
  const isMeant = pathGlobs([what])
  const files = (composition?.files ?? []).filter((file) => isMeant(file.path))
  const ids = [...new Set(files.flatMap(({ changeSetIds }) => changeSetIds))]
  if (ids.length > 0) return ids
  const places = await placesIn(run, deps)
  return [...places].flatMap(([id, { node }]) => (namesInFile(node).includes(what) ? id : []))
}

async function retry(run: Run, key: string, { ledger, modelKind }: ReviewDeps): Promise<string> {
  if (run.reopenedBy !== key) {
    requireRetryable(run, modelKind)
    const answer = await ledger.reopen(run, { wanted: wantedAgain(run), origin, command: key })
    if (typeof answer === 'string') throw goesOn(run)
  }
  return `Run ${code(run.runId)} does again what did not end well.`
}

async function openSets(run: Run, { ledger, records }: ReviewDeps): Promise<string[]> {
  const composition = await records.readComposition(run)
  if (composition === null) throw new AppError('RUN_006', `run ${run.runId} has no patch yet`)
  const { byChangeSet } = await ledger.readDecisions(run.runId)
  const ids = new Set(composition.files.flatMap(({ changeSetIds }) => changeSetIds))
  return [...ids].filter((id) => (byChangeSet.get(id)?.verdict ?? 'pending') === 'pending')
}

/** Bounds what is explained of a file; of its other changes only the names are told, up to `mostNamed`. */
const mostExplained = 5
const mostNamed = 50

async function explain(run: Run, what: string, deps: ReviewDeps): Promise<string | undefined> {
  const operationId = OperationId.safeParse(what).data
  if (operationId !== undefined) return explainLast(run, operationId, deps)
  const matches = await placesOf(run, what, deps)
  if (matches.length === 0) return undefined
  const texts: string[] = []
  for (const match of matches.slice(0, mostExplained)) texts.push(await explainOne(run, match, deps))
  const others = matches.slice(mostExplained, mostNamed).map(({ node }) => code(node.qualifiedName))
  if (others.length > 0) texts.push(`Ask for the others by their names: ${others.join(', ')}.`)
  return texts.join('\n\n')
}

/** Explains the last record of the operation's work. */
async function explainLast(run: Run, operationId: OperationId, deps: ReviewDeps): Promise<string | undefined> {
  for (let id: OperationId | null = operationId; id !== null;) {
    const operation: Operation | undefined = await deps.ledger.getOperation(run.runId, id).catch(undefinedOn('RUN_004'))
    if (operation === undefined) return undefined
    if (operation.supersededBy === null) return explainOne(run, operation, deps)
    id = operation.supersededBy
  }
  return undefined
}

/** Finds where the run has made what is in its patch for a file, or a definition. */
async function placesOf(run: Run, what: string, deps: ReviewDeps) {
  const places = await placesIn(run, deps)
  const isMeant = (node: CodeNode) => [node.path, node.qualifiedName, node.name, ...namesInFile(node)].includes(what)
  const meant = [...places.values()].filter(({ node }) => isMeant(node))
  return [...new Map(meant.map((match) => [match.operationId, match])).values()]
}

const namesInFile = ({ path, qualifiedName, name }: CodeNode) => [`${path} ${qualifiedName}`, `${path} ${name}`]

/** Returns by change set where all that is in the patch of the run was made. */
async function placesIn(run: Run, { ledger, records }: ReviewDeps) {
  const composition = await records.readComposition(run)
  const ids = [...new Set((composition?.files ?? []).flatMap(({ changeSetIds }) => changeSetIds))]
  return placesOfSets(ids, run, ledger)
}

async function explainOne(
  { projectId, runId }: Run,
  { operationId }: { operationId: OperationId },
  { ledger, records }: ReviewDeps,
): Promise<string> {
  const { bundle, node, status, outcome } = await ledger.getOperation(runId, operationId)
  const where = node.qualifiedName === node.path ? node.path : `${node.path} ${node.qualifiedName}`
  const name = `${code(bundle)} on ${code(where)}`
  if (outcome === undefined || outcome === null) return `${name}: ${status}.`
  const sets = outcome.recordHash === undefined ? [] : await records.readChangeSets(projectId, outcome.recordHash)
  const models = [...new Set(sets.flatMap(({ model }) => model ?? []))].map((model) => ` by ${code(model)}`).join('')
  const spent = `${plural(outcome.turns, 'turn')}, ${plural(outcome.promptTokens + outcome.completionTokens, 'token')}`
  const checks = checksText(sets.flatMap(({ evidence }) => evidence))
  const end = `Operation ${code(operationId)}${models}: ${spent}.`
  return [`${name}: ${status}. ${cell(outcome.summary)}`, ...checks, end].join('\n\n')
}

/** Shows what did not pass at once, and the rest on demand: a good change has only that. */
function checksText(evidence: readonly Evidence[]): string[] {
  const rows = evidence.map(({ check, of, ok, tool, detail }) => {
    const verdict = of !== undefined ? check.replaceAll('_', ' ') : ok ? 'passed' : 'failed'
    return { verdict, row: [code(of ?? check), verdict, code(tool), cell(detail ?? '')] }
  })
  // Several sets of an operation, such as that of a model and the mechanical one, may have the same proofs.
  const differing = [...new Map(rows.map((row) => [row.row.join('|'), row])).values()]
  const {
    passed = [],
    failed = [],
    'not checked': unchecked = [],
    'not applicable': inapplicable = [],
  } = Object.groupBy(differing, ({ verdict }) => verdict)
  const head = ['check', 'result', 'by', 'what it found']
  const shown = (some: typeof rows) =>
    table(
      head,
      some.map(({ row }) => row),
    )
  const open = [...failed, ...unchecked]
  return [
    ...(open.length === 0 ? [] : [shown(open)]),
    ...(passed.length === 0
      ? []
      : [collapsed(`${plural(passed.length, 'check')} passed`, shown([...passed, ...inapplicable]))]),
  ]
}
