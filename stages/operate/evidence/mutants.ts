import type { Node, Tree } from 'web-tree-sitter'

/** A fault planted in the code: `text` in place of what is between `start` and `end` (UTF-16 units). `what` names it for a reader. */
export type Mutant = { start: number; end: number; text: string; line: number; what: string }

type Planted = Pick<Mutant, 'start' | 'end' | 'text'>
/** One way to plant a fault, by the types of the syntax nodes that it knows; undefined where it does not fit. */
type Operator = { name: string; plant(node: Node, language: Language): Planted | undefined }
type Language = { not(condition: string): string; nothing: string; drop: string }

const python: Language = { not: (condition) => `not (${condition})`, nothing: 'None', drop: 'pass' }
const script: Language = { not: (condition) => `!(${condition})`, nothing: 'undefined', drop: ';' }
const languages: Readonly<Record<string, Language>> = { python, javascript: script, typescript: script, tsx: script }

/** Names another operator of the same kind, so that the code still parses and its types still fit. */
const swapped: Readonly<Record<string, string>> = {
  '==': '!=',
  '!=': '==',
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  is: 'is not',
  'is not': 'is',
  in: 'not in',
  'not in': 'in',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '//': '*',
  '%': '*',
  '+=': '-=',
  '-=': '+=',
  '++': '--',
  '--': '++',
  and: 'or',
  or: 'and',
  '&&': '||',
  '||': '&&',
}
const withOperator = new Set([
  'comparison_operator',
  'binary_operator',
  'boolean_operator',
  'augmented_assignment',
  'binary_expression',
  'augmented_assignment_expression',
  'update_expression',
])
const withCondition = new Set([
  'if_statement',
  'elif_clause',
  'while_statement',
  'conditional_expression',
  'ternary_expression',
])
const booleans: Readonly<Record<string, string>> = { True: 'False', False: 'True', true: 'false', false: 'true' }

const operators: readonly Operator[] = [
  {
    name: 'another operator',
    plant(node) {
      if (!withOperator.has(node.type)) return undefined
      const sign = node.children.find((child) => child !== null && !child.isNamed && Object.hasOwn(swapped, child.type))
      return sign && replaced(sign, swapped[sign.type] ?? '')
    },
  },
  {
    name: 'a negated condition',
    plant(node, { not }) {
      const condition = withCondition.has(node.type) ? conditionOf(node) : undefined
      return (
        condition &&
        replaced(condition, isWrapped(condition) ? `(${not(condition.text.slice(1, -1))})` : not(condition.text))
      )
    },
  },
  {
    name: 'no negation',
    plant(node) {
      const isNot = node.type === 'not_operator' || (node.type === 'unary_expression' && node.text.startsWith('!'))
      const value = isNot ? (node.childForFieldName('argument') ?? undefined) : undefined
      return value && replaced(node, value.text)
    },
  },
  {
    name: 'a number one larger',
    plant(node) {
      const isNumber = (node.type === 'integer' || node.type === 'number') && /^\d{1,15}$/.test(node.text)
      return isNumber ? replaced(node, String(Number(node.text) + 1)) : undefined
    },
  },
  {
    name: 'the other truth value',
    plant: (node) => (Object.hasOwn(booleans, node.text) ? replaced(node, booleans[node.text] ?? '') : undefined),
  },
  {
    name: 'an empty text',
    plant(node) {
      const isText = node.type === 'string' && node.text.length > 2 && !/^(?:[fb]|"""|''')/i.test(node.text)
      return isText && node.parent?.type !== 'expression_statement' ? replaced(node, '""') : undefined
    },
  },
  {
    name: 'nothing returned',
    plant(node, { nothing }) {
      const value = returnedBy(node)
      return value === undefined || value.text === nothing ? undefined : replaced(value, nothing)
    },
  },
  {
    name: 'a statement left out',
    plant(node, { drop }) {
      const isStatement = ['expression_statement', 'raise_statement', 'throw_statement'].includes(node.type)
      const [only] = node.namedChildren
      return isStatement && only?.type !== 'string' ? replaced(node, drop) : undefined
    },
  },
]

const leftOut = new Set([
  'comment',
  'decorator',
  'type',
  'type_annotation',
  'type_arguments',
  'type_parameters',
  'import_statement',
  'import_from_statement',
])

/** Returns at most `most` mutants between `start` and `end`, of as many operators as there are, in the order of the text, always the same ones. */
export function mutantsOf(
  tree: Tree,
  { language, start, end, most }: { language: string; start: number; end: number; most: number },
): Mutant[] {
  const words = Object.hasOwn(languages, language) ? languages[language] : undefined
  if (words === undefined) return []
  const byOperator = new Map<string, Mutant[]>(operators.map(({ name }) => [name, []]))
  for (const node of nodesIn(tree, start, end)) {
    for (const { name, plant } of operators) {
      const planted = plant(node, words)
      if (planted === undefined || planted.start < start || planted.end > end) continue
      const was = shortened(tree.rootNode.text.slice(planted.start, planted.end))
      const what = `${was} became ${shortened(planted.text)}`
      byOperator.get(name)?.push({ ...planted, line: node.startPosition.row + 1, what })
    }
  }
  return chosen([...byOperator.values()], most).toSorted(
    (left, right) => left.start - right.start || left.end - right.end,
  )
}

/** Chooses one of each operator in turn, each time in the middle of its largest part without one. */
function chosen(groups: readonly (readonly Mutant[])[], most: number): Mutant[] {
  const spread = groups.map((group) => spreadOut(group))
  const mutants: Mutant[] = []
  for (let round = 0; mutants.length < most && spread.some((group) => group.length > round); round++)
    mutants.push(...spread.flatMap((group) => group[round] ?? []))
  return mutants.slice(0, most)
}

function spreadOut(group: readonly Mutant[]): Mutant[] {
  const mutants: Mutant[] = []
  let parts: (readonly Mutant[])[] = [group]
  while (parts.length > 0) {
    const halves: (readonly Mutant[])[] = []
    for (const part of parts) {
      const middle = part.length >> 1
      mutants.push(...part.slice(middle, middle + 1))
      if (part.length > 1) halves.push(part.slice(0, middle), part.slice(middle + 1))
    }
    parts = halves.filter((half) => half.length > 0)
  }
  return mutants
}

function* nodesIn(tree: Tree, start: number, end: number): Generator<Node> {
  const open: Node[] = [tree.rootNode]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.endIndex <= start || node.startIndex >= end || leftOut.has(node.type) || node.isError) continue
    if (node.startIndex >= start && node.endIndex <= end) yield node
    for (const child of node.namedChildren.toReversed()) if (child !== null) open.push(child)
  }
}

function conditionOf(node: Node): Node | undefined {
  // Of Python's `a if condition else b` no child has a name.
  const isPythonChoice = node.type === 'conditional_expression'
  return (isPythonChoice ? node.namedChildren[1] : node.childForFieldName('condition')) ?? undefined
}

function isWrapped(condition: Node): boolean {
  return condition.type === 'parenthesized_expression'
}

function returnedBy(node: Node): Node | undefined {
  if (node.type === 'return_statement') return node.namedChildren[0] ?? undefined
  const body = node.type === 'arrow_function' ? node.childForFieldName('body') : null
  return body === null || body.type === 'statement_block' ? undefined : body
}

function replaced({ startIndex: start, endIndex: end }: Node, text: string): Planted {
  return { start, end, text }
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return `\`${line.length > 60 ? `${line.slice(0, 59)}…` : line}\``
}
