import { childrenOf, isNode, parseTemplate, type TemplateNode, type TemplateSyntaxFault } from './nunjucks-nodes.ts'

/** What a prompt is made of. Calls, includes, macros and computed names are not: bundles are data, not programs. */
const allowedNodes = new Set<string>(
  `
  Root NodeList Output TemplateData Symbol Literal LookupVal Filter Group Array If InlineIf For Set Compare
  CompareOperand And Or Not In Concat Add Sub Mul Div FloorDiv Mod Neg
  `.match(/\w+/g),
)
const allowedFilters = new Set<string>(
  `
  upper lower trim title capitalize length wordcount default d indent replace join first last sort list
  reverse truncate round int float dump
  `.match(/\w+/g),
)
const loopFields = new Set(['index', 'index0', 'first', 'last', 'length', 'revindex', 'revindex0'])

/** The variables a prompt may use, and the settings under `settings`. */
export type TemplateNames = { variables: ReadonlySet<string>; settings: ReadonlySet<string> }

/**
 * What is wrong with a template: its syntax, a construct or filter it may not use and, when `names` are given, every
 * variable and setting that does not exist. Lines and columns are 1-based and of the template.
 */
export function findTemplateFaults(source: string, names?: TemplateNames): TemplateSyntaxFault[] {
  const parsed = parseTemplate(source)
  if ('fault' in parsed) return [parsed.fault]
  const own = ownNames(parsed.root)
  const faults: TemplateSyntaxFault[] = []
  check(parsed.root, (node, message) => faults.push({ line: node.line, column: node.column, message }), { names, own })
  return faults
}

/** Every name a template reads or sets; none of one that does not parse. */
export function namesIn(source: string): Set<string> {
  const parsed = parseTemplate(source)
  return new Set('fault' in parsed ? [] : symbolsIn(parsed.root))
}

type Report = (node: TemplateNode, message: string) => void
type Scope = { names: TemplateNames | undefined; own: ReadonlySet<string> }

function check(node: TemplateNode, report: Report, scope: Scope): void {
  if (!allowedNodes.has(node.type)) return report(node, `${node.type} may not be used in a prompt`)
  if (node.type === 'Symbol') return checkVariable(node, report, scope)
  if (node.type === 'LookupVal') return checkLookup(node, report, scope)
  if (node.type === 'Set' && !isNode(node.fields['value']))
    return report(node, 'a block set may not be used in a prompt')
  const filter = node.type === 'Filter' ? node.fields['name'] : undefined
  if (isNode(filter) && !allowedFilters.has(textOf(filter))) report(filter, `unknown filter ${textOf(filter)}`)
  for (const child of childrenOf(node)) if (child !== filter) check(child, report, scope)
}

function checkVariable(node: TemplateNode, report: Report, { names, own }: Scope): void {
  const name = textOf(node)
  if (names === undefined || own.has(name) || names.variables.has(name) || name === 'settings') return
  report(node, `unknown variable ${name}; known: ${[...names.variables].join(', ')}, settings`)
}

function checkLookup(node: TemplateNode, report: Report, scope: Scope): void {
  const { target, val } = node.fields
  if (!isNode(target)) return report(node, 'only settings.<name> may be looked up')
  const root = target.type === 'Symbol' ? textOf(target) : undefined
  const field = isNode(val) && val.type === 'Literal' ? textOf(val) : undefined
  if (root === 'loop' && field !== undefined && loopFields.has(field)) return
  if (root !== 'settings' || field === undefined) return report(node, 'only settings.<name> may be looked up')
  const known = scope.names?.settings
  if (known !== undefined && !known.has(field)) report(target, `unknown setting settings.${field}`)
}

/** Names the template itself sets, anywhere in it. */
function ownNames(root: TemplateNode): Set<string> {
  const own = new Set<string>()
  const open = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const targets = node.type === 'Set' ? node.fields['targets'] : node.type === 'For' ? node.fields['name'] : undefined
    for (const target of [targets].flat()) if (isNode(target)) for (const name of symbolsIn(target)) own.add(name)
    open.push(...childrenOf(node))
  }
  return own
}

function symbolsIn(node: TemplateNode): string[] {
  return node.type === 'Symbol' ? [textOf(node)] : childrenOf(node).flatMap(symbolsIn)
}

function textOf(node: TemplateNode): string {
  return String(node.fields['value'])
}
