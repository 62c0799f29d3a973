import type { ScriptProfile } from '#domain/script-profile.ts'
import type { LocatedFault } from './script-declarations.ts'
import { scriptFault } from './script-fault.ts'
import { partsOf, type SyntaxNode } from './syntax-node.ts'

const declaring = ['grail', 'typing', '__future__']

/** The modules a script may import, by profile. Those of `monty` are the ones the sandbox has and answers. */
const importable: Readonly<Record<ScriptProfile, ReadonlySet<string>>> = {
  default: new Set(declaring),
  monty: new Set([...declaring, 'asyncio', 'datetime', 'json', 'math', 'pathlib', 're', 'sys']),
}

/** What the sandbox's `typing` has; another name fails when the script starts. */
const typingNames: ReadonlySet<string> = new Set(
  `Annotated Any Callable ClassVar Dict Final FrozenSet Generic Iterable Iterator List Literal Mapping Never NoReturn
  Optional Protocol Self Sequence Set Tuple Type TypeVar TYPE_CHECKING Union`.split(/\s+/),
)
const grailNames: ReadonlySet<string> = new Set(['Input', 'external'])

/** E005 for what an import statement must not bring in. */
export function importFaults(node: SyntaxNode, profile: ScriptProfile): LocatedFault[] {
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
