import type { LinkedFile, LinkedRepository, Place } from './linked-repository.ts'
import type { Module } from './module-map.ts'
import { lookUp, memberOf, moduleMember } from './resolve-name.ts'

/** Is true for a test by its kind, and for anything but the file itself in a test file. */
function isTest({ file, index }: Place): boolean {
  if (file.nodes[index]?.kind === 'test') return true
  return index > 0 && file.rules.isTestFile(file.path)
}

const testFolders = /(?:^|[/])(?:tests?|testing|testdata|__tests__|__mocks__|fixtures?)[/]|\.fixture\.\w+$/

export function isTestCode(place: Place): boolean {
  return place.file.rules.isTestFile(place.file.path) || isTest(place) || testFolders.test(place.file.path)
}

/** Is true when a test that calls something tests it: never test code, nor another unit's code where tests are in the unit they test. */
export function isTested(by: Place, { file, index }: Place): boolean {
  if (!isTest(by) || isTestCode({ file, index })) return false
  const { testsOwnUnit, unitOf } = by.file.rules
  return !testsOwnUnit || unitOf(by.file.path) === unitOf(file.path)
}

/** Yields what the tests of a file are about by their own names, among what the file imports or its package holds. */
export function* testSubjects(file: LinkedFile, repository: LinkedRepository): Generator<{ from: Place; to: Place }> {
  let imported: Module[] | undefined
  for (const [index, { name }] of file.nodes.entries()) {
    const from = { file, index }
    const subject = isTest(from) ? file.rules.subjectOf(name) : undefined
    if (subject === undefined) continue
    const seen = inSight(subject, file, repository)
    if (seen === undefined && !repository.topNames.has(subject)) continue
    const to = seen ?? inModules(subject, (imported ??= importedModules(file, repository)), file, repository)
    if (to !== undefined && !isTestCode(to)) yield { from, to }
  }
}

function inSight(subject: string, file: LinkedFile, repository: LinkedRepository): Place | undefined {
  const [head = '', ...rest] = subject.split('.')
  const seen = lookUp(head, { file, index: 0 }, repository)
  const value = rest.reduce((owner, name) => memberOf(owner, name, repository), seen)
  return value.is === 'node' ? value.place : undefined
}

/** `import parser` and a test called `test_parse`: a name that exactly one of the imported modules has. */
function inModules(
  subject: string,
  modules: readonly Module[],
  file: LinkedFile,
  repository: LinkedRepository,
): Place | undefined {
  const named = new Map<string, Place>()
  for (const module of modules) {
    const value = moduleMember(module, subject, file, repository)
    if (value.is === 'node') named.set(`${value.place.file.path} ${value.place.index}`, value.place)
  }
  const [only, ...others] = named.values()
  return others.length === 0 ? only : undefined
}

function importedModules(file: LinkedFile, repository: LinkedRepository): Module[] {
  const modules = new Map<string, Module>()
  for (const { kind, name, module: path } of file.references) {
    if (kind !== 'import' || path === undefined) continue
    const module = repository.moduleOf(file, path)
    const inner = module === undefined || name === '' ? undefined : moduleMember(module, name, file, repository)
    const named = inner?.is === 'module' ? inner.module : module
    if (named !== undefined) modules.set([named.folder, ...named.paths].join('\0'), named)
  }
  return [...modules.values()]
}
