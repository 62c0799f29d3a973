import type { NodeKind } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import type { AgentBundle } from '#domain/agent-bundle.ts'
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
}

/**
 * The bundles as this installation wants them; a run pins them so, under their own hash. CONFIG_004 for a bundle or a
 * setting that does not exist; CONFIG_003 for a value that a setting does not take, for one turn of a bundle that does not say
 * what code does around it, and for a node kind that is not in `findable`, where that is given.
 */
export function adjustBundles(
  loaded: ReadonlyMap<string, LoadedBundle>,
  choices: BundleChoices,
  findable: Pick<Partial<FindableNodes>, 'nodeKinds'> = {},
): Map<string, LoadedBundle> {
  const named = [...Object.keys(choices.mapping), ...Object.keys(choices.settings)]
  const unknown = named.filter((name) => !loaded.has(name))
  if (unknown.length > 0) {
    const known = [...loaded.keys()].join(', ')
    const message = `agents.mapping and agents.settings: no bundle ${unknown.join(', ')}; known: ${known}`
    throw new AppError('CONFIG_004', message)
  }
  for (const [name, { node_kinds: kinds = [] }] of Object.entries(choices.mapping)) {
    const [fault] = findNameFaults({ node_kinds: kinds, languages: [] }, findable)
    if (fault !== undefined)
      throw new AppError('CONFIG_003', `agents.mapping.${name}.${fault.at.join('.')}: ${fault.message}`)
  }
  return new Map(Array.from(loaded, ([name, bundle]) => [name, adjusted(name, bundle, choices)]))
}

function adjusted(name: string, { bundle, ...loaded }: LoadedBundle, choices: BundleChoices): LoadedBundle {
  const { file } = bundle
  const mapped = choices.mapping[name] ?? {}
  const { node_kinds: kinds = file.node_kinds, priority = file.priority, turns = file.turns } = mapped
  if (turns === 'one' && file.one_turn === undefined)
    throw new AppError('CONFIG_003', `agents.mapping.${name}.turns: one needs one_turn in its bundle.yaml`)
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
  bundle: Pick<AgentBundle, 'file'>,
  given: Readonly<Record<string, unknown>>,
): Record<string, SettingValue> {
  const { name, settings } = bundle.file
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(settings, key))
  if (unknown !== undefined) {
    const known = Object.keys(settings).join(', ') || 'none'
    throw new AppError('CONFIG_004', `agents.settings.${name}: no setting ${JSON.stringify(unknown)}; known: ${known}`)
  }
  return Object.fromEntries(
    Object.entries(settings).map(([key, setting]) => {
      const value = Object.hasOwn(given, key) ? given[key] : setting.default
      return [key, checked(value, setting, `agents.settings.${name}.${key}`)]
    }),
  )
}

function checked(value: unknown, setting: AgentBundle['file']['settings'][string], name: string): SettingValue {
  const choice = setting.enum?.find((allowed) => allowed === value)
  if (choice !== undefined) return choice
  if (setting.enum !== undefined) {
    const choices = setting.enum.map((allowed) => JSON.stringify(allowed)).join(', ')
    throw new AppError('CONFIG_003', `${name} must be one of [${choices}], got: ${JSON.stringify(value)}`)
  }
  const isScalar = typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number'
  if (isScalar && typeof value === typeof setting.default) return value
  throw new AppError('CONFIG_003', `${name} must be a ${typeof setting.default}, got: ${JSON.stringify(value)}`)
}
