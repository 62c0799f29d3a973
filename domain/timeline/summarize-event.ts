import { z } from 'zod'
import type { WireEvent } from '../event.ts'
import type { EventName } from '../events/event-table.ts'
import { figure } from '../figure.ts'
import { formatSeconds, modelText, nodePlace, plural, usedUpText, waitingText } from './words.ts'

type Told = Pick<WireEvent, 'event' | 'agent' | 'operation_id' | 'tool_name' | 'error_code' | 'data'>

const Words = z.string().catch('')
const Count = z.number().catch(0)
const Names = z.array(z.string()).catch([])
const UsedUp = z.object({ of: Words, limit: Count, used: Count, needs: z.number().optional().catch(undefined) })
const Files = z.array(z.object({ path: z.string() })).catch([])

/** Returns one sentence for a person; a text of an agent or a person that it quotes is on one line. */
export function summarizeEvent(event: Told): string {
  return oneLine(summaries[event.event](event))
}

const summaries: Readonly<Record<EventName, (event: Told) => string>> = {
  'run.accepted': ({ data }) =>
    `run accepted for ${Words.parse(data['objective']) || Names.parse(data['agents']).join(', ')}`,
  'run.started': () => 'run started',
  'snapshot.stored': ({ data }) =>
    `snapshot of ${plural(Count.parse(data['files']), 'file')} stored${sourceText(data)}`,
  'nodes.discovered': ({ data }) => `${plural(Count.parse(data['nodes']), 'node')} discovered`,
  'bundles.checked': ({ data }) =>
    `${plural(z.array(z.unknown()).catch([]).parse(data['bundles']).length, 'bundle')} checked`,
  'run.planned': ({ data }) => `${plural(Count.parse(data['operations']), 'operation')} planned`,
  'setup.started': setupText,
  'setup.finished': setupText,
  'run.composed': () => 'all changes put together into one patch',
  'operations.repeated': ({ data }) =>
    `${plural(Count.parse(data['operations']), 'operation')} run once more: what they changed collided with others`,
  'run.waiting': ({ data }) => `nothing can move: the run ${waitingText(WaitedFor.parse(data['waiting_for']))}`,
  'models.away': ({ data }) => `no server of ${modelText(Words.parse(data['model']))} works`,
  'models.back': ({ data }) =>
    `${modelText(Words.parse(data['model']))} works again, after ${formatSeconds(Count.parse(data['away_ms']))}`,
  'budget.set': ({ data }) => budgetText(data['limit']),
  'budget.reached': ({ data }) => usedUpText(UsedUp.parse(data)),
  'budget.renewed': ({ data }) =>
    data['of'] === 'project' ? 'the project of the run has tokens again' : 'the run has tokens again',
  'run.completed': ({ data }) =>
    `run completed: ${plural(Count.parse(data['change_sets']), 'change set')} in ${plural(Count.parse(data['files_changed']), 'file')}`,
  'run.failed': (event) => `run failed: ${faultOf(event)}`,
  'run.blocked': (event) => `run blocked: ${faultOf(event)}`,
  'run.cancelled': (event) => `run cancelled: ${faultOf(event)}`,
  'run.reopened': ({ data }) => `the run goes on with generation ${Count.parse(data['generation'])}`,
  'publication.opened': (event) => `${pullOf(event)} opened: ${Words.parse(event.data['url'])}`,
  'publication.updated': (event) => `${pullOf(event)} updated`,
  'publication.ended': (event) => `${pullOf(event)} ${Words.parse(event.data['state'])}`,
  'publication.refused': ({ data }) =>
    `${plural(Count.parse(data['decisions']), 'decision')} without a signature refused`,
  'publication.failed': (event) => `not published: ${faultOf(event)}`,
  'decision.made': decisionText,
  'item.started': ({ data }) =>
    `item ${Words.parse(data['item_id'])} started: ${plural(Count.parse(data['operations']), 'operation')}`,
  'item.ended': ({ data }) =>
    `item ${Words.parse(data['item_id'])} ended: ${plural(Count.parse(data['change_sets']), 'change set')}, ${plural(Count.parse(data['findings']), 'finding')}`,
  'item.blocked': (event) => `item ${Words.parse(event.data['item_id'])} blocked: ${faultOf(event)}`,
  'items.stale': ({ data }) =>
    `a push has touched what ${Names.parse(data['item_ids']).join(', ')} would read: ${Names.parse(data['paths']).join(', ')}`,
  'objective.extended': ({ data }) => `${Words.parse(data['by'])} added: ${Words.parse(data['text'])}`,
  'agenda.decided': ({ data }) => `planned ${plural(Items.parse(data['items']).length, 'item')}: ${reasonOf(data)}`,
  'plan.approved': ({ data }) => `plan approved by ${Words.parse(data['by'])}`,
  'conductor.decided': ({ data }) => `decided to ${decidedText(data)}: ${reasonOf(data)}`,
  'conductor.failed': (event) => `not decided: ${faultOf(event)}`,
  'objective.refined': ({ data }) => `objective is now: ${Words.parse(data['objective'])}`,
  'operation.queued': (event) => `${workOf(event)} queued`,
  'operation.started': (event) => `${workOf(event)} started`,
  'operation.retried': (event) => `${workOf(event)} ${retryText(Words.parse(event.data['reason']))}`,
  'operation.suspended': (event) =>
    `${workOf(event)} waits for ${event.data['reason'] === 'tool' ? `the tool ${Words.parse(event.data['tool'])}` : 'an answer'}`,
  'operation.resumed': (event) =>
    `${workOf(event)} goes on ${event.data['again'] === true ? 'and runs its tool again' : 'with its answer'}`,
  'model.requested': (event) => `${workOf(event)} asks its model, turn ${Count.parse(event.data['turn'])}`,
  'model.responded': (event) =>
    event.data['reason'] === undefined
      ? `${workOf(event)} has a reply of its model, turn ${Count.parse(event.data['turn'])}`
      : `${workOf(event)} has no reply of its model: ${faultOf(event)}`,
  'budget.exceeded_by_server': (event) =>
    `the server reports ${plural(Count.parse(event.data['reported']), 'token')} for ${workOf(event)}, which asked for ${figure(Count.parse(event.data['requested']))} at most`,
  'tool.called': (event) => `${workOf(event)} runs ${event.tool_name ?? 'a tool'}`,
  'tool.returned': (event) =>
    `${workOf(event)} ran ${event.tool_name ?? 'a tool'}: ${Words.parse(event.data['summary'])}`,
  'turn.finished': (event) => `${workOf(event)} has finished turn ${Count.parse(event.data['turn'])}`,
  'submission.received': submissionText,
  'change_set.created': (event) =>
    `${workOf(event)} has changed ${Files.parse(event.data['files'])
      .map(({ path }) => path)
      .join(', ')}`,
  'operation.ended': (event) => `${workOf(event)} ${Words.parse(event.data['status'])}: ${summaryOf(event)}`,
  'finding.reported': findingText,
  'learning.reported': ({ agent, data }) => `${agent ?? ''} has learned: ${Words.parse(data['insight'])}`,
  'artifact.reported': ({ agent, data }) =>
    `${agent ?? ''} has made ${Words.parse(data['name'])} (${plural(Count.parse(data['bytes']), 'byte')})`,
  'report.dropped': ({ agent, data }) =>
    `a ${Words.parse(data['kind'])} of ${agent ?? ''} does not count (${Words.parse(data['reason'])}): ${Words.parse(data['key'])}`,
  'progress.reported': ({ agent, data }) =>
    `${agent ?? ''}: ${Words.parse(data['action'])}: ${Words.parse(data['reasoning_summary'])}`,
  'human_input.requested': (event) =>
    `${workOf(event)} asks ${Words.parse(event.data['request_id'])}: ${Words.parse(event.data['question'])}`,
  'human_input.answered': ({ data }) =>
    `${Words.parse(data['request_id'])} answered: ${[data['verdict'], data['answer']].map((part) => Words.parse(part)).join(' ')}`,
  'operation.blocked': (event) => `${workOf(event)} blocked: ${faultOf(event)}`,
  'operation.skipped': (event) => `${workOf(event)} ${Words.parse(event.data['status'])}`,
  'operation.failed': (event) => `${workOf(event)} failed: ${faultOf(event)}`,
  'watcher.reviewed': ({ data }) =>
    `events ${Count.parse(data['from_seq'])} to ${Count.parse(data['to_seq'])} reviewed (${Words.parse(data['why'])}): ${Words.parse(data['summary'])}`,
  'watcher.failed': (event) => `not reviewed (${Words.parse(event.data['why'])}): ${faultOf(event)}`,
  'ask.received': ({ data }) => `${Words.parse(data['by'])} asks: ${Words.parse(data['text'])}`,
  'ask.answered': ({ data }) => `answered: ${Text.parse(data['answer']).text}`,
  'ask.failed': (event) => `not answered: ${faultOf(event)}`,
  'escalation.raised': ({ data }) =>
    `${Words.parse(data['kind'])}, urgency ${Words.parse(data['urgency'])}, to ${Words.parse(data['mitigation'])}: ${Words.parse(data['rationale'])}`,
}

