import { basename } from 'node:path/posix'
import { folderOf, foldersUp } from '#domain/repo-path.ts'

export type SampleFormat = 'json' | 'yaml'
export type SamplePlace = { path: string; format: SampleFormat }

const testFolders = ['tests', 'test']
const dataFolders = ['fixtures', 'fixture', 'data', 'testdata', 'test_data', 'test-data']

/**
 * Returns the file for the samples of a definition: among the fixtures of the nearest tests, in their format, named after its module.
 * `list` gives the names in a folder, those of folders with `/` at their end.
 */
export function samplePlace(
  { path, qualifiedName }: { path: string; qualifiedName: string },
  list: (folder: string) => readonly string[],
  wanted: SampleFormat | 'auto' = 'auto',
): SamplePlace {
  const top = foldersUp(folderOf(path)).find((folder) => testsIn(folder, list).length > 0) ?? ''
  const under = (folder: string) => [top, folder].filter(Boolean).join('/')
  const home = under(fixtureFolder((folder) => list(under(folder)), testsIn(top, list)))
  const format = wanted === 'auto' ? usualFormat(home, list) : wanted
  const module = path
    .slice(top === '' ? 0 : top.length + 1)
    .replace(/\.pyi?$/, '')
    .replace(/^(?:src|lib)\//, '')
    .replace(/\/__init__$/, '')
  return { path: `${home}/${module}.${qualifiedName}.${format}`, format }
}

export function samplePathsOf(place: SamplePlace): string[] {
  const stem = place.path.slice(0, -place.format.length)
  return [`${stem}json`, `${stem}yaml`, `${stem}yml`]
}

function testsIn(folder: string, list: (folder: string) => readonly string[]): string[] {
  const names = new Set(list(folder))
  return testFolders.filter((name) => names.has(`${name}/`))
}

function fixtureFolder(list: (folder: string) => readonly string[], tests: readonly string[]): string {
  const top = new Set(list(''))
  for (const folder of tests) {
    const names = new Set(list(folder))
    const data = dataFolders.find((name) => names.has(`${name}/`))
    if (data !== undefined) return `${folder}/${data}`
  }
  const alone = dataFolders.find((name) => name !== 'data' && top.has(`${name}/`))
  return tests.length === 0 && alone !== undefined ? alone : `${tests[0] ?? 'tests'}/fixtures`
}

function usualFormat(home: string, list: (folder: string) => readonly string[]): SampleFormat {
  const names = list(folderOf(home)).includes(`${basename(home)}/`) ? list(home) : []
  const inside = names.filter((name) => name.endsWith('/')).flatMap((name) => list(`${home}/${name.slice(0, -1)}`))
  const files = [...names, ...inside]
  const count = (ending: RegExp) => files.filter((name) => ending.test(name)).length
  return count(/\.ya?ml$/) > count(/\.json$/) ? 'yaml' : 'json'
}
