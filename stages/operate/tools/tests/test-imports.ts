import { basename, dirname, join, relative } from 'node:path/posix'
import { folderOf } from '#domain/repo-path.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { exportsOf } from '#languages/script/exported-names.ts'
import { refusal, type Workspace } from '../../workspace/open-workspace.ts'
import type { FoundRunner } from './find-runner.ts'
import { textOf } from './find-tests.ts'
import type { TestStyle } from './shape-tests.ts'

type Importing = {
  path: string
  source: string
  used: FoundRunner
  near: readonly string[]
  style: TestStyle
  isNew: boolean
  workspace: Pick<Workspace, 'exists' | 'readText'>
}

type Node = Pick<CodeNode, 'path' | 'language' | 'qualifiedName'>

/** Says how a file of tests begins, and how a program in the repository's folder gets the node. */
export type Imports = {
  imports: string
  importHere: string
  /** Begins a file of tests, as the repository's other tests do: so that its imports are found, or `'use strict'`; mostly empty. */
  setup: string
}

/** Throws WorkspaceFault refused for a node that no other file can import. */
export async function importsOf(node: Node, importing: Importing): Promise<Imports> {
  return node.language === 'python' ? pythonImports(node, importing) : scriptImports(node, importing)
}

async function pythonImports(
  { path: source, qualifiedName }: Node,
  { path, used, near, style, isNew, workspace }: Importing,
): Promise<Imports> {
  const importHere = pythonImport({ path: source, qualifiedName }, workspace)
  if (importHere === undefined)
    throw refusal(`no test can import ${source}: its path has names that are none of Python`)
  const top = packageTop(source, workspace)
  const [example] = near
  const othersDo = example !== undefined && (await textOf(workspace, example)).includes('sys.path')
  // Runners find modules at the top of the repository, and mostly in `src`.
  // A file that is there finds the module already.
  const addsPath = isNew && top !== '' && (top !== 'src' || (used.runner === 'unittest' && othersDo))
  const standard = [
    ...(addsPath ? ['import sys'] : []),
    ...(style === 'unittest' ? ['import unittest'] : []),
    ...(addsPath ? ['from pathlib import Path'] : []),
  ]
  const up = path.split('/').length - 1
  const added = addsPath
    ? [`sys.path.insert(0, str(Path(__file__).resolve().parents[${up}] / ${JSON.stringify(top)}))`]
    : []
  const blocks = [standard, added, [importHere]].filter((block) => block.length > 0)
  const setup = addsPath ? `import sys\nfrom pathlib import Path\n\n${added.join('')}\n\n` : ''
  return { imports: `${blocks.map((block) => block.join('\n')).join('\n\n')}\n`, importHere, setup }
}

/** The line that imports a definition; undefined where its path has names that are none of Python. */
export function pythonImport(
  { path, qualifiedName }: Pick<Node, 'path' | 'qualifiedName'>,
  workspace: Importing['workspace'],
): string | undefined {
  const top = packageTop(path, workspace)
  const module = (top === '' ? path : path.slice(top.length + 1)).replace(/(?:\/__init__)?\.py$/, '').split('/')
  if (!module.every((name) => /^[A-Za-z_]\w*$/.test(name))) return undefined
  return `from ${module.join('.')} import ${qualifiedName.split('.')[0]}`
}

/** The folder from which its package is imported: the first above it that is no package; of a lone module outside `src` the top. */
function packageTop(source: string, workspace: Importing['workspace']): string {
  let folder = folderOf(source)
  const isPackage = workspace.exists(join(folder, '__init__.py'))
  while (folder !== '' && workspace.exists(join(folder, '__init__.py'))) folder = folderOf(folder)
  if (isPackage) return folder
  return source.startsWith('src/') ? 'src' : ''
}

async function scriptImports({ path: target, qualifiedName }: Node, importing: Importing): Promise<Imports> {
  const { path, source, used } = importing
  const [name = ''] = qualifiedName.split('.')
  const isModule = isEcmaScript(target, source)
  const exported = exportsOf(source).get(name)
  if (exported === undefined) throw refusal(`no test can import ${name}: ${target} does not export it`)
  const from = (folder: string) => {
    const to = relative(folder === '' ? '.' : folder, target)
    return to.startsWith('.') ? to : `./${to}`
  }
  const lineFrom = (place: string, asModule: boolean) => {
    const renamed = `{ ${exported}${asModule ? ' as' : ':'} ${name} }`
    const what = exported === 'default' ? name : exported === name ? `{ ${name} }` : renamed
    return asModule ? `import ${what} from '${place}'` : `const ${what} = require('${place}')`
  }
  const kindOfFile = used.runner === 'vitest' ? 'vitest' : isModule ? 'module' : 'script'
  const header = headers[kindOfFile]
  const setup = kindOfFile === 'script' ? await strictness(importing) : ''
  const imports = `${setup}${[...header, lineFrom(from(folderOf(path)), isModule || used.runner === 'vitest')].join('\n')}\n`
  return { imports, importHere: lineFrom(from(''), true), setup }
}

const maxExamples = 5
const directive = /^(?:#!.*\n)?(?:\s|\/\/.*\n|\/\*[\s\S]*?\*\/)*((['"])use strict\2;?)/

async function strictness({ near, workspace }: Importing): Promise<string> {
  for (const path of near.slice(0, maxExamples)) {
    const found = directive.exec(await textOf(workspace, path))?.[1]
    if (found !== undefined) return `${found}\n\n`
  }
  return ''
}

const headers = {
  vitest: ["import { describe, expect, test } from 'vitest'"],
  module: ["import assert from 'node:assert/strict'", "import { describe, test } from 'node:test'"],
  script: ["const assert = require('node:assert/strict')", "const { describe, test } = require('node:test')"],
} as const

function isEcmaScript(path: string, source: string): boolean {
  if (/\.m[jt]s$/.test(path)) return true
  return !/\.c[jt]s$/.test(path) && /^[ \t]*(?:import|export)\b/m.test(source)
}

/** The module's own name, by which a text may already import it. */
export function moduleName(path: string): string {
  const stem = basename(path).replace(/\.[^.]+$/, '')
  return stem === '__init__' ? basename(dirname(path)) : stem
}
