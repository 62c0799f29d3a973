import { z } from 'zod'
import { NodeKind } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import type { LoadedBundle } from './load-bundle.ts'
import { resolveSettings } from './resolve-settings.ts'

/** What an installation sets about its bundles, beside what they say themselves. */
export type BundleChoices = {
  mapping: z.infer<typeof BundleMapping>
  settings: z.infer<typeof BundleSettings>
  /** Upper bounds; undefined is none. */
  maxTurns: number | undefined
  maxTimeoutS: number | undefined
}

export const BundleMapping = z.record(
  z.string(),
  z.strictObject({ node_kinds: z.array(NodeKind).min(1).optional(), priority: z.int().min(0).max(99).optional() }),
)
export const BundleSettings = z.record(z.string(), z.record(z.string(), z.unknown()))

/**
 * The bundles as this installation wants them; a run pins them so, under their own hash. CONFIG_004 for a bundle or a
 * setting that is not there, CONFIG_003 for a value a setting does not take.
 */
export function adjustBundles(
  loaded: ReadonlyMap<string, LoadedBundle>,
  choices: BundleChoices,
): Map<string, LoadedBundle> {
  const named = [...Object.keys(choices.mapping), ...Object.keys(choices.settings)]
  const unknown = named.filter((name) => !loaded.has(name))
  if (unknown.length > 0) {
    const known = [...loaded.keys()].join(', ')
    throw new AppError(
      'CONFIG_004',
      `agents.mapping and agents.settings: no bundle ${unknown.join(', ')}; known: ${known}`,
    )
  }
  return new Map(Array.from(loaded, ([name, bundle]) => [name, adjusted(name, bundle, choices)]))
}

function adjusted(name: string, { bundle, warnings }: LoadedBundle, choices: BundleChoices): LoadedBundle {
  const { file } = bundle
  const { node_kinds: kinds = file.node_kinds, priority = file.priority } = choices.mapping[name] ?? {}
  const values = resolveSettings(bundle, choices.settings[name] ?? {})
  const settings = Object.fromEntries(
    Object.entries(file.settings).map(([key, one]) => [key, { ...one, default: values[key] ?? one.default }]),
  )
  const limits = {
    ...file.limits,
    max_turns: Math.min(file.limits.max_turns, choices.maxTurns ?? Infinity),
    timeout_s: Math.min(file.limits.timeout_s, choices.maxTimeoutS ?? Infinity),
  }
  return { bundle: { ...bundle, file: { ...file, node_kinds: kinds, priority, settings, limits } }, warnings }
}
