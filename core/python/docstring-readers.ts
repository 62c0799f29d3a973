import { purposeOf } from '#domain/path-purpose.ts'
import type { DefinitionDocFacts } from './definition-facts.ts'
import type { FileDocstringFacts } from './docstring-facts.ts'
import { readingBases, readingModules, type ReadingBase } from './docstring-frameworks.ts'
import { isHarmlessDecorator } from './harmless-decorators.ts'

type Files = ReadonlyMap<string, FileDocstringFacts>

/** Who reads the docstrings of a repository's definitions: the repository itself, or a framework that it uses. */
export type DocstringReaders = {
  /** Why a definition without a docstring is left alone, in words that follow its name. */
  reasonToSkip(path: string, definition: DefinitionDocFacts): string | undefined
  notices: string[]
}

export function openDocstringReaders(files: Files): DocstringReaders {
  const own = ownModules(files)
  const reads = readsOf(files)
  const classes = classReaders(files, reads, own)
  const decorators = decoratorReaders(files, reads, own)
  const values = valueReaders(files, reads)

  function reasonToSkip(path: string, definition: DefinitionDocFacts): string | undefined {
    const { name, qualifiedName, kind } = definition
    if (reads.all !== undefined) return `is left alone: ${reads.all} counts what has a docstring`
    const read = reads.names.get(name)
    if (read !== undefined) return `is left alone: ${read} reads the docstring of ${name}`
    const decorated = decorators.reasonToSkip(path, definition)
    if (decorated !== undefined) return decorated
    const className = kind === 'class' ? name : (qualifiedName.split('.').at(-2) ?? '')
    const search = kind === 'function' ? reads.modules.get(path) : undefined
    if (search !== undefined) return `is left alone: ${search} reads the docstrings of what its module defines`
    const reader = kind === 'function' ? undefined : classes.readerOf(className, definition)
    if (reader !== undefined) return `is left alone: ${reader}`
    return values.reasonToSkip(path, definition)
  }

  return { reasonToSkip, notices: [...reads.notices, ...values.notices] }
}

/** Names of the repository's own top-level modules and packages, wherever in it they lie. */
function ownModules(files: Files): Set<string> {
  const names = [...files.keys()].flatMap((path) => path.replace(/\.pyi?$/, '').split('/'))
  return new Set(names.filter((name) => !['src', 'lib', 'python', 'tests', 'test', '__init__'].includes(name)))
}

/** Whether a dotted name is of the repository itself, imported relatively or by its package's name. */
function isOwn(name: string, own: ReadonlySet<string>): boolean {
  return name.startsWith('.') || own.has(name.split('.')[0] ?? '')
}

type Reads = {
  /** Classes whose own docstring is read, with the place of the read; and those whose methods' docstrings are. */
  classes: Map<string, string>
  members: Map<string, string>
  /** Modules that read the docstrings of what they define, by their paths. */
  modules: Map<string, string>
  names: Map<string, string>
  /** The first place that reads the docstring of whatever it is given; beside the product's own code it counts only there. */
  values: { source: string | undefined; beside: string | undefined }
  /** The setting of a documentation's build that has every docstring counted, with its place. */
  all: string | undefined
  notices: string[]
}

function readsOf(files: Files): Reads {
  const reads: Reads = {
    classes: new Map(),
    members: new Map(),
    modules: new Map(),
    names: new Map(),
    values: { source: undefined, beside: undefined },
    all: undefined,
    notices: [],
  }
  for (const [path, facts] of files) {
    const part = purposeOf(path) === 'source' ? 'source' : 'beside'
    for (const { of, name, line } of facts.reads) {
      const place = `${path}:${line}`
      if (of === 'class' && !reads.classes.has(name)) reads.classes.set(name, place)
      if (of === 'members' && name !== '' && !reads.members.has(name)) reads.members.set(name, place)
      if (of === 'members' && name === '' && !reads.modules.has(path)) reads.modules.set(path, place)
      if (of === 'name' && !reads.names.has(name)) reads.names.set(name, place)
      if (of === 'values') reads.values[part] ??= place
      if (of === 'all' && isDocumentation(path)) reads.all ??= `${place} (${name})`
    }
  }
  for (const [name, place] of reads.classes) {
    if (purposeOf(place.replace(/:\d+$/, '')) !== 'source') continue
    reads.notices.push(`${place} reads the docstring of ${name}: it and what inherits from it get none`)
  }
  if (reads.all !== undefined) {
    reads.notices.push(`${reads.all} counts what has a docstring and stands in no document: nothing gets one`)
  }
  if (reads.values.source !== undefined) {
    const what = 'what is handed on as a value, or stands under a decorator of the repository itself, gets none'
    reads.notices.push(`${reads.values.source} reads the docstrings of what it is given: ${what}`)
  }
  return reads
}

/** Whether a file configures Sphinx for the repository: not one that a test holds, nor one with the setting in a text. */
function isDocumentation(path: string): boolean {
  return /(?:^|\/)conf\.py$/.test(path) && !['test', 'fixture'].includes(purposeOf(path))
}

type Reader = Pick<ReadingBase, 'of' | 'methods' | 'reader'>

