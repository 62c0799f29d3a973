import type { ScriptFault, ScriptFaultCode } from './script-declarations.ts'
import { partsOf, positionOf, walk, type SyntaxNode } from './syntax-node.ts'

type Rule = { code: ScriptFaultCode; message: string }

/** Constructs a script must not contain, by syntax node type (features.md G2). */
const forbidden: Readonly<Record<string, Rule>> = {
  class_definition: { code: 'E001', message: 'classes are not available in tool scripts' },
  yield: { code: 'E002', message: 'yield is not available in tool scripts' },
  with_statement: { code: 'E003', message: 'with is not available in tool scripts' },
  match_statement: { code: 'E004', message: 'match is not available in tool scripts' },
  global_statement: { code: 'E009', message: 'global is not available in tool scripts' },
  nonlocal_statement: { code: 'E010', message: 'nonlocal is not available in tool scripts' },
  delete_statement: { code: 'E011', message: 'del is not available in tool scripts' },
  lambda: { code: 'E012', message: 'lambda is not available in tool scripts; write a def' },
}
const importable = new Set(['grail', 'typing', '__future__'])
const grailNames = new Set(['Input', 'external'])

export function scriptFault(node: SyntaxNode, code: ScriptFaultCode, message: string): ScriptFault {
  return { ...positionOf(node), code, severity: code.startsWith('W') ? 'warning' : 'error', message }
}

/** Faults of syntax and of constructs and imports that no script may contain, in source order. */
export function findRuleFaults(root: SyntaxNode): ScriptFault[] {
  const faults: ScriptFault[] = []
  for (const node of walk(root)) {
    if (node.isError || node.isMissing) return [syntaxFault(node)]
    if (!node.isNamed) continue
    const rule = Object.hasOwn(forbidden, node.type) ? forbidden[node.type] : undefined
    if (rule !== undefined) faults.push(scriptFault(node, rule.code, rule.message))
    else if (node.type === 'import_statement') faults.push(...importFaults(node))
    else if (node.type === 'import_from_statement') faults.push(...fromImportFaults(node))
  }
  return faults
}

function syntaxFault(node: SyntaxNode): ScriptFault {
  const near = node.text.trim().split('\n', 1)[0] ?? ''
  const what = node.isMissing
    ? `missing ${node.type}`
    : near === ''
      ? 'unexpected end'
      : `near ${JSON.stringify(near.slice(0, 60))}`
  return scriptFault(node, 'E000', `invalid syntax, ${what}`)
}

function importFaults(node: SyntaxNode): ScriptFault[] {
  return partsOf(node).flatMap((part) => {
    const module = part.type === 'aliased_import' ? (part.childForFieldName('name')?.text ?? '') : part.text
    if (module === 'grail') return [scriptFault(part, 'E005', 'write `from grail import Input, external`')]
    return importable.has(module) ? [] : [notImportable(part, module)]
  })
}

function fromImportFaults(node: SyntaxNode): ScriptFault[] {
  const module = node.childForFieldName('module_name')
  if (module === null || !importable.has(module.text)) return [notImportable(node, module?.text ?? '')]
  if (module.text !== 'grail') return []
  return partsOf(node)
    .slice(1)
    .filter((name) => !grailNames.has(name.text))
    .map((name) => scriptFault(name, 'E005', 'grail offers Input and external, under their own names'))
}

function notImportable(node: SyntaxNode, module: string): ScriptFault {
  return scriptFault(node, 'E005', `import of ${module} is not allowed; only grail, typing and __future__ are`)
}
