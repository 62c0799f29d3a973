import { type Operation, originalId } from '#domain/operation.ts'
import { type PathRules, scriptSuffixOf } from '#domain/path-rules.ts'
import { folderOf, foldersUp } from '#domain/repo-path.ts'
import type { Run } from '#domain/run.ts'
import type { Linter } from '#languages/lint/linter.ts'
import { type ConfigFile, readRepositoryLint, type RulesLinter, textStyle } from '#languages/lint/repository-lint.ts'
import type { BlobStore } from '#store/objects/blob-store.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { getRepositoryRules, pathRulesOf, type RepositoryRules } from '#store/objects/repository-rules.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import { languageOf } from '#languages/syntax/grammars.ts'

export type RunRules = ReturnType<typeof runRules>

export type ByteRange = { startByte: number; endByte: number }

/** Bytes of its file that an operation's agent works on, and the ranges in them that another node's agent works on. */
export type AgentParts = { own: readonly ByteRange[]; others: readonly ByteRange[] }

/** Returns the ranges of an operation, or of the one that it repeats; `own` is empty where it was not planned for lint faults. */
export function agentParts(
  rules: Pick<RunRules, 'agentRanges'>,
  { node, ...operation }: Pick<Operation, 'operationId' | 'repeats'> & { node: { path: string } },
): AgentParts {
  const ranges = rules.agentRanges(node.path)
  const id = originalId(operation)
  const own = ranges.filter((range) => range.operationId === id)
  const isInside = ({ startByte, endByte }: ByteRange) =>
    own.some((range) => range.startByte <= startByte && endByte <= range.endByte)
  return { own, others: ranges.filter((range) => range.operationId !== id && isInside(range)) }
}

export type ReadRunRules = (run: Pick<Run, 'projectId' | 'runId' | 'rulesKey'>) => Promise<RunRules>

const cachedRuns = 20

type RulesDeps = {
  objects: Pick<ObjectStore, 'get'>
  blobs: Pick<BlobStore, 'get'>
  linter: ConfigLinter
}
type ConfigLinter = RulesLinter & Pick<Linter, 'scripts'>

/** Reads the rules of a run once. A run that has planned nothing to lint has none, and gets the defaults. */
export function openRunRules({ objects, blobs, linter }: RulesDeps): ReadRunRules {
  const cache = openCachedAnswers<RunRules>({ max: cachedRuns })
  return async ({ projectId, runId, rulesKey }) => {
    if (rulesKey === null) return runRules(undefined)
    const ref = { projectId, runId, hash: rulesKey }
    return cache.get(`${runId}/${rulesKey}`, async () => {
      const rules = await getRepositoryRules(objects, ref)
      if (rules.ruffTree !== undefined) {
        const { key, ...tree } = rules.ruffTree
        linter.trees.add({ ...tree, modules: Object.keys(rules.files).filter(isPython) }, key)
      }
      return runRules(rules, openNewFileRules(rules, { read: (hash) => blobs.get(projectId, hash), linter }))
    })
  }
}

type RulesOf = (path: string) => Promise<PathRules>

export function runRules(rules: RepositoryRules | undefined, ofNew?: RulesOf) {
  return {
    /** Returns the rules of a file; for one that planning did not look at, as an operation made it, those of its place. */
    of: async (path: string): Promise<PathRules> =>
      ofNew === undefined || rules === undefined || Object.hasOwn(rules.files, path)
        ? pathRulesOf(rules, path)
        : ofNew(path),
    agentRanges: (path: string) => rules?.files[path]?.agentRanges ?? [],
  }
}

type NewFileDeps = { read(hash: string): Promise<Uint8Array>; linter: ConfigLinter }

const cachedPlaces = 200
const readAtOnce = 4

/** Gives files that the snapshot lacks the rules of an existing one of that name; a Python file has its neighbours' style. */
function openNewFileRules(rules: RepositoryRules, { read, linter }: NewFileDeps): RulesOf {
  const texts = openCachedAnswers<ConfigFile[]>({ max: 1 })
  const places = openCachedAnswers<Awaited<ReturnType<typeof readRepositoryLint>>>({ max: cachedPlaces })
  const configs = () =>
    texts.get('', () =>
      mapBounded(rules.configs ?? [], readAtOnce, async ({ path, hash }) => ({
        path,
        text: Buffer.from(await read(hash)).toString(),
      })),
    )
  const modules = Object.keys(rules.files).filter(isPython)
  return async (path) => {
    const usual = pathRulesOf(rules, path)
    if (isPython(path)) {
      const like = nearestOf(modules, folderOf(path)) ?? modules[0]
      if (like === undefined) return usual
      const { lint, text } = pathRulesOf(rules, like)
      return { ...usual, lint: { ...lint, path }, text }
    }
    if (scriptSuffixOf(path) === undefined) return usual
    const repository = await places.get(path, async () =>
      readRepositoryLint({ paths: [], files: await configs(), scripts: [path] }, linter),
    )
    const { lint, style } = repository.rulesFor(path)
    return { ...usual, lint, text: textStyle(usual.text, style) }
  }
}

function isPython(path: string): boolean {
  return languageOf(path) === 'python'
}

function nearestOf(paths: readonly string[], folder: string): string | undefined {
  const above = foldersUp(folder)
  return above
    .map((aboveFolder) => paths.find((path) => folderOf(path) === aboveFolder))
    .find((path) => path !== undefined)
}
