import type { Node, Tree, TreeCursor } from 'web-tree-sitter'
import { bisect } from '#platform/changed-ranges.ts'
import { operationsIn, type Operation, type OperationGrammar, pythonOperations } from './operations.ts'

/** Says what a grammar calls the parts of statements. */
export type StatementGrammar = {
  heads: ReadonlySet<string>
  /** Heads that continue another statement, and so are not part of what its body does. */
  continuations: ReadonlySet<string>
  isStatement(type: string): boolean
  isToken(type: string): boolean
  quietTokens: ReadonlySet<string>
  /** Is true for what is no code: `;`, the backslash at the end of a line. */
  isNoCode(type: string): boolean
  /** The body of a class of the module, whose members are parts of their own. */
  classBody(node: Node): Node | null
  operations: OperationGrammar
}

/** Is a simple statement, a decorator, or the head of a compound one (`if x:`, `else:`, `def f():`), whose body has statements of its own. */
export type Statement = {
  kind: string
  /** The index of the head whose body it is in; -1 at the top level. */
  owner: number
  /** 0-based row and column of its first token. */
  row: number
  column: number
  /** Its code without comments; a string is one token. */
  tokens: readonly Token[]
  key: string
  operations: readonly Operation[]
  isHead: boolean
  /** It is more than `pass`, `...` or a literal; for a head, something in its body is. */
  doesSomething: boolean
}

/** Rows are counted from the statement's own first row. */
export type Token = { text: string; row: number; endRow: number }

/** A comment, and the last token before it; `statement` is -1 when there is none. */
export type Comment = { text: string; row: number; column: number; statement: number; token: number }

/** Tells whether it is a shebang or an encoding declaration in the first two lines, which belongs to the file. */
export function isLeading({ text, row }: Comment): boolean {
  return row < 2 && /^#!|^[ \t\f]*#.*?coding[:=]/.test(text)
}

export type StatementList = { statements: Statement[]; comments: Comment[] }

/** Maps source to a part, one statement of the module or of a class in it, so that what did not change is not read again. */
export type KnownParts = ReadonlyMap<string, StatementList>

export function readStatements(tree: Tree, source: string, known?: KnownParts, grammar = pythonStatements) {
  const parts = new Map<string, StatementList>()
  const all: StatementList = { statements: [], comments: [] }
  const add = (node: Node, { head, until }: { head: number; until?: Node }) => {
    const text = source.slice(node.startIndex, until?.startIndex ?? node.endIndex)
    const part = parts.get(text) ?? known?.get(text) ?? readPart(node, { text, until, grammar })
    parts.set(text, part)
    append(all, part, { ...node.startPosition, head, grammar })
  }
  for (const node of tree.rootNode.children) {
    if (node === null) continue
    const body = grammar.classBody(node)
    add(node, { head: -1, ...(body === null ? {} : { until: body }) })
    const head = all.statements.length - 1
    for (const member of body?.children ?? []) if (member !== null) add(member, { head })
  }
  return { ...all, parts }
}

type Place = { row: number; column: number; head: number; grammar: StatementGrammar }

function append(all: StatementList, part: StatementList, at: Place): void {
  const first = all.statements.length
  const lastToken = (all.statements.at(-1)?.tokens.length ?? 0) - 1
  const columnOf = (place: { row: number; column: number }) => place.column + (place.row === 0 ? at.column : 0)
  for (const comment of part.comments) {
    const follows = comment.statement >= 0
    all.comments.push({
      text: comment.text,
      row: comment.row + at.row,
      column: columnOf(comment),
      statement: follows ? comment.statement + first : first - 1,
      token: follows ? comment.token : lastToken,
    })
  }
  for (const statement of part.statements) {
    const owner = statement.owner < 0 ? at.head : statement.owner + first
    all.statements.push({ ...statement, owner, row: statement.row + at.row, column: columnOf(statement) })
    const head = statement.owner < 0 ? all.statements[at.head] : undefined
    if (head !== undefined && countsInBody(statement, at.grammar)) head.doesSomething = true
  }
}

const pythonHeads = new Set(
  (
    'if_statement elif_clause else_clause for_statement while_statement try_statement except_clause ' +
    'except_group_clause finally_clause with_statement match_statement case_clause function_definition class_definition'
  ).split(' '),
)

const pythonStatements: StatementGrammar = {
  heads: pythonHeads,
  continuations: new Set(['elif_clause', 'else_clause', 'except_clause', 'except_group_clause', 'finally_clause']),
  isStatement: (type) => type.endsWith('_statement') || type === 'decorator' || pythonHeads.has(type),
  isToken: (type) => type === 'string',
  quietTokens: new Set('pass ... ellipsis string integer float true false none ( ) [ ] { } , :'.split(' ')),
  isNoCode: (type) => type === 'line_continuation' || type === ';',
  classBody(node) {
    const definition = node.type === 'decorated_definition' ? node.childForFieldName('definition') : node
    return definition?.type === 'class_definition' ? definition.childForFieldName('body') : null
  },
  operations: pythonOperations,
}

