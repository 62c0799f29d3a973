import { basename, extname, join } from 'node:path/posix'
import { folderOf } from '#domain/repo-path.ts'
import type { SyntaxChecker } from '#stages/operate/evidence/syntax-evidence.ts'
import type { Definition } from '#stages/operate/evidence/test-functions.ts'
import { unlessRefused, type Workspace } from '#stages/operate/workspace/open-workspace.ts'
import type { TargetNode } from '#stages/operate/tools/target-node.ts'
import type { FoundRunner } from '#stages/operate/tools/tests/find-runner.ts'
import { testsNear, textOf } from '#stages/operate/tools/tests/find-tests.ts'
import { testStyleOf, type TestStyle } from '#stages/operate/tools/tests/shape-tests.ts'
import { type Imports, importsOf } from '#stages/operate/tools/tests/test-imports.ts'

export type TestPlace = Imports & {
  path: string
  base: string | undefined
  /** Files of tests that are nearest to it, the best example first: those that name it, then those that name its module. */
  near: string[]
  naming: number
  style: TestStyle
  label: string
  isPrefixed: boolean
}

type Near = {
  workspace: Pick<Workspace, 'list' | 'exists' | 'readText' | 'readBase'>
  syntax: Pick<SyntaxChecker, 'definitions'>
}
type Target = Pick<TargetNode, 'node' | 'locate'>

