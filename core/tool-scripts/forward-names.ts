import type { SourceEdit } from './source-edit.ts'
import { partsOf, walk, type SyntaxNode } from './syntax-node.ts'

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
/** A function above that uses one of these means Python's own, as long as the module has not bound it. */
const builtins = new Set(
  (
    'abs all any ascii bin bool bytes callable chr dict divmod enumerate filter float format frozenset getattr hasattr ' +
    'hash hex id input int isinstance issubclass iter len list map max min next object oct open ord pow print range repr ' +
    'reversed round set slice sorted str sum super tuple type vars zip'
  ).split(' '),
)

/**
 * Binds, before anything runs, the names that a function uses and the module binds only below it: where Python looks them
 * up when the function is called, Monty has none for them. Nothing to do for most scripts. A first statement that cannot
 * share its line with another (a def, an if) leaves them unbound.
 */
export function bindForwardNames(root: SyntaxNode): SourceEdit[] {
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

/** The names a statement of the module binds there; of one with blocks those bound in them as well. */
function namesBoundBy(statement: SyntaxNode): string[] {
  if (definitions.has(statement.type)) {
    const definition = statement.childForFieldName('definition') ?? statement
    const name = definition.childForFieldName('name')?.text
    return name === undefined ? [] : [name]
  }
  const names: string[] = []
  for (const node of walk(statement)) {
    const target = node.type === 'assignment' || node.type === 'for_statement' ? node.childForFieldName('left') : null
    if (target !== null) names.push(...namesOf(target))
  }
  return names.filter((name) => !builtins.has(name))
}

/** Of `a, (b, *c)`; `d.e` and `f[g]` bind no name. */
function namesOf(target: SyntaxNode): string[] {
  if (target.type === 'identifier') return [target.text]
  return patterns.has(target.type) ? partsOf(target).flatMap(namesOf) : []
}