function countsInBody(
  { kind, isHead, doesSomething }: Pick<Statement, 'kind' | 'isHead' | 'doesSomething'>,
  { continuations }: StatementGrammar,
): boolean {
  return isHead ? !continuations.has(kind) : doesSomething && kind !== 'decorator'
}

type Draft = Pick<Statement, 'kind' | 'owner' | 'isHead' | 'doesSomething'> & {
  start: number
  tokens: { text: string; start: number; end: number }[]
  operations: Operation[]
}

/** Reads without recursion: a source may be nested deeper than the stack allows. */
function readPart(
  node: Node,
  { text, until, grammar }: { text: string; until: Node | undefined; grammar: StatementGrammar },
): StatementList {
  const drafts: Draft[] = []
  const comments: Comment[] = []
  const placeOf = openPlaces(text)
  const open: number[] = []
  walk(node, {
    enter(type, start, end) {
      const around = open.at(-1) ?? -1
      const isLeaf = type === 'comment' || grammar.isToken(type) || grammar.isNoCode(type) || start === text.length
      if (grammar.isStatement(type)) {
        const draft = { kind: type, owner: headAround(drafts, around), start, tokens: [], operations: [] }
        open.push(drafts.push({ ...draft, isHead: grammar.heads.has(type), doesSomething: false }) - 1)
      } else open.push(around)
      if (type === 'comment') {
        const token = (drafts.at(-1)?.tokens.length ?? 0) - 1
        comments.push({ text: text.slice(start, end), ...placeOf(start), statement: drafts.length - 1, token })
      }
      return !isLeaf
    },
    token(type, start, end) {
      if (type === 'comment' || grammar.isNoCode(type) || start === end || start === text.length) return
      const draft = drafts[open.at(-1) ?? -1] ?? drafts.at(-1) ?? strayCode(drafts, start)
      draft.tokens.push({ text: text.slice(start, end), start, end })
      if (!grammar.quietTokens.has(type)) draft.doesSomething = true
    },
    leave: () => open.pop(),
  })
  for (const draft of drafts) if (draft.isHead) draft.doesSomething = false
  for (const draft of drafts) {
    const head = drafts[draft.owner]
    if (head !== undefined && countsInBody(draft, grammar)) head.doesSomething = true
  }
  for (const { start, operation } of operationsIn(node, until, grammar.operations))
    draftAt(drafts, start)?.operations.push(operation)
  return { statements: drafts.map((draft) => statementOf(draft, placeOf)), comments }
}

function draftAt(drafts: readonly Draft[], index: number): Draft | undefined {
  return drafts[bisect(drafts.length, (at) => (drafts[at]?.start ?? 0) <= index) - 1]
}

function headAround(drafts: readonly Draft[], around: number): number {
  return drafts[around]?.isHead === true ? around : (drafts[around]?.owner ?? -1)
}

function strayCode(drafts: Draft[], start: number): Draft {
  const draft = { kind: 'ERROR', owner: -1, start, tokens: [], operations: [], isHead: false, doesSomething: true }
  drafts.push(draft)
  return draft
}

function statementOf({ start, tokens, ...draft }: Draft, placeOf: PlaceOf): Statement {
  const { row, column } = placeOf(tokens[0]?.start ?? start)
  const placed = tokens.map((token) => ({
    text: token.text,
    row: placeOf(token.start).row - row,
    endRow: placeOf(token.end - 1).row - row,
  }))
  const key = [draft.kind, ...tokens.map(({ text }) => text)].join('\0')
  return { ...draft, row, column, tokens: placed, key }
}

/** Indices count from the start of the root. */
type Visit = {
  enter(type: string, start: number, end: number): boolean
  token(type: string, start: number, end: number): void
  leave(): void
}

function walk(root: Node, visit: Visit): void {
  const cursor: TreeCursor = root.walk()
  const base = root.startIndex
  try {
    for (;;) {
      const { nodeType: type } = cursor
      const [start, end] = [cursor.startIndex - base, cursor.endIndex - base]
      if (visit.enter(type, start, end) && cursor.gotoFirstChild()) continue
      visit.token(type, start, end)
      visit.leave()
      while (!cursor.gotoNextSibling()) {
        if (!cursor.gotoParent()) return
        visit.leave()
      }
    }
  } finally {
    cursor.delete()
  }
}

type PlaceOf = (index: number) => { row: number; column: number }

function openPlaces(text: string): PlaceOf {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  let row = 0
  return (index) => {
    while (row > 0 && (starts[row] ?? 0) > index) row -= 1
    while ((starts[row + 1] ?? Infinity) <= index) row += 1
    return { row, column: index - (starts[row] ?? 0) }
  }
}
