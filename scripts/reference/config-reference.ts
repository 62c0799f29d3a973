import { z } from 'zod'
import { storageEnv } from '#platform/env.ts'
import { settingsOf, type Setting } from '#settings/setting.ts'
import { SettingsFile } from '#settings/settings-schema.ts'
import { cliEnv } from '../../cli/config.ts'
import { apiEnv } from '../../services/api/config.ts'
import { discoveryEnv } from '../../services/discovery/config.ts'
import { rehearsalEnv } from '../../services/rehearsal/config.ts'
import { workerEnv } from '../../services/worker/config.ts'

/** The text of docs/reference/config.md, made from the schema of the settings file and of each part's environment. */
export function configReference(): string {
  return [
    '# Configuration',
    '',
    'What counts, from the weakest to the strongest: a default, `remora.yaml`, the environment, a flag. The file is the',
    'nearest `remora.yaml` from the working folder upwards, or the one that `--config` or `REMORA_CONFIG` names (`none`: no file).',
    '`remora config` prints what counts in a folder, each value with where it comes from. More on it, with examples:',
    '[the guide](../guide/configuration.md). Made from the code by `node scripts/write-reference.ts`.',
    '',
    '## remora.yaml',
    '',
    '| key | default | variable | |',
    '| --- | --- | --- | --- |',
    ...settingsOf(SettingsFile).map(settingRow),
    '',
    '¹ checked, but nothing reads it yet.',
    '',
    '## The environment',
    '',
    'An empty or blank variable counts as unset. Every bad variable is named in one error (CONFIG_003).',
    '',
    ...section('Every service', storageEnv),
    ...section('api', apiEnv, storageEnv),
    ...section('discovery', discoveryEnv, storageEnv),
    ...section('worker', workerEnv, storageEnv),
    ...section('rehearsal', rehearsalEnv),
    ...section('Command line', cliEnv),
  ].join('\n')
}

function settingRow({ path, fallback, variables, about, unserved }: Setting): string {
  const note = unserved === undefined ? about : `${about} ¹ (${unserved})`
  const names = variables.map((name) => `\`${name}\``).join(', ')
  return `| \`${path.join('.')}\` | ${shown(fallback)} | ${names} | ${note} |`
}

function section(title: string, shape: z.ZodRawShape, apart: z.ZodRawShape = {}): string[] {
  const own = Object.entries(shape).filter(([name]) => !Object.hasOwn(apart, name))
  const rows = own.map(([name, schema]) => variableRow(name, schema))
  return [`### ${title}`, '', '| variable | default | |', '| --- | --- | --- |', ...rows, '']
}

const Described = z.object({ default: z.unknown().optional(), description: z.string() })

function variableRow(name: string, schema: z.core.$ZodType): string {
  const json = Described.safeParse(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }))
  if (!json.success) throw new Error(`${name} has no description`)
  const isRequired = !z.safeParse(schema, undefined).success
  return `| \`${name}\` | ${isRequired ? 'required' : shown(json.data.default)} | ${json.data.description} |`
}

function shown(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'none'
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}
