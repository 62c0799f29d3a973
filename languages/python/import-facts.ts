import { basename } from 'node:path/posix'
import type { Node, Tree } from 'web-tree-sitter'
import { codeIn, docstringOf } from './python-nodes.ts'
import { type ImportedName, importedNames, importStatementTypes } from './imported-names.ts'
import { openTextMentions, type TextMentions } from './text-mentions.ts'

export type ImportedHere = {
  /** Is the name bound here; `*` for everything. */
  name: string
  /** Names the module as written, and what is imported from it; undefined for `import module`. */
  module: string
  imported: string | undefined
  /** Names the functions, classes, conditions and other blocks around it, outermost first; empty at the top level. */
  scope: string
  line: number
  /** Is the part of the statement that binds the name, in UTF-16 units. */
  range: { start: number; end: number }
}

export type ImportFact = ImportedHere & {
  /** Tells users why it may not be removed; undefined when it may be once nothing uses it. */
  stays?: string
}

/** Lists the imports of a file, without `stays`. */
export function importsIn(tree: Tree): ImportedHere[] {
  return importsOf(tree).map(({ here }) => here)
}

/**
 * Lists the imports of a file, and says which must stay even if the file does not use their names: a linter does not know what an import
 * does besides binding a name, nor what finds the name without writing it as code. `ownModules` are those of `ownModulesOf`; else the
 * folders of `path` count as such.
 */
