import { applyEdits, type ChangeSet } from '#domain/change-set.ts'
import { type FileResult, resultAt } from '#change-sets/changes-at-path.ts'

/** Holds one file; undefined where it does not exist. */
export type Contents = { before: Buffer | undefined; after: Buffer | undefined }

type Blobs = { readBlob(hash: string): Promise<Uint8Array> }

export async function contentsOf(file: FileResult, { readBlob }: Blobs): Promise<Contents> {
  if (file.kind === 'create') return { before: undefined, after: Buffer.from(file.content) }
  const before = Buffer.from(await readBlob(file.baseHash))
  return { before, after: file.kind === 'edit' ? Buffer.from(applyEdits(before, file.edits)) : undefined }
}

/** Returns the file without and with some of its sets, both without what is built on them. `contents` are those of the whole file. */
export async function doneBy(
  of: readonly ChangeSet[],
  { file, contents }: { file: FileResult; contents: Contents },
  blobs: Blobs,
): Promise<Contents & Pick<FileResult, 'executable'>> {
  const others = file.sets.filter((set) => !of.includes(set) && !isBuiltOnOne(set, of))
  const textWith = async (sets: readonly ChangeSet[]) => {
    const result = resultOf(file, sets)
    return result === undefined ? contents.before : (await contentsOf(result, blobs)).after
  }
  const changes = of.flatMap(({ files }) => files.filter(({ path }) => path === file.path))
  return {
    before: await textWith(others),
    after: await textWith([...others, ...of]),
    executable: changes.find(({ executable }) => executable !== undefined)?.executable,
  }
}

/** Composes some of the file's sets, among them all that they are built on. Undefined: the file is as it was. */
function resultOf({ path }: FileResult, sets: readonly ChangeSet[]): FileResult | undefined {
  const changes = sets.flatMap((set) =>
    set.files.flatMap((change) => (change.path === path ? [[set.changeSetId, { set, change }] as const] : [])),
  )
  return resultAt(new Map(changes))
}

/** Parts sets so that `doneBy` sees each part in one step: no set is with another that it is indirectly built on. */
export function seenInOneStep(of: readonly ChangeSet[], all: readonly ChangeSet[]): ChangeSet[][] {
  const between = all.filter((set) => !of.includes(set) && isBuiltOnOne(set, of))
  const below = ({ builtOn = [] }: ChangeSet) => between.filter(({ changeSetId }) => builtOn.includes(changeSetId))
  return [...Map.groupBy(of, (set) => JSON.stringify(below(set).map(({ changeSetId }) => changeSetId))).values()]
}

function isBuiltOnOne({ builtOn = [] }: ChangeSet, of: readonly ChangeSet[]): boolean {
  return of.some(({ changeSetId }) => builtOn.includes(changeSetId))
}
