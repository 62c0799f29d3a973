import { purposeOf } from '#domain/path-purpose.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import type { DefinitionDocFacts } from './definition-facts.ts'
import type { FileDocstringFacts } from './docstring-facts.ts'
import { lastPart } from './imported-names.ts'
import { isHarmlessDecorator, type ReadingBase, readingBases, readingModules } from './docstring-frameworks.ts'

type Files = ReadonlyMap<string, FileDocstringFacts>

/** Finds where the repository itself, or a framework that it uses, reads the docstrings of its definitions. */
export function openDocstringReaders(files: Files) {
  const own = ownModules(files)
  const reads = readsOf(files)
  const readerOfClass = classReaders(files, reads, own)
  const decoratorFault = decoratorReaders(files, reads, own)
  const values = valueReaders(files, reads)

  function reasonToSkip(path: string, definition: DefinitionDocFacts): string | undefined {
    const { name, qualifiedName, kind } = definition
    if (reads.all !== undefined) return `is left alone: ${reads.all} counts what has a docstring`
    const read = reads.names.get(name)
    if (read !== undefined) return `is left alone: ${read} reads the docstring of ${name}`
    const fault = decoratorFault(path, definition)
    if (fault !== undefined) return `is left alone: ${fault}`
    const className = kind === 'class' ? name : (qualifiedName.split('.').at(-2) ?? '')
    const search = kind === 'function' ? reads.modules.get(path) : undefined
    if (search !== undefined) return `is left alone: ${search} reads the docstrings of what its module defines`
    const reader = kind === 'function' ? undefined : readerOfClass(className, definition)
    if (reader !== undefined) return `is left alone: ${reader}`
    return values.reasonToSkip(path, definition)
  }

  return { reasonToSkip, notices: [...reads.notices, ...values.notices] }
}

/** Returns names that may be a top-level module or package of the repository, wherever they are in it. */
function ownModules(files: Files): Set<string> {
  const names = [...files.keys()].flatMap((path) => path.replace(/\.pyi?$/, '').split('/'))
  return new Set(names.filter((name) => !['src', 'lib', 'python', 'tests', 'test', '__init__'].includes(name)))
}

function isOwn(name: string, own: ReadonlySet<string>): boolean {
  return name.startsWith('.') || own.has(name.split('.')[0] ?? '')
}

type Reads = ReturnType<typeof readsOf>

/** Finds where docstrings are read: each map has the first such position. */
function readsOf(files: Files) {
  /** These are keyed by the name of the class whose own docstring is read, or whose methods' docstrings are. */
  const [classes, members] = [new Map<string, string>(), new Map<string, string>()]
  const modules = new Map<string, string>()
  const names = new Map<string, string>()
  /** The first position that reads any docstring passed to it; one in `others` concerns only such files. */
  const values: Partial<Record<'source' | 'others', string>> = {}
  let all: string | undefined
  const notices: string[] = []
  for (const [path, facts] of files) {
    const part = partOf(path)
    for (const { of, name, line } of facts.reads) {
      const position = `${path}:${line}`
      if (of === 'class' && !classes.has(name)) classes.set(name, position)
      if (of === 'members' && name !== '' && !members.has(name)) members.set(name, position)
      if (of === 'members' && name === '' && !modules.has(path)) modules.set(path, position)
      if (of === 'name' && !names.has(name)) names.set(name, position)
      if (of === 'values') values[part] ??= position
      if (of === 'all' && isDocumentation(path)) all ??= `${position} (${name})`
    }
  }
  for (const [name, position] of classes) {
    if (purposeOf(position.replace(/:\d+$/, '')) !== 'source') continue
    notices.push(`${position} reads the docstring of ${name}: it and what inherits from it get none`)
  }
  if (all !== undefined) notices.push(`${all} counts what has a docstring but is in no document: nothing gets one`)
  if (values.source !== undefined) {
    const what = "what is passed on as a value, or has one of the repository's own decorators, gets none"
    notices.push(`${values.source} reads the docstrings of what is passed to it: ${what}`)
  }
  return { classes, members, modules, names, values, all, notices }
}

function partOf(path: string): 'source' | 'others' {
  return purposeOf(path) === 'source' ? 'source' : 'others'
}

function isDocumentation(path: string): boolean {
  return /(?:^|\/)conf\.py$/.test(path) && !['test', 'fixture'].includes(purposeOf(path))
}

type Reader = Pick<ReadingBase, 'of' | 'methods' | 'reader'>

