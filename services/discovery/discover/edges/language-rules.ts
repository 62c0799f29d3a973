import { basename } from 'node:path/posix'
import { goModule, goPackageName } from './go-modules.ts'
import { folderOf, type Module, type ModuleMap } from './module-map.ts'
import { pythonModule, pythonSubmodule } from './python-modules.ts'
import type { Reference } from './reference.ts'
import { scriptModule } from './script-modules.ts'

/** How one language family binds names and finds modules. */
export type LanguageRules = {
  family: 'python' | 'script' | 'go'
  /** Files of one unit see each other's top-level names. */
  unitOf(path: string): string
  moduleOf(from: string, module: string, map: ModuleMap): Module | undefined
  /** A module that lies in a module, by its name. */
  submodule(module: Module, name: string, map: ModuleMap): Module | undefined
  /** The name an import binds where it stands; `''` for none. */
  boundName(reference: Reference): string
  /** Whether a module that is imported under no other name is bound by the first part of its path. */
  bindsTopPackage: boolean
  selfNames: ReadonlySet<string>
  /** Whether bare names in a class's body, outside its methods, see what the class defines. */
  classBodyIsScope: boolean
  isTestFile(path: string): boolean
  /** Whether a test lies in the unit that it tests, and what it calls of others is only its means. */
  testsOwnUnit: boolean
  /** The qualified name a test is about by its own name, or undefined. */
  subjectOf(test: string): string | undefined
  /** Names that values of the language itself have: a method called so says nothing. */
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

/** The rules of a language, or undefined when its edges are not known. */
export function rulesOf(language: string): LanguageRules | undefined {
  return Object.hasOwn(byLanguage, language) ? byLanguage[language] : undefined
}
