import { z } from 'zod'
import { BundleFile } from '#domain/agent-bundle.ts'
import { checkRows } from '#domain/checks.ts'
import { languageName } from '#languages/syntax/grammars.ts'
import { shownValue, tableRow, typeText } from './table-cells.ts'

/** The text of docs/reference/bundle.md: every key of `bundle.yaml`, made from its schema, and every check that it may ask for. */
export function bundleReference(): string {
  return [
    '# bundle.yaml',
    '',
    'An agent is a bundle: a folder with this file and tool scripts. [The guide](../guide/agents.md) writes one from nothing.',
    '`node scripts/write-reference.ts` makes this page from the schema in `domain/agent-bundle.ts`. An unknown key is a fault',
    '(AGENT_001), which `remora check` reports with its line. `[]` stands for each entry of a list, `<name>` for any name.',
    '',
    '| key | type | default | |',
    '| --- | --- | --- | --- |',
    ...rowsOf(Schema.parse(z.toJSONSchema(BundleFile, { io: 'input' })), { path: '', fallback: '' }),
    '',
    '## Checks',
    '',
    'What `evidence` may list; by default those that apply to any change. A check is `not_applicable` to a file of a language that it is',
    'not of: it refuses nothing, and the others prove the file. [The guide](../guide/configuration.md#evidence) has the details.',
    '',
    '*Grammars* are all languages that have one. ¹ In languages other than Python, JavaScript and TypeScript only where nothing but comments, or',
    'the format of Go, changes.',
    '',
    '| check | of | proved is |',
    '| --- | --- | --- |',
    ...checkRows.map(({ check, of: { proof, languages }, proves }) =>
      tableRow([`\`${check}\`${proof === 'harmless' ? ' (default)' : ''}`, languagesText(languages), proves]),
    ),
    '',
  ].join('\n')
}

const languageWords = {
  any: 'every file',
  grammar: 'grammars',
  code: 'code ¹',
} as const

function languagesText(languages: (typeof checkRows)[number]['of']['languages']): string {
  return typeof languages === 'string' ? languageWords[languages] : languages.map(languageName).join(', ')
}

const Schema = z.looseObject({
  description: z.string().optional(),
  default: z.unknown().optional(),
  get properties() {
    return z.record(z.string(), Schema).optional()
  },
  required: z.array(z.string()).default([]),
  get items() {
    return Schema.optional()
  },
  get anyOf() {
    return z.array(Schema).default([])
  },
  get additionalProperties() {
    return z.union([z.boolean(), Schema]).optional()
  },
})
type Schema = z.infer<typeof Schema>

const checks: readonly string[] = checkRows.map(({ check }) => check)
const defaultChecks = shownValue(checkRows.filter(({ of }) => of.proof === 'harmless').map(({ check }) => check))

/** Refers to the table of checks instead of repeating their names. */
function typeOf(schema: Schema): string {
  const text = typeText(schema)
  return text === typeText({ items: { enum: checks } }) ? 'list of [checks](#checks)' : text
}

function defaultOf(fallback: string): string {
  return fallback === defaultChecks ? 'those marked' : fallback
}

/** A row for each key with a description, then those of the keys in it. */
function rowsOf(schema: Schema, { path, fallback }: { path: string; fallback: string }): string[] {
  const { description } = schema
  const inner = innerRows(schema, path)
  if (description === undefined && inner.length === 0) throw new Error(`${path} of bundle.yaml has no description`)
  const own =
    description === undefined ? [] : [tableRow([`\`${path}\``, typeOf(schema), defaultOf(fallback), description])]
  return [...own, ...inner]
}

function innerRows({ properties = {}, required, items, anyOf, additionalProperties }: Schema, path: string): string[] {
  const keys = Object.entries(properties).flatMap(([key, inner]) => {
    const fallback = required.includes(key) ? 'required' : shownValue(inner.default)
    return rowsOf(inner, { path: path === '' ? key : `${path}.${key}`, fallback })
  })
  const entries = items === undefined ? [] : innerRows(items, `${path}[]`)
  const named = typeof additionalProperties === 'object' ? innerRows(additionalProperties, `${path}.<name>`) : []
  return [...keys, ...entries, ...named, ...anyOf.flatMap((one) => innerRows(one, path))]
}
