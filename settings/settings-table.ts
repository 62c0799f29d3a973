import { z } from 'zod'
import { nearest } from '#platform/nearest.ts'
import { secretVariables } from './secret-files.ts'
import { githubSettings } from './github-settings.ts'
import { modelSettings, rehearsalWord } from './model-settings.ts'
import { runSettings } from './run-settings.ts'
import { localSettings, serviceSettings } from './service-settings.ts'
import { fileSettingsOf, variablesOf, type FileSetting, type Owner, type Setting } from './setting.ts'
import { sandboxSettings } from './sandbox-settings.ts'
import { setupSettings } from './setup-settings.ts'
import { storageSettings } from './storage-settings.ts'
import { traceSettings } from './trace-settings.ts'
import { watcherSettings } from './watcher-settings.ts'

/** Is the source of remora.yaml's schema, the services' configuration, what a stack passes on to them, `remora config` and docs/reference/config.md. */
export const settingsTable = {
  ...runSettings,
  ...modelSettings,
  ...storageSettings,
  ...serviceSettings,
  ...traceSettings,
  ...sandboxSettings,
  ...setupSettings,
  ...watcherSettings,
  ...githubSettings,
  ...localSettings,
}

export function environmentOf<O extends Owner>(owner: O) {
  return variablesOf(settingsTable, owner)
}

/** Names the variables that the embedded stack passes on from its environment to the services of `owners`. */
export function passedOn(owners: readonly Owner[]): string[] {
  const settings: readonly (readonly [string, Setting])[] = Object.entries(settingsTable)
  return settings.flatMap(([variable, { owners: own, setByStack }]) =>
    setByStack !== true && owners.some((owner) => own.includes(owner)) ? [variable] : [],
  )
}

export const fileSettings: readonly FileSetting[] = Object.entries(settingsTable).flatMap(([variable, setting]) =>
  fileSettingsOf(variable, setting),
)

/** Everything may be left out. It is made when a file is read: most commands read none. */
export function settingsFileSchema(): z.ZodObject {
  return sectionOf(fileSettings)
}

function sectionOf(settings: readonly FileSetting[], depth = 0): z.ZodObject {
  const names = [...new Set(settings.map(({ path }) => path[depth] ?? ''))]
  const shape = names.map((name) => {
    const inner = settings.filter(({ path }) => path[depth] === name)
    const [setting] = inner
    const isKey = setting?.path.length === depth + 1
    const schema = isKey ? setting.type : sectionOf(inner, depth + 1)
    return [name, (depth === 0 && name === 'model' ? schema.superRefine(refuseUnofferedDefault) : schema).optional()]
  })
  return z.strictObject(Object.fromEntries(shape))
}

const ModelSection = z.object({
  pool: z.array(z.object({ models: z.array(z.string()).default([]) })).default([]),
  default: z.string().default(rehearsalWord),
})

/** Servers that name their models are asked for no other. */
function refuseUnofferedDefault(section: unknown, context: z.RefinementCtx): void {
  const { data } = ModelSection.safeParse(section)
  if (data === undefined || data.pool.length === 0 || data.default === rehearsalWord) return
  const named = data.pool.flatMap(({ models }) => models)
  if (named.includes(data.default) || data.pool.some(({ models }) => models.length === 0)) return
  const models = [...new Set(named)].join(', ')
  const message = `no server of model.pool has ${JSON.stringify(data.default)} among its models: ${models}`
  context.addIssue({ code: 'custom', path: ['default'], message })
}

export function knownVariables(): string[] {
  return Object.keys(settingsTable)
    .filter((name) => name.startsWith('REMORA_'))
    .toSorted()
}

export function unknownVariables(names: readonly string[]): { name: string; nearest: string | undefined }[] {
  const known = [...knownVariables(), ...secretVariables.map((name) => `${name}_FILE`)]
  const unknown = names.filter((name) => name.startsWith('REMORA_') && !known.includes(name))
  return unknown.map((name) => ({ name, nearest: nearest(name, known) }))
}
