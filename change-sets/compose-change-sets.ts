import type { ChangeSet, FileChange } from '#domain/change-set.ts'
import { byPath } from '#domain/repo-path.ts'
import type { Conflict } from '#store/objects/composition.ts'
import {
  type Collision,
  collisionAt,
  type FileResult,
  inConflict,
  type OwnChange,
  resultAt,
  type SetInConflict,
} from './changes-at-path.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { foldersOf, neededFirst } from './independent-groups.ts'

/** `with`: the set that it is in conflict with, or that is missing. `byItself`: it breaks a file without any set but those below it. */
export type LeftOutSet = SetInConflict & {
  path: string
  errorCode: Conflict['errorCode']
  reason: string
  with?: SetInConflict
  byItself?: true
}

export type Composed = { files: FileResult[]; conflicts: LeftOutSet[] }

/** Change sets by their ids. */
export type KnownSets = ReadonlyMap<string, ChangeSet>

/**
 * Composes change sets in the given order, but each after those that it is built on, as a whole or not at all: one that collides with an
 * earlier set is left out (WORK_001), and one of which a needed set is missing (WORK_002). The files are sorted by path.
 */
export function composeChangeSets(
  sets: readonly ChangeSet[],
  known: KnownSets = new Map(sets.map((set) => [set.changeSetId, set])),
): Composed {
  const composed = openComposedFiles(known)
  const conflicts = neededFirst(sets).flatMap((set) => composed.add(set) ?? [])
  return { files: composed.files().toSorted(byPath), conflicts }
}

/** Files to which change sets are added one after the other. */
export type ComposedFiles = {
  /** Adds all of the set, or nothing of one that cannot be with those that were added before: then it says why. */
  add(set: ChangeSet): LeftOutSet | undefined
  /** Takes out a set that was added, and those that are built on it. */
  remove(set: ChangeSet): void
  files(): FileResult[]
}

/** `known`: sets that may be named, also those that are not added. */
export function openComposedFiles(known: KnownSets): ComposedFiles {
  const held = new Map<string, ChangeSet>()
  /** Lists, for each set, those of the held ones that are built on it. */
  const dependents = new Map<string, Set<string>>()
  const changes = new Map<string, Map<string, OwnChange>>()
  const created = openCreatedPaths(changes)

  function collisionOf(set: ChangeSet): Collision | undefined {
    for (const change of set.files) {
      const there = changes.get(change.path)
      const collision = created.clash(change) ?? (there && collisionAt(there, { set, change }))
      if (collision !== undefined) return collision
    }
    return undefined
  }
  function take({ changeSetId, files, builtOn = [] }: ChangeSet): void {
    held.delete(changeSetId)
    for (const id of builtOn) dependents.get(id)?.delete(changeSetId)
    for (const { path } of files) {
      const there = changes.get(path)
      there?.delete(changeSetId)
      if (there?.size !== 0) continue
      changes.delete(path)
      created.remove(path)
    }
  }

  return {
    add(set) {
      const missing = set.builtOn?.find((id) => !held.has(id))
      if (missing !== undefined) return withoutNeeded(set, missing, known)
      const collision = collisionOf(set)
      if (collision !== undefined) return { ...inConflict(set, collision.path), errorCode: 'WORK_001', ...collision }
      held.set(set.changeSetId, set)
      for (const id of set.builtOn ?? []) getOrMake(dependents, id, () => new Set()).add(set.changeSetId)
      for (const change of set.files) {
        const there = changes.get(change.path) ?? new Map<string, OwnChange>()
        if (change.kind === 'create') created.add(change.path)
        changes.set(change.path, there.set(set.changeSetId, { set, change }))
      }
      return undefined
    },
    remove({ changeSetId: id }) {
      const out = [id, ...(dependents.get(id) ?? [])].flatMap((ownId) => held.get(ownId) ?? [])
      for (const set of out) take(set)
      dependents.delete(id)
    },
    files: () => [...changes.values()].flatMap((there) => resultAt(there) ?? []),
  }
}

function withoutNeeded(set: ChangeSet, missing: string, known: KnownSets): LeftOutSet {
  const origin = known.get(missing)
  const shared = set.files.find(({ path }) => origin?.files.some((file) => file.path === path))
  const { path = '' } = shared ?? set.files[0] ?? {}
  return {
    ...inConflict(set, path),
    path,
    errorCode: 'WORK_002',
    reason: `it is built on ${missing}, which is not there`,
    ...(origin === undefined ? {} : { with: inConflict(origin, path) }),
  }
}

/** Keeps the created files, and the folders that they are in: a created file and a created folder cannot have the same path. */
function openCreatedPaths(changes: ReadonlyMap<string, ReadonlyMap<string, OwnChange>>) {
  /** Folder → the created files under it. */
  const under = new Map<string, Set<string>>()
  const creatorOf = (path: string): ChangeSet | undefined => {
    const [first] = changes.get(path)?.values() ?? []
    return first?.change.kind === 'create' ? first.set : undefined
  }
  const clashOf = (path: string): string | undefined => {
    const [below] = under.get(path) ?? []
    return below ?? foldersOf(path).find((folder) => creatorOf(folder) !== undefined)
  }
  return {
    add(path: string): void {
      for (const folder of foldersOf(path)) under.set(folder, (under.get(folder) ?? new Set()).add(path))
    },
    remove(path: string): void {
      for (const folder of foldersOf(path)) under.get(folder)?.delete(path)
    },
    clash({ path, kind }: FileChange): Collision | undefined {
      const clash = kind === 'create' ? clashOf(path) : undefined
      const creator = clash === undefined ? undefined : creatorOf(clash)
      if (clash === undefined || creator === undefined) return undefined
      return { path, reason: `another change set creates ${clash}`, with: inConflict(creator, clash) }
    },
  }
}
