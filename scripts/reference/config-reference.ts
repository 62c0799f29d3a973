import { z } from 'zod'
import { secretVariables } from '#settings/secret-files.ts'
import { fileSettingsOf, type Setting, type SettingsTable } from '#settings/setting.ts'
import { settingsTable } from '#settings/settings-table.ts'

/** The text of docs/reference/config.md, made from the table of settings. */
export function configReference(): string {
  const table: SettingsTable = settingsTable
  const settings = Object.entries(table)
  return [
    '# Configuration',
    '',
    'Settings come, in rising order of precedence, from a default, `remora.yaml`, the environment or a flag. The file is the',
    'nearest `remora.yaml` from the working folder upwards, or the one that `--config` or `REMORA_CONFIG` names (`none`: no file).',
    '`remora config` prints the effective settings of a folder, each with its source. Explanations and examples are in',
    '[the guide](../guide/configuration.md). `node scripts/write-reference.ts` makes this page from the table of settings in',
    '`core/settings`.',
    '',
    'An empty or blank variable counts as unset. Every bad variable is named in one error (CONFIG_003). In a variable, a list',
    'is separated by commas, and a mapping is JSON. *Read by*: the service that a setting configures; `cli` is the command line.',
    'An embedded stack (`remora up`, `remora run`) passes the settings of its services on to them, except those marked ¹,',
    'which it sets itself.',
    '',
    `A secret may be in a file instead: ${secretVariables.map((name) => `\`${name}_FILE\``).join(', ')} name it. A line end at its end`,
    'is not part of the secret. A file that cannot be read, or is empty where it is not that of the models, is CONFIG_003, and so is a',
    'secret that is given in both ways.',
    '',
    '## remora.yaml and the environment',
    '',
    '| key | variable | type | default | read by | |',
    '| --- | --- | --- | --- | --- | --- |',
    ...settings.flatMap(([variable, setting]) => fileRow(variable, setting)),
    '',
    '## The environment only',
    '',
    '| variable | type | default | read by | |',
    '| --- | --- | --- | --- | --- |',
    ...settings.flatMap(([variable, setting]) => (setting.key === undefined ? [variableRow(variable, setting)] : [])),
    '',
  ].join('\n')
}

function fileRow(variable: string, setting: Setting): string[] {
  return fileSettingsOf(variable, setting).map(({ path, type, variables, default: fallback }) => {
    const names = variables.map((name) => `\`${name}\``).join(', ')
    const text = shownDefault({ ...setting, default: fallback === '' ? setting.default : fallback })
    return row([`\`${path.join('.')}\``, names + mark(setting), typeText(type), text, readers(setting), setting.about])
  })
}

function variableRow(variable: string, setting: Setting): string {
  const { type, about } = setting
  return row([`\`${variable}\`${mark(setting)}`, typeText(type), shownDefault(setting), readers(setting), about])
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function mark({ setByStack }: Setting): string {
  return setByStack === true ? ' ¹' : ''
}

function readers({ owners }: Setting): string {
  return owners.join(', ')
}

function shownDefault({ default: value, defaults }: Setting): string {
  if (defaults === undefined) return shown(value)
  const owners = Map.groupBy(Object.entries(defaults), ([, own]) => shown(own))
  return Array.from(owners, ([own, some]) => `${own} (${some.map(([owner]) => owner).join(', ')})`).join(', ')
}

function shown(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'none'
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}

const Json = z.object({
  type: z.string().optional(),
  enum: z.array(z.string()).optional(),
  items: z.object({ enum: z.array(z.string()).optional() }).optional(),
  minimum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  maximum: z.number().optional(),
})
const names: Readonly<Record<string, string>> = { array: 'list', object: 'mapping', boolean: '`true` or `false`' }

/** The type of a value for a person: `integer, 0 to 256`, `list`, the words of an enum. */
function typeText(type: z.ZodType): string {
  const json = Json.parse(z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' }))
  if (json.enum !== undefined) return wordsText(json.enum)
  if (json.items?.enum !== undefined) return `list of ${wordsText(json.items.enum)}`
  if (json.type !== 'integer' && json.type !== 'number') return names[json.type ?? ''] ?? 'text'
  const { minimum, exclusiveMinimum: above, maximum = Number.MAX_SAFE_INTEGER } = json
  if (above !== undefined) return `${json.type}, over ${above}, at most ${maximum}`
  return `${json.type}, ${maximum < Number.MAX_SAFE_INTEGER ? `${minimum} to ${maximum}` : `at least ${minimum}`}`
}

function wordsText(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ')
}
