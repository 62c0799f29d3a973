import { z } from 'zod'
import { defaultRulesOf, PathRules, RuffTree } from '#domain/path-rules.ts'
import { objectKeys } from './object-keys.ts'
import { runRecords } from './object-store.ts'

/** Holds the rules of the linted files as planning read them. Files refer to shared rules by index. */
export const RepositoryRules = z.strictObject({
  v: z.literal(1),
  shared: z.array(PathRules.omit({ keptNames: true, ownModules: true })),
  ownModules: PathRules.shape.ownModules,
  /** The files that the rules were read from, as blobs of the snapshot: by them a file that is new gets its rules. */
  configs: z.array(z.strictObject({ path: z.string(), hash: z.string() })).optional(),
  /** The tree of configuration of Python files under the key that `shared` names; its modules are those of `files`. */
  ruffTree: RuffTree.omit({ modules: true }).extend({ key: z.string() }).optional(),
  files: z.record(
    z.string(),
    z.strictObject({
      rules: z.int().min(0),
      keptNames: PathRules.shape.keptNames,
      /** Bytes that operations of agents work on, where the mechanical fixes of the file stay out. */
      agentRanges: z.array(z.strictObject({ operationId: z.string(), startByte: z.int(), endByte: z.int() })),
    }),
  ),
})
export type RepositoryRules = z.infer<typeof RepositoryRules>

export const { put: putRepositoryRules, get: getRepositoryRules } = runRecords(
  objectKeys.repositoryRules,
  RepositoryRules,
)

/** Joins the rules of two plans of one snapshot: for a file that both have, what either keeps or leaves to agents. */
export function joinRules(before: RepositoryRules, now: RepositoryRules): RepositoryRules {
  const shared = [...before.shared]
  const places = new Map(shared.map((rules, at) => [JSON.stringify(rules), at]))
  const placeOf = (rules: RepositoryRules['shared'][number]) => {
    const key = JSON.stringify(rules)
    const at = places.get(key) ?? shared.push(rules) - 1
    places.set(key, at)
    return at
  }
  const moved = now.shared.map(placeOf)
  const files = { ...before.files }
  for (const [path, file] of Object.entries(now.files)) {
    const { keptNames: kept = [], agentRanges = [] } = Object.hasOwn(files, path) ? (files[path] ?? {}) : {}
    const keptNames = kept === 'all' || file.keptNames === 'all' ? 'all' : [...new Set([...kept, ...file.keptNames])]
    const added = file.agentRanges.filter(({ operationId: id }) => !agentRanges.some((own) => own.operationId === id))
    files[path] = { rules: moved[file.rules] ?? file.rules, keptNames, agentRanges: [...agentRanges, ...added] }
  }
  return { ...before, ...now, shared, files }
}

/** Returns the rules of one file; the defaults where the repository has none. */
export function pathRulesOf(rules: RepositoryRules | undefined, path: string): PathRules {
  const file = rules?.files[path]
  const shared = file === undefined ? undefined : rules?.shared[file.rules]
  const { ownModules } = rules ?? {}
  if (file === undefined || shared === undefined) return { ...defaultRulesOf(path), ...(ownModules && { ownModules }) }
  const lint = shared.lint.tree === undefined ? shared.lint : { ...shared.lint, path }
  return { ...shared, lint, keptNames: file.keptNames, ...(ownModules && { ownModules }) }
}