const Items = z.array(z.unknown()).catch([])
const Text = z.object({ text: Words }).catch({ text: '' })

function reasonOf(data: Told['data']): string {
  return Words.parse(data['reason']) || Text.parse(data['rationale']).text
}

function decidedText({ kind, item_ids: ids, items }: Told['data']): string {
  const names = Names.parse(ids)
  if (kind === 'invalid') return 'do nothing, since no valid decision was given'
  if (kind === 'follow_up') return `add ${plural(Items.parse(items).length, 'item')}`
  return [Words.parse(kind), ...(names.length === 0 ? [] : [names.join(', ')])].join(' ')
}

const told: ReadonlySet<EventName> = new Set([
  'snapshot.stored',
  'nodes.discovered',
  'run.planned',
  'setup.started',
  'setup.finished',
  'operations.repeated',
  'operation.ended',
  'operation.retried',
  'human_input.requested',
  'human_input.answered',
  'decision.made',
  'agenda.decided',
  'plan.approved',
  'conductor.decided',
  'objective.refined',
  'models.away',
  'models.back',
  'budget.set',
  'budget.reached',
  'budget.renewed',
  'budget.exceeded_by_server',
  'run.waiting',
  'run.reopened',
  'run.composed',
  'run.failed',
  'run.blocked',
  'item.started',
  'item.ended',
  'item.blocked',
  'items.stale',
  'objective.extended',
  'escalation.raised',
])

