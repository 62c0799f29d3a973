import { stringify } from 'yaml'
import { z } from 'zod'
import { isDeeperThan, isRecord, parseJson, sortedKeys } from '#domain/json.ts'
import { readYaml } from '#platform/yaml-source.ts'
import { iterableNote, type JsonSchema } from '#languages/python/known-types.ts'
import type { SampledSignature } from '#languages/python/sampled-signature.ts'
import type { SampleFormat } from '#languages/python/sample-place.ts'

/** Cases for one definition: what it may be called with, and what its types refuse. */
export type Samples = {
  valid: { name: string; arguments: Record<string, unknown> }[]
  invalid: { name: string; why: string; arguments: Record<string, unknown> }[]
}

/** A file of samples. `source` is `path::qualified.name`, as test runners name a definition. */
export type SampleFile = Samples & { source: string; signature: string }

const maxCases = 20
const maxDepth = 12
export const maxSampleBytes = 64_000
const maxFaults = 20

const line = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*\S[^\p{Cc}\p{Zl}\p{Zp}]*$/u, 'must be one line of text')
const Arguments = z.record(z.string(), z.json())
const Valid = z.strictObject({ name: line(80), arguments: Arguments })
const Invalid = z.strictObject({ name: line(80), why: line(200), arguments: Arguments })
const Cases = z.strictObject({
  valid: z.array(Valid).min(1).max(maxCases),
  invalid: z.array(Invalid).min(1).max(maxCases),
})
const File = z.strictObject({
  source: z.string().regex(/^[^:]+::[^:]+$/),
  signature: z.string(),
  ...Cases.shape,
})

type Read<Found> = { kind: 'read'; value: Found } | { kind: 'faulty'; faults: string[] }

/** Samples as a model gave them: names, reasons and arguments, of bounded size and depth. */
export function readSamples(raw: unknown): Read<Samples> {
  return parsed(Cases, raw)
}

export function readSampleFile(text: string, format: SampleFormat): Read<SampleFile> {
  if (Buffer.byteLength(text) > maxSampleBytes) return faulty(`it is larger than ${maxSampleBytes} bytes`)
  const raw = format === 'json' ? parseJson(text) : readYaml(text).value
  return raw === undefined ? faulty(`it is no ${format.toUpperCase()}`) : parsed(File, raw)
}

function faulty(...faults: string[]): { kind: 'faulty'; faults: string[] } {
  return { kind: 'faulty', faults }
}

function parsed<Found>(schema: z.ZodType<Found>, raw: unknown): Read<Found> {
  if (isDeeperThan(raw, maxDepth)) return faulty(`lists and objects are nested deeper than ${maxDepth}`)
  const answer = schema.safeParse(raw)
  if (answer.success) return { kind: 'read', value: answer.data }
  return faulty(...answer.error.issues.slice(0, maxFaults).map(({ path, message }) => `${path.join('.')}: ${message}`))
}

/** Finds valid cases that the signature refuses, invalid ones that it accepts or refuses for something that they do not name, and repeats. */
export function faultsOfSamples({ valid, invalid }: Samples, { schema }: Pick<SampledSignature, 'schema'>): string[] {
  const check = openCheck(schema)
  const checkInvalid = openCheck(withTexts(schema))
  const faults = [
    ...valid.flatMap(({ name, arguments: given }) => {
      return check(given).map(({ text }) => `valid case "${name}": ${text}`)
    }),
    ...invalid.flatMap((sample) => faultOfInvalid(sample, checkInvalid(sample.arguments))),
    ...repeated([...valid, ...invalid].map(({ name }) => name)).map((name) => `there are two cases "${name}"`),
    ...repeated([...valid, ...invalid].map((sample) => JSON.stringify(sample.arguments, sortedKeys))).map(
      (given) => `there are two cases with the arguments ${given.slice(0, 200)}`,
    ),
  ]
  const more = faults.length - maxFaults
  return more > 0 ? [...faults.slice(0, maxFaults), `and ${more} more`] : faults
}

/** The schema with a text wherever a program would take one for a sequence of its characters. */
function withTexts(schema: JsonSchema): JsonSchema {
  const inside = Object.entries(schema).map(([key, value]) => [key, withTextsIn(value)])
  const whole: JsonSchema = Object.fromEntries(inside)
  if (schema['description'] !== iterableNote) return whole
  const { default: _, ...plain } = whole
  return { anyOf: [plain, { type: 'string' }] }
}

function withTextsIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withTextsIn)
  return isRecord(value) ? withTexts(value) : value
}

type ArgumentFault = { argument: string; text: string }

/** Wants one argument refused, which `why` names: a case that is wrong twice does not show which of the two was noticed. */
function faultOfInvalid({ name, why }: Samples['invalid'][number], refusals: readonly ArgumentFault[]): string[] {
  const wrong = [...new Set(refusals.map(({ argument }) => argument))]
  const [only] = wrong
  if (only === undefined) return [`invalid case "${name}": the types accept it`]
  if (wrong.length > 1) return [`invalid case "${name}": ${wrong.join(' and ')} are wrong; one argument is to be`]
  const isNamed = /^\w+$/.test(only) ? why.split(/\W+/).includes(only) : why.includes(only)
  return isNamed
    ? []
    : [`invalid case "${name}": what is wrong is ${refusals[0]?.text ?? only}, and why does not name ${only}`]
}

function repeated(texts: readonly string[]): string[] {
  return [...new Set(texts.filter((text, at) => texts.indexOf(text) !== at))]
}

function openCheck(schema: SampledSignature['schema']): (given: unknown) => ArgumentFault[] {
  const checked = z.fromJSONSchema(schema)
  return (given) => {
    const answer = checked.safeParse(given)
    if (answer.success) return []
    return answer.error.issues.flatMap((issue) => {
      const [first, ...inner] = issue.path.map(String)
      const at = inner.length === 0 ? '' : ` (at ${inner.join('.')})`
      if (first !== undefined) return { argument: first, text: `${first}${at}: ${issue.message}` }
      const unknown = issue.code === 'unrecognized_keys' ? issue.keys : ['the arguments']
      return unknown.map((argument) => ({ argument, text: `${argument}: there is no such parameter` }))
    })
  }
}

/** The file's text. The same samples give the same bytes: keys are in the order of the signature. */
export function writeSampleFile(
  file: SampleFile,
  { parameters }: Pick<SampledSignature, 'parameters'>,
  format: SampleFormat,
): string {
  const order = new Map(parameters.map(({ name }, at) => [name, at]))
  const ordered = (given: Record<string, unknown>) => {
    const places = Object.entries(given).map(([key, value], at) => ({
      key,
      value,
      at: order.get(key) ?? order.size + at,
    }))
    return Object.fromEntries(
      places.toSorted((left, right) => left.at - right.at).map(({ key, value }) => [key, value]),
    )
  }
  const whole = {
    source: file.source,
    signature: file.signature,
    valid: file.valid.map(({ name, arguments: given }) => ({ name, arguments: ordered(given) })),
    invalid: file.invalid.map(({ name, why, arguments: given }) => ({ name, why, arguments: ordered(given) })),
  }
  if (format === 'json') return `${JSON.stringify(whole, null, 2)}\n`
  // Quoted, since YAML 1.1, which PyYAML reads, takes more words for something else than text.
  return stringify(whole, { lineWidth: 0, version: '1.1', defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' })
}

export function sampledDefinition(source: string): { path: string; qualifiedName: string } {
  const [path = '', qualifiedName = ''] = source.split('::')
  return { path, qualifiedName }
}
