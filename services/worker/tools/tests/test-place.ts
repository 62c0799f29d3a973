import { basename, extname, join } from 'node:path/posix'
import { folderOf } from '#domain/repo-path.ts'
import type { SyntaxChecker } from '../../evidence/syntax-evidence.ts'
import type { Definition } from '../../evidence/test-functions.ts'
import type { Workspace } from '../../workspace/open-workspace.ts'
import type { TargetNode } from '../target-node.ts'
import type { FoundRunner } from './find-runner.ts'
import { testsNear, textOf } from './find-tests.ts'
import { type Imports, importsOf } from './test-imports.ts'

/** Where the tests of a node belong, and how they begin. */
export type TestPlace = Imports & {
  path: string
  /** Files of tests that are nearest to it, the best example first: those that name it, then those that name its module. */
  near: string[]
  /** How many of them name it. */
  naming: number
}

type Near = { workspace: Pick<Workspace, 'list' | 'exists' | 'readText'>; syntax: Pick<SyntaxChecker, 'definitions'> }
type Target = Pick<TargetNode, 'node' | 'locate'>

/**
 * The place by the convention of the repository: where its other tests are and as they are named, for this node alone. The same
 * node has the same place, and no two have one. Throws WorkspaceFault refused for code that no other file can import.
 */
export async function testPlaceOf(target: Target, used: FoundRunner, { workspace, syntax }: Near): Promise<TestPlace> {
  const { node, locate } = target
  const { source, start } = await locate()
  const isPython = node.language === 'python'
  const found = testsNear(workspace, node.path).filter((path) => isOfTests(path, isPython))
  const { near, naming } = await bestFirst(found.slice(0, maxRead), node, workspace)
  const defined = await syntax.definitions({ language: node.language, text: source })
  const name = `${node.qualifiedName.replaceAll(/\W+/g, isPython ? '_' : '-')}${ordinalOf(node.qualifiedName, start, defined)}`
  const path = isPython
    ? pythonPath(node.path, name, { near, used, workspace })
    : scriptPath(node.path, name, { near, workspace })
  const beginning = await importsOf(target.node, { path, source, used, near, workspace })
  return { path, near, naming, ...beginning }
}

const maxRead = 50

function isOfTests(path: string, isPython: boolean): boolean {
  if (isPython !== path.endsWith('.py')) return false
  return !isPython || /(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/.test(path)
}

async function bestFirst(
  paths: readonly string[],
  { name, path }: Target['node'],
  workspace: Pick<Workspace, 'exists' | 'readText'>,
): Promise<Pick<TestPlace, 'near' | 'naming'>> {
  const groups: [string[], string[], string[]] = [[], [], []]
  for (const one of paths) {
    const words = new Set((await textOf(workspace, one)).match(/[\w$]+/g))
    groups[words.has(name) ? 0 : words.has(stemOf(path)) ? 1 : 2].push(one)
  }
  return { near: groups.flat(), naming: groups[0].length }
}

/** Where several definitions would have one name in lower case: which of them it is, but for the first. */
function ordinalOf(qualifiedName: string, start: number, defined: readonly Definition[]): string {
  const key = (name: string) => name.replaceAll(/\W+/g, '_').toLowerCase()
  const same = defined.filter((one) => key(one.qualifiedName) === key(qualifiedName))
  const at = same.filter((one) => one.start < start).length
  return at === 0 ? '' : `_${at + 1}`
}

type Conventions = { near: readonly string[]; workspace: Near['workspace'] }

function pythonPath(
  source: string,
  name: string,
  { near, used, workspace }: Conventions & { used: FoundRunner },
): string {
  const [example] = near
  const folder = example === undefined ? 'tests' : folderOf(example)
  const isSuffixed = used.runner === 'pytest' && example?.endsWith('_test.py') === true
  const module = partsOf(source, folder, workspace).join('_').replaceAll(/\W/g, '_')
  const stem = [module, name].filter(Boolean).join('_')
  return join(folder, isSuffixed ? `${stem}_test.py` : `test_${stem}.py`)
}

function scriptPath(source: string, name: string, { near, workspace }: Conventions): string {
  const [example] = near
  const isBeside = example === undefined || (/\.(?:test|spec)\.\w+$/.test(example) && !isTestFolder(folderOf(example)))
  const folder = isBeside ? folderOf(source) : folderOf(example)
  const kind = /\.(test|spec)\.\w+$/.exec(example ?? '.test.js')?.[0].split('.')[1]
  const stem = isBeside ? stemOf(source) : partsOf(source, folder, workspace).join('-')
  return join(folder, [`${stem}-${name}`, ...(kind === undefined ? [] : [kind])].join('.') + extname(source))
}

function isTestFolder(folder: string): boolean {
  return folder.split('/').some((name) => /^(?:tests?|__tests__|specs?)$/.test(name))
}

/**
 * The names that tell the file from others whose tests are in the same folder: those of the folders beside that of the tests, without
 * `src` and without the only package, and its own.
 */
function partsOf(source: string, folder: string, workspace: Near['workspace']): string[] {
  const around = folderOf(folder)
  let top = source.startsWith(`${around}/`) ? around : ''
  const parts = source.slice(top === '' ? 0 : top.length + 1).split('/')
  const file = parts.pop() ?? ''
  const isAlone = !workspace.exists(join(top, ...parts.slice(1), file))
  if (parts[0] === 'src' && isAlone) top = join(top, parts.shift() ?? '')
  const packages = workspace.list(top).filter((name) => {
    return name.endsWith('/') && !isTestFolder(name.slice(0, -1)) && workspace.exists(join(top, name, '__init__.py'))
  })
  const own = stemOf(file) === '__init__' ? [] : [stemOf(file)]
  if (packages.length === 1 && packages[0] === `${parts[0]}/` && parts.length + own.length > 1) parts.shift()
  return [...parts, ...own]
}

function stemOf(path: string): string {
  return basename(path).replace(/\.[^.]+$/, '')
}
