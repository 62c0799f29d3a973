import type { ChangeView } from '#schemas/change-schema.ts'
import type { DecidedView, DecisionsView, DecisionView, RefusedView } from '#schemas/decision-schema.ts'
import type { ConflictingSet, LeftOut } from '#schemas/run-schema.ts'
import type { ApiClient } from '../api-client.ts'
import { allChanges } from '../api-lists.ts'
import type { CliContext } from '../cli-context.ts'
import type { WantedVerdict } from '#schemas/decision-schema.ts'
import { nodePlace, plural } from '#domain/timeline/words.ts'
import { leftOutText } from '../progress/result-report.ts'
import { textTable, visible } from '../terminal-text.ts'

/** So many sets get a line each; of more, the numbers are printed by agent. */
const shownSets = 20
const shownRefusals = 5
const shownTextLines = 20

type Printing = { client: ApiClient; verdict: WantedVerdict; context: Pick<CliContext, 'io'> }

/** Prints what was decided to stdout, what was refused to stderr. */
export async function printDecisions(decided: DecisionsView, { client, verdict, context }: Printing): Promise<void> {
  const { io } = context
  const { run_id: runId, decisions, refused, refused_count: refusals, left_alone: leftAlone } = decided
  if (decisions.length + refusals + leftAlone === 0) return io.err(visible(`run ${runId} has no such change set\n`))
  const counts = Object.values(decided.by_agent)
  const total = counts.reduce((sum, { made, before }) => sum + made + before, 0)
  const lines =
    total > shownSets ? countLines(decided, verdictWords[verdict]) : await setLines(client, runId, decisions)
  io.out(visible(lines.map((line) => `${line}\n`).join('')))
  const blocks = refused.slice(0, shownRefusals).flatMap((refusal) => refusalLines(runId, refusal, verdict))
  const rest = refusals > shownRefusals ? [`… and ${refusals - shownRefusals} more refused`] : []
  const kept =
    leftAlone === 0
      ? []
      : [
          `${plural(leftAlone, 'change set')} left alone, since a person has decided before: --also-decided decides anew`,
        ]
  io.err(visible([...blocks, ...rest, ...kept].map((line) => `${line}\n`).join('')))
}

/** Says what becomes of changes that were rejected to be tried again. `isIdle` is true when no worker is there that could. */
export function printRetry(
  { run_id: runId, decisions, retry }: DecisionsView,
  { isIdle, context: { io } }: { isIdle: boolean; context: Pick<CliContext, 'io'> },
): void {
  if (decisions.length === 0) return
  if (!retry) {
    return io.err(
      'No agent can try this again: these changes were made by rules, or have been retried since. To retry once more, reject with a new --because.\n',
    )
  }
  const what = plural(retry.operations, 'operation')
  if (retry.generation === null) return io.out(`${what} to be tried again when run ${runId} has ended\n`)
  io.out(`${what} tried again in run ${runId}: ${isIdle ? `remora run --resume ${runId}` : `remora watch ${runId}`}\n`)
}

const verdictWords = { accept: 'accepted', reject: 'rejected', undo: 'pending' } as const

/** `accepted          docstring  shop/stock.py Stock.low  +4 -0` */
async function setLines(client: ApiClient, runId: string, decisions: readonly DecidedView[]): Promise<string[]> {
  const changes = await changesOf(client, runId, decisions)
  const placeOf = ({ path, qualified_name: name, change_set_id: id }: DecidedView) =>
    [nodePlace(path, name), ...rulesOf(changes.get(id))].join(' ')
  const rows = decisions.map((decision) => {
    const { verdict, made, was, agent, change_set_id: id, because_of: becauseOf } = decision
    const state = made ? `${verdict}${becauseOf === undefined ? '' : ' too'}` : `already ${verdict}`
    const before = made && was !== 'pending' && was !== verdict ? [`(was ${was})`] : []
    const other = decisions.find((decided) => decided.change_set_id === becauseOf)
    const why = other === undefined ? [] : [`${relations[verdict] ?? ''} ${other.agent} ${placeOf(other)}`]
    return [state, agent, placeOf(decision), sizeOf(changes.get(id)), [...why, ...before].join(' ')]
  })
  return textTable([...rows, ...(await keptRows(client, runId, decisions, changes))], 'texts')
}

/** Lists what had been accepted with a set that is not accepted any more: it stays accepted until somebody takes that back as well. */
async function keptRows(
  client: ApiClient,
  runId: string,
  decisions: readonly DecidedView[],
  changes: ReadonlyMap<string, ChangeView>,
): Promise<string[][]> {
  const undone = decisions.filter(({ made, was, verdict }) => made && was === 'accepted' && verdict !== 'accepted')
  const needed = new Set(undone.flatMap(({ change_set_id: id }) => changes.get(id)?.built_on ?? []))
  for (const { change_set_id: id } of decisions) needed.delete(id)
  const read = await Promise.allSettled(
    [...needed].slice(0, shownSets).map((id) => client.listChanges(runId, { change_set_id: id, limit: 1 })),
  )
  const bases = read.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value.changes.slice(0, 1) : []))
  return bases.flatMap((base) => {
    if (base.verdict !== 'accepted' || base.decision?.note === undefined) return []
    const node = [nodePlace(base.path, base.qualified_name), ...rulesOf(base)].join(' ')
    const back = `accepted with another: remora undo ${runId} ${base.change_set_id}`
    return [['still accepted', base.agent, node, sizeOf(base), back]]
  })
}

