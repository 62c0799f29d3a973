import { joinImports, joinTests } from '#change-sets/join-tests.ts'
import { takesTests } from '#change-sets/test-text.ts'
import { type ChangeSet, composeEdits, type Edit, type FileChange, isSameEdit, isSameFile } from '#domain/change-set.ts'

type WholeFile = Exclude<FileChange, { kind: 'edit' }>

/** One thing that a change does: an edit, the executable bit, or all of the file. Each is replaced, or stays, for itself. */
type Part = { kind: 'edit'; edit: Edit } | { kind: 'bit'; executable: boolean } | { kind: 'whole'; change: WholeFile }

type OwnParts = Pick<ChangeSet, 'changeSetId' | 'builtOn'> & { change: FileChange; parts: Part[] }

/**
 * Returns the change that these sets make together at a path, whatever their order. Undefined where they conflict, or where something of one
 * is missing and not replaced. A mode that is the snapshot's (`wasExecutable`) is left out.
 */
export function setsTogether(
  sets: readonly ChangeSet[],
  { path, wasExecutable }: { path: string; wasExecutable: boolean | undefined },
): FileChange | undefined {
  const all: OwnParts[] = []
  for (const { changeSetId, builtOn, files } of sets) {
    const change = files.find((file) => file.path === path)
    if (change === undefined) return undefined
    all.push({ changeSetId, ...(builtOn === undefined ? {} : { builtOn }), change, parts: partsOf(change) })
  }
  const byId = new Map(all.map((own) => [own.changeSetId, own]))
  const building = all.filter(({ builtOn }) => builtOn !== undefined)
  const left: Part[] = []
  const gone: Part[] = []
  for (const own of all) {
    for (const part of own.parts) (building.some((by) => replaces(by, part, own, byId)) ? gone : left).push(part)
  }
  if (gone.some((part) => isLost(part, left, all))) return undefined
  const whole = left.flatMap((part) => (part.kind === 'whole' ? [part.change] : []))
  if (whole.length > 0) return whole.length === left.length ? theSame(whole) : undefined
  return edited(all, left, wasExecutable)
}

function partsOf(change: FileChange): Part[] {
  if (change.kind !== 'edit') return [{ kind: 'whole', change }]
  const { edits, executable } = change
  const bit: Part[] = executable === undefined ? [] : [{ kind: 'bit', executable }]
  return [...edits.map((edit): Part => ({ kind: 'edit', edit })), ...bit]
}

/** Is true when `by` changes the same place in another way, and is built on `own`, or on a set that does the same and `own` is not on. */
function replaces(by: OwnParts, part: Part, own: OwnParts, all: ReadonlyMap<string, OwnParts>): boolean {
  if (own === by || isOn(own, by.changeSetId) || !isDoneOtherwise(by.change, part)) return false
  if (isOn(by, own.changeSetId)) return true
  const others = (by.builtOn ?? []).filter((id) => !isOn(own, id))
  return others.some((id) => all.get(id)?.parts.some((theirPart) => isSamePart(theirPart, part)) ?? false)
}

function isOn({ builtOn }: OwnParts, id: string): boolean {
  return builtOn?.includes(id) ?? false
}

function isDoneOtherwise(change: FileChange, part: Part): boolean {
  if (part.kind === 'whole') return change.kind === 'edit' || !isSameWhole(change, part.change)
  if (change.kind !== 'edit') return true
  if (part.kind === 'bit') return change.executable === !part.executable
  return change.edits.some((own) => isWithin(part.edit, own) && !isSameEdit(own, part.edit))
}

function isSamePart(left: Part, right: Part): boolean {
  if (left.kind === 'edit') return right.kind === 'edit' && isSameEdit(left.edit, right.edit)
  if (left.kind === 'bit') return right.kind === 'bit' && left.executable === right.executable
  return right.kind === 'whole' && isSameWhole(left.change, right.change)
}

function isSameWhole(left: WholeFile, right: WholeFile): boolean {
  if (left.kind === 'create') return right.kind === 'create' && isSameFile(left, right)
  return right.kind === 'delete' && left.baseHash === right.baseHash
}

function isWithin({ start, end }: Edit, outer: Edit): boolean {
  return outer.start <= start && end <= outer.end
}

/** Two sets may each replace what the other one does: then neither is there. */
function isLost(part: Part, left: readonly Part[], all: readonly OwnParts[]): boolean {
  if (left.some(({ kind }) => kind === 'whole')) return false
  if (part.kind === 'bit')
    return !left.some(({ kind }) => kind === 'bit') && all.every(({ change }) => change.kind === 'edit')
  return !left.some(
    (theirPart) => theirPart.kind === 'edit' && (part.kind === 'whole' || isWithin(part.edit, theirPart.edit)),
  )
}

/** New files of tests are joined; any other is one file only where all say the same. */
function theSame(whole: readonly WholeFile[]): WholeFile | undefined {
  const [first, ...more] = whole
  if (first === undefined || more.every((file) => isSameWhole(first, file))) return first
  const created = whole.flatMap((file) => (file.kind === 'create' ? file : []))
  if (first.kind !== 'create' || created.length < whole.length) return undefined
  if (new Set(created.map(({ executable = false }) => executable)).size > 1) return undefined
  const texts = created.map(({ content }) => content)
  const joined = joinTests(first.path, texts)
  return joined.kind === 'joined' ? { ...first, content: joined.text } : undefined
}

function edited(
  all: readonly OwnParts[],
  left: readonly Part[],
  wasExecutable: boolean | undefined,
): FileChange | undefined {
  const changes = all.flatMap(({ change }) => (change.kind === 'edit' ? [change] : []))
  const [first] = changes
  if (first === undefined || changes.some(({ baseHash }) => baseHash !== first.baseHash)) return undefined
  const edits = left.flatMap((part) => (part.kind === 'edit' ? [part.edit] : []))
  const answer = composeEdits(edits, [], { isAddedTo: takesTests(first.path) })
  const bits = new Set(left.flatMap((part) => (part.kind === 'bit' ? [part.executable] : [])))
  if (answer.kind === 'conflict' || bits.size > 1) return undefined
  const [executable] = bits
  const { kind, path, baseHash } = first
  const bit = executable === undefined || executable === wasExecutable ? {} : { executable }
  const joined = takesTests(path) ? joinImports(path, answer.edits) : answer.edits
  return { kind, path, baseHash, edits: joined, ...bit }
}
