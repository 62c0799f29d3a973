import { folderOf, foldersUp } from '#domain/repo-path.ts'
import { purposeOf } from '#domain/path-purpose.ts'
import { languageOf } from '#languages/syntax/grammars.ts'
import { unlessRefused, type Workspace } from '../../workspace/open-workspace.ts'

const runnable = new Set(['python', 'javascript', 'typescript', 'tsx'])

export function isTestable(language: string): boolean {
  return runnable.has(language)
}

export function isTestFile(path: string): boolean {
  return isTestable(languageOf(path) ?? '') && purposeOf(path) === 'test'
}

const maxFolders = 200
const maxFiles = 1_000
const testFolder = /^(?:tests?|__tests__|specs?)\/$/

/** Lists test files in the folders above `near` and their folders for tests: the nearest first, at most 1,000. */
export function testsNear(workspace: Pick<Workspace, 'list'>, near: string): string[] {
  const found = new Set<string>()
  const open = foldersUp(folderOf(near)).map((folder) => ({ folder, isOfTests: false }))
  for (let at = 0; at < open.length && at < maxFolders && found.size < maxFiles; at++) {
    const { folder, isOfTests } = open[at] ?? { folder: '', isOfTests: false }
    for (const name of workspace.list(folder)) {
      const path = folder === '' ? name : `${folder}/${name}`
      if (name.endsWith('/')) {
        if (isOfTests || testFolder.test(name)) open.push({ folder: path.slice(0, -1), isOfTests: true })
      } else if (isTestFile(path) || (isOfTests && runnable.has(languageOf(path) ?? ''))) found.add(path)
    }
  }
  return [...found].slice(0, maxFiles)
}

/** The text of a file, which is empty where it is not there or no text. */
export async function textOf(workspace: Pick<Workspace, 'exists' | 'readText'>, path: string): Promise<string> {
  return workspace.exists(path) ? ((await unlessRefused(workspace.readText(path))) ?? '') : ''
}
