import { z } from 'zod'
import { argumentsText } from '../content/content-reading.ts'

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

type MergedCall = { index: number; id: string; name: string; arguments: string }

type OpenCall = MergedCall & {
  brackets: ReturnType<typeof openBrackets>
  namedBy: readonly CallDelta[] | undefined
}

export type CallMerger = ReturnType<typeof openCallMerger>

/** Joins the tool calls of one choice from their pieces, in linear time. */
export function openCallMerger() {
  const calls: OpenCall[] = []
  const lastOfIndex = new Map<number, OpenCall>()
  const firstOfId = new Map<string, OpenCall>()
  const begin = (index: number): OpenCall => {
    const call = { index, id: '', name: '', arguments: '', brackets: openBrackets(), namedBy: undefined }
    calls.push(call)
    lastOfIndex.set(index, call)
    return call
  }
  const nearest = ({ index, id }: CallDelta) =>
    typeof index === 'number' ? lastOfIndex.get(index) : (firstOfId.get(id ?? '') ?? calls.at(-1))
  return {
    add(deltas: readonly CallDelta[]): void {
      for (const delta of deltas) {
        const near = nearest(delta)
        const call = near !== undefined && continues(near, delta, deltas) ? near : begin(delta.index ?? calls.length)
        addPiece(call, delta, deltas)
        if (call.id !== '' && !firstOfId.has(call.id)) firstOfId.set(call.id, call)
      }
    },
    calls: (): readonly MergedCall[] => calls.toSorted((left, right) => left.index - right.index),
  }
}

/**
 * A piece belongs to the last call of its index, else of its id, else to the last one. Servers that number every call 0, or
 * none, mark a new one by its name or id; others repeat the name, or give each piece an id. A list that names one tool twice
 * without numbers has two calls, unless the first one's arguments are not whole.
 */
function continues(call: OpenCall, delta: CallDelta, deltas: readonly CallDelta[]): boolean {
  const isNumbered = typeof delta.index === 'number'
  const id = delta.id ?? ''
  const name = delta.function?.name ?? ''
  if (id !== '' && id === call.id) return true
  if (!isNumbered && id !== '' && call.id !== '') return false
  if (name === '' || call.name === '') return true
  const isAnother = call.brackets.isWhole() || (!isNumbered && call.arguments === '' && call.namedBy === deltas)
  return name === call.name && !isAnother
}

function addPiece(call: OpenCall, { id, function: part }: CallDelta, deltas: readonly CallDelta[]): void {
  if (call.id === '') call.id = id ?? ''
  if (call.name === '') {
    call.name = part?.name ?? ''
    if (call.name !== '') call.namedBy = deltas
  }
  const piece = argumentsText(part?.arguments) ?? ''
  call.arguments += piece
  call.brackets.add(piece)
}

function openBrackets() {
  let depth = 0
  let hasBegun = false
  let isString = false
  let isEscaped = false
  return {
    add(piece: string): void {
      for (const character of piece) {
        if (isEscaped) isEscaped = false
        else if (isString && character === '\\') isEscaped = true
        else if (character === '"') isString = !isString
        else if (isString) continue
        else if (character === '{' || character === '[') {
          depth += 1
          hasBegun = true
        } else if (character === '}' || character === ']') depth -= 1
      }
    },
    isWhole: () => hasBegun && depth <= 0,
  }
}
