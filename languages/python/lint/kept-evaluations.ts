import type { Node } from 'web-tree-sitter'
import { importsIn } from '../import-facts.ts'
import { moduleBindingsOf } from '../module-bindings.ts'
import { codeIn, hasInterpolation, nodeAround, plainStringText } from '../python-nodes.ts'
import type { LoadedLanguage } from '../../syntax/parser.ts'
import type { Diagnostic } from '../../lint/lint-report.ts'

/** Says of the code that a fix replaces whether the new code evaluates the same, in the same order. */
type Judge = (node: Node) => boolean

/**
 * Rules whose fix can change the order or the number of evaluations, or what is read of an annotation at run time. Ruff
 * makes these fixes whatever the operands do, so each is judged where it stands. What a name or a constant is worth can be
 * asked at any time; everything else may have an effect: a call, but also a property, `__getitem__` and `__add__`.
 */
const judges: Readonly<Record<string, Judge>> = {
  // setattr(a(), "x", b()) asks a() first, a().x = b() asks b() first.
  B010(node) {
    const [object, , value] = valuesOf(callAround(node))
    if (object === undefined || value === undefined) return false
    return isConstant(value) || (isPlain(object) && isPlain(value))
  },
  // The value is computed for each key, and never for no key; the keys of dict.fromkeys need not be tuples.
  C420(node) {
    const loop = nodeAround(node, ['dictionary_comprehension'])
    const value = loop?.childForFieldName('body')?.childForFieldName('value')
    const target = loop?.namedChildren.find(({ type }) => type === 'for_in_clause')?.childForFieldName('left')
    return value ? isConstant(value) && target?.type === 'identifier' : false
  },
  // print("", sep=f()) becomes print(): the separator is not asked for any more.
  FURB105: (node) => argumentsOf(callAround(node)).every((given) => nameOf(given) !== 'sep' || isPlain(valueOf(given))),
  RUF022: (node) => isListUnread(node),
  // A quoted type is not evaluated any more.
  TC006: (node) => isTypeWithoutEffect(node),
  UP032: (node) => isFormattedAsEvaluated(callAround(node)),
  UP037: (node) => isNeverEvaluated(node),
}

/** False where a fix may change what is evaluated, in which order or how often. */
export function keepsEvaluations(
  { code, fix = [] }: Pick<Diagnostic, 'code' | 'fix'>,
  text: string,
  python: LoadedLanguage,
): boolean {
  const judge = judges[code]
  if (judge === undefined) return true
  return python.read(text, ({ rootNode }) =>
    fix.every(({ start, end }) => {
      const node = rootNode.descendantForIndex(start, Math.max(start, end - 1))
      return node !== null && judge(node)
    }),
  )
}

const callAround = (node: Node) => nodeAround(node, ['call'])

function argumentsOf(call: Node | undefined): Node[] {
  const list = call?.childForFieldName('arguments')
  return list?.type === 'argument_list' ? codeIn(list) : []
}

function nameOf(argument: Node): string | undefined {
  return argument.type === 'keyword_argument' ? argument.childForFieldName('name')?.text : undefined
}

function valueOf(argument: Node): Node {
  return (argument.type === 'keyword_argument' ? argument.childForFieldName('value') : null) ?? argument
}

const valuesOf = (call: Node | undefined) => argumentsOf(call).map(valueOf)

const literals = new Set(['integer', 'float', 'true', 'false', 'none', 'ellipsis'])
const groups = new Set(['parenthesized_expression', 'tuple', 'list', 'dictionary', 'pair', 'concatenated_string'])

const isConstant = (node: Node) => consistsOf(node, () => false)

/** Is true for what is made of constants and names alone: to read a name has no effect. */
const isPlain = (node: Node) => consistsOf(node, ({ type }) => type === 'identifier')

