import { basename } from 'node:path/posix'
import { purposeOf } from '#domain/path-purpose.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import type { ModuleUses } from './module-uses.ts'

/** Matches names that a test runner, a package or a command gives its modules. */
const runnersFiles = /^(?:test.*|.*_tests?|conftest|__init__|__main__|setup)\.pyi?$/
const testNames = /^(?:test|Test|setUpModule$|setup_module$|pytestmark$|pytest_)/
const frameworks = ['pytest', 'unittest', 'mock', 'hypothesis', 'doctest', 'nose', 'testtools', 'twisted', 'trial']

/** Discovery leaves these out unless the request includes them explicitly, so here they are no test data. */
const snapshotFolder = /(?:^|\/)(?:__?snapshots__?|snapshots)\//i

/**
 * Tells whether a file is data of tests: it contains no test, and is in a folder of fixtures, or among the tests and imported by no other file.
 * A fault in such a file is often what is tested. `uses` holds every Python file of the snapshot.
 */
export function foldTestData(uses: ReadonlyMap<string, ModuleUses>): (path: string) => boolean {
  const imported = new Map<string, Set<string>>()
  for (const [path, { modules, packages }] of uses) {
    for (const [module, names] of [...Object.entries(modules), ...Object.entries(packages)]) {
      for (const name of [module, ...(names === 'all' ? [] : names)]) {
        getOrMake(imported, name, () => new Set()).add(path)
      }
    }
  }
  const isImported = (path: string, stem: string) => [...(imported.get(stem) ?? [])].some((user) => user !== path)
  return (path) => {
    const purpose = purposeOf(path)
    if ((purpose !== 'test' && purpose !== 'fixture') || hasTests(uses.get(path))) return false
    if (snapshotFolder.test(path)) return false
    if (purpose === 'fixture') return true
    const file = basename(path)
    return !runnersFiles.test(file.toLowerCase()) && !isImported(path, file.slice(0, file.lastIndexOf('.')))
  }
}

function hasTests(own: ModuleUses | undefined): boolean {
  if (own === undefined) return false
  const { binds, modules } = own
  return binds.some((name) => testNames.test(name)) || frameworks.some((name) => Object.hasOwn(modules, name))
}
