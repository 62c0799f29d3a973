import { folderOf } from '#domain/repo-path.ts'

export type SampleFormat = 'json' | 'yaml'
export type SamplePlace = { path: string; format: SampleFormat }

const testFolders = ['tests', 'test']
const dataFolders = ['fixtures', 'fixture', 'data', 'testdata', 'test_data', 'test-data']

/**
 * The file for the samples of a definition: in the folder where the repository keeps fixtures, under the name of its module, which
 * no other definition has. In the format of the fixtures that are there, JSON where there are none. `list` gives the names in a folder,
 * those of folders with `/` at their end.
 */
export function samplePlace(
  { path, qualifiedName }: { path: string; qualifiedName: string },
  list: (folder: string) => readonly string[],
  wanted: SampleFormat | 'auto' = 'auto',
): SamplePlace {
  const home = fixtureFolder(list)
  const format = wanted === 'auto' ? usualFormat(home, list) : wanted
  const module = path
    .replace(/\.pyi?$/, '')
    .replace(/^(?:src|lib)\//, '')
    .replace(/\/__init__$/, '')
  return { path: `${home}/${module}.${qualifiedName}.${format}`, format }
}

/** Whether a definition has samples, in whichever format. */
export function samplePathsOf(place: SamplePlace): string[] {
  const stem = place.path.slice(0, -place.format.length)
  return [`${stem}json`, `${stem}yaml`, `${stem}yml`]
}

function fixtureFolder(list: (folder: string) => readonly string[]): string {
  const top = new Set(list(''))
  const tests = testFolders.filter((name) => top.has(`${name}/`))
  for (const folder of tests) {
    const names = new Set(list(folder))
    const found = dataFolders.find((name) => names.has(`${name}/`))
    if (found !== undefined) return `${folder}/${found}`
  }
  const alone = dataFolders.find((name) => name !== 'data' && top.has(`${name}/`))
  return tests.length === 0 && alone !== undefined ? alone : `${tests[0] ?? 'tests'}/fixtures`
}

function usualFormat(home: string, list: (folder: string) => readonly string[]): SampleFormat {
  const parent = new Set(list(folderOf(home)))
  const isThere = parent.has(`${home.slice(folderOf(home).length).replace(/^\//, '')}/`)
  const names = isThere ? list(home) : []
  const inside = names.filter((name) => name.endsWith('/')).flatMap((name) => list(`${home}/${name.slice(0, -1)}`))
  const files = [...names, ...inside]
  const count = (ending: RegExp) => files.filter((name) => ending.test(name)).length
  return count(/\.ya?ml$/) > count(/\.json$/) ? 'yaml' : 'json'
}