function consistsOf(root: Node, isLeaf: (node: Node) => boolean): boolean {
  const open = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (literals.has(node.type) || isLeaf(node)) continue
    if (node.type === 'string' && !hasInterpolation(node)) continue
    if (node.type === 'lambda' && node.childForFieldName('parameters')?.text.includes('=') !== true) continue
    // The sign of a number.
    const isSigned = node.type === 'unary_operator' && literals.has(node.childForFieldName('argument')?.type ?? '')
    if (!isSigned && !groups.has(node.type)) return false
    if (!isSigned) open.push(...codeIn(node))
  }
  return true
}

/**
 * `format` is called when all arguments are there; an f-string formats each before it comes to the next, in the order of the
 * text. So only the argument that comes first in both may be more than a name or a constant, and has to be used once.
 */
function isFormattedAsEvaluated(call: Node | undefined): boolean {
  const given = argumentsOf(call)
  const [first] = given
  if (given.slice(1).some((argument) => !isPlain(valueOf(argument)))) return false
  if (first === undefined || isPlain(valueOf(first))) return true
  const template = call?.childForFieldName('function')?.childForFieldName('object')?.text ?? ''
  const fields = fieldsOf(template)
  const key = nameOf(first) ?? '0'
  return fields[0] === key && fields.lastIndexOf(key) === 0
}

/** Lists the arguments that a format asks for, by position or name, in order. */
function fieldsOf(template: string): string[] {
  let next = 0
  const fields = template.replaceAll(/\{\{|\}\}/g, '').matchAll(/\{(\w*)/g)
  return [...fields].map(([, name = '']) => (name === '' ? String(next++) : name))
}

const typeParts = new Set(['type', 'tuple', 'list', 'ellipsis', 'none', 'identifier', 'string', 'binary_operator'])
const builtinGenerics = new Set(['list', 'dict', 'set', 'frozenset', 'tuple', 'type'])
const typeModules = new Set(['typing', 'typing_extensions', 'collections.abc'])

/** Is true for a name, a name of an imported module, or a type of Python's own with others in brackets: `__class_getitem__` of any other may do something. */
function isTypeWithoutEffect(root: Node): boolean {
  const imports = importsIn(root.tree)
  const moduleOf = (name: string | undefined) => imports.find((here) => here.name === name)?.module
  const open = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.type === 'attribute') {
      if (moduleOf(/^\w+(?=\.[\w.]+$)/.exec(node.text)?.[0]) === undefined) return false
    } else if (node.type === 'subscript') {
      const base = node.childForFieldName('value')?.text ?? ''
      const module = moduleOf(base.split('.')[0])
      if (!builtinGenerics.has(base) && (module === undefined || !typeModules.has(module))) return false
      open.push(...node.childrenForFieldName('subscript'))
    } else {
      if (!typeParts.has(node.type)) return false
      if (node.type !== 'string') open.push(...codeIn(node))
    }
  }
  return true
}

/** Is true in the annotation of a variable of a function: Python keeps all others for those who ask, also under `from __future__ import annotations`. */
function isNeverEvaluated(node: Node): boolean {
  const assignment = nodeAround(node, ['assignment', ...scopes])
  const type = assignment?.type === 'assignment' ? assignment.childForFieldName('type') : null
  if (type === null || node.startIndex < type.startIndex || node.endIndex > type.endIndex) return false
  return nodeAround(assignment ?? null, scopes)?.type === 'function_definition'
}

const scopes = ['function_definition', 'class_definition', 'lambda']

/** Is true when nothing depends on the order of `__all__`: this file does not read it, and `import *` loads no modules in its order. */
function isListUnread(node: Node): boolean {
  const bound = new Set(moduleBindingsOf(node.tree).bindings.map(({ scope, name }) => `${scope}:${name}`))
  if (allReads.test(node.tree.rootNode.text)) return false
  const listed = nodeAround(node, ['expression_statement'])?.descendantsOfType('string') ?? []
  return listed.every((string) => bound.has(`:${plainStringText(string) ?? ''}`))
}

/** Matches `__all__` where it is neither set nor added to. */
const allReads = /(?<![.\w])__all__\b(?!\s*(?:\+?=(?!=)|:[^=\n]+=|\.(?:extend|append)\())/
