import { collisionAt, type OwnChange, resultAt } from '#change-sets/changes-at-path.ts'
import { foldersOf, neededFirst } from '#change-sets/independent-groups.ts'
import { applyEdits, type ChangeSet } from '#domain/change-set.ts'
import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import type { PlannedCommit, PlannedFile } from '#domain/planned-commit.ts'
import { byPath, RepoPath } from '#domain/repo-path.ts'
import { changedFiles, type ComposedFile } from '#store/objects/composition.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { countChangedLines, type LineCounts } from '#platform/unified-diff.ts'

export type CommitSource = {
  composition: { files: readonly ComposedFile[] }
  /** Holds by their ids at least those that the composition names. */
  sets: ReadonlyMap<string, ChangeSet>
  /** The agents that each agent of the run works after, by its name. */
  after: ReadonlyMap<string, readonly string[]>
  /** Is true when the file had the bit before the run. */
  isExecutable(path: string): boolean
  readBlob(hash: string): Promise<Uint8Array>
}

/** A commit, and how many lines it adds and removes. */
export type SizedCommit = PlannedCommit & { lines: LineCounts }

/** Bounds what all commits together may have in memory. */
export const maxTotalBytes = 64 * 2 ** 20

/**
 * Plans one commit for each agent, in the order in which they work on the same code, else by name. Where change sets need each other, an
 * agent that is needed comes first; in a circle a set is in the commit of a later agent. The last commit leaves every file as the
 * composition has it, else PUBLISH_001. The same composition gives the same commits.
 */
export async function planCommits(source: CommitSource): Promise<SizedCommit[]> {
  const files = changedFiles(source.composition).toSorted(byPath)
  const sets = setsIn(files, source.sets)
  const needs = needsOf(files, sets)
  const agents = orderAgents(sets, { needs, after: source.after })
  const places = placeSets(sets, { agents, needs })
  const commits = agents.map((agent, at) => ({
    agent,
    changeSetIds: sets.flatMap(({ changeSetId: id }) => (places.get(id) === at ? id : [])),
    files: new Array<PlannedFile>(),
    lines: { added: 0, removed: 0 },
  }))
  let bytes = 0
  for (const file of files) {
    const states = await statesOf(file, { ...source, places })
    for (const [at, { state, lines }] of states) {
      const commit = commits[at]
      if (commit === undefined) continue
      commit.files.push(state)
      commit.lines.added += lines.added
      commit.lines.removed += lines.removed
      bytes += state.content?.length ?? 0
    }
    if (bytes > maxTotalBytes) throw refused(file.path, `with it the commits have more than ${maxTotalBytes} bytes`)
  }
  return withoutEmpty(commits)
}

function refused(path: string, reason: string): AppError {
  return new AppError('PUBLISH_001', `${JSON.stringify(path)}: ${reason}`)
}

function setsIn(files: readonly ComposedFile[], known: CommitSource['sets']): ChangeSet[] {
  const sets = new Map<string, ChangeSet>()
  for (const { path, changeSetIds } of files) {
    for (const id of changeSetIds) {
      const set = known.get(id)
      if (set === undefined) throw refused(path, `its change set ${id} is not there`)
      sets.set(id, set)
    }
  }
  return neededFirst([...sets.values()])
}

type Needs = ReadonlyMap<string, ReadonlySet<string>>

/** Returns what must be in the same commit or an earlier one: bases, and what deletes a file where a folder is needed, or the reverse. */
function needsOf(files: readonly ComposedFile[], sets: readonly ChangeSet[]): Needs {
  const needs = new Map(sets.map(({ changeSetId, builtOn }) => [changeSetId, new Set(builtOn)]))
  const link = (creators: readonly string[], deleters: readonly string[]) => {
    for (const id of creators) for (const deleter of deleters) if (id !== deleter) needs.get(id)?.add(deleter)
  }
  const byName = new Map(files.map((file) => [file.path, file]))
  for (const file of files) {
    for (const folder of foldersOf(file.path)) {
      const there = byName.get(folder)
      if (there === undefined) continue
      if (there.resultHash === null) link(file.changeSetIds, there.changeSetIds)
      if (file.resultHash === null) link(there.changeSetIds, file.changeSetIds)
    }
  }
  return needs
}

/** Next is always the agent of which the fewest sets need one of an agent that is left; of those, one that works after no other that is left. */
function orderAgents(
  sets: readonly ChangeSet[],
  { needs, after }: { needs: Needs; after: CommitSource['after'] },
): string[] {
  const agentOf = new Map(sets.map(({ changeSetId, bundle }) => [changeSetId, bundle]))
  const neededBy = new Map<string, string[][]>()
  for (const { changeSetId, bundle } of sets) {
    const others = [...(needs.get(changeSetId) ?? [])].flatMap((id) => agentOf.get(id) ?? [])
    getOrMake(neededBy, bundle, () => []).push(others.filter((agent) => agent !== bundle))
  }
  const left = new Set([...neededBy.keys()].toSorted())
  const ordered: string[] = []
  while (left.size > 0) {
    const unmet = (agent: string) => neededBy.get(agent)?.filter((all) => all.some((id) => left.has(id))).length ?? 0
    const counted = Array.from(left, (agent) => {
      const waiting = [...allBefore(agent, after)].filter((earlier) => left.has(earlier) && earlier !== agent).length
      return { agent, count: unmet(agent), waiting }
    })
    const [next] = counted.toSorted((a, b) => a.count - b.count || a.waiting - b.waiting)
    if (next === undefined) break
    left.delete(next.agent)
    ordered.push(next.agent)
  }
  return ordered
}

