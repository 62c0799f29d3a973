import type { ScriptProfile } from '#domain/script-profile.ts'
import { loadLanguage } from '#syntax/parser.ts'
import { lastStatement, type LastStatement } from './last-statement.ts'
import { externalOf } from './parse-external.ts'
import { bindForwardNames } from './forward-names.ts'
import { inputOf } from './parse-input.ts'
import type { LocatedFault, ScriptDeclarations } from './script-declarations.ts'
import { findRuleFaults, type RuleFaults } from './script-rules.ts'
import { findUses, type ScriptUses } from './script-uses.ts'
import type { SourceEdit } from './source-edit.ts'
import { strayDeclarations } from './stray-declarations.ts'
import { partsOf, type SyntaxNode } from './syntax-node.ts'

export type ParsedScript = Omit<RuleFaults, 'faults'> & {
  /** The author's text without a byte order mark, every line break as `\n`. Every position and edit refers to it. */
  source: string
  declarations: ScriptDeclarations
  faults: LocatedFault[]
  /** What turns the source into code for Monty, and into code for its type checker; neither moves a line. */
  runEdits: SourceEdit[]
  typeEdits: SourceEdit[]
  /** Of the code without the declarations. */
  uses: ScriptUses
  last: LastStatement
}

/** In characters. What checks a script takes more than linear time for some texts. */
const maxLength = 64 * 1024

/**
 * Reads a `.pym` script. Never throws on bad source: what is wrong is in `faults`. Only module-level declarations
 * count.
 */
export async function parseScript(text: string, profile: ScriptProfile = 'default'): Promise<ParsedScript> {
  const source = text.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n')
  if (source.length > maxLength) return tooLong(source)
  const python = await loadLanguage('python')
  const tree = python.parse(source)
  try {
    return readModule(source, tree.rootNode, profile)
  } finally {
    tree.delete()
  }
}

function unread(source: string, found: RuleFaults): ParsedScript {
  return {
    source,
    declarations: { inputs: [], externals: [] },
    ...found,
    runEdits: [],
    typeEdits: [],
    uses: { outside: new Set(), functions: [] },
    last: { kind: 'none', line: 1, column: 1 },
  }
}

function tooLong(source: string): ParsedScript {
  const message = `the script has ${source.length} characters, more than ${maxLength}; a tool script is small`
  const fault = { code: 'E000', severity: 'error', line: 1, column: 1, message, endLine: 1 } as const
  return unread(source, { faults: [fault], parses: false, tooDeep: true })
}

function readModule(source: string, root: SyntaxNode, profile: ScriptProfile): ParsedScript {
  const script = unread(source, findRuleFaults(root, profile))
  if (!script.parses) return script
  script.runEdits.push(...bindForwardNames(root))
  const code = partsOf(root).filter((statement) => !readDeclaration(statement, script))
  script.faults.push(...strayDeclarations(code), ...duplicates(script.declarations))
  return { ...script, uses: findUses(code), last: lastStatement(root) }
}

/** Adds what the statement declares to `script`; false when it is ordinary code. */
function readDeclaration(statement: SyntaxNode, script: ParsedScript): boolean {
  const imported = withoutGrail(statement)
  if (imported !== undefined) {
    const edit = { start: statement.startIndex, end: statement.endIndex, text: imported }
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

/** What is left of an import without the modules that only say how to read a script; undefined when it has none. */
function withoutGrail(statement: SyntaxNode): string | undefined {
  if (statement.type === 'future_import_statement') return 'pass'
  if (statement.type === 'import_from_statement')
    return statement.childForFieldName('module_name')?.text === 'grail' ? 'pass' : undefined
  if (statement.type !== 'import_statement') return undefined
  const modules = partsOf(statement)
  const others = modules.filter((module) => module.text !== 'grail')
  if (others.length === modules.length) return undefined
  return others.length === 0 ? 'pass' : `import ${others.map((module) => module.text).join(', ')}`
}

function duplicates({ inputs, externals }: ScriptDeclarations): LocatedFault[] {
  const seen = new Set<string>()
  return [...inputs.map((one) => ['E008', one] as const), ...externals.map((one) => ['E006', one] as const)].flatMap(
    ([code, { name, line, column }]): LocatedFault[] => {
      const isKnown = seen.has(name)
      seen.add(name)
      const message = `${name} is declared twice`
      return isKnown ? [{ code, severity: 'error', line, column, message, endLine: line }] : []
    },
  )
}
