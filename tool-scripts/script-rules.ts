import type { ScriptProfile } from '#domain/agent-bundle.ts'
import type { LocatedFault, ScriptFaultCode } from './script-declarations.ts'
import { importing } from './script-uses.ts'
import { grailName, partsOf, scriptFault, type SyntaxNode, walkLevels } from './syntax-node.ts'

type Rule = {
  type: string
  code: ScriptFaultCode
  message: string
  where?: (node: SyntaxNode) => boolean
}

/** See docs/guide/tool-scripts.md; E000 and E100 where no other rule names what the sandbox lacks. */
const forbidden: readonly Rule[] = [
  { type: 'class_definition', code: 'E001', message: 'classes are not available in tool scripts; use dicts' },
  { type: 'yield', code: 'E002', message: 'yield is not available in tool scripts; return a list' },
  { type: 'with_statement', code: 'E003', message: 'with is not available in tool scripts; call an external' },
  { type: 'match_statement', code: 'E004', message: 'match is not available in tool scripts; write if and elif' },
  { type: 'delete_statement', code: 'E011', message: 'del is not available in tool scripts; build a new value' },
  {
    type: 'decorator',
    code: 'E000',
    message: 'the sandbox ignores decorators; call it yourself',
    where: isOwnDecorator,
  },
  { type: 'type_alias_statement', code: 'E000', message: 'the sandbox has no type aliases' },
  { type: 'for_statement', code: 'E000', message: 'the sandbox has no async for', where: has('async') },
  { type: 'for_in_clause', code: 'E000', message: 'the sandbox has no async for', where: has('async') },
  { type: 'except_clause', code: 'E000', message: 'the sandbox has no except*', where: has('*') },
  { type: 'binary_operator', code: 'E000', message: 'the sandbox has no operator @', where: has('@') },
  { type: 'string_start', code: 'E000', message: 'the sandbox has no t-strings', where: matches(/t/i) },
  { type: 'integer', code: 'E000', message: 'the sandbox has no complex numbers', where: matches(/j$/i) },
  { type: 'float', code: 'E000', message: 'the sandbox has no complex numbers', where: matches(/j$/i) },
  { type: 'call', code: 'E100', message: 'the sandbox has no str.format; write an f-string', where: callsFormat },
  {
    type: 'binary_operator',
    code: 'E100',
    message: 'the sandbox has no % for strings; write an f-string',
    where: fills,
  },
]

const notByDefault: readonly Rule[] = [
  { type: 'global_statement', code: 'E009', message: 'global is not available in tool scripts; return the value' },
  { type: 'nonlocal_statement', code: 'E010', message: 'nonlocal is not available in tool scripts; return the value' },
  { type: 'lambda', code: 'E012', message: 'lambda is not available in tool scripts; write a def' },
]

const rules: Readonly<Record<ScriptProfile, ReadonlyMap<string, readonly Rule[]>>> = {
  default: Map.groupBy([...forbidden, ...notByDefault], ({ type }) => type),
  monty: Map.groupBy(forbidden, ({ type }) => type),
}

/** Levels of the syntax tree. Deeper code would crash the process that compiles or type-checks it. */
const maxLevel = 200

export type RuleFaults = {
  faults: LocatedFault[]
  /** The tree shows no syntax error; otherwise its statements are unreliable. */
  parses: boolean
  /** The text must not be passed to Monty or its type checker. */
  tooDeep: boolean
}

/** Finds faults of syntax and forbidden constructs, in source order. Stops at the first syntax error: most faults after it are its consequences. */
export function findRuleFaults(root: SyntaxNode, profile: ScriptProfile): RuleFaults {
  const faults: LocatedFault[] = []
  for (const { node, level } of walkLevels(root)) {
    if (level > maxLevel) {
      return { faults: [...faults, scriptFault(node, 'E000', 'nested too deeply')], parses: false, tooDeep: true }
    }
    if (node.isError || node.isMissing) {
      const tooDeep = isDeepError(root)
      return { faults: [...faults, syntaxFault(node)], parses: false, tooDeep }
    }
    if (!node.isNamed) continue
    const broken = rules[profile].get(node.type)?.find((rule) => rule.where?.(node) !== false)
    // Ends on the first line, so that faults inside a class or a with are reported as well.
    if (broken !== undefined)
      faults.push({ ...scriptFault(node, broken.code, broken.message), endLine: node.startPosition.row + 1 })
    else if (importing.has(node.type)) faults.push(...importFaults(node, profile))
  }
  return { faults, parses: true, tooDeep: false }
}

/** An ERROR node is a flat list of what could not be parsed, which another parser may nest deeply. */
function isDeepError(root: SyntaxNode): boolean {
  for (const { node, level } of walkLevels(root)) {
    if (level > maxLevel || (node.isError && node.childCount > maxLevel)) return true
  }
  return false
}

/** Most often, an error begins with a bracket that is not closed. */
const opens = new Set(['(', '[', '{'])

