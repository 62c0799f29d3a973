import type { Node, Tree } from 'web-tree-sitter'

/** A name that others may use of a module, or of a class in it (`A.m`). */
export type ScriptBinding = {
  /** `export` of an exported name, `default` among them; `constant` of one that is declared with `const`. */
  kind: 'export' | 'function' | 'class' | 'type' | 'variable' | 'constant' | 'member'
  name: string
  line: number
}

/** `name`: how it is called in the file; undefined for a module that is only loaded. `imported`: `*` for all of it. */
export type ScriptImport = {
  module: string
  imported: string | undefined
  name: string | undefined
  line: number
  isType: boolean
}

export type ScriptNames = {
  bindings: ScriptBinding[]
  imports: ScriptImport[]
  /** The modules that it loads, in order: by imports, by exports of other modules, by `require`. */
  loads: string[]
  uses: ReadonlyMap<string, number>
  /** It has imports or exports, or in any case uses CommonJS's: its top level is not that of a page. */
  isModule: boolean
}

const functions = new Set(['function_declaration', 'generator_function_declaration', 'function_signature'])
const classes = new Set(['class_declaration', 'abstract_class_declaration'])
const types = new Set([
  'interface_declaration',
  'type_alias_declaration',
  'enum_declaration',
  'internal_module',
  'module',
])
const variables = new Set(['lexical_declaration', 'variable_declaration'])

/** What a JavaScript or TypeScript module defines, exports and imports. */
export function scriptNamesOf(tree: Tree): ScriptNames {
  const found: ScriptNames = { bindings: [], imports: [], loads: [], uses: usesIn(tree.rootNode), isModule: false }
  for (const node of tree.rootNode.namedChildren) {
    if (node === null) continue
    if (node.type === 'import_statement') noteImport(node, found)
    else if (node.type === 'export_statement') noteExport(node, found)
    else noteDefinition(node, found)
  }
  const required = requiresIn(tree.rootNode)
  found.loads.push(...required.map(({ module }) => module))
  const isLoading = required.some(({ call }) => isAlwaysRun(call))
  const isCommonJs = isLoading || found.bindings.some(({ kind }) => kind === 'export')
  const isModule = found.imports.length > 0 || isCommonJs
  return { ...found, isModule }
}

function lineOf(node: Node): number {
  return node.startPosition.row + 1
}

function moduleOf(node: Node): string | undefined {
  return node.childForFieldName('source')?.text.slice(1, -1)
}

function noteImport(node: Node, { imports, loads }: ScriptNames): void {
  const module = moduleOf(node)
  if (module === undefined) return
  const isType = node.children.some((one) => one?.type === 'type' || one?.type === 'typeof')
  if (!isType) loads.push(module)
  const clause = node.namedChildren.find((one) => one?.type === 'import_clause')
  const add = (of: Node, imported: string | undefined, name: string | undefined, own = false) =>
    imports.push({ module, imported, name, line: lineOf(of), isType: isType || own })
  if (clause === undefined || clause === null) add(node, undefined, undefined)
  for (const part of clause?.namedChildren ?? []) {
    if (part?.type === 'identifier') add(part, 'default', part.text)
    if (part?.type === 'namespace_import') add(part, '*', part.namedChild(0)?.text)
    for (const one of part?.type === 'named_imports' ? part.namedChildren : []) {
      const name = one?.childForFieldName('name')?.text
      if (one === null || name === undefined) continue
      const isOwnType = one.children.some((child) => child?.type === 'type')
      add(one, name, one.childForFieldName('alias')?.text ?? name, isOwnType)
    }
  }
}

function noteExport(node: Node, found: ScriptNames): void {
  const module = moduleOf(node)
  if (module !== undefined) found.loads.push(module)
  const add = (of: Node, name: string) => found.bindings.push({ kind: 'export', name, line: lineOf(of) })
  if (node.children.some((one) => one?.type === 'default')) add(node, 'default')
  if (node.children.some((one) => one?.type === '*')) add(node, `* of ${module}`)
  for (const specifier of node.descendantsOfType('export_specifier')) {
    add(specifier, (specifier.childForFieldName('alias') ?? specifier.childForFieldName('name'))?.text ?? '')
  }
  const namespace = node.namedChildren.find((one) => one?.type === 'namespace_export')
  if (namespace !== undefined && namespace !== null) add(namespace, namespace.namedChild(0)?.text ?? '')
  const declaration = node.childForFieldName('declaration')
  if (declaration === null) return
  const first = found.bindings.length
  noteDefinition(declaration, found)
  for (const { name, kind } of found.bindings.slice(first)) if (kind !== 'member') add(declaration, name)
}

