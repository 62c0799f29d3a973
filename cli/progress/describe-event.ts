import { z } from 'zod'
import type { WireEvent } from '../api-views.ts'
import { nodePlace, plural } from '../wording.ts'

const Words = z.string().catch('')
const Count = z.number().catch(0)

/** One line for a person, or undefined for events that are not shown. */
export function describeEvent(event: WireEvent): string | undefined {
  const { data } = event
  switch (event.event) {
    case 'snapshot.stored':
      return `snapshot of ${plural(Count.parse(data['files']), 'file')} stored`
    case 'nodes.discovered':
      return `${plural(Count.parse(data['nodes']), 'node')} discovered`
    case 'run.planned':
      return `${plural(Count.parse(data['operations']), 'operation')} planned`
    case 'operation.ended':
      return `${workOf(event)} ${Words.parse(data['status'])}: ${summaryOf(event)}`
    case 'operation.retried':
      return `${workOf(event)} tried again: ${Words.parse(data['reason'])}`
    case 'human_input.requested':
      return `${workOf(event)} asks ${Words.parse(data['request_id'])}: ${oneLine(Words.parse(data['question']))}`
    case 'human_input.answered':
      return `${Words.parse(data['request_id'])} answered: ${oneLine(Words.parse(data['answer']))}`
    case 'run.composed':
      return 'all changes put together into one patch'
    case 'run.failed':
      return `run failed: ${event.error_code ?? ''} ${Words.parse(data['reason'])}`
    default:
      return undefined
  }
}

/** `lint src/money.py round_half_up`: the agent and the node, as far as the event names it. */
export function workOf({ agent, data }: WireEvent): string {
  return oneLine(`${agent ?? ''} ${nodePlace(Words.parse(data['path']), Words.parse(data['qualified_name']))}`)
}

function summaryOf(event: WireEvent): string {
  const code = event.error_code ?? ''
  const words = Words.parse(event.data['reason']) || Words.parse(event.data['summary']) || (event.operation_id ?? '')
  return oneLine(`${code} ${words}`)
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
