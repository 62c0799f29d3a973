import { AppError } from '#domain/error.ts'
import { isRecord, parseJson } from '#domain/json.ts'
import type { JsonSchema } from '#domain/turn.ts'
import { nearest } from '#platform/nearest.ts'
import type { CompiledScript } from '#tool-scripts/compiled-script.ts'
import type { InputDeclaration } from '#tool-scripts/script-declarations.ts'
import { inputSchema } from '#tool-scripts/script-schema.ts'
import { validateArguments } from '#tool-scripts/tool-arguments.ts'

/** What a person wrote: the texts of `-i key=JSON`, which go before the values of `--inputs`. */
export type GivenInputs = { texts: ReadonlyMap<string, string>; values: Readonly<Record<string, unknown>> }

/**
 * The inputs of one run: what was given, then what the host fills in. TOOL_002 names everything that is missing, unknown,
 * no JSON or of another type, with the declared types.
 */
export function toolInputs(
  { path, declarations }: Pick<CompiledScript, 'path' | 'declarations'>,
  given: GivenInputs,
  host: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const declared = new Map(declarations.inputs.map((input) => [input.name, input]))
  const faults = unknownFaults([...Object.keys(given.values), ...given.texts.keys()], declared)
  const values = new Map<string, unknown>()
  for (const { name, ...input } of declarations.inputs) {
    const text = given.texts.get(name)
    if (text !== undefined) {
      const read = readText(text, input.schema)
      if (read.ok) values.set(name, read.value)
      else faults.push(`input ${name} is ${input.type}, and ${shown(text)} is no JSON`)
    } else if (Object.hasOwn(given.values, name)) values.set(name, given.values[name])
    else if (Object.hasOwn(host, name)) values.set(name, host[name])
    else if (!input.optional) faults.push(`input ${name}: ${input.type} is missing${wayTo(name)}`)
  }
  faults.push(...typeFaults(declarations.inputs, values))
  if (faults.length > 0)
    throw new AppError('TOOL_002', `${path}: ${faults.join('; ')}${theInputs(declarations.inputs)}`)
  return Object.fromEntries(values)
}

function unknownFaults(names: readonly string[], declared: ReadonlyMap<string, unknown>): string[] {
  const unknown = [...new Set(names)].filter((name) => !declared.has(name))
  return unknown.map((name) => {
    const near = nearest(name, [...declared.keys()])
    return `no input is named ${shown(name)}${near === undefined ? '' : ` (did you mean ${near}?)`}`
  })
}

/** A text that is no JSON is a string where the input takes one by its type, not by taking anything. */
function readText(text: string, schema: JsonSchema): { ok: true; value: unknown } | { ok: false } {
  const value = parseJson(text)
  if (value !== undefined) return { ok: true, value }
  return takesString(schema) ? { ok: true, value: text } : { ok: false }
}

function takesString(schema: JsonSchema): boolean {
  const members = schema['anyOf']
  return schema['type'] === 'string' || (Array.isArray(members) && members.filter(isRecord).some(takesString))
}

/** What is missing or unreadable has been told. */
function typeFaults(inputs: readonly InputDeclaration[], values: ReadonlyMap<string, unknown>): string[] {
  return inputs.flatMap((input) => {
    const value = values.get(input.name)
    if (!values.has(input.name)) return []
    const checked = validateArguments(inputSchema({ inputs: [input] }), { [input.name]: value })
    if (checked.ok) return []
    const wantsQuotes = takesString(input.schema) && ['number', 'boolean'].includes(typeof value)
    const hint = wantsQuotes ? ` (for the text, write -i '${input.name}="${String(value)}"')` : ''
    return checked.faults.map((fault) => `${fault}${hint}`)
  })
}

const filledIn: Readonly<Record<string, string>> = {
  settings: 'a bundle.yaml in its folder or the one above would bring it',
}
const ofNode = new Set(['node_text', 'node_name', 'node_kind', 'node_id', 'file_path', 'language', 'files'])

function wayTo(name: string): string {
  const way = ofNode.has(name) ? '--node would bring it' : filledIn[name]
  return way === undefined ? '' : ` (${way})`
}

function theInputs(inputs: readonly InputDeclaration[]): string {
  const list = inputs.map(({ name, type, optional }) => `${name}: ${type}${optional ? ' (optional)' : ''}`)
  return list.length === 0 ? '; the script has no inputs' : `; the inputs are ${list.join(', ')}`
}

function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}