function noteDefinition(node: Node, found: ScriptNames): void {
  const name = node.childForFieldName('name')
  const { bindings } = found
  const add = (kind: ScriptBinding['kind'], of: Node, text = of.text) =>
    bindings.push({ kind, name: text, line: lineOf(of) })
  if (node.type === 'ambient_declaration') {
    for (const one of node.namedChildren) if (one !== null) noteDefinition(one, found)
  } else if (functions.has(node.type) && name !== null) add('function', name)
  else if (types.has(node.type) && name !== null) add('type', name)
  else if (classes.has(node.type) && name !== null) {
    add('class', name)
    for (const member of node.childForFieldName('body')?.namedChildren ?? []) {
      const own = member?.childForFieldName('name') ?? member?.childForFieldName('property')
      if (own !== null && own !== undefined) add('member', own, `${name.text}.${own.text}`)
    }
  } else if (variables.has(node.type)) {
    const kind = node.childForFieldName('kind')?.type === 'const' ? 'constant' : 'variable'
    for (const declarator of node.namedChildren) {
      const pattern = declarator?.childForFieldName('name')
      for (const one of pattern === null || pattern === undefined ? [] : namesIn(pattern)) add(kind, one)
    }
  } else if (node.type === 'expression_statement') noteCommonJs(node, add)
}

/** The names that a pattern binds: `{ a, b: [c] }` binds a and c. */
function namesIn(pattern: Node): Node[] {
  if (pattern.type === 'identifier') return [pattern]
  return pattern
    .descendantsOfType(['identifier', 'shorthand_property_identifier_pattern'])
    .filter((one) => one !== null)
}

/** `exports.a = …`, `module.exports.a = …`, `module.exports = { a, b: 1 }`. */
function noteCommonJs(node: Node, add: (kind: ScriptBinding['kind'], of: Node, text?: string) => void): void {
  const assignment = node.namedChild(0)
  const target = assignment?.type === 'assignment_expression' ? assignment.childForFieldName('left') : null
  const path = target?.text.replaceAll(/\s+/g, '') ?? ''
  if (target === null || !/^(?:module\.)?exports\b/.test(path)) return
  const property = /^(?:module\.)?exports\.(?<name>[\w$]+)$/.exec(path)?.groups?.['name']
  if (property !== undefined && path !== 'module.exports') return add('export', target, property)
  if (path !== 'module.exports') return
  add('export', target, 'module.exports')
  const value = assignment?.childForFieldName('right')
  for (const one of value?.type === 'object' ? value.namedChildren : []) {
    const key =
      one?.type === 'shorthand_property_identifier'
        ? one
        : (one?.childForFieldName('key') ?? one?.childForFieldName('name'))
    if (key !== null && key !== undefined) add('export', key)
  }
}

const nameTypes = [
  'identifier',
  'type_identifier',
  'shorthand_property_identifier',
  'jsx_identifier',
  'statement_identifier',
]

function usesIn(root: Node): ReadonlyMap<string, number> {
  const uses = new Map<string, number>()
  for (const statement of root.namedChildren) {
    if (statement === null || statement.type === 'import_statement') continue
    for (const one of statement.descendantsOfType(nameTypes)) uses.set(one.text, (uses.get(one.text) ?? 0) + 1)
  }
  return uses
}

function requiresIn(root: Node): { call: Node; module: string }[] {
  return root.descendantsOfType('call_expression').flatMap((call) => {
    if (call.childForFieldName('function')?.text !== 'require') return []
    const argument = call.childForFieldName('arguments')?.namedChild(0)
    return argument?.type === 'string' ? [{ call, module: argument.text.slice(1, -1) }] : []
  })
}

const declarations = new Set(['variable_declarator', 'member_expression', 'call_expression', 'arguments'])

/** Whether nothing but a declaration or a statement at the top is around it. Scripts for pages have `require` in a branch or in a function. */
function isAlwaysRun({ parent }: Node): boolean {
  if (parent === null || parent.type === 'program') return true
  const isPlain = variables.has(parent.type) || declarations.has(parent.type) || parent.type === 'expression_statement'
  return isPlain && isAlwaysRun(parent)
}