/** Classes whose docstrings, or those of their methods, are read because of what they inherit from. */
function classReaders(files: Files, reads: Reads, own: ReadonlySet<string>) {
  const basesByClass = new Map<string, string[]>()
  for (const { definitions } of files.values()) {
    for (const { kind, name, bases } of definitions) {
      if (kind === 'class') basesByClass.set(name, [...(basesByClass.get(name) ?? []), ...bases])
    }
  }
  const known = new Map<string, Reader[]>()

  /** Classes are distinguished by their names alone: of two with one name, both count. */
  function readersOf(name: string): Reader[] {
    const before = known.get(name)
    if (before !== undefined) return before
    known.set(name, [])
    const place = reads.classes.get(name)
    const search = reads.members.get(name)
    const read: Reader[] = [
      ...(place === undefined ? [] : [{ of: 'class' as const, reader: `${place} reads the docstring of ${name}` }]),
      ...(search === undefined
        ? []
        : [{ of: 'methods' as const, reader: `${search} reads the docstrings of methods` }]),
    ]
    const inherited = (basesByClass.get(name) ?? []).flatMap((base) => {
      const row = readingBases.find((one) => one.base.test(base))
      const last = base.split('.').at(-1) ?? base
      const around = isOwn(base, own) && last !== name ? readersOf(last) : []
      return row === undefined ? around : [row, ...around]
    })
    const found = [...read, ...inherited]
    known.set(name, found)
    return found
  }

  return {
    readerOf(className: string, { kind, name }: DefinitionDocFacts): string | undefined {
      const found = readersOf(className).find(({ of, methods }) => {
        if (kind === 'class') return of !== 'methods'
        return of !== 'class' && (methods === undefined || methods.test(name))
      })
      return found?.reader
    },
  }
}

/** Decorators of the repository's own are harmless where nothing in it, and no framework they come with, reads docstrings. */
function decoratorReaders(files: Files, reads: Reads, own: ReadonlySet<string>) {
  const definedIn = new Map<string, string[]>()
  for (const [path, { definitions }] of files) {
    for (const { name } of definitions) definedIn.set(name, [...(definedIn.get(name) ?? []), path])
  }

  function faultOf(decorator: string, path: string): string | undefined {
    const modules = files.get(path)?.modules ?? []
    const unknown = `what its decorator ${shown(decorator)} does with a docstring is not known`
    if (isHarmlessDecorator(decorator, modules)) return undefined
    const parts = decorator.split('.').filter((part) => part !== '')
    const isOfObject = parts.slice(0, -1).some((part) => definedIn.has(part) && !own.has(part))
    const places = definedIn.get(parts.at(-1) ?? '')
    if (places === undefined || isOfObject || !isOwn(decorator, own)) return unknown
    const reading = places.flatMap((place) => files.get(place)?.modules ?? []).find(isReadingModule)
    if (reading !== undefined) return `its decorator ${shown(decorator)} comes with ${reading}, which reads docstrings`
    if (reads.values.source === undefined) return undefined
    return `${reads.values.source} reads docstrings, and its decorator ${shown(decorator)} is the repository's own`
  }

  return {
    reasonToSkip(path: string, { decorators }: DefinitionDocFacts): string | undefined {
      const fault = decorators.map((one) => faultOf(one, path)).find((one) => one !== undefined)
      return fault === undefined ? undefined : `is left alone: ${fault}`
    },
  }
}

function isReadingModule(module: string): boolean {
  return readingModules.some((row) => row.module.test(module))
}

function shown(decorator: string): string {
  return `@${decorator.replace(/^[.?]/, '')}`
}

/** Definitions that are handed on as values to what reads docstrings, or whose names a framework looks for. */
function valueReaders(files: Files, reads: Reads) {
  type Given = Map<string, string>
  const givenTo: Record<'source' | 'beside', Given> = { source: new Map(), beside: new Map() }
  const notices: string[] = []
  const rowsIn = (facts: FileDocstringFacts) =>
    readingModules.filter(({ module }) => facts.modules.some((name) => module.test(name)))

  for (const [path, facts] of files) {
    const part = purposeOf(path) === 'source' ? 'source' : 'beside'
    const row = rowsIn(facts).find(({ functions }) => functions === undefined)
    const place = reads.values[part]
    const why = row?.reader ?? (place === undefined ? undefined : `${place} reads the docstrings of what it is given`)
    if (why === undefined) continue
    for (const name of facts.values)
      if (!givenTo[part].has(name)) givenTo[part].set(name, `${why}, and ${path} hands it on`)
  }
  for (const { module, reader } of readingModules) {
    const users = [...files]
      .filter(([, { modules }]) => modules.some((name) => module.test(name)))
      .map(([path]) => path)
    const own = users.filter((path) => purposeOf(path) === 'source')
    if (own.length === 0) continue
    const others = own.length > 1 ? ` and ${own.length - 1} more files use` : ' uses'
    notices.push(`${own[0]}${others} what reads docstrings (${reader}): functions handed on there get none`)
  }

  return {
    notices,
    reasonToSkip(path: string, { name, kind, decorators }: DefinitionDocFacts): string | undefined {
      const facts = files.get(path)
      const called = facts === undefined ? [] : rowsIn(facts)
      const row = kind === 'class' ? undefined : called.find(({ functions }) => functions?.test(name) === true)
      if (row !== undefined) return `is left alone: ${row.reader}`
      // Where a property is handed on, it is what the property answers.
      if (decorators.some((decorator) => /property$/i.test(decorator))) return undefined
      const part = purposeOf(path) === 'source' ? 'source' : 'beside'
      const given = (kind === 'method' ? undefined : givenTo[part].get(name)) ?? givenTo[part].get(`.${name}`)
      return given === undefined ? undefined : `is left alone: ${given}`
    },
  }
}
