import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import type { ModelPool } from '#models/model-pool.ts'
import { nearest } from '#platform/nearest.ts'
import { isModelServers } from '../model-server.ts'

export type SideSettings = {
  toolChoice: 'required' | 'auto'
  /** Says what else constrains a reply to the form of a call, as a bundle's `grammar`. */
  constraint: (typeof constraints)[number]
  temperature: number
  maxTokens: number
  toolGuide: boolean
  /** Is true when replies are streamed, which gives the time to the first token. */
  stream: boolean
}

/** One of the two that are compared, or the only one: a model on its servers with its settings. */
export type Side = {
  servers: string
  model: string
  settings: SideSettings
  pool: Pick<ModelPool, 'complete'>
}

export type ComparedSide = {
  url?: string | undefined
  model?: string | undefined
  settings: Partial<SideSettings>
}

const decimal = z
  .string()
  .regex(/^\d+(?:\.\d+)?$/, 'must be a number')
  .transform(Number)

const yesOrNo = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true')

/** A bundle's `grammar` may be one of these words, or a mapping, which is not measured here. */
export const constraints = ['none', 'json_schema'] as const

const known = {
  url: z.string().refine(isModelServers, 'must be "rehearsal" or the http(s) URL of a model server'),
  model: z.string().min(1, 'must be a name'),
  tool_choice: z.enum(['required', 'auto'], 'must be required or auto'),
  constraint: z.enum(constraints, `must be one of ${constraints.join(', ')}`),
  temperature: decimal.pipe(z.number().max(2, 'must be at most 2')),
  max_tokens: decimal.pipe(z.int('must be a whole number').min(1, 'must be above 0')),
  tool_guide: yesOrNo,
  stream: yesOrNo,
}
const Compared = z.strictObject(known).partial()

/** Reads `--compare`: a URL, or settings. Throws InvalidArgumentError, which lists the known settings. */
export function parseComparedSide(text: string): ComparedSide {
  if (isModelServers(text)) return { url: text, settings: {} }
  const given = text.split(',').map((entry) => entry.split(/=(.*)/s, 2).map((part) => part.trim()))
  for (const [name = '', value] of given) refuseUnknown(name, value)
  const names = given.map(([name = '']) => name)
  const twice = names.find((name, at) => names.indexOf(name) < at)
  if (twice !== undefined) throw new InvalidArgumentError(`${twice} is given twice.`)
  const parsed = Compared.safeParse(Object.fromEntries(given))
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`)
    throw new InvalidArgumentError(`${faults.join('; ')}.`)
  }
  const { url, model, tool_choice: toolChoice, max_tokens: maxTokens, tool_guide: toolGuide, ...others } = parsed.data
  const settings = Object.entries({ toolChoice, ...others, maxTokens, toolGuide })
  return { url, model, settings: Object.fromEntries(settings.filter(([, value]) => value !== undefined)) }
}

function refuseUnknown(name: string, value: string | undefined): void {
  const names = Object.keys(known)
  if (names.includes(name)) {
    if (value === undefined) throw new InvalidArgumentError(`${name} needs a value: ${name}=….`)
    return
  }
  const near = nearest(name, names)
  const meant = near === undefined ? '' : ` (did you mean ${near}?)`
  throw new InvalidArgumentError(
    `It must be the URL of a model server, or settings of ${names.join(', ')} as name=value, separated by commas: ` +
      `${JSON.stringify(name)} is none${meant}.`,
  )
}