export function importFactsOf(
  tree: Tree,
  source: string,
  { path, ownModules }: { path: string; ownModules?: readonly string[] | undefined },
): ImportFact[] {
  const file: FileOfImports = {
    path,
    onlyImports: onlyImports(tree),
    own: ownModules ?? path.split('/'),
    runsTests: /\bunittest\.main\s*\(|\bloadTestsFrom(?:Module|Name)|\bfindTestCases\s*\(/.test(source),
    mentions: openTextMentions(tree, source),
  }
  return importsOf(tree).map(({ here, imported, surroundings }) => {
    const stays = reasonToStay(imported, surroundings, file)
    return stays === undefined ? here : { ...here, stays }
  })
}

function importsOf(tree: Tree) {
  return tree.rootNode.descendantsOfType(importStatementTypes).flatMap((statement) => {
    const surroundings = surroundingsOf(statement)
    return importedNames(statement).map((imported) => {
      const { name, module, imported: taken, node } = imported
      const range = { start: node.startIndex, end: node.endIndex }
      const line = node.startPosition.row + 1
      return { here: { name, module, imported: taken, scope: surroundings.scope, line, range }, imported, surroundings }
    })
  })
}

type FileOfImports = {
  path: string
  onlyImports: boolean
  own: readonly string[]
  /** It runs the tests among its own names. */
  runsTests: boolean
  mentions: TextMentions
}

function reasonToStay(imported: ImportedName, around: Surroundings, file: FileOfImports): string | undefined {
  if (imported.module === '__future__')
    return obsoleteFeatures.has(imported.imported ?? '') ? undefined : 'it changes how the file is read'
  return (
    roleOfFile(file.path) ??
    offeredBy(imported, file) ??
    around.stays ??
    effectOf(imported, file) ??
    collectedByTests(imported, file) ??
    file.mentions.reasonToKeep(imported.name, { isFixture: imported.imported !== undefined })
  )
}

/** Features that are always on since Python 3.7. */
const obsoleteFeatures = new Set(
  (
    'nested_scopes generators division absolute_import with_statement print_function unicode_literals ' +
    'generator_stop'
  ).split(' '),
)

/** Keeps what a module without code of its own imports from the repository: entry points may name it. */
function offeredBy({ module, imported }: ImportedName, { onlyImports: hasNoCode, own }: FileOfImports) {
  const isOwn = module.startsWith('.') || own.includes(module.split('.')[0] ?? module)
  const isOffered = hasNoCode && imported !== undefined && isOwn
  return isOffered ? 'the module has nothing but imports, which it offers to others' : undefined
}

function onlyImports(tree: Tree): boolean {
  return codeIn(tree.rootNode).every(
    (statement, at) =>
      importStatementTypes.includes(statement.type) || (at === 0 && docstringOf(statement) !== undefined),
  )
}

/** Files whose names are read without an import that names them. */
function roleOfFile(path: string): string | undefined {
  const file = basename(path)
  if (/^__init__\.pyi?$/.test(file)) return 'it is part of what the package offers'
  if (file.endsWith('.pyi')) return 'it is part of a stub'
  if (file === 'conftest.py') return 'pytest reads the names of conftest.py'
  if (file === 'conf.py') return 'Sphinx reads the names of conf.py'
  const isOfTool = /^(?:fabfile|noxfile|dodo|locustfile)\.py$/.test(file) || path === 'tasks.py'
  return isOfTool ? `a tool reads the names of ${file}` : undefined
}

type Surroundings = { scope: string; stays: string | undefined }

const conditional: Record<string, string> = {
  try_statement: 'it stands in a try statement',
  except_clause: 'it stands in a try statement',
  if_statement: 'it is imported on a condition',
  elif_clause: 'it is imported on a condition',
  while_statement: 'it is imported in a loop',
  for_statement: 'it is imported in a loop',
  with_statement: 'it is imported inside a with statement',
  match_statement: 'it is imported on a condition',
}

/** Returns what is around an import, and why that makes it stay: what surrounds the innermost function or class is no reason. */
function surroundingsOf(statement: Node): Surroundings {
  const scope: string[] = []
  let stays: string | undefined
  let isOwn = true
  for (let around = statement.parent; around !== null; around = around.parent) {
    const isFunction = around.type === 'function_definition'
    if (isOwn) stays ??= isFunction ? pointOfFunction(around) : conditional[around.type]
    if (isFunction || around.type === 'class_definition') {
      isOwn = false
      scope.unshift(around.childForFieldName('name')?.text ?? '')
    } else if (around.type in conditional) scope.unshift(around.type)
  }
  return { scope: scope.join(' '), stays }
}

/** Says why the function exists for its imports, as a test of them or one that loads something does; undefined for others. */
function pointOfFunction(definition: Node): string | undefined {
  const name = definition.childForFieldName('name')?.text ?? ''
  if (/^test/i.test(name)) return 'the import may be what the test is about'
  const others = codeIn(definition.childForFieldName('body')).filter((statement, at) => !isFiller(statement, at))
  return others.length <= 1 ? 'its function does little else' : undefined
}

function isFiller(statement: Node, at: number): boolean {
  if (importStatementTypes.includes(statement.type) || statement.type === 'pass_statement') return true
  return statement.text === '...' || (at === 0 && docstringOf(statement) !== undefined)
}

/** These patch other modules, or register styles, accessors, environments or drivers with a library. */
const modulesWithEffect = new Set(
  (
    'readline gnureadline pyreadline pyreadline3 rlcompleter antigravity this site sitecustomize usercustomize setuptools ' +
    'distutils_patch pywintypes pythoncom pyximport gevent eventlet colorlog seaborn better_exceptions pretty_errors ' +
    'rioxarray cf_xarray pint_xarray pint_pandas janitor swifter hvplot scienceplots mplcyberpunk cmocean cmcrameri colorcet ' +
    'pyarrow_hotfix tensorflow_text pybullet_envs ale_py gym_minigrid d4rl procgen torch_npu intel_extension_for_pytorch'
  ).split(' '),
)

/** Modules whose names are imported for their effect: `from sklearn.experimental import enable_iterative_imputer`. */
const namesWithEffect = new Set(['sklearn.experimental', 'mpl_toolkits.mplot3d', 'mpl_toolkits', 'gevent.monkey'])

export function isLoadedForEffect(module: string): boolean {
  return namesWithEffect.has(module) || modulesWithEffect.has(module.split('.')[0] ?? module)
}

function effectOf({ module, imported, name, alias }: ImportedName, { own }: FileOfImports): string | undefined {
  if (imported === '*') return 'it imports everything'
  if (alias !== undefined && alias === (imported ?? module)) return 'it is re-exported under its own name'
  if (/^\.+$/.test(module)) return `${name} may be a module of the repository that is imported for its effect`
  const first = module.split('.')[0] ?? module
  if (imported !== undefined) {
    if (namesWithEffect.has(module)) return `${name} of ${module} is imported for its effect`
    const isInside = (first === '' || own.includes(first)) && own.includes(`.${imported}`)
    return isInside ? `${imported} is a module of the repository that may be imported for its effect` : undefined
  }
  if (modulesWithEffect.has(first)) return `${module} is imported for its effect`
  if (module.includes('.')) return 'a module inside a package is imported for its effect'
  return own.includes(first) ? `${module} is a module of the repository that may be imported for its effect` : undefined
}

const collected = /^(?:tests?_|Test|pytest_|setup_|teardown_|setUp|tearDown|load_tests$)|Tests?$|TestCase$/

/** Keeps names that a test runner finds in a test file: fixtures, inherited tests, set-up functions. */
function collectedByTests({ module, imported, name }: ImportedName, { path, runsTests }: FileOfImports) {
  const isOfTests = /^tests?[_.]|_tests?\./.test(basename(path)) || /(?:^|\/)tests?\//.test(path)
  if (imported === undefined || !(isOfTests || runsTests)) return undefined
  const isFound = collected.test(name) || /fixture|conftest/i.test(module)
  return isFound ? 'a test runner may find it by its name' : undefined
}
