import type { ServerResponse } from 'node:http'
import { completionBody, completionEvents, type Completion } from '../completion.ts'
import type { FaultName } from '../faults.ts'
import { answerError } from './answer.ts'

export type Delivery = { stream: boolean; includeUsage: boolean; fault: FaultName | undefined }

/** Faults that answer instead of the model. */
const refusals: Partial<Record<FaultName, { status: number; message: string; headers?: Record<string, string> }>> = {
  '429': { status: 429, message: 'rehearsed rate limit', headers: { 'retry-after': '1' } },
  '503': { status: 503, message: 'rehearsed overload' },
  '529': { status: 529, message: 'rehearsed overload of the site' },
}

/**
 * Answers, resets, hangs or refuses before any completion is made; false when the request is to be answered as usual.
 * A hanging request ends when the client or the server closes it.
 */
export function sendFault(response: ServerResponse, fault: FaultName | undefined): boolean {
  if (fault === undefined) return false
  if (fault === 'hang') return true
  if (fault === 'reset') {
    response.socket?.resetAndDestroy()
    return true
  }
  const refusal = refusals[fault]
  if (refusal === undefined) return false
  answerError(response, refusal.status, refusal.message, refusal.headers)
  return true
}

export function sendCompletion(response: ServerResponse, completion: Completion, delivery: Delivery): void {
  const text = delivery.stream ? completionEvents(completion, delivery.includeUsage) : completionBody(completion)
  const type = delivery.stream ? 'text/event-stream; charset=utf-8' : 'application/json'
  response.writeHead(200, { 'content-type': type, ...lengthHeader(text, delivery.stream) })
  if (delivery.fault !== 'truncated') {
    response.end(text)
    return
  }
  response.write(text.slice(0, text.length >> 1), () => response.socket?.destroy())
}

/** A stream's length is not known beforehand: real servers send it in chunks. */
function lengthHeader(text: string, stream: boolean): Record<string, string> {
  return stream ? { 'cache-control': 'no-cache' } : { 'content-length': String(Buffer.byteLength(text)) }
}
