import { z } from 'zod'
import type { WireEvent } from '../api-views.ts'

const Words = z.string().catch('')
const Count = z.number().catch(0)

/** One line a person reads, or undefined for events that would only make noise. */
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
      return `${event.agent ?? ''} ${Words.parse(data['status'])}: ${summaryOf(event)}`
    case 'operation.retried':
      return `${event.agent ?? ''} tried again: ${Words.parse(data['reason'])}`
    case 'run.composed':
      return 'patch composed'
    case 'run.failed':
      return `run failed: ${event.error_code ?? ''} ${Words.parse(data['reason'])}`
    default:
      return undefined
  }
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function summaryOf(event: WireEvent): string {
  const code = event.error_code ?? ''
  const words = Words.parse(event.data['reason']) || Words.parse(event.data['summary']) || (event.operation_id ?? '')
  return oneLine(`${code} ${words}`)
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
