import { join } from 'node:path'
import { AppError } from '#domain/error.ts'
import { folderEntries } from './folder-entries.ts'

export type PackFolder = { language: string; pack: string; folder: string }

/** What lies in a folder of packs where no pack can be; `file` is the folder it concerns. */
export type LayoutFault = { file: string; message: string }

export type PackLayout = { packs: PackFolder[]; faults: LayoutFault[] }

/** The pack that counts unless another is named. */
export const defaultPack = 'default'

const layout = 'the layout is <language>/<pack>/*.scm'

/** Every `<language>/<pack>/` folder under `dir`, sorted. DISC_001 when something in `dir` is laid out in another way. */
export async function listPackFolders(dir: string): Promise<PackFolder[]> {
  const { packs, faults } = await readPackLayout(dir)
  const [first] = faults
  if (first !== undefined) throw new AppError('DISC_001', `${first.file}: ${first.message}`)
  return packs
}

/** As `listPackFolders`, with everything that is laid out in another way. DISC_001 when `dir` cannot be listed. */
export async function readPackLayout(dir: string): Promise<PackLayout> {
  const top = await folderEntries(dir)
  const found: PackLayout = { packs: [], faults: [...strayQueries(dir, top.files, 'python'), ...lost(dir, top.broken)] }
  if (top.folders.length === 0 && found.faults.length === 0) {
    found.faults.push({ file: dir, message: `no folder of a language in it: ${layout}` })
  }
  for (const language of top.folders) {
    const { packs, faults } = await readLanguageFolder(join(dir, language), language)
    found.packs.push(...packs)
    found.faults.push(...faults)
  }
  return found
}

async function readLanguageFolder(folder: string, language: string): Promise<PackLayout> {
  const { folders, files, broken } = await folderEntries(folder)
  const packs = folders.map((pack) => ({ language, pack, folder: join(folder, pack) }))
  const faults = [...strayQueries(folder, files, language), ...lost(folder, broken)]
  if (packs.length > 0 || faults.length > 0) return { packs, faults }
  return { packs, faults: [{ file: folder, message: `no pack in it: ${layout}` }] }
}

function strayQueries(folder: string, files: readonly string[], language: string): LayoutFault[] {
  const [first] = files.filter((name) => name.endsWith('.scm'))
  if (first === undefined) return []
  const message = `${first} lies in no pack: ${layout}, such as ${language}/${defaultPack}/${first}`
  return [{ file: folder, message }]
}

function lost(folder: string, broken: readonly string[]): LayoutFault[] {
  return broken.map((name) => ({ file: folder, message: `${name} is a link that leads nowhere` }))
}

/**
 * A language whose packs are neither called `name` nor `default`: nobody would ever hear that they do not count. Under
 * another name `default` may well be the only one, as it is what counts where no name is set.
 */
export function unusedLanguages(dir: string, packs: readonly PackFolder[], name: string): LayoutFault[] {
  const used = [...new Set([name, defaultPack])]
  return Array.from(Map.groupBy(packs, (pack) => pack.language)).flatMap(([language, ofLanguage]) => {
    const names = ofLanguage.map(({ pack }) => pack)
    if (used.some((one) => names.includes(one))) return []
    const found = `no pack named ${quoted(used, ' or ')} in it, only ${quoted(names, ', ')}`
    const advice = 'rename it, or set discovery.query_pack; packs for another setting belong in a folder of their own'
    return [{ file: join(dir, language), message: `${found}: ${advice}` }]
  })
}

function quoted(names: readonly string[], joint: string): string {
  return names.map((name) => JSON.stringify(name)).join(joint)
}
