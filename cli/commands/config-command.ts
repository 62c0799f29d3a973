import { type Command, Option } from 'commander'
import { Document, isCollection, isNode } from 'yaml'
import { rehearsalLabel } from '#domain/model-kind.ts'
import { withoutLogin, withoutLogins } from '#platform/hide-secrets.ts'
import { effectiveSettings, type EffectiveSetting } from '#settings/load-settings.ts'
import { unknownVariables } from '#settings/settings-table.ts'
import type { CliContext } from '../cli-context.ts'
import { misnamedSettings } from '#settings/read-settings-file.ts'
import { serversIn, silentServers } from '../model-server.ts'
import { shownPath } from '../wording.ts'
import { visible } from '../terminal-text.ts'
import { settingsFaults } from '../run/known-agents.ts'
import { unservedSettings } from '../cli-config.ts'

type ConfigOptions = { format: 'yaml' | 'json'; json?: true }
type Warning = { code: string; message: string }

/** Prints warnings, which do not change the exit code; a setting that every run refuses is the same error here, after the settings. */
export function addConfigCommand(command: Command, context: CliContext): void {
  command
    .addOption(new Option('--format <format>', 'how to print').choices(['yaml', 'json']).default('yaml'))
    .option('--json', 'the same as --format json')
    .action(async ({ format, json }: ConfigOptions) => {
      const { config, io, cwd } = context
      const { path, own } = config.settings
      const settings = effectiveSettings(config.settings, own).map(withoutSecret)
      const warnings = await findWarnings(context)
      const [fault] = await settingsFaults(config)
      const file = path === undefined ? null : shownPath(path, cwd)
      if (json === true || format === 'json') {
        io.out(`${JSON.stringify({ file, settings: settings.map(view), model: modelView(config), warnings })}\n`)
        if (fault !== undefined) throw fault
        return
      }
      const { kind, urls, name } = modelView(config)
      const servers = `${name ?? 'the first model offered'} at ${urls.join(', ')}`
      io.out(visible(describe(settings, file, kind === 'rehearsal' ? rehearsalLabel : servers)))
      for (const { code, message } of warnings) io.err(visible(`${code} warning: ${message}\n`))
      if (fault !== undefined) throw fault
    })
}

async function findWarnings({ config, signal, cwd }: CliContext): Promise<Warning[]> {
  const { modelUrls, settings } = config
  const silentUrls = modelUrls === undefined || modelUrls === 'rehearsal' ? [] : await silentServers(modelUrls, signal)
  const silent = silentUrls.map((url) => `the model server ${withoutLogin(url)} does not answer`)
  const unknown = unknownVariables(Object.keys(settings.own)).map(
    ({ name, nearest }) =>
      `the variable ${name} is not known${nearest === undefined ? '' : `: did you mean ${nearest}?`}`,
  )
  const misnamed = settings.path === undefined ? misnamedSettings(cwd) : undefined
  const unread = misnamed === undefined ? [] : [`${shownPath(misnamed, cwd)} is not read: name it remora.yaml`]
  const { keyFault } = settings
  return [
    ...(keyFault === undefined ? [] : [{ code: keyFault.code, message: keyFault.message }]),
    ...silent.map((message) => ({ code: 'CONFIG_005', message })),
    ...[...unknown, ...unservedSettings(settings, cwd)].map((message) => ({ code: 'CONFIG_004', message })),
    ...unread.map((message) => ({ code: 'CONFIG_001', message })),
  ]
}

function describe(settings: readonly EffectiveSetting[], file: string | null, modelText: string): string {
  const document = new Document({})
  const origin = file === null ? 'no remora.yaml here or above' : `settings from ${file}`
  document.commentBefore = ` ${origin}\n model: ${modelText}`
  for (const { setting, value, source } of settings) {
    document.setIn(setting.path, document.createNode(value))
    const node = document.getIn(setting.path, true)
    const note = ` ${sourceText(source, file)}`
    if (isCollection(node) && node.items.length > 0) node.commentBefore = note
    else if (isNode(node)) node.comment = note
  }
  return document.toString({ lineWidth: 0 }).replaceAll(/:\n +(\[\]|\{\})\n +(# .*)/g, ': $1 $2')
}

function sourceText(source: EffectiveSetting['source'], file: string | null): string {
  if (source.kind === 'default') return 'default'
  return source.kind === 'file' ? `${file}:${source.line}` : source.variable
}

function view({ setting, value, source }: EffectiveSetting) {
  return { key: setting.path.join('.'), value: value ?? null, source, about: setting.about }
}

function modelView({ modelUrls, modelName }: CliContext['config']) {
  if (modelUrls === undefined || modelUrls === 'rehearsal') return { kind: 'rehearsal', urls: [], name: null }
  return { kind: 'servers', urls: serversIn(modelUrls).map(withoutLogin), name: modelName ?? null }
}

function withoutSecret(setting: EffectiveSetting): EffectiveSetting {
  return typeof setting.value === 'string' ? { ...setting, value: withoutLogins(setting.value) } : setting
}