/** Says how a set that is decided with another one is related to that one. */
const relations: Readonly<Record<string, string>> = {
  accepted: 'needed by',
  rejected: 'built on',
  pending: 'built on',
}

/** Reads the sets by their ids. What was decided counts without them, so one that cannot be read is left out. */
async function changesOf(
  client: ApiClient,
  runId: string,
  decisions: readonly DecidedView[],
): Promise<Map<string, ChangeView>> {
  const operations = new Set(decisions.map(({ operation_id: id }) => id))
  const read = await Promise.allSettled([...operations].map((id) => Array.fromAsync(allChanges(client, runId, id))))
  const changes = read.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  return new Map(changes.map((change) => [change.change_set_id, change]))
}

/** `eve (human/t0123)`, or the id alone of a token without a name. */
export function whoText({ decided_by: id, decided_by_name: name }: DecisionView): string {
  return name === undefined ? id : `${name} (${id})`
}

/** `: built on lint a.py f, which was rejected: too long`; empty where nothing is said. */
export function whyText(decision: Pick<DecisionView, 'reason' | 'note'> | null): string {
  return [decision?.note, decision?.reason].flatMap((part) => (part ? `: ${part}` : [])).join('')
}

/**
 * Is true when the set counts, and git can apply it beside the others: what was made anew since counts only if it is accepted.
 */
export function isCurrent({ is_redone: isRedone, verdict }: Pick<ChangeView, 'is_redone' | 'verdict'>): boolean {
  return !isRedone || verdict === 'accepted'
}

export function rulesOf(change: ChangeView | undefined): string[] {
  return change === undefined || change.rules.length === 0 ? [] : [`(${change.rules.join(', ')})`]
}

export function sizeOf(change: ChangeView | undefined): string {
  if (change === undefined) return ''
  const count = { '+': 0, '-': 0 }
  let isHead = true
  for (const line of change.diff.split('\n')) {
    if (line.startsWith('diff --git ')) isHead = true
    else if (line.startsWith('@@')) isHead = false
    else if (!isHead && line.startsWith('+')) count['+'] += 1
    else if (!isHead && line.startsWith('-')) count['-'] += 1
  }
  return `+${count['+']} -${count['-']}`
}

function countLines({ by_agent: byAgent }: DecisionsView, verdict: string): string[] {
  const rows = Object.entries(byAgent).flatMap(([agent, { made, before, refused }]) => {
    const counts = [
      [verdict, made],
      [`already ${verdict}`, before],
      ['refused', refused],
    ] as const
    return counts.flatMap(([state, count]) => (count === 0 ? [] : [[state, agent, plural(count, 'change set')]]))
  })
  return textTable(rows, 'texts')
}

/** Says why, with the texts of both sides of a conflict, and what to do about it. */
function refusalLines(runId: string, refusal: RefusedView, verdict: WantedVerdict): string[] {
  const { change_set_id: id, operation_id: operation, error_code: code, detail, conflict, blocked_by: others } = refusal
  if (others !== undefined) return [`refused: ${code}  ${detail}`, ...togetherLines(runId, refusal, verdict)]
  if (conflict === undefined) {
    const again = operation === undefined ? '' : `  Look at it again: remora diff ${runId} ${operation}`
    return [`refused: ${code}  ${detail}`, ...(again === '' ? [] : [again])]
  }
  const { with: other } = conflict
  const instead = other === undefined ? [] : insteadLines(runId, id, other)
  return [`refused: ${leftOutText(conflict)}`, ...bothTexts(conflict, ', which is accepted, makes of it'), ...instead]
}

/** Shows what a set makes of the place that it is left out for, and what the other one makes of it. */
export function bothTexts(conflict: LeftOut, otherDoes: string): string[] {
  const { with: other } = conflict
  return [...textLines(conflict, ' would make of it'), ...(other === undefined ? [] : textLines(other, otherDoes))]
}

function togetherLines(
  runId: string,
  { change_set_id: id, blocked_by: others = [] }: RefusedView,
  verdict: WantedVerdict,
): string[] {
  if (verdict !== 'accept') return [`  With them: remora ${verdict} ${runId} ${id} --with-dependents`]
  const ids = [...others.map((other) => other.change_set_id), id].join(' ')
  return [`  To have them all: remora accept ${runId} ${ids}`, `  To do without it: remora reject ${runId} ${id}`]
}

function insteadLines(runId: string, id: string, { change_set_id: other }: ConflictingSet): string[] {
  return [`  To have it instead: remora undo ${runId} ${other}`, `                      remora accept ${runId} ${id}`]
}

/** Shows what one of two sets that collide makes of the place; `does` says so. Only its first lines are shown. */
export function textLines({ agent = '', node, text }: ConflictingSet, does: string): string[] {
  if (text === undefined) return []
  const who = node === undefined ? agent : `${agent} ${nodePlace(node.path, node.qualified_name)}`
  if (text === '') return [`  ${who}${does}: nothing`]
  const lines = text.replace(/\n$/, '').split('\n')
  const rest = lines.length > shownTextLines ? [`  | … and ${plural(lines.length - shownTextLines, 'line')} more`] : []
  return [`  ${who}${does}:`, ...lines.slice(0, shownTextLines).map((line) => `  | ${line}`.trimEnd()), ...rest]
}