/** Is true for what a person is told while a run goes on; the other events say how it came to that. */
export function isTold({ event }: Pick<Told, 'event'>): boolean {
  return told.has(event)
}

/** `review src/money.py:12: rounds twice` */
function findingText({ agent, data }: Told): string {
  const line = Count.parse(data['line'])
  const place = `${Words.parse(data['path'])}${line > 0 ? `:${line}` : ''}`
  return oneLine(`${agent ?? ''} ${place}: ${Words.parse(data['claim'])}`)
}

function faultOf({ error_code: code, data }: Told): string {
  return `${code ?? ''} ${Words.parse(data['reason'])}`
}

function pullOf({ data }: Told): string {
  return `pull request #${Count.parse(data['number'])}`
}

function submissionText(event: Told): string {
  const back = Words.parse(event.data['refused']) || Words.parse(event.data['unverified'])
  if (back !== '') return `${workOf(event)} is given its submission back: ${back}`
  return `${workOf(event)} submits ${Words.parse(event.data['status'])}: ${Words.parse(event.data['summary'])}`
}

function sourceText({ repository, commit }: Told['data']): string {
  const [name, id] = [Words.parse(repository), Words.parse(commit)]
  return name === '' || id === '' ? '' : `, of ${name} at ${id.slice(0, 12)}`
}

function setupText({ event, data, error_code: code }: Told): string {
  if (event === 'setup.started') return `setting up: ${oneLine(Words.parse(data['command']))}`
  if (code !== undefined) return oneLine(`${code} the setup failed: ${Words.parse(data['reason'])}`)
  if (data['cached'] === true) return 'set up as an earlier run was'
  return `set up in ${formatSeconds(Count.parse(data['duration_ms']))}`
}

function retryText(reason: string): string {
  if (reason === 'models') return 'waits for its model'
  return reason === 'budget' ? 'waits for tokens' : `tried again: ${reason}`
}

function budgetText(tokens: unknown): string {
  return typeof tokens === 'number'
    ? `the run may use ${figure(tokens)} tokens`
    : 'the run may use any number of tokens'
}

/** `lint src/money.py round_half_up: rejected: too long` */
function decisionText(event: Told): string {
  const verdict = Words.parse(event.data['verdict'])
  const texts = ['note', 'reason'].map((name) => oneLine(Words.parse(event.data[name])))
  const name = oneLine(Words.parse(event.data['decided_by_name']))
  const by = name === '' ? '' : ` by ${name}`
  const retry = event.data['retry'] === true ? ', to be tried again after the run' : ''
  return `${workOf(event)}: ${verdict === 'pending' ? 'pending again' : verdict}${by}${retry}${texts.map((text) => text && `: ${text}`).join('')}`
}

const WaitedFor = z
  .array(
    z.object({
      kind: z.string(),
      model: z.string().optional(),
      questions: z.number().optional(),
      of: z.string().optional(),
    }),
  )
  .catch([])

/** `lint src/money.py round_half_up`: the agent and the node, as far as the event names it. */
export function workOf({ agent, data }: Told): string {
  const place = nodePlace(Words.parse(data['path']), Words.parse(data['qualified_name']))
  return oneLine(`${agent ?? ''} ${place}`)
}

function summaryOf(event: Told): string {
  const code = event.error_code ?? ''
  const words = Words.parse(event.data['reason']) || Words.parse(event.data['summary']) || (event.operation_id ?? '')
  return oneLine(`${code} ${words}`)
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
