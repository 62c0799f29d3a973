import { figure } from '#domain/figure.ts'
import { isRecord, parseJson } from '#domain/json.ts'
import { plural } from '#domain/timeline/words.ts'
import type { AgendaDecision, AgendaItemView, CriterionView, DecisionTalk, RunAgenda } from '#schemas/agenda-schema.ts'
import { answerLines } from '../progress/answer-lines.ts'
import type { ReportView } from '../progress/result-report.ts'
import { clip, wrap } from '../terminal-text.ts'
import { joinBlocks, labelledLines, shortTime } from '../wording.ts'

/** Draws the plan of a run: what became of each item, why it was decided so, and what the run came to. */
export function describeAgenda(agenda: RunAgenda, { paint, width }: ReportView): string {
  const { run_id: runId, items, decisions, answer } = agenda
  const none = decisions.length === 0 ? 'Nothing is planned yet.' : 'The plan has no items.'
  const known = items.length === 0 ? [none] : items.flatMap((item) => itemLines(item))
  const because = decisions.flatMap((decision) => decisionLines(decision))
  const wrapped = (lines: readonly string[]) => lines.flatMap((line) => wrap(line, width))
  return joinBlocks([
    wrapped(
      labelledLines([
        ['objective', agenda.objective],
        ['approval', approvalText(agenda)],
      ]),
    ),
    wrapped(known),
    because.length === 0
      ? []
      : [paint('dim', `Decisions (remora why ${runId} says what they rest on):`), ...wrapped(because)],
    answer === null ? [] : wrapped(answerLines(answer)),
  ])
}

/** Decisions, all or those about an item, and what the one that planned the item was told, where that is known. */
export type Reasons = {
  item?: AgendaItemView | undefined
  decisions: readonly AgendaDecision[]
  told?: DecisionTalk | undefined
}

const shownTold = 40

/** Says from which decisions something comes, and what they rest on. */
export function describeWhy({ item, decisions, told }: Reasons, { width }: ReportView): string {
  const head = item === undefined ? [] : itemLines(item)
  const blocks = decisions.map((decision) => [...decisionLines(decision), ...basisLines(decision)])
  const none = decisions.length === 0 ? ['Nothing has been decided yet.'] : []
  const wrapped = [head, none, ...blocks].map((lines) => lines.flatMap((line) => wrap(line, width)))
  return joinBlocks([...wrapped, told === undefined ? [] : toldLines(told).flatMap((line) => wrap(line, width))])
}

function toldLines({ seq, messages }: DecisionTalk): string[] {
  const lines = messages.filter(({ role }) => role === 'user').flatMap(({ text }) => knownLines(text))
  if (lines.length === 0) return []
  const rest =
    lines.length > shownTold ? [`  … and ${plural(lines.length - shownTold, 'more line')}: --json has all`] : []
  return [`What was known for event ${seq}:`, ...lines.slice(0, shownTold).map((line) => `  ${line}`), ...rest]
}

/** As much of a hash as a person can type. */
export const shownOfHash = 12

const mostOfOne = 300

/** Returns a line for each part of the JSON that a conductor tells its model, and of any other text its lines. */
function knownLines(text: string): string[] {
  const [, json = ''] = /^`{3,}json\n(.*)\n`{3,}$/ms.exec(text) ?? []
  const known = parseJson(json)
  if (!isRecord(known)) return text.split('\n').filter((line) => line.trim() !== '')
  return Object.entries(known).map(([name, part]) => {
    return clip(`${name}: ${typeof part === 'string' ? part : JSON.stringify(part)}`, mostOfOne)
  })
}

function approvalText({ run_id: runId, approval }: RunAgenda): string {
  if (approval === null) return ''
  const { plan_hash: hash, wanted_since: since, approved_by: by, approved_at: at } = approval
  const plan = hash.slice(0, shownOfHash)
  if (by === null || at === null)
    return `the plan waits for it since ${shortTime(since)}: remora approve ${runId} ${plan}`
  return `of plan ${plan}, by ${by} at ${shortTime(at)}`
}

function itemLines(item: AgendaItemView): string[] {
  const { item_id: id, status, capability, objective, depends_on: after, success_criteria: criteria } = item
  const then = after.length === 0 ? '' : `, after ${after.join(', ')}`
  return [
    `${id}: ${statusText(item)}${then}`,
    `  ${capability} ${whereText(item)}: ${objective}`,
    ...(status === 'stale' ? ['  a push has touched what it reads: it is not done as it was planned'] : []),
    ...criteria.map((criterion) => `  ${criterionText(criterion)}`),
  ]
}

