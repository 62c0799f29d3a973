import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import { argumentsText } from '../content/content-reading.ts'

/** A piece of a tool call in a stream. Any part may be missing, and servers repeat some of them. */
export const CallDelta = z.object({
  index: z.int().min(0).nullish(),
  id: z.string().nullish(),
  function: z
    .object({
      name: z.string().nullish(),
      arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
    })
    .nullish(),
})
export type CallDelta = z.infer<typeof CallDelta>

export type MergedCall = { index: number; id: string; name: string; arguments: string }

/** Adds a piece to the call it continues, or begins the next one. */
export function mergeCall(calls: MergedCall[], delta: CallDelta): void {
  const { name, arguments: args } = delta.function ?? {}
  let call = continuedCall(calls, delta)
  if (call === undefined) {
    call = { index: delta.index ?? calls.length, id: '', name: '', arguments: '' }
    calls.push(call)
  }
  if (call.id === '') call.id = delta.id ?? ''
  if (call.name === '') call.name = name ?? ''
  call.arguments += argumentsText(args) ?? ''
}

/**
 * The last call of the piece's index, else the one of its id, else the last. Servers that number every call 0, or none,
 * tell a new one by its name or id; others repeat the name with every piece, or give each an id of its own.
 */
function continuedCall(calls: readonly MergedCall[], delta: CallDelta): MergedCall | undefined {
  const { index } = delta
  const id = delta.id ?? ''
  const name = delta.function?.name ?? ''
  const isNumbered = typeof index === 'number'
  const call = isNumbered
    ? calls.findLast((other) => other.index === index)
    : (calls.find((other) => id !== '' && other.id === id) ?? calls.at(-1))
  if (call === undefined || (id !== '' && id === call.id)) return call
  if (!isNumbered && id !== '' && call.id !== '') return undefined
  if (name === '' || call.name === '') return call
  return name === call.name && !isWhole(call.arguments) ? call : undefined
}

function isWhole(args: string): boolean {
  return args.endsWith('}') && parseJson(args) !== undefined
}
