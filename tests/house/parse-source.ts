import {
  parseSync,
  Visitor,
  type Function as FunctionNode,
  type ArrowFunctionExpression,
  type Expression,
  type Program,
} from 'oxc-parser'
import { readImports, type ImportEdge } from './read-imports.ts'

/** A function with a body. `lines` counts from its first line to its last. */
interface FunctionSpan {
  name: string
  line: number
  lines: number
}

export interface ParsedSource {
  path: string
  lines: number
  imports: ImportEdge[]
  /** Callbacks of `describe` are left out: they group tests and are no unit of reading. */
  functions: FunctionSpan[]
  exportedNames: string[]
  /** Line numbers of `any` types. */
  anyTypes: number[]
  /** Line numbers of `x!` and of `let x!: T`. */
  nonNullAssertions: number[]
  /** Line numbers of `x as T` and `<T>x`, but not `as const`. */
  casts: number[]
  /** Line numbers of `@ts-ignore`, `@ts-nocheck` and `@ts-expect-error`. */
  silencedErrors: number[]
  /** Line numbers where the process environment is read. */
  environmentReads: number[]
}

/** Reads one file of TypeScript or JavaScript. Throws when it does not parse. */
export function parseSource(path: string, text: string): ParsedSource {
  const { program, module, comments, errors } = parseSync(path, text)
  const [error] = errors
  if (error !== undefined) throw new Error(`${path} does not parse: ${error.message}`)
  const lineOf = lineIndex(text)
  return {
    path,
    lines: text === '' ? 0 : lineOf(text.length - 1),
    imports: readImports(program, lineOf),
    functions: readFunctions(program, text, lineOf),
    exportedNames: module.staticExports.flatMap(({ entries }) =>
      entries.flatMap((entry) => entry.exportName.name ?? []),
    ),
    ...readLooseTypes(program, lineOf),
    silencedErrors: comments
      .filter(({ value }) => /^[\s*]*@ts-(?:ignore|nocheck|expect-error)/.test(value))
      .map(({ start }) => lineOf(start)),
    environmentReads: readEnvironmentReads(program, lineOf),
  }
}

/** Returns the function from an offset to its line number, counted from 1. */
function lineIndex(text: string): (offset: number) => number {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return (offset) => {
    const next = starts.findIndex((start) => start > offset)
    return next === -1 ? starts.length : next
  }
}

function readFunctions(program: Program, text: string, lineOf: (offset: number) => number): FunctionSpan[] {
  const names = new Map<number, string>()
  const found: FunctionSpan[] = []
  const add = (node: FunctionNode | ArrowFunctionExpression) => {
    if (node.body?.type !== 'BlockStatement' || names.get(node.start) === 'describe') return
    const ownName = 'id' in node && node.id ? node.id.name : undefined
    const line = lineOf(node.start)
    found.push({ name: ownName ?? names.get(node.start) ?? 'a callback', line, lines: lineOf(node.end - 1) - line + 1 })
  }
  const nameOf = (key: { start: number; end: number }) => text.slice(key.start, key.end)
  new Visitor({
    VariableDeclarator: (node) => void (node.init && names.set(node.init.start, nameOf(node.id).split(':')[0] ?? '')),
    Property: (node) => void names.set(node.value.start, nameOf(node.key)),
    PropertyDefinition: (node) => void (node.value && names.set(node.value.start, nameOf(node.key))),
    MethodDefinition: (node) => void names.set(node.value.start, nameOf(node.key)),
    CallExpression: (node) => {
      for (const argument of node.arguments) names.set(argument.start, rootName(node.callee) ?? 'a callback')
    },
    FunctionDeclaration: add,
    FunctionExpression: add,
    ArrowFunctionExpression: add,
  }).visit(program)
  return found
}

/** The leftmost name of `describe`, `describe.each(rows)` and the like. */
function rootName(callee: Expression): string | undefined {
  if (callee.type === 'Identifier') return callee.name
  if (callee.type === 'MemberExpression') return rootName(callee.object)
  if (callee.type === 'CallExpression') return rootName(callee.callee)
  if (callee.type === 'TaggedTemplateExpression') return rootName(callee.tag)
  return undefined
}

function readLooseTypes(program: Program, lineOf: (offset: number) => number) {
  const anyTypes: number[] = []
  const nonNullAssertions: number[] = []
  const casts: number[] = []
  new Visitor({
    TSAnyKeyword: (node) => void anyTypes.push(lineOf(node.start)),
    TSNonNullExpression: (node) => void nonNullAssertions.push(lineOf(node.start)),
    VariableDeclarator: (node) => void (node.definite && nonNullAssertions.push(lineOf(node.start))),
    PropertyDefinition: (node) => void (node.definite && nonNullAssertions.push(lineOf(node.start))),
    TSTypeAssertion: (node) => void casts.push(lineOf(node.start)),
    TSAsExpression: ({ typeAnnotation, start }) => {
      const isConst =
        typeAnnotation.type === 'TSTypeReference' &&
        typeAnnotation.typeName.type === 'Identifier' &&
        typeAnnotation.typeName.name === 'const'
      if (!isConst) casts.push(lineOf(start))
    },
  }).visit(program)
  return { anyTypes, nonNullAssertions, casts }
}

function readEnvironmentReads(program: Program, lineOf: (offset: number) => number): number[] {
  const found: number[] = []
  new Visitor({
    MemberExpression: (node) => {
      if (propertyName(node.property) === 'env' && isProcess(node.object)) found.push(lineOf(node.start))
    },
    VariableDeclarator: (node) => {
      if (node.id.type !== 'ObjectPattern' || node.init === null || !isProcess(node.init)) return
      const takesEnv = node.id.properties.some(
        (property) => property.type === 'Property' && propertyName(property.key) === 'env',
      )
      if (takesEnv) found.push(lineOf(node.start))
    },
    ImportDeclaration: (node) => {
      if (!/^(?:node:)?process$/.test(node.source.value)) return
      const takesEnv = node.specifiers.some(
        (specifier) => specifier.type === 'ImportSpecifier' && propertyName(specifier.imported) === 'env',
      )
      if (takesEnv) found.push(lineOf(node.start))
    },
  }).visit(program)
  return found
}

function isProcess(node: Expression): boolean {
  if (node.type === 'Identifier') return node.name === 'process'
  return node.type === 'MemberExpression' && propertyName(node.property) === 'process'
}

function propertyName(node: { type: string; name?: unknown; value?: unknown }): unknown {
  return node.type === 'Literal' ? node.value : node.name
}
