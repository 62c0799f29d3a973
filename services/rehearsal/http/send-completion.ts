import type { ServerResponse } from 'node:http'
import { delay } from '#platform/clock.ts'
import { completionBody, type Completion } from '../completion.ts'
import { completionEvents } from '../completion-events.ts'
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

/** Sends what the fault lets through. One that stalls ends when the client or the server closes it. */
export async function sendCompletion(
  response: ServerResponse,
  completion: Completion,
  delivery: Delivery,
): Promise<void> {
  const { stream, fault } = delivery
  const text = stream ? completionEvents(completion, delivery) : completionBody(completion, fault)
  const type = stream ? 'text/event-stream; charset=utf-8' : 'application/json'
  response.writeHead(200, { 'content-type': type, ...lengthHeader(text, stream) })
  const half = text.slice(0, text.length >> 1)
  if (fault === 'truncated') response.write(half, () => response.socket?.destroy())
  else if (fault === 'stall') response.write(half)
  else if (fault === 'split_bytes') await sendInPieces(response, Buffer.from(text))
  else response.end(text)
}

/** Pieces that keep no boundary of characters or events, each in a packet of its own; at most some 200 of them. */
async function sendInPieces(response: ServerResponse, bytes: Buffer): Promise<void> {
  const least = Math.ceil(bytes.length / 200)
  for (let at = 0, size = 0; at < bytes.length && !response.destroyed; at += size) {
    size = least + (at % 3)
    response.write(bytes.subarray(at, at + size))
    await delay(0)
  }
  response.end()
}

/** A stream's length is not known beforehand: real servers send it in chunks. */
function lengthHeader(text: string, stream: boolean): Record<string, string> {
  return stream ? { 'cache-control': 'no-cache' } : { 'content-length': String(Buffer.byteLength(text)) }
}