/** Returns the agents that this one works after, also by way of others, which may have changed nothing. */
function allBefore(agent: string, after: CommitSource['after']): Set<string> {
  const before = new Set(after.get(agent))
  for (const earlier of before) for (const later of after.get(earlier) ?? []) before.add(later)
  return before
}

/** Returns the number of each set's commit: that of its agent, or the last one of what it needs. */
function placeSets(
  sets: readonly ChangeSet[],
  { agents, needs }: { agents: readonly string[]; needs: Needs },
): Map<string, number> {
  const ranks = new Map(agents.map((agent, at) => [agent, at]))
  const places = new Map(sets.map(({ changeSetId, bundle }) => [changeSetId, ranks.get(bundle) ?? 0]))
  for (let isMoved = true; isMoved;) {
    isMoved = false
    for (const [id, place] of places) {
      const least = Math.max(place, ...Array.from(needs.get(id) ?? [], (needed) => places.get(needed) ?? 0))
      if (least === place) continue
      places.set(id, least)
      isMoved = true
    }
  }
  return places
}

type State = Pick<PlannedFile, 'content' | 'executable'>

/** Returns the file after each commit that changes it, with the lines that it changes there, by the number of that. */
async function statesOf(
  file: ComposedFile,
  { sets, places, isExecutable, readBlob }: CommitSource & { places: ReadonlyMap<string, number> },
): Promise<Map<number, { state: PlannedFile; lines: LineCounts }>> {
  const { baseHash, changeSetIds } = file
  const path = RepoPath.safeParse(file.path).data
  if (path === undefined) throw refused(file.path, 'is not a path inside the repository')
  const base = baseHash === null ? null : await readBlob(baseHash)
  const start: State = { content: base, executable: base !== null && isExecutable(path) }
  const changes = ownChanges(file, sets)
  const steps = [...new Set(changeSetIds.map((id) => places.get(id) ?? 0))].toSorted((left, right) => left - right)
  const states = new Map<number, { state: PlannedFile; lines: LineCounts }>()
  let before = start
  for (const step of steps) {
    const held = new Map([...changes].filter(([id]) => (places.get(id) ?? 0) <= step))
    const after = stateAfter(held, start)
    const changesMode = baseHash !== null && after.content !== null && after.executable !== start.executable
    if (!isSameState(before, after)) {
      const lines = countChangedLines({ before: before.content, after: after.content })
      states.set(step, { state: { path, ...after, ...(changesMode && { changesMode }), baseHash }, lines })
    }
    before = after
  }
  requireComposed(file, before, start)
  return states
}

/** Returns what the sets of a file do to it. Throws PUBLISH_001 unless all of it can be in one file, and is of the same base. */
function ownChanges(
  { path, baseHash, changeSetIds }: ComposedFile,
  sets: CommitSource['sets'],
): Map<string, OwnChange> {
  const held = new Map<string, OwnChange>()
  for (const id of changeSetIds) {
    const set = sets.get(id)
    const change = set?.files.find((file) => file.path === path)
    if (set === undefined || change === undefined) throw refused(path, `change set ${id} does not change it`)
    const ownBase = change.kind === 'create' ? null : change.baseHash
    if (change.kind !== 'delete' && ownBase !== baseHash) {
      throw refused(path, `change set ${id} was made for another version of it`)
    }
    const collision = collisionAt(held, { set, change })
    if (collision !== undefined) throw refused(path, `change set ${id} cannot be in it: ${collision.reason}`)
    held.set(id, { set, change })
  }
  return held
}

function stateAfter(held: ReadonlyMap<string, OwnChange>, start: State): State {
  const result = resultAt(held)
  if (result === undefined) return start
  if (result.kind === 'delete') return { content: null, executable: false }
  if (result.kind === 'create') {
    return { content: Buffer.from(result.content), executable: result.executable === true }
  }
  const content = applyEdits(start.content ?? new Uint8Array(), result.edits)
  return { content, executable: result.executable ?? start.executable }
}

function isSameState(left: State, right: State): boolean {
  if (left.executable !== right.executable) return false
  if (left.content === null || right.content === null) return left.content === right.content
  return Buffer.compare(left.content, right.content) === 0
}

function requireComposed({ path, resultHash, executable }: ComposedFile, { content, ...state }: State, start: State) {
  const hash = content === null ? null : sha256(content)
  if (hash !== resultHash) throw refused(path, 'its change sets do not make what was checked')
  if (content !== null && state.executable !== (executable ?? start.executable)) {
    throw refused(path, 'its change sets do not give it the mode that was checked')
  }
}

/** The sets of a commit that would change nothing, since others have done the same, are in the one beside it. */
function withoutEmpty(commits: readonly SizedCommit[]): SizedCommit[] {
  const kept: SizedCommit[] = []
  let homeless: string[] = []
  for (const commit of commits) {
    const last = kept.at(-1)
    if (commit.files.length > 0) kept.push({ ...commit, changeSetIds: [...homeless.splice(0), ...commit.changeSetIds] })
    else if (last === undefined) homeless = [...homeless, ...commit.changeSetIds]
    else last.changeSetIds.push(...commit.changeSetIds)
  }
  return kept
}
