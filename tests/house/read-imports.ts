import { Visitor, type Expression, type Program } from 'oxc-parser'

/**
 * One place where a file names another module. `url` is `new URL('./x.ts', import.meta.url)`, which starts a thread or
 * a child; `computed` is an `import(…)` whose specifier is no plain string, so nothing can be said about it.
 */
export interface ImportEdge {
  kind: 'static' | 'type' | 'dynamic' | 'url' | 'computed'
  specifier: string
  line: number
}

/**
 * Every import of a program: declarations, re-exports, `import()`, type imports, `import.meta.resolve`, threads by URL.
 */
export function readImports(program: Program, lineOf: (offset: number) => number): ImportEdge[] {
  const found: ImportEdge[] = []
  const add = (kind: ImportEdge['kind'], specifier: string, start: number) =>
    void found.push({ kind, specifier, line: lineOf(start) })
  const addReExport = (node: { source: { value: string } | null; exportKind?: string | undefined; start: number }) => {
    if (node.source) add(node.exportKind === 'type' ? 'type' : 'static', node.source.value, node.start)
  }
  new Visitor({
    ImportDeclaration: (node) => add(node.importKind === 'type' ? 'type' : 'static', node.source.value, node.start),
    ExportAllDeclaration: addReExport,
    ExportNamedDeclaration: addReExport,
    TSImportType: (node) => add('type', node.source.value, node.start),
    TSExternalModuleReference: (node) => add('static', node.expression.value, node.start),
    ImportExpression: ({ source, start }) => {
      const specifier = plainString(source)
      if (specifier === undefined) add('computed', '', start)
      else add('dynamic', specifier, start)
    },
    NewExpression: ({ callee, arguments: [path, base], start }) => {
      if (callee.type !== 'Identifier' || callee.name !== 'URL' || !isImportMeta(base, 'url')) return
      const specifier = path === undefined ? undefined : plainString(path)
      if (specifier !== undefined && /\.(?:ts|mts|js|mjs)$/.test(specifier)) add('url', relative(specifier), start)
    },
    CallExpression: ({ callee, arguments: [first], start }) => {
      const specifier = first === undefined ? undefined : plainString(first)
      if (specifier !== undefined && isImportMeta(callee, 'resolve')) add('url', specifier, start)
    },
  }).visit(program)
  return found
}

/** A URL may leave out the `./` that an import needs. */
function relative(specifier: string): string {
  return /^\.{0,2}\//.test(specifier) ? specifier : `./${specifier}`
}

function plainString(node: Expression | { type: 'SpreadElement' }): string | undefined {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node.type === 'TemplateLiteral' && node.expressions.length === 0) return node.quasis[0]?.value.cooked ?? undefined
  return undefined
}

function isImportMeta(node: Expression | { type: 'SpreadElement' } | undefined, property: string): boolean {
  return (
    node?.type === 'MemberExpression' &&
    node.object.type === 'MetaProperty' &&
    node.property.type === 'Identifier' &&
    node.property.name === property
  )
}
