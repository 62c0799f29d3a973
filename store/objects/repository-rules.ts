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

/** Returns the rules of one file; the defaults where the repository has none. */
export function pathRulesOf(rules: RepositoryRules | undefined, path: string): PathRules {
  const file = rules?.files[path]
  const shared = file === undefined ? undefined : rules?.shared[file.rules]
  const { ownModules } = rules ?? {}
  if (file === undefined || shared === undefined) return { ...defaultRulesOf(path), ...(ownModules && { ownModules }) }
  const lint = shared.lint.tree === undefined ? shared.lint : { ...shared.lint, path }
  return { ...shared, lint, keptNames: file.keptNames, ...(ownModules && { ownModules }) }
}
