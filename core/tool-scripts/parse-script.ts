import { loadLanguage } from '#syntax/parser.ts'
import { externalOf } from './parse-external.ts'
import { inputOf } from './parse-input.ts'
import type { ScriptDeclarations, ScriptFault } from './script-declarations.ts'
import { findRuleFaults } from './script-rules.ts'
import type { SourceEdit } from './source-edit.ts'
import { partsOf, walk, type SyntaxNode } from './syntax-node.ts'

/** What the last statement of a script is: its value is the script's result only when it is an expression. */
export type LastStatement = { kind: 'none' | 'expression' | 'bare_collection'; line: number; column: number }

export type ParsedScript = {
  /** The author's text without a byte order mark. Every position and edit refers to it. */
  source: string
  declarations: ScriptDeclarations
  faults: ScriptFault[]
  /** What turns the source into code for Monty, and into code for its type checker; neither moves a line. */
  runEdits: SourceEdit[]
  typeEdits: SourceEdit[]
  /** Every identifier that occurs outside the declarations. */
  usedNames: ReadonlySet<string>
  last: LastStatement
}

/**
 * Reads a `.pym` script. Never throws on bad source: what is wrong is in `faults`. Only module-level declarations
 * count.
 */
export async function parseScript(text: string): Promise<ParsedScript> {
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text
  const python = await loadLanguage('python')
  const tree = python.parse(source)
  try {
    return readModule(source, tree.rootNode)
  } finally {
    tree.delete()
  }
}

function readModule(source: string, root: SyntaxNode): ParsedScript {
  const script: ParsedScript = {
    source,
    declarations: { inputs: [], externals: [] },
    faults: findRuleFaults(root),
    runEdits: [],
    typeEdits: [],
    usedNames: new Set(),
    last: { kind: 'none', line: 1, column: 1 },
  }
  if (script.faults.some((fault) => fault.code === 'E000')) return script
  const used = new Set<string>()
  for (const statement of partsOf(root)) {
    if (!readDeclaration(statement, script)) for (const name of identifiersOf(statement)) used.add(name)
  }
  reportDuplicates(script)
  return { ...script, usedNames: used, last: lastStatement(root) }
}

/** Adds what the statement declares to `script`; false when it is ordinary code. */
function readDeclaration(statement: SyntaxNode, script: ParsedScript): boolean {
  if (statement.type === 'import_from_statement' || statement.type === 'future_import_statement') {
    const module = statement.childForFieldName('module_name')?.text
    if (module === 'typing') return false
    const edit = { start: statement.startIndex, end: statement.endIndex, text: 'pass' }
    script.runEdits.push(edit)
    script.typeEdits.push(edit)
    return true
  }
  const input = inputOf(statement)
  const read = input ?? externalOf(statement)
  if (read === undefined) return false
  if (input?.declaration !== undefined) script.declarations.inputs.push(input.declaration)
  else if (read.declaration !== undefined && 'parameters' in read.declaration) {
    script.declarations.externals.push(read.declaration)
  }
  script.faults.push(...read.faults)
  script.runEdits.push(...read.runEdits)
  script.typeEdits.push(...read.typeEdits)
  return true
}

function reportDuplicates(script: ParsedScript): void {
  const seen = new Set<string>()
  for (const [code, list] of [
    ['E008', script.declarations.inputs],
    ['E006', script.declarations.externals],
  ] as const) {
    for (const { name, line, column } of list) {
      if (seen.has(name)) {
        script.faults.push({ code, severity: 'error', line, column, message: `${name} is declared twice` })
      }
      seen.add(name)
    }
  }
}

function* identifiersOf(root: SyntaxNode): Generator<string> {
  for (const node of walk(root)) if (node.type === 'identifier') yield node.text
}

function lastStatement(root: SyntaxNode): LastStatement {
  const statement = partsOf(root).at(-1)
  if (statement === undefined) return { kind: 'none', line: 1, column: 1 }
  const [expression] = statement.type === 'expression_statement' ? partsOf(statement) : []
  const at = { line: statement.startPosition.row + 1, column: statement.startPosition.column + 1 }
  if (expression === undefined || expression.type.endsWith('assignment')) return { kind: 'none', ...at }
  const bare = expression.type === 'dictionary' || expression.type === 'list'
  return { kind: bare ? 'bare_collection' : 'expression', ...at }
}
