import { folderOf, foldersUp } from '#domain/repo-path.ts'
import { basename } from 'node:path/posix'
import { inFolder, type Module, type ModuleMap } from './module-map.ts'
import type { Reference } from './find-references.ts'
import { scriptModule } from './script-modules.ts'

export type LanguageRules = {
  family: 'python' | 'script' | 'go'
  /** Files of one unit see each other's top-level names. */
  unitOf(path: string): string
  moduleOf(from: string, module: string, map: ModuleMap): Module | undefined
  submodule(module: Module, name: string, map: ModuleMap): Module | undefined
  /** The name that an import binds in its scope; `''` for none. */
  boundName(reference: Reference): string
  /** Is true when a module that is imported under no other name is bound by the first part of its path. */
  bindsTopPackage: boolean
  selfNames: ReadonlySet<string>
  /** Is true when bare names in a class's body, outside its methods, see what the class defines. */
  classBodyIsScope: boolean
  isTestFile(path: string): boolean
  /** Is true when a test is in the unit that it tests, so that its calls into other units are not what it tests. */
  testsOwnUnit: boolean
  /** The qualified name a test is about by its own name, or undefined. */
  subjectOf(test: string): string | undefined
  /** Names of methods of the language's built-in types: a method of such a name identifies nothing. */
  commonMembers: ReadonlySet<string>
}

const words = (text: string) => new Set(text.split(' '))
const noModule = () => undefined

const python: LanguageRules = {
  family: 'python',
  unitOf: (path) => path,
  moduleOf: pythonModule,
  submodule: pythonSubmodule,
  boundName: ({ name, alias, module = '' }) => alias ?? (name === '' ? (module.split('.')[0] ?? '') : name),
  bindsTopPackage: true,
  selfNames: words('self cls'),
  classBodyIsScope: true,
  isTestFile: (path) => /^(?:test_.*|.*_test|tests?|conftest)\.py$/.test(basename(path)),
  testsOwnUnit: false,
  subjectOf: (test) => /^(?:test_|Test)(\w+)$/.exec(test)?.[1],
  commonMembers: words(
    'append extend insert remove pop clear index count sort reverse copy get keys values items update setdefault popitem add discard union ' +
      'difference intersection issubset issuperset join split rsplit strip lstrip rstrip startswith endswith replace find rfind format encode decode ' +
      'lower upper title splitlines partition rpartition isdigit isalpha isspace zfill ljust rjust center translate read write readline readlines ' +
      'writelines close flush seek tell fileno truncate send recv sendall connect bind listen accept start stop run wait set put acquire release ' +
      'group groups match search sub span end cancel result exists mkdir open next throw done name total hex setter getter deleter setsockopt getsockopt getsockname getpeername Lock RLock Event Queue strftime isoformat timestamp date time poll kill terminate communicate',
  ),
}

const script: LanguageRules = {
  family: 'script',
  unitOf: (path) => path,
  moduleOf: scriptModule,
  submodule: noModule,
  boundName: ({ name, alias }) => alias ?? name,
  bindsTopPackage: false,
  selfNames: words('this'),
  classBodyIsScope: false,
  isTestFile: (path) => /(?:^|[/])__tests__[/]|\.(?:test|spec)\.[cm]?[jt]sx?$/.test(path),
  testsOwnUnit: false,
  subjectOf: (test) => (/^[\w$.]+$/.test(test) ? test : undefined),
  commonMembers: words(
    'push pop shift unshift slice splice concat join map filter find findIndex findLast forEach reduce some every includes indexOf lastIndexOf sort reverse ' +
      'flat flatMap fill at keys values entries get set has delete add clear size then catch finally toString valueOf toJSON split replace replaceAll ' +
      'trim trimStart trimEnd startsWith endsWith match matchAll test exec search padStart padEnd repeat charAt charCodeAt codePointAt toLowerCase ' +
      'toUpperCase localeCompare toFixed call apply bind on off once emit write end read close open send next return throw pipe resolve reject abort ' +
      'addEventListener removeEventListener append remove parse stringify log info warn error debug json text start stop run update query render focus blur click ' +
      'with toSorted toReversed copy subarray connect destroy',
  ),
}

