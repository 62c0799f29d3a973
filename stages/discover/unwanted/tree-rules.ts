import { basename } from 'node:path/posix'
import { undefinedOn } from '#domain/error.ts'
import { submodulePaths } from '#domain/foreign-paths.ts'
import { folderOf } from '#domain/repo-path.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import { ignoreRules, isIgnored, maxRuleBytes, type IgnoreLayer } from '#platform/git-ignore.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { readAttributeRules, type AttributeRules } from './attribute-rules.ts'

type TreeFile = { path: string; hash: string; size: number }

export type TreeRules = {
  attributes: AttributeRules
  /** Judges a file or folder that is in no ignored folder. */
  isIgnored(path: string, isFolder: boolean): boolean
  isSubmodule(folder: string): boolean
}

export const noRules: TreeRules = {
  attributes: readAttributeRules([]),
  isIgnored: () => false,
  isSubmodule: () => false,
}

const ruleFiles: ReadonlySet<string> = new Set(['.gitattributes', '.gitignore', '.gitmodules'])
const readsAtOnce = 16
const nothing = new Uint8Array()

/** Reads the files at whatever level they lie: an archive often has everything in one folder. One that is too large has no rules. */
export async function readTreeRules(
  files: readonly TreeFile[],
  read: (hash: string) => Promise<Uint8Array>,
): Promise<TreeRules> {
  const relevant = files.filter(({ path, size }) => ruleFiles.has(basename(path)) && size <= maxRuleBytes)
  if (relevant.length === 0) return noRules
  const texts = await mapBounded(relevant, readsAtOnce, async ({ path, hash }) => ({
    name: basename(path),
    folder: folderOf(path),
    text: Buffer.from((await read(hash).catch(undefinedOn('DISC_005'))) ?? nothing).toString('utf8'),
  }))
  const called = (name: string) => texts.filter((file) => file.name === name)
  const submodules = new Set(called('.gitmodules').flatMap(({ folder, text }) => submodulePaths(folder, text)))
  const layersOf = ignoreLayers(called('.gitignore'))
  return {
    attributes: readAttributeRules(called('.gitattributes')),
    isIgnored: (path, isFolder) => {
      const layers = layersOf(path)
      return layers.length > 0 && isIgnored(layers, `/${path}`, isFolder)
    },
    isSubmodule: (folder) => submodules.has(folder),
  }
}

function ignoreLayers(files: readonly { folder: string; text: string }[]): (path: string) => readonly IgnoreLayer[] {
  const own = new Map(files.map(({ folder, text }) => [folder, { folder: `/${folder}`, rules: ignoreRules(text) }]))
  const known = new Map<string, readonly IgnoreLayer[]>()
  const ofFolder = (folder: string): readonly IgnoreLayer[] =>
    getOrMake(known, folder, () => {
      const above = folder === '' ? [] : ofFolder(folderOf(folder))
      const layer = own.get(folder)
      return layer === undefined ? above : [...above, layer]
    })
  return (path) => ofFolder(folderOf(path))
}
