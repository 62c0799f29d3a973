import { z } from 'zod'
import type { EventView } from '#schemas/event-schema.ts'
import { figure } from '#domain/figure.ts'
import { formatSeconds, nodePlace, plural } from '../wording.ts'
import { modelText, usedUpText, waitingText } from './describe-waiting.ts'

const Words = z.string().catch('')
const Count = z.number().catch(0)
const UsedUp = z.object({ of: Words, limit: Count, used: Count })

/** Returns a line for a list of events: its time, its name and, as far as it says so, what happened to what. */
export function eventLine(event: EventView): string {
  const words = describeEvent(event) ?? oneLine(`${workOf(event)} ${event.tool_name ?? ''}`)
  return `${event.ts.slice(11, 19)}  ${event.event.padEnd(21)}  ${words}`.trimEnd()
}

/** Returns one line for a person, or undefined for events that are not shown. */
export function describeEvent(event: EventView): string | undefined {
  const { data } = event
  switch (event.event) {
    case 'snapshot.stored':
      return `snapshot of ${plural(Count.parse(data['files']), 'file')} stored${sourceText(data)}`
    case 'nodes.discovered':
      return `${plural(Count.parse(data['nodes']), 'node')} discovered`
    case 'run.planned':
      return `${plural(Count.parse(data['operations']), 'operation')} planned`
    case 'setup.started':
    case 'setup.finished':
      return setupText(event)
    case 'operations.repeated':
      return `${plural(Count.parse(data['operations']), 'operation')} run once more: what they changed collided with others`
    case 'operation.ended':
      return `${workOf(event)} ${Words.parse(data['status'])}: ${summaryOf(event)}`
    case 'operation.retried':
      return data['reason'] === 'models'
        ? `${workOf(event)} waits for its model`
        : `${workOf(event)} tried again: ${Words.parse(data['reason'])}`
    case 'human_input.requested':
      return `${workOf(event)} asks ${Words.parse(data['request_id'])}: ${oneLine(Words.parse(data['question']))}`
    case 'human_input.answered':
      return `${Words.parse(data['request_id'])} answered: ${oneLine(Words.parse(data['answer']))}`
    case 'decision.made':
      return decisionText(event)
    case 'finding.reported':
      return findingText(event)
    case 'models.away':
      return `no server of ${modelText(Words.parse(data['model']))} works`
    case 'models.back':
      return `${modelText(Words.parse(data['model']))} works again, after ${formatSeconds(Count.parse(data['away_ms']))}`
    case 'budget.set':
      return budgetText(data['limit'])
    case 'budget.reached':
      return usedUpText(UsedUp.parse(data))
    case 'budget.renewed':
      return data['of'] === 'project' ? 'the project of the run has tokens again' : 'the run has tokens again'
    case 'run.waiting':
      return `nothing can move: the run ${waitingText(WaitedFor.parse(data['waiting_for']))}`
    case 'run.reopened':
      return `the run goes on with generation ${Count.parse(data['generation'])}`
    case 'run.composed':
      return 'all changes put together into one patch'
    case 'run.failed':
      return `run failed: ${event.error_code ?? ''} ${Words.parse(data['reason'])}`
    default:
      return undefined
  }
}

function sourceText({ repository, commit }: EventView['data']): string {
  const [name, id] = [Words.parse(repository), Words.parse(commit)]
  return name === '' || id === '' ? '' : `, of ${name} at ${id.slice(0, 12)}`
}

function setupText({ event, data, error_code: code }: EventView): string {
  if (event === 'setup.started') return `setting up: ${oneLine(Words.parse(data['command']))}`
  if (code !== undefined) return oneLine(`${code} the setup failed: ${Words.parse(data['reason'])}`)
  if (data['cached'] === true) return 'set up as an earlier run was'
  return `set up in ${formatSeconds(Count.parse(data['duration_ms']))}`
}

function budgetText(tokens: unknown): string {
  return typeof tokens === 'number'
    ? `the run may use ${figure(tokens)} tokens`
    : 'the run may use any number of tokens'
}

/** `lint src/money.py round_half_up: rejected: too long` */
function decisionText(event: EventView): string {
  const verdict = Words.parse(event.data['verdict'])
  const texts = ['note', 'reason'].map((name) => oneLine(Words.parse(event.data[name])))
  const name = oneLine(Words.parse(event.data['decided_by_name']))
  const by = name === '' ? '' : ` by ${name}`
  const retry = event.data['retry'] === true ? ', to be tried again after the run' : ''
  return `${workOf(event)}: ${verdict === 'pending' ? 'pending again' : verdict}${by}${retry}${texts.map((text) => text && `: ${text}`).join('')}`
}

/** `review src/money.py:12: rounds twice` */
function findingText({ agent, data }: EventView): string {
  const line = Count.parse(data['line'])
  const place = `${Words.parse(data['path'])}${line > 0 ? `:${line}` : ''}`
  return oneLine(`${agent ?? ''} ${place}: ${Words.parse(data['claim'])}`)
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
export function workOf({ agent, data }: EventView): string {
  return oneLine(`${agent ?? ''} ${nodePlace(Words.parse(data['path']), Words.parse(data['qualified_name']))}`)
}

function summaryOf(event: EventView): string {
  const code = event.error_code ?? ''
  const words = Words.parse(event.data['reason']) || Words.parse(event.data['summary']) || (event.operation_id ?? '')
  return oneLine(`${code} ${words}`)
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