const go: LanguageRules = {
  family: 'go',
  unitOf: folderOf,
  moduleOf: goModule,
  submodule: noModule,
  boundName: ({ name, alias, module = '' }) => alias ?? (name === '' ? goPackageName(module) : name),
  bindsTopPackage: false,
  selfNames: words(''),
  classBodyIsScope: false,
  isTestFile: (path) => path.endsWith('_test.go'),
  testsOwnUnit: true,
  subjectOf: (test) => /^(?:Test|Benchmark|Fuzz|Example)_?([A-Z]\w*)$/.exec(test)?.[1]?.replace('_', '.'),
  commonMembers: words(
    'Error String Close Read Write Len Less Swap Lock Unlock RLock RUnlock Add Done Wait Get Set Next Scan Flush Reset Bytes WriteString WriteByte ' +
      'ReadByte Seek Name Type Kind Value Run Start Stop Fatal Fatalf Errorf Log Logf Helper Sub Unix Format Printf Println Err Load Store Do Open Stat ' +
      'Marshal Unmarshal Unwrap Is As Send Recv Context Deadline Size Mode Copy Clone Equal Compare',
  ),
}

const byLanguage: Readonly<Record<string, LanguageRules>> = {
  python,
  go,
  typescript: script,
  tsx: script,
  javascript: script,
}

export function rulesOf(language: string): LanguageRules | undefined {
  return Object.hasOwn(byLanguage, language) ? byLanguage[language] : undefined
}

/** The package an import path names, by the `go.mod` nearest around the file, then by any other of the repository. */
function goModule(from: string, module: string, map: ModuleMap): Module | undefined {
  const around = foldersUp(folderOf(from)).filter((folder) => map.goModules.has(folder))
  for (const root of new Set([...around, ...map.goModules.keys()])) {
    const folder = packageFolder(root, map.goModules.get(root) ?? '', module)
    const paths = folder === undefined ? undefined : map.goPackages.get(folder)
    if (folder !== undefined && paths !== undefined) return { paths, folder }
  }
  return undefined
}

/** Go's own library is the module `std`, whose packages are named by their folders alone. */
function packageFolder(root: string, modulePath: string, module: string): string | undefined {
  if (modulePath === 'std') return inFolder(root, module)
  if (module === modulePath) return root
  return module.startsWith(`${modulePath}/`) ? inFolder(root, module.slice(modulePath.length + 1)) : undefined
}

/** Returns the default name of an imported package: the last part of its path that is no version. */
function goPackageName(module: string): string {
  const parts = module.split('/').filter((part) => !/^v\d+$/.test(part))
  return (parts.at(-1) ?? module).replace(/\.v\d+$/, '').replace(/^go-|-go$/g, '')
}

/** Resolves `a.b`, `.a`, `..` as the file at `from` means it; nothing above the repository's root. */
function pythonModule(from: string, module: string, map: ModuleMap): Module | undefined {
  const dots = /^\.*/.exec(module)?.[0].length ?? 0
  const names = module.slice(dots).split('.').filter(Boolean)
  if (dots > 0) {
    const folder = foldersUp(folderOf(from))[dots - 1]
    return folder === undefined ? undefined : moduleIn(folder, names, map)
  }
  for (const root of rootsFor(from, map)) {
    const [first = ''] = names
    if (moduleIn(root, [first], map) !== undefined) return moduleIn(root, names, map)
  }
  return undefined
}

function pythonSubmodule(module: Module, name: string, map: ModuleMap): Module | undefined {
  return module.folder === undefined ? undefined : moduleIn(module.folder, [name], map)
}

/** Lists the folders around a file that are no packages, nearest first, then those that hold packages elsewhere. */
function rootsFor(from: string, map: ModuleMap): string[] {
  const around = foldersUp(folderOf(from)).filter((folder) => !map.paths.has(inFolder(folder, '__init__.py')))
  return [...new Set([...around, ...map.pythonRoots])]
}

/** Finds a package's `__init__.py`, a file, or a folder without one: as Python itself prefers them. */
function moduleIn(folder: string, names: readonly string[], map: ModuleMap): Module | undefined {
  const path = inFolder(folder, names.join('/'))
  const file = ['/__init__.py', '.py', '/__init__.pyi', '.pyi']
    .map((ending) => (path === '' ? ending.replace(/^\//, '') : `${path}${ending}`))
    .find((candidate) => map.paths.has(candidate))
  const isFolder = map.folders.has(path)
  if (file === undefined && !isFolder) return undefined
  return { paths: file === undefined ? [] : [file], ...(isFolder && { folder: path }) }
}
