import { dirname } from 'node:path'
import { parseSync, Visitor, type VisitorObject } from 'oxc-parser'
import { openRandom, type Random } from '#platform/seeded-random.ts'

/** `before` and `after` are the whole lines that change, without their indentation; `line` is that of the first. */
export type Mutation = { file: string; line: number; operator: string; before: string; after: string }

type Source = { file: string; text: string }
type Span = { start: number; end: number }
type Edit = Span & { operator: string; text: string }

const swapped = new Map([
  ['<', '<='],
  ['<=', '<'],
  ['>', '>='],
  ['>=', '>'],
  ['&&', '||'],
  ['||', '&&'],
  ['+', '-'],
  ['-', '+'],
])

/** Calls that only tell people something: what changes in them no test has to notice. */
const tellsPeople = /(^|\.)(log|console)\.\w+$|^(describe|print|say\w*)$|\.describe$/
/** A text with a space is a message for people. */
const wordOfMachines = /^[^\s]+$/

/**
 * Draws mutations of the sources: first one of each folder (`core/*`, `services/*`, `cli`), in an order that the seed decides; the rest
 * by the folders' lengths. Within a folder the operator is drawn first, since most positions would be texts and numbers.
 */
export function drawMutations(sources: readonly Source[], count: number, seed: number): Mutation[] {
  const random = openRandom(seed)
  const byFolder = Map.groupBy(sources, ({ file }) => /^(cli|[^/]+\/[^/]+)\//.exec(file)?.[1] ?? dirname(file))
  const folders = shuffled([...byFolder.keys()].toSorted(), random)
  const byLength = folders.flatMap((folder) => {
    const length = (byFolder.get(folder) ?? []).reduce((sum, { text }) => sum + text.length, 0)
    return Array.from({ length: Math.ceil(length / 1000) }, () => folder)
  })
  const drawn = new Map<string, Mutation>()
  for (let at = 0; drawn.size < count; at += 1) {
    const folder = folders[at] ?? pickFrom(byLength, random)
    const edits = (byFolder.get(folder) ?? []).flatMap((source) =>
      possibleEdits(source).map((edit) => ({ source, edit })),
    )
    const operator = pickFrom([...new Set(edits.map(({ edit }) => edit.operator))].toSorted(), random)
    const { source, edit } = pickFrom(
      edits.filter(({ edit: { operator: its } }) => its === operator),
      random,
    )
    const mutation = mutationOf(source, edit)
    if (parses(source.file, applyMutation(source.text, mutation))) drawn.set(`${source.file}:${edit.start}`, mutation)
    else folders.splice(at + 1, 0, folder)
  }
  return [...drawn.values()]
}

/** Returns the text with the mutation, at the place nearest to its line. Undefined: its lines are no longer in the text. */
export function applyMutation(text: string, { line, before, after }: Mutation): string | undefined {
  const pieces = text.split(before).slice(0, -1)
  const places = pieces.map((_piece, at) => pieces.slice(0, at + 1).join(before).length)
  const off = (place: number) => Math.abs(lineAt(text, place) - line)
  const [place] = places.toSorted((one, other) => off(one) - off(other))
  return place === undefined ? undefined : text.slice(0, place) + after + text.slice(place + before.length)
}

function mutationOf({ file, text }: Source, { start, end, operator, text: replacement }: Edit): Mutation {
  const from = text.lastIndexOf('\n', start - 1) + 1
  const to = text.indexOf('\n', end)
  const after = text.slice(from, start) + replacement + text.slice(end, to)
  return { file, line: lineAt(text, from), operator, before: text.slice(from, to).trim(), after: after.trim() }
}

/** Lists all single edits of a source outside of imports, types and what tells people something. */
function possibleEdits({ file, text }: Source): Edit[] {
  const edits: Edit[] = []
  const skipped: Span[] = []
  const add = (operator: string, { start, end }: Span, replacement: string) =>
    edits.push({ operator, start, end, text: replacement })
  const skip = (span: Span | null) => void (span !== null && skipped.push(span))
  const negate = ({ test }: { test: Span | null }) =>
    void (test !== null && add('negate', test, `!(${text.slice(test.start, test.end)})`))
  const swap = ({ left, right, operator }: { left: Span; right: Span; operator: string }) => {
    const to = swapped.get(operator)
    const start = text.indexOf(operator, left.end)
    const joinsTexts = operator === '+' && /^['"`]|['"`]$/.test(text.slice(left.start, right.end))
    if (to !== undefined && start < right.start && !joinsTexts)
      add(`${operator} to ${to}`, { start, end: start + operator.length }, to)
  }
  const leaveEarly = ({ body }: { body: (Span & { type: string; body?: unknown }) | null }) => {
    if (body === null || body.type !== 'BlockStatement' || (Array.isArray(body.body) && body.body.length === 0)) return
    add('return early', { start: body.start + 1, end: body.start + 1 }, ' return;')
  }
  const visitor: VisitorObject = {
    ImportDeclaration: skip,
    ImportExpression: skip,
    ExportAllDeclaration: skip,
    ExportNamedDeclaration: ({ source }) => skip(source),
    TSTypeAliasDeclaration: skip,
    TSInterfaceDeclaration: skip,
    TSTypeAnnotation: skip,
    TSTypeParameterInstantiation: skip,
    TSLiteralType: skip,
    Property: ({ key, computed }) => void (!computed && key.type === 'Literal' && skip(key)),
    CallExpression: (call) => {
      if (tellsPeople.test(text.slice(call.callee.start, call.callee.end).replace(/^.*\s/s, ''))) skip(call)
    },
    ExpressionStatement: (statement) => {
      const { expression } = statement
      const called = expression.type === 'AwaitExpression' ? expression.argument : expression
      if (called.type === 'CallExpression') add('drop call', statement, ';')
    },
    IfStatement: negate,
    WhileStatement: negate,
    ConditionalExpression: negate,
    BinaryExpression: swap,
    LogicalExpression: swap,
    FunctionDeclaration: leaveEarly,
    FunctionExpression: leaveEarly,
    ArrowFunctionExpression: leaveEarly,
    ArrayExpression: (array) => void (array.elements.length > 0 && add('empty array', array, '[]')),
    Literal: (literal) => {
      const { value } = literal
      if (typeof value === 'boolean') add('flip boolean', literal, String(!value))
      else if (typeof value === 'number') add('off by one', literal, String(value + 1))
      else if (typeof value === 'string' && wordOfMachines.test(value)) add('empty text', literal, "''")
    },
  }
  new Visitor(visitor).visit(parseSync(file, text).program)
  return edits.filter(({ start, end }) => !skipped.some((span) => span.start <= start && end <= span.end))
}

function parses(file: string, text: string | undefined): boolean {
  return text !== undefined && parseSync(file, text).errors.length === 0
}

function lineAt(text: string, place: number): number {
  return text.slice(0, place).split('\n').length
}

function pickFrom<T>(choices: readonly T[], random: Random): T {
  const [first, ...others] = choices
  if (first === undefined) throw new Error('There is nothing to mutate.')
  return random.pick([first, ...others])
}

function shuffled<T>(values: readonly T[], random: Random): T[] {
  return values
    .map((value) => ({ value, rank: random.fraction() }))
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ value }) => value)
}