function syntaxFault(node: SyntaxNode): LocatedFault {
  const near = node.text.slice(0, 200).trim().split('\n', 1)[0] ?? ''
  const where = near === '' ? 'unexpected end' : `near ${JSON.stringify(near.slice(0, 60))}`
  const what = node.isMissing ? `missing ${node.type}` : where
  const opening = node.children.findLast((child) => child !== null && opens.has(child.type))
  return scriptFault(opening ?? node, 'E000', `invalid syntax, ${what}`)
}

function has(type: string): (node: SyntaxNode) => boolean {
  return (node) => node.children.some((child) => child?.type === type)
}

function matches(pattern: RegExp): (node: SyntaxNode) => boolean {
  return (node) => pattern.test(node.text)
}

function callsFormat(node: SyntaxNode): boolean {
  const called = node.childForFieldName('function')
  return called?.childForFieldName('attribute')?.text === 'format' && isText(called.childForFieldName('object'))
}

function fills(node: SyntaxNode): boolean {
  return node.childForFieldName('operator')?.type === '%' && isText(node.childForFieldName('left'))
}

function isText(node: SyntaxNode | null): boolean {
  return node?.type === 'string' || node?.type === 'concatenated_string'
}

/** `@external`, also with parentheses, has messages of its own. */
function isOwnDecorator(node: SyntaxNode): boolean {
  const [mark] = partsOf(node)
  return grailName(mark) !== 'external' && grailName(mark?.childForFieldName('function')) !== 'external'
}

const declaring = ['grail', 'typing', '__future__']

const importable: Readonly<Record<ScriptProfile, ReadonlySet<string>>> = {
  default: new Set(declaring),
  monty: new Set([...declaring, 'asyncio', 'datetime', 'json', 'math', 'pathlib', 're', 'sys']),
}

/** The names in the sandbox's `typing`; other names would fail when the script starts. */
const typingNames: ReadonlySet<string> = new Set(
  `Annotated Any Callable ClassVar Dict Final FrozenSet Generic Iterable Iterator List Literal Mapping Never NoReturn
  Optional Protocol Self Sequence Set Tuple Type TypeVar TYPE_CHECKING Union`.split(/\s+/),
)

const grailNames: ReadonlySet<string> = new Set(['Input', 'external'])

function importFaults(node: SyntaxNode, profile: ScriptProfile): LocatedFault[] {
  if (node.type === 'future_import_statement') return isTopLevel(node) ? [] : [nested(node, '__future__')]
  return node.type === 'import_statement' ? plainImportFaults(node, profile) : fromImportFaults(node, profile)
}

function plainImportFaults(node: SyntaxNode, profile: ScriptProfile): LocatedFault[] {
  return partsOf(node).flatMap((part) => {
    const isAliased = part.type === 'aliased_import'
    const module = isAliased ? (part.childForFieldName('name')?.text ?? '') : part.text
    if (!importable[profile].has(module)) return [notImportable(part, module, profile)]
    if (module !== 'grail') return []
    if (isAliased) return [scriptFault(part, 'E005', 'grail has no other name here; write `import grail`')]
    return isTopLevel(node) ? [] : [nested(part, module)]
  })
}

function fromImportFaults(node: SyntaxNode, profile: ScriptProfile): LocatedFault[] {
  const [moduleNode, ...names] = partsOf(node)
  const module = moduleNode?.text ?? ''
  if (!importable[profile].has(module)) return [notImportable(node, module, profile)]
  const [first] = names
  if (first === undefined || first.type === 'wildcard_import')
    return [scriptFault(node, 'E005', `name what is imported from ${module}; the sandbox has no \`*\``)]
  if (module === 'grail') {
    const aliased = names.filter((name) => !grailNames.has(name.text))
    if (aliased.length === 0 && !isTopLevel(node)) return [nested(node, module)]
    return aliased.map((name) => scriptFault(name, 'E005', 'grail offers Input and external, under their own names'))
  }
  if (module !== 'typing') return []
  return names
    .filter((name) => !typingNames.has((name.childForFieldName('name') ?? name).text))
    .map((name) => scriptFault(name, 'E005', `the sandbox's typing has no ${name.text}`))
}

function isTopLevel(node: SyntaxNode): boolean {
  return node.parent?.type === 'module'
}

function nested(node: SyntaxNode, module: string): LocatedFault {
  return scriptFault(node, 'E005', `import ${module} at the top level of the script`)
}

function notImportable(node: SyntaxNode, module: string, profile: ScriptProfile): LocatedFault {
  if (profile === 'default' && importable.monty.has(module)) {
    return scriptFault(node, 'E005', `import of ${module} needs \`profile: monty\` in bundle.yaml`)
  }
  const modules = [...importable[profile]].join(', ')
  return scriptFault(node, 'E005', `import of ${module} is not allowed; scripts may import ${modules}`)
}