function classReaders(files: Files, reads: Reads, own: ReadonlySet<string>) {
  const basesByClass = new Map<string, string[]>()
  for (const { definitions } of files.values()) {
    for (const { kind, name, bases } of definitions) {
      if (kind === 'class') getOrMake(basesByClass, name, () => []).push(...bases)
    }
  }
  const known = new Map<string, Reader[]>()

  /** Classes are known by their names alone: of two classes with one name, both count. */
  function readersOf(name: string): Reader[] {
    const before = known.get(name)
    if (before !== undefined) return before
    known.set(name, [])
    const position = reads.classes.get(name)
    const search = reads.members.get(name)
    const read: Reader[] = []
    if (position !== undefined) read.push({ of: 'class', reader: `${position} reads the docstring of ${name}` })
    if (search !== undefined) read.push({ of: 'methods', reader: `${search} reads the docstrings of methods` })
    const inherited = (basesByClass.get(name) ?? []).flatMap((base) => {
      const row = readingBases.find((reading) => reading.base.test(base))
      const last = lastPart(base)
      const around = isOwn(base, own) && last !== name ? readersOf(last) : []
      return row === undefined ? around : [row, ...around]
    })
    const readers = [...read, ...inherited]
    known.set(name, readers)
    return readers
  }

  return (className: string, { kind, name }: DefinitionDocFacts): string | undefined =>
    readersOf(className).find(({ of, methods }) => {
      if (kind === 'class') return of !== 'methods'
      return of !== 'class' && (methods === undefined || methods.test(name))
    })?.reader
}

/** The repository's own decorators are harmless when nothing in it, and no framework imported where they are defined, reads docstrings. */
function decoratorReaders(files: Files, reads: Reads, own: ReadonlySet<string>) {
  const definedIn = new Map<string, string[]>()
  for (const [path, { definitions }] of files) {
    for (const { name } of definitions) getOrMake(definedIn, name, () => []).push(path)
  }

  function faultOf(decorator: string, path: string): string | undefined {
    const modules = files.get(path)?.modules ?? []
    const unknown = `what its decorator ${shown(decorator)} does with a docstring is not known`
    if (isHarmlessDecorator(decorator, modules)) return undefined
    const parts = decorator.split('.').filter((part) => part !== '')
    const isOfObject = parts.slice(0, -1).some((part) => definedIn.has(part) && !own.has(part))
    const paths = definedIn.get(parts.at(-1) ?? '')
    if (paths === undefined || isOfObject || !isOwn(decorator, own)) return unknown
    const imported = paths.flatMap((from) => files.get(from)?.modules ?? [])
    const reading = imported.find((name) => readingModules.some(({ module }) => module.test(name)))
    if (reading !== undefined) return `its decorator ${shown(decorator)} comes with ${reading}, which reads docstrings`
    if (reads.values.source === undefined) return undefined
    return `${reads.values.source} reads docstrings, and its decorator ${shown(decorator)} is the repository's own`
  }

  return (path: string, { decorators }: DefinitionDocFacts): string | undefined =>
    decorators.map((decorator) => faultOf(decorator, path)).find((fault) => fault !== undefined)
}

function shown(decorator: string): string {
  return `@${decorator.replace(/^[.?]/, '')}`
}

/** Finds definitions that are passed on as values to what reads docstrings, or whose names a framework looks for. */
function valueReaders(files: Files, reads: Reads) {
  const givenTo = { source: new Map<string, string>(), others: new Map<string, string>() }
  const notices: string[] = []
  const rowsIn = (facts: FileDocstringFacts) =>
    readingModules.filter(({ module }) => facts.modules.some((name) => module.test(name)))

  for (const [path, facts] of files) {
    const part = partOf(path)
    const row = rowsIn(facts).find(({ functions }) => functions === undefined)
    const position = reads.values[part]
    const why =
      row?.reader ?? (position === undefined ? undefined : `${position} reads the docstrings of what is passed to it`)
    if (why === undefined) continue
    for (const name of facts.values)
      if (!givenTo[part].has(name)) givenTo[part].set(name, `${why}, and ${path} passes it on`)
  }
  for (const { module, reader } of readingModules) {
    const users = [...files].flatMap(([path, { modules }]) =>
      partOf(path) === 'source' && modules.some((name) => module.test(name)) ? path : [],
    )
    if (users.length === 0) continue
    const others = users.length > 1 ? ` and ${users.length - 1} more files use` : ' uses'
    notices.push(`${users[0]}${others} what reads docstrings (${reader}): functions passed on there get none`)
  }

  return {
    notices,
    reasonToSkip(path: string, { name, kind, decorators }: DefinitionDocFacts): string | undefined {
      const facts = files.get(path)
      const called = facts === undefined ? [] : rowsIn(facts)
      const row = kind === 'class' ? undefined : called.find(({ functions }) => functions?.test(name) === true)
      if (row !== undefined) return `is left alone: ${row.reader}`
      // A property that is passed on is its value.
      if (decorators.some((decorator) => /property$/i.test(decorator))) return undefined
      const part = partOf(path)
      const given = (kind === 'method' ? undefined : givenTo[part].get(name)) ?? givenTo[part].get(`.${name}`)
      return given === undefined ? undefined : `is left alone: ${given}`
    },
  }
}
