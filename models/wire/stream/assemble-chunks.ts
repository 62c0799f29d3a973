import { z } from 'zod'
import { getOrMake } from '#platform/cached-answers.ts'
import { Content, readContent } from '../from-openai.ts'
import { argumentsText } from '../content/content-reading.ts'

const CallDelta = z.object({
  index: z.int().min(0).nullish(),
  id: z.string().nullish(),
  function: z
    .object({
      name: z.string().nullish(),
      arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
    })
    .nullish(),
})
type CallDelta = z.infer<typeof CallDelta>

const Delta = z.looseObject({ content: Content.nullish(), tool_calls: z.array(CallDelta).nullish() })
const ChunkChoice = z.looseObject({
  index: z.int().min(0).nullish(),
  delta: Delta.nullish(),
  /** Some servers send their whole answer as one chunk, with a message instead of a delta. */
  message: Delta.nullish(),
  finish_reason: z.string().nullish(),
})

export const Chunk = z.looseObject({ choices: z.array(ChunkChoice).nullish() })
export type Chunk = z.infer<typeof Chunk>
type ChunkChoice = z.infer<typeof ChunkChoice>
type Delta = z.infer<typeof Delta>

type OpenChoice = { fields: Map<string, unknown>; message: Map<string, unknown>; merger: CallMerger }

/** Usage that is sent more than once grows, so the last one counts. */
export function openChunkAssembler() {
  const top = new Map<string, unknown>()
  const choices = new Map<number, OpenChoice>()
  let hasToken = false
  let wroteOn = false
  const hasReason = () => (choices.get(0)?.fields.get('finish_reason') ?? '') !== ''
  return {
    add({ choices: parts, ...rest }: Chunk): void {
      for (const [key, value] of Object.entries(rest)) if (value !== null && value !== undefined) top.set(key, value)
      const wasFinished = hasReason()
      for (const part of parts ?? []) {
        if (!addPart(getOrMake(choices, part.index ?? 0, emptyChoice), part)) continue
        hasToken = true
        wroteOn ||= wasFinished
      }
    },
    hasToken: () => hasToken,
    hasReason,
    /** Some servers send a `finish_reason` early or with every piece: it ends only what the model did not go on with. */
    isFinished: () => hasReason() && !wroteOn,
    /** Returns what the server would have answered to the same request unstreamed; undefined without a choice. */
    completion(): object | undefined {
      if (choices.size === 0) return undefined
      const inOrder = [...choices].toSorted(([one], [other]) => one - other)
      const whole = inOrder.map(([index, choice]) => wholeChoice(index, choice))
      return { ...Object.fromEntries(top), object: 'chat.completion', choices: whole }
    },
  }
}

function emptyChoice(): OpenChoice {
  return { fields: new Map(), message: new Map([['content', null]]), merger: openCallMerger() }
}

function addPart(choice: OpenChoice, { index: _, delta, message, ...fields }: ChunkChoice): boolean {
  for (const [key, value] of Object.entries(fields)) if (value !== null && value !== '') choice.fields.set(key, value)
  const { tool_calls: calls, ...texts } = withText(delta ?? message ?? {})
  choice.merger.add(calls ?? [])
  let wrote = (calls ?? []).length > 0
  for (const [key, value] of Object.entries(texts)) {
    if (value === null || value === undefined) continue
    const known = choice.message.get(key)
    const goesOn = typeof value === 'string' && typeof known === 'string' && key !== 'role'
    choice.message.set(key, goesOn ? known + value : value)
    wrote ||= typeof value === 'string' && value !== '' && key !== 'role'
  }
  return wrote
}

function withText(delta: Delta): Delta {
  if (!Array.isArray(delta.content)) return delta
  const { text, thought } = readContent(delta.content)
  return { ...delta, content: text, ...(thought === '' ? {} : { reasoning_content: thought }) }
}

function wholeChoice(index: number, { fields, message, merger }: OpenChoice): object {
  const toolCalls = merger
    .calls()
    .map(({ id, name, arguments: args }) => ({ id, type: 'function', function: { name, arguments: args } }))
  const whole = { role: 'assistant', ...Object.fromEntries(message) }
  return {
    index,
    message: toolCalls.length === 0 ? whole : { ...whole, tool_calls: toolCalls },
    ...Object.fromEntries(fields),
  }
}

type MergedCall = { index: number; id: string; name: string; arguments: string }

type OpenCall = MergedCall & {
  brackets: ReturnType<typeof openBrackets>
  namedBy: readonly CallDelta[] | undefined
}

type CallMerger = ReturnType<typeof openCallMerger>

/** Joins the tool calls of one choice from their pieces, in linear time. */
function openCallMerger() {
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