function statusText({ status, counts, retries }: AgendaItemView): string {
  const again = retries === 0 ? status : `${status}, tried again ${plural(retries, 'time')}`
  if (counts === null || status === 'cancelled') return again
  if (counts.fault !== null) return `${again}: ${counts.fault.error_code} ${counts.fault.reason}`
  if (counts.planned > 0) return `${again}, ${operationsText(counts)}`
  if (status === 'ended' || counts.estimate?.operations === 0) return `${again}, with nothing to do`
  return counts.estimate === null ? again : `${again}, ${estimateText(counts.estimate)}`
}

function estimateText({ operations, tokens }: { operations: number; tokens: number }): string {
  return `${plural(operations, 'operation')} ${tokens === 0 ? 'without a model' : `for about ${plural(tokens, 'token')}`}`
}

function operationsText(counts: NonNullable<AgendaItemView['counts']>): string {
  const { planned, open, ended, change_sets: sets, findings, left, tokens, faults } = counts
  const ends = Object.entries(ended).flatMap(([status, count]) => (count > 0 ? [`${figure(count)} ${status}`] : []))
  const codes = Object.entries(faults).map(([code, count]) => `${figure(count)} because of ${code}`)
  const made = [
    ...(codes.length === 0 ? [] : [codes.join(', ')]),
    ...(sets === 0 ? [] : [plural(sets, 'change set')]),
    ...(findings === 0 ? [] : [plural(findings, 'finding')]),
    ...(left === 0 ? [] : [`${figure(left)} not done`]),
    ...(tokens === 0 ? [] : [plural(tokens, 'token')]),
  ]
  const parts = [...ends, ...(open > 0 ? [`${figure(open)} open`] : [])].join(', ')
  return [`${plural(planned, 'operation')}: ${parts}`, ...made].join('; ')
}

function whereText({ where: { paths, names, languages, kinds, node_ids: nodes } }: AgendaItemView): string {
  const lists = [kinds, names, languages, paths].flatMap((list) => (list === undefined ? [] : [list.join(', ')]))
  const places = [...lists, ...(nodes === undefined ? [] : [plural(nodes.length, 'node')])]
  return places.length === 0 ? 'everywhere' : `in ${places.join(' of ')}`
}

function criterionText({ kind, least = 1, text = '', met }: CriterionView): string {
  const words = {
    no_work_left: 'no work is left',
    findings: `${plural(least, 'finding')} or more`,
    proved_changes: `${plural(least, 'proved change')} or more`,
    tests_pass: 'the tests pass',
    judged: text,
  }[kind]
  if (kind === 'judged') return `to be judged by the model: ${words}`
  return `${met === null ? 'to be reached' : met ? 'reached' : 'not reached'}: ${words}`
}

function decisionLines(decision: AgendaDecision): string[] {
  const { seq, rationale, confidence, model, tokens, given } = decision
  const sure = confidence === null ? [] : [`confidence ${confidence}`]
  const cost = tokens === null ? [] : [plural(tokens, 'token')]
  const by = [...(model === null ? [] : [model]), ...cost, ...sure].join(', ')
  const why = rationale === null ? [] : [`  why: ${rationale}`]
  const answered = given === null ? [] : [`  it answered ${given}`]
  return [`event ${seq}: ${decidedText(decision)}${by === '' ? '' : ` (${by})`}`, ...why, ...answered]
}

function decidedText({ kind, item_ids: ids, reason, summary }: AgendaDecision): string {
  const items = ids.length === 0 ? 'nothing' : ids.join(', ')
  const words = {
    plan: `planned ${items}`,
    dispatch: `went on with ${items}`,
    retry: `tried ${items} again`,
    follow_up: `added ${items}`,
    refine: `planned anew: ${items}`,
    complete: 'ended the run with its answer',
    block: `could not go on: ${reason ?? ''}`,
    invalid: `no valid decision: ${reason ?? ''}`,
    approve: summary,
    extend: summary,
  }
  return words[kind]
}

function basisLines({ cited, follows_from: cause }: AgendaDecision): string[] {
  const eventText = ({ seq, summary }: AgendaDecision['cited'][number]) => `event ${seq}: ${summary}`
  const after = cause === null ? [] : [`  it follows from ${eventText(cause)}`]
  return cited.length === 0 ? after : [...after, '  it rests on:', ...cited.map((event) => `    ${eventText(event)}`)]
}