/** Follows the repository's convention; all nodes of a module have one place. WorkspaceFault refused for code that nothing can import. */
export async function testPlaceOf(target: Target, used: FoundRunner, { workspace, syntax }: Near): Promise<TestPlace> {
  const { node, locate } = target
  const { source, start } = await locate()
  const isPython = node.language === 'python'
  const tests = testsNear(workspace, node.path).filter((path) => isOfTests(path, isPython))
  const best = await bestFirst(tests.slice(0, maxRead), node, workspace)
  const conventions = { near: mirroredFirst(node.path, best.ofModule), workspace }
  const usual = isPython ? pythonPath(node.path, { ...conventions, used }) : scriptPath(node.path, conventions)
  const own = workspace.exists(usual) ? usual : ((await ownTests(node.path, conventions.near, workspace)) ?? usual)
  // What is written for pytest cannot be run with unittest, nor what is added to it.
  const isForeign =
    used.runner === 'unittest' && /^(?:import|from) pytest\b|^def test/m.test(await textOf(workspace, own))
  const path = isForeign ? usual.replace(/\.py$/, '_unittest.py') : own
  const base = workspace.exists(path) ? await unlessRefused(workspace.readBase(path)) : undefined
  const near = [...best.near.filter((file) => file === path), ...best.near.filter((file) => file !== path)]
  const texts = await Promise.all(near.slice(0, maxExamples).map((file) => textOf(workspace, file)))
  const style = testStyleOf(node.language, used, texts)
  const isPrefixed = texts.map((text) => /^class (Test[A-Z])?\w*\(/m.exec(text)).find(Boolean)?.[1] !== undefined
  const defined = await syntax.definitions({ language: node.language, text: source })
  const label = `${node.qualifiedName}${ordinalOf(node.qualifiedName, start, defined)}`
  const beginning = await importsOf(target.node, {
    path,
    source,
    used,
    near,
    style,
    workspace,
    isNew: base === undefined,
  })
  return { path, base, near, naming: best.naming, style, label, isPrefixed, ...beginning }
}

const maxExamples = 5

async function ownTests(
  source: string,
  near: readonly string[],
  workspace: Near['workspace'],
): Promise<string | undefined> {
  for (const path of near) {
    const parts = partsOf(source, folderOf(path), workspace)
    const [stem = '', ...around] = parts.toReversed()
    const named = stemOf(path)
      .replace(/\.(?:test|spec)$/, '')
      .replace(/^test_|_test$/, '')
    if (![stem, `${stem}s`, parts.join('_'), parts.join('-')].includes(named)) continue
    const text = await textOf(workspace, path)
    // Names of files may have signs of expressions.
    const [name = '', folder = '', ...more] = [stem, ...around].map((part) => part.replaceAll(/[^\w-]/g, '.'))
    const dotted = [...more.toReversed(), folder, name].filter((part) => part !== '').join(String.raw`\.`)
    const asPython = new RegExp(String.raw`\b${dotted}\b|\b${folder} import [^\n]*\b${name}\b`)
    const asScript = new RegExp(String.raw`\b(?:from|require|import)\b[^\n]*/${name}(?:\.\w+)?['"]`)
    if ((path.endsWith('.py') ? asPython : asScript).test(text) && /\b(?:def test|test\(|it\(|describe\()/.test(text))
      return path
  }
  return undefined
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
): Promise<Pick<TestPlace, 'near' | 'naming'> & { ofModule: string[] }> {
  const groups: [string[], string[], string[]] = [[], [], []]
  const [ofModule, others]: [string[], string[]] = [[], []]
  for (const file of paths) {
    const words = new Set((await textOf(workspace, file)).match(/[\w$]+/g))
    const namesModule = words.has(stemOf(path))
    groups[words.has(name) ? 0 : namesModule ? 1 : 2].push(file)
    ;(namesModule ? ofModule : others).push(file)
  }
  return { near: groups.flat(), naming: groups[0].length, ofModule: [...ofModule, ...others] }
}

/** Tests whose folders are named as those of the module come first: `tests/shop/cart` has those of `shop/cart`. */
function mirroredFirst(source: string, paths: readonly string[]): string[] {
  return paths.toSorted((left, right) => mirrored(source, folderOf(right)) - mirrored(source, folderOf(left)))
}

function mirrored(source: string, folder: string): number {
  const [own, theirs] = [folderOf(source), folder].map((path) => path.split('/').toReversed())
  const at = (own ?? []).findIndex((name, index) => name === '' || name !== theirs?.[index])
  return at === -1 ? (own ?? []).length : at
}

function ordinalOf(qualifiedName: string, start: number, defined: readonly Definition[]): string {
  const key = (name: string) => name.replaceAll(/\W+/g, '_').toLowerCase()
  const same = defined.filter((definition) => key(definition.qualifiedName) === key(qualifiedName))
  const at = same.filter((definition) => definition.start < start).length
  return at === 0 ? '' : `_${at + 1}`
}

type Conventions = { near: readonly string[]; workspace: Near['workspace'] }

function pythonPath(source: string, { near, used, workspace }: Conventions & { used: FoundRunner }): string {
  const [example] = near
  const folder = example === undefined ? 'tests' : folderOf(example)
  const isSuffixed = used.runner === 'pytest' && example?.endsWith('_test.py') === true
  const named = (parts: readonly string[]) => {
    const stem = parts.join('_').replaceAll(/\W/g, '_')
    return isSuffixed ? `${stem}_test.py` : `test_${stem}.py`
  }
  const parts = partsOf(source, folder, workspace)
  const short = named(withoutMirrored(parts, source, folder))
  // Folders that are no packages cannot have two modules of one name.
  const isFree =
    workspace.exists(join(folder, '__init__.py')) ||
    !near.some((file) => basename(file) === short && folderOf(file) !== folder)
  return join(folder, isFree ? short : named(parts))
}

function withoutMirrored(parts: readonly string[], source: string, folder: string): string[] {
  const own = stemOf(source) === '__init__' ? [] : parts.slice(-1)
  const around = parts.slice(0, parts.length - own.length)
  const left = [...around.slice(0, Math.max(0, around.length - mirrored(source, folder))), ...own]
  return left.length === 0 ? [...parts] : left
}

function scriptPath(source: string, { near, workspace }: Conventions): string {
  const [example] = near
  const isBeside = example === undefined || (/\.(?:test|spec)\.\w+$/.test(example) && !isTestFolder(folderOf(example)))
  const folder = isBeside ? folderOf(source) : folderOf(example)
  const named = /\.(test|spec)\.\w+$/.exec(example ?? '.test.js')?.[1]
  const kind = named ?? (folder === folderOf(source) ? 'test' : undefined)
  const stem = isBeside ? stemOf(source) : withoutMirrored(partsOf(source, folder, workspace), source, folder).join('-')
  return join(folder, [stem, ...(kind === undefined ? [] : [kind])].join('.') + extname(source))
}

function isTestFolder(folder: string): boolean {
  return folder.split('/').some((name) => /^(?:tests?|__tests__|specs?)$/.test(name))
}

/** Returns the names that tell the file from others of one folder: its folders but for those of the tests, `src` and a lone package. */
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
