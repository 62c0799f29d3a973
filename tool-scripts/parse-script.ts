import type { ScriptProfile } from '#domain/agent-bundle.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { addExternal, addInput, type DeclaredParts, strayDeclarations } from './parse-declarations.ts'
import { faultAt, type LocatedFault, type ScriptDeclarations } from './script-declarations.ts'
import { findRuleFaults, type RuleFaults } from './script-rules.ts'
import { findUses, lastStatement, type LastStatement, type ScriptUses } from './script-uses.ts'
import type { SourceEdit } from './source-edit.ts'
import { partsOf, type SyntaxNode, walk } from './syntax-node.ts'

export type ParsedScript = RuleFaults &
  DeclaredParts & {
    /** The author's text without a byte order mark, every line break as `\n`. Every position and edit refers to it. */
    source: string
    uses: ScriptUses
    last: LastStatement
  }

/** Limits a script, in characters: for some texts, checking takes more than linear time. */
const maxLength = 64 * 1024

/** Reads a `.pym` script. Never throws on bad source: errors are in `faults`. Only module-level declarations count. */
export async function parseScript(text: string, profile: ScriptProfile = 'default'): Promise<ParsedScript> {
  const source = text.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n')
  if (source.length > maxLength) {
    const message = `the script has ${source.length} characters, more than ${maxLength}; a tool script is small`
    return unread(source, { faults: [faultAt({ line: 1, column: 1 }, 'E000', message)], parses: false, tooDeep: true })
  }
  const tree = (await loadLanguage('python')).parse(source)
  try {
    return readModule(source, tree.rootNode, profile)
  } finally {
    tree.delete()
  }
}

function unread(source: string, rules: RuleFaults): ParsedScript {
  return {
    source,
    declarations: { inputs: [], externals: [] },
    ...rules,
    runEdits: [],
    typeEdits: [],
    uses: { outside: new Set(), functions: [] },
    last: { kind: 'none', line: 1, column: 1 },
  }
}

function readModule(source: string, root: SyntaxNode, profile: ScriptProfile): ParsedScript {
  const script = unread(source, findRuleFaults(root, profile))
  if (!script.parses) return script
  script.runEdits.push(...bindForwardNames(root))
  const code = partsOf(root).filter((statement) => !readDeclaration(statement, script))
  script.faults.push(...strayDeclarations(code), ...duplicates(script.declarations))
  return { ...script, uses: findUses(code), last: lastStatement(root) }
}

function readDeclaration(statement: SyntaxNode, script: ParsedScript): boolean {
  const imported = withoutGrail(statement)
  if (imported !== undefined) {
    const edit = { start: statement.startIndex, end: statement.endIndex, text: imported }
    script.runEdits.push(edit)
    script.typeEdits.push(edit)
    return true
  }
  return addInput(statement, script) || addExternal(statement, script)
}

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
  return [
    ...inputs.map((input) => ['E008', input] as const),
    ...externals.map((external) => ['E006', external] as const),
  ].flatMap(([code, declared]) => {
    const isKnown = seen.has(declared.name)
    seen.add(declared.name)
    return isKnown ? [faultAt(declared, code, `${declared.name} is declared twice`)] : []
  })
}

const definitions = new Set(['function_definition', 'decorated_definition'])
const compound = new Set([
  ...definitions,
  'class_definition',
  'for_statement',
  'if_statement',
  'match_statement',
  'try_statement',
  'while_statement',
  'with_statement',
])

const patterns = new Set(['pattern_list', 'tuple_pattern', 'list_pattern', 'list_splat_pattern'])
/** A function that uses one of these before the module binds it means Python's own. */
const builtins = new Set(
  (
    'abs all any ascii bin bool bytes callable chr dict divmod enumerate filter float format frozenset getattr hasattr ' +
    'hash hex id input int isinstance issubclass iter len list map max min next object oct open ord pow print range repr ' +
    'reversed round set slice sorted str sum super tuple type vars zip'
  ).split(' '),
)

/**
 * Binds, before anything runs, the names that a function uses and the module binds only below it: Python looks them up
 * when the function is called, but Monty does not find them. Most scripts have none. They stay unbound when the first
 * statement cannot share its line with another (a def, an if).
 */
function bindForwardNames(root: SyntaxNode): SourceEdit[] {
  const statements = partsOf(root)
  const [first] = statements
  const names = forwardNames(statements)
  if (first === undefined || names.length === 0 || compound.has(first.type)) return []
  return [{ start: first.startIndex, end: first.startIndex, text: `${names.join(' = ')} = None; ` }]
}

function forwardNames(statements: readonly SyntaxNode[]): string[] {
  const used = new Set<string>()
  const bound = new Set<string>()
  const forward = new Set<string>()
  for (const statement of statements) {
    const names = namesBoundBy(statement)
    for (const name of names) if (used.has(name) && !bound.has(name)) forward.add(name)
    for (const name of names) bound.add(name)
    if (!definitions.has(statement.type)) continue
    for (const node of walk(statement)) if (node.type === 'identifier') used.add(node.text)
  }
  return [...forward]
}

function namesBoundBy(statement: SyntaxNode): string[] {
  if (definitions.has(statement.type)) {
    const definition = statement.childForFieldName('definition') ?? statement
    return [definition.childForFieldName('name')?.text].filter((name) => name !== undefined)
  }
  const names: string[] = []
  for (const node of walk(statement)) {
    const target = node.type === 'assignment' || node.type === 'for_statement' ? node.childForFieldName('left') : null
    if (target !== null) names.push(...namesOf(target))
  }
  return names.filter((name) => !builtins.has(name))
}

function namesOf(target: SyntaxNode): string[] {
  if (target.type === 'identifier') return [target.text]
  return patterns.has(target.type) ? partsOf(target).flatMap(namesOf) : []
}
