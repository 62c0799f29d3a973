import type { NodeKind } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import type { AgentBundle, BundleFile } from '#domain/agent-bundle.ts'
import { nearest } from '#platform/nearest.ts'
import { findNameFaults, type FindableNodes } from './findable-nodes.ts'
import type { LoadedBundle } from './load-bundle.ts'

type BundleMapping = {
  node_kinds?: NodeKind[] | undefined
  priority?: number | undefined
  turns?: AgentBundle['file']['turns'] | undefined
}

export type BundleChoices = {
  mapping: Readonly<Record<string, BundleMapping>>
  settings: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  maxTurns: number | undefined
  maxTimeoutS: number | undefined
  /** Names the place where a key of remora.yaml is set, as a text before a message about its value. */
  placeOf?: (key: readonly string[]) => string
}

/** A choice that cannot be made. `at`: its key in remora.yaml, from the top. */
export type ChoiceFault = { code: 'CONFIG_003' | 'CONFIG_004'; at: readonly string[]; message: string }

type Findable = Pick<Partial<FindableNodes>, 'nodeKinds'>

/** The bundles as this installation wants them; a run pins them so, under their own hash. Throws what `findChoiceFaults` finds. */
export function adjustBundles(
  loaded: ReadonlyMap<string, LoadedBundle>,
  choices: BundleChoices,
  findable: Findable = {},
): Map<string, LoadedBundle> {
  const files = new Map(Array.from(loaded, ([name, { bundle }]) => [name, bundle.file]))
  requireNone(findChoiceFaults(files, choices, findable), choices.placeOf)
  return new Map(Array.from(loaded, ([name, bundle]) => [name, adjusted(name, bundle, choices)]))
}

/** Reports CONFIG_004 for a bundle or setting that does not exist, else CONFIG_003. It says nothing of bundles whose file is undefined. */
export function findChoiceFaults(
  files: ReadonlyMap<string, BundleFile | undefined>,
  { mapping, settings }: Pick<BundleChoices, 'mapping' | 'settings'>,
  findable: Findable,
): ChoiceFault[] {
  const ofMapping = Object.entries(mapping).flatMap(([name, chosen]): ChoiceFault[] => {
    const at = ['agents', 'mapping', name]
    if (!files.has(name)) return [unknownBundle(at, files)]
    const kinds = findNameFaults({ node_kinds: chosen.node_kinds ?? [], languages: [] }, findable)
    const faults = kinds.map((fault) => ({ at: fault.at.map(String), message: fault.message }))
    if (chosen.turns === 'one' && files.get(name)?.one_turn === undefined && files.get(name) !== undefined)
      faults.push({ at: ['turns'], message: 'one needs one_turn in its bundle.yaml' })
    return faults.map((fault) => ({ code: 'CONFIG_003', at: [...at, ...fault.at], message: fault.message }))
  })
  const ofSettings = Object.entries(settings).flatMap(([name, given]): ChoiceFault[] => {
    if (!files.has(name)) return [unknownBundle(['agents', 'settings', name], files)]
    const file = files.get(name)
    return file === undefined ? [] : settingFaults(file, given)
  })
  return [...ofMapping, ...ofSettings]
}

export function choicesInvalid(faults: readonly ChoiceFault[], placeOf: BundleChoices['placeOf'] = () => ''): AppError {
  const code = faults.every((fault) => fault.code === 'CONFIG_004') ? 'CONFIG_004' : 'CONFIG_003'
  return new AppError(code, faults.map(({ at, message }) => `${placeOf(at)}${at.join('.')}: ${message}`).join('; '))
}

function requireNone(faults: readonly ChoiceFault[], placeOf?: BundleChoices['placeOf']): void {
  if (faults.length > 0) throw choicesInvalid(faults, placeOf)
}

function unknownBundle(at: readonly string[], files: ReadonlyMap<string, unknown>): ChoiceFault {
  return { code: 'CONFIG_004', at, message: `there is no such agent${suggestion(at, [...files.keys()])}` }
}

function suggestion(at: readonly string[], known: readonly string[]): string {
  const near = nearest(at.at(-1) ?? '', known)
  return near === undefined ? `: known are ${known.join(', ') || 'none'}` : `: did you mean ${near}?`
}

function adjusted(name: string, { bundle, ...loaded }: LoadedBundle, choices: BundleChoices): LoadedBundle {
  const { file } = bundle
  const mapped = choices.mapping[name] ?? {}
  const { node_kinds: kinds = file.node_kinds, priority = file.priority, turns = file.turns } = mapped
  const values = resolveSettings(bundle, choices.settings[name] ?? {})
  const settings = Object.fromEntries(
    Object.entries(file.settings).map(([key, one]) => [key, { ...one, default: values[key] ?? one.default }]),
  )
  const limits = {
    ...file.limits,
    max_turns: Math.min(file.limits.max_turns, choices.maxTurns ?? Infinity),
    timeout_s: Math.min(file.limits.timeout_s, choices.maxTimeoutS ?? Infinity),
  }
  return { bundle: { ...bundle, file: { ...file, node_kinds: kinds, priority, turns, settings, limits } }, ...loaded }
}

type SettingValue = string | number | boolean

/** A bundle's settings with the user's values. CONFIG_004 for an unknown setting, CONFIG_003 for a wrong value. */
export function resolveSettings(
  { file }: Pick<AgentBundle, 'file'>,
  given: Readonly<Record<string, unknown>>,
): Record<string, SettingValue> {
  requireNone(settingFaults(file, given))
  return Object.fromEntries(
    Object.entries(file.settings).map(([key, setting]) => {
      const value = Object.hasOwn(given, key) ? given[key] : setting.default
      return [key, isScalar(value) ? value : setting.default]
    }),
  )
}

function settingFaults({ name, settings }: BundleFile, given: Readonly<Record<string, unknown>>): ChoiceFault[] {
  return Object.entries(given).flatMap(([key, value]): ChoiceFault[] => {
    const at = ['agents', 'settings', name, key]
    const setting = Object.hasOwn(settings, key) ? settings[key] : undefined
    if (setting === undefined)
      return [{ code: 'CONFIG_004', at, message: `there is no such setting${suggestion(at, Object.keys(settings))}` }]
    const message = valueFault(value, setting)
    return message === undefined ? [] : [{ code: 'CONFIG_003', at, message }]
  })
}

function valueFault(value: unknown, setting: BundleFile['settings'][string]): string | undefined {
  if (setting.enum?.some((allowed) => allowed === value) === true) return undefined
  const got = `got: ${JSON.stringify(value)}`
  if (setting.enum !== undefined)
    return `must be one of [${setting.enum.map((allowed) => JSON.stringify(allowed)).join(', ')}], ${got}`
  if (isScalar(value) && typeof value === typeof setting.default) return undefined
  return `must be a ${typeof setting.default}, ${got}`
}

function isScalar(value: unknown): value is SettingValue {
  return typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number'
}
