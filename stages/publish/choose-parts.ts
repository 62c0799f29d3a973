import { independentGroups, neededFirst } from '#change-sets/independent-groups.ts'
import type { ChangeSet } from '#domain/change-set.ts'

/** An accepted change set. `lines`: how many it adds and removes together, by path (file-versions.ts). */
export type SizedSet = { set: ChangeSet; lines: ReadonlyMap<string, number> }

export type PartRules = {
  /** Is true when each agent gets a pull request of its own. */
  perAgent: boolean
  maxFiles: number
  maxLines: number
  /** Names what the open pull requests have: it stays in them as long as it is accepted and within the limits. */
  published?: ReadonlySet<string>
}

/** `later`: there is room in a later pull request. `too_large`: over the limits by itself. `base_missing`: its base is not accepted. */
export type LeftSet = { changeSetId: string; reason: 'later' | 'too_large' | 'base_missing' }

/** One pull request. `agent`: null for that of all agents. No `changeSetIds`: there is nothing that could be in it now. */
export type ChosenPart = { agent: string | null; changeSetIds: string[]; left: LeftSet[] }

/**
 * Chooses which accepted change sets are in which pull request, the same in whatever order they are given. What hangs together is in the
 * pull request of one agent, that of the set on which the others are built: to let them wait would lose them, since their edits do not fit
 * the merged code. Within the limits, changes of a file stay together, in the order of the paths.
 */
export function chooseParts(all: readonly SizedSet[], rules: PartRules): ChosenPart[] {
  const sized = new Map(all.map((change) => [change.set.changeSetId, change]))
  const sets = [...sized.values()].map(({ set }) => set).toSorted(byId)
  const agentOf = agentsBySet(closed(sets), rules)
  const parts = Map.groupBy(neededFirst(sets), (set) => agentOf.get(set) ?? (rules.perAgent ? set.bundle : null))
  return [...parts]
    .toSorted(([left], [right]) => ((left ?? '') < (right ?? '') ? -1 : 1))
    .map(([agent, own]) => {
      const [whole = [], baseless = []] = [true, false].map((is) => own.filter((set) => agentOf.has(set) === is))
      const { changeSetIds, left } = fill(whole, { sized, rules })
      return { agent, changeSetIds, left: [...left, ...baseless.map((set) => leftFor(set, 'base_missing'))] }
    })
}

function byId({ changeSetId: leftId }: ChangeSet, { changeSetId: rightId }: ChangeSet): number {
  return leftId < rightId ? -1 : 1
}

function leftFor({ changeSetId }: ChangeSet, reason: LeftSet['reason']): LeftSet {
  return { changeSetId, reason }
}

/** Returns the sets whose bases are all among them. */
function closed(sets: readonly ChangeSet[]): ChangeSet[] {
  const there = new Set<string>()
  return neededFirst(sets).filter(({ changeSetId, builtOn = [] }) => {
    const isWhole = builtOn.every((id) => there.has(id))
    if (isWhole) there.add(changeSetId)
    return isWhole
  })
}

/** Returns the agent in whose pull request each set is: of several on whose sets all of them are built, the first in the alphabet. */
function agentsBySet(sets: readonly ChangeSet[], { perAgent }: PartRules): Map<ChangeSet, string | null> {
  if (!perAgent) return new Map(sets.map((set) => [set, null]))
  const groups = new Map<string, ChangeSet[]>()
  for (const set of sets) {
    // Those that it is built on came before.
    const joined = new Set((set.builtOn ?? []).flatMap((id) => groups.get(id) ?? [])).add(set)
    const group = [...joined]
    for (const { changeSetId } of group) groups.set(changeSetId, group)
  }
  return new Map(
    sets.map((set) => {
      const roots = (groups.get(set.changeSetId) ?? []).filter(({ builtOn }) => builtOn === undefined)
      return [set, roots.map(({ bundle }) => bundle).toSorted()[0] ?? set.bundle]
    }),
  )
}

type Filling = { sized: ReadonlyMap<string, SizedSet>; rules: PartRules }

/** Fills one pull request with what it has if it is open, then with what else may be in it, each set after those that it is built on. */
function fill(sets: readonly ChangeSet[], filling: Filling): Pick<ChosenPart, 'changeSetIds' | 'left'> {
  const { published = new Set() } = filling.rules
  const pull = openPull(filling)
  for (const set of sets.filter(({ changeSetId }) => published.has(changeSetId))) {
    if (pull.hasAll(set.builtOn)) pull.add([set])
  }
  const left: LeftSet[] = []
  const groups = independentGroups(sets).map((group) => ({ group, order: pathsOf(group).join('\0') }))
  for (const { group } of groups.toSorted((a, b) => (a.order < b.order ? -1 : 1))) {
    const rest = group.filter(({ changeSetId }) => !pull.hasAll([changeSetId]))
    if (pull.add(rest)) continue
    if (openPull(filling).add(group)) {
      left.push(...rest.map((set) => leftFor(set, 'later')))
      continue
    }
    // Not even a pull request of its own has room for all of it.
    for (const set of rest) {
      if (pull.hasAll(set.builtOn) && pull.add([set])) continue
      const isSmall = openPull(filling).add(withBases(set, group))
      left.push(leftFor(set, isSmall ? 'later' : 'too_large'))
    }
  }
  return { changeSetIds: pull.changeSetIds, left }
}

function openPull({ sized, rules }: Filling) {
  const files = new Set<string>()
  const changeSetIds: string[] = []
  const held = new Set<string>()
  let lines = 0
  return {
    changeSetIds,
    hasAll: (ids: readonly string[] = []) => ids.every((id) => held.has(id)),
    /** All of these sets, or none where there is no room for all. */
    add(sets: readonly ChangeSet[]): boolean {
      const more = pathsOf(sets).filter((path) => !files.has(path))
      const sizes = sets.flatMap(({ changeSetId }) => [...(sized.get(changeSetId)?.lines.values() ?? [])])
      const total = sizes.reduce((sum, size) => sum + size, lines)
      if (files.size + more.length > rules.maxFiles || total > rules.maxLines) return false
      lines = total
      for (const path of more) files.add(path)
      for (const { changeSetId } of sets) {
        held.add(changeSetId)
        changeSetIds.push(changeSetId)
      }
      return true
    },
  }
}

function pathsOf(sets: readonly ChangeSet[]): string[] {
  return [...new Set(sets.flatMap(({ files }) => files.map(({ path }) => path)))].toSorted()
}

/** Returns the set, with all of the group that it needs. */
function withBases(set: ChangeSet, group: readonly ChangeSet[]): ChangeSet[] {
  const known = new Map(group.map((sized) => [sized.changeSetId, sized]))
  const needed = new Set([set])
  for (const { builtOn = [] } of needed) for (const id of builtOn) needed.add(known.get(id) ?? set)
  return [...needed]
}
