import { z } from 'zod'
import { secretVariables } from '#settings/secret-files.ts'
import { fileSettingsOf, type Setting, type SettingsTable } from '#settings/setting.ts'
import { settingsTable } from '#settings/settings-table.ts'
import { shownValue, tableRow, typeText } from './table-cells.ts'

/** The text of docs/reference/config.md, made from the table of settings. */
export function configReference(): string {
  const table: SettingsTable = settingsTable
  const settings = Object.entries(table)
  return [
    '# Configuration',
    '',
    '[The guide](../guide/configuration.md) explains settings with examples; `remora config` prints the effective ones of a folder, each with',
    'its source. In rising order of precedence they come from a default, `remora.yaml`, the environment or a flag.',
    '`node scripts/write-reference.ts` makes this page from the table of settings in `settings`.',
    '',
    'An empty or blank variable counts as unset. Every bad variable is named in one error (CONFIG_003). In a variable, a list',
    'is separated by commas, and a mapping is JSON. A range without `number` is of whole numbers. *Read by*: the service that a setting',
    'configures; `cli` is the command line, `services` are api, discovery, worker, conductor, watcher, setup and publisher.',
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
    return tableRow([
      `\`${path.join('.')}\``,
      names + mark(setting),
      typeOf(type),
      text,
      readers(setting),
      setting.about,
    ])
  })
}

function variableRow(variable: string, setting: Setting): string {
  const { type, about } = setting
  return tableRow([`\`${variable}\`${mark(setting)}`, typeOf(type), shownDefault(setting), readers(setting), about])
}

function mark({ setByStack }: Setting): string {
  return setByStack === true ? ' ¹' : ''
}

const allServices: readonly string[] = ['api', 'discovery', 'worker', 'conductor', 'watcher', 'setup', 'publisher']

function readers({ owners: all }: Setting): string {
  const owners: readonly string[] = all
  const isAll = allServices.every((service) => owners.includes(service))
  const others = owners.filter((owner) => !isAll || !allServices.includes(owner))
  return [...others, ...(isAll ? ['services'] : [])].join(', ')
}

function shownDefault({ default: value, defaults }: Setting): string {
  if (defaults === undefined) return shownValue(value)
  const owners = Map.groupBy(Object.entries(defaults), ([, own]) => shownValue(own))
  return Array.from(owners, ([own, some]) => `${own} (${some.map(([owner]) => owner).join(', ')})`).join(', ')
}

function typeOf(type: z.ZodType): string {
  return typeText(z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' }))
}
