import type { ServerResponse } from 'node:http'
import { delay } from '#platform/clock.ts'
import { type Completion, completionBody, completionEvents } from './chat-completion.ts'
import type { FaultName } from './faults.ts'
import { answerError } from './json-http.ts'

type Delivery = { stream: boolean; includeUsage: boolean; fault: FaultName | undefined }

type ErrorReply = { status: number; message: string; headers?: Record<string, string> }
const errorReplies: Partial<Record<FaultName, ErrorReply>> = {
  '403': { status: 403, message: 'rehearsed filter of content' },
  '429': { status: 429, message: 'rehearsed rate limit', headers: { 'retry-after': '1' } },
  '503': { status: 503, message: 'rehearsed overload' },
  '529': { status: 529, message: 'rehearsed overload of the site' },
}

/** Resets, hangs or refuses the request if the fault says so; false when it is to be answered. */
export function sendFault(response: ServerResponse, fault: FaultName | undefined): boolean {
  if (fault === undefined) return false
  if (fault === 'hang') return true
  if (fault === 'reset') {
    response.socket?.resetAndDestroy()
    return true
  }
  const refusal = errorReplies[fault]
  if (refusal === undefined) return false
  answerError(response, refusal.status, refusal.message, refusal.headers)
  return true
}

/** Sends the reply, or the part that the fault lets through. A stalled one ends when the client or the server closes it. */
export async function sendCompletion(response: ServerResponse, completion: Completion, delivery: Delivery) {
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

/** Sends about 200 pieces at most, each in a packet of its own, split without regard to characters or events. */
async function sendInPieces(response: ServerResponse, bytes: Buffer): Promise<void> {
  const least = Math.ceil(bytes.length / 200)
  for (let at = 0, size = 0; at < bytes.length && !response.destroyed; at += size) {
    size = least + (at % 3)
    response.write(bytes.subarray(at, at + size))
    await delay(0)
  }
  response.end()
}

/** Real servers do not know the length of a stream, and send it in chunks. */
function lengthHeader(text: string, stream: boolean): Record<string, string> {
  return stream ? { 'cache-control': 'no-cache' } : { 'content-length': String(Buffer.byteLength(text)) }
}
