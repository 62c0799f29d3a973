import nunjucks from 'nunjucks'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { nearest } from '#platform/nearest.ts'

export type Template = ReturnType<typeof compileTemplate>

/** Has no loader, so that no file is read, and does not escape, since prompts are not HTML. */
const environment = new nunjucks.Environment([], { autoescape: false, throwOnUndefined: true })

/** Compiles a prompt template. AGENT_001 when it does not parse or uses a construct that prompts may not use. */
export function compileTemplate(source: string) {
  const [fault] = findTemplateFaults(source)
  if (fault !== undefined) throw new AppError('AGENT_001', `template, line ${fault.line}: ${fault.message}`)
  const template = new nunjucks.Template(source, environment, 'template', true)
  return {
    names: namesIn(source),
    render(variables: Readonly<Record<string, unknown>>): string {
      try {
        return template.render(variables)
      } catch (cause) {
        throw new AppError('AGENT_001', cause instanceof Error ? cause.message : String(cause), { cause })
      }
    },
  }
}

/** Allows no calls, includes, macros or computed names: bundles are data, not programs. */
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

type TemplateNames = { variables: ReadonlySet<string>; settings: ReadonlySet<string> }

/** Unknown variables and settings are faults when `names` are given. Places are 1-based, within the template. */
export function findTemplateFaults(source: string, names?: TemplateNames): TemplateSyntaxFault[] {
  const parsed = parseTemplate(source)
  if ('fault' in parsed) return [parsed.fault]
  const own = ownNames(parsed.root)
  const faults: TemplateSyntaxFault[] = []
  check(parsed.root, (node, message) => faults.push({ line: node.line, column: node.column, message }), { names, own })
  return faults
}

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
  const known = [...names.variables, 'settings']
  const near = nearest(name, known)
  report(
    node,
    `unknown variable ${name}${near === undefined ? `; known: ${known.join(', ')}` : `: did you mean ${near}?`}`,
  )
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

/** A node of nunjucks' syntax tree. `line` and `column` are 1-based; `fields` hold nodes, lists of nodes and values. */
type TemplateNode = { type: string; line: number; column: number; fields: Readonly<Record<string, unknown>> }

type TemplateSyntaxFault = { line: number; column: number; message: string }

// Nunjucks has no types for its parser, so its output is validated here.
const Parse = z.custom<(source: string) => unknown>((value) => typeof value === 'function')
const { parser } = z.object({ parser: z.object({ parse: Parse }) }).parse(nunjucks)

const position = { lineno: z.number(), colno: z.number() }
const RawNode = z.looseObject({ typename: z.string(), ...position, fields: z.array(z.string()) })
const RawFault = z.object(position).partial().extend({ message: z.string() })

function parseTemplate(source: string): { root: TemplateNode } | { fault: TemplateSyntaxFault } {
  try {
    return { root: nodeOf(parser.parse(source)) }
  } catch (error) {
    const { message, lineno, colno } = RawFault.parse(error)
    return { fault: { line: lineno ?? 1, column: colno ?? 1, message } }
  }
}

function childrenOf(node: TemplateNode): TemplateNode[] {
  return Object.values(node.fields).flat().filter(isNode)
}

function isNode(value: unknown): value is TemplateNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'fields' in value
}

function nodeOf(raw: unknown): TemplateNode {
  const { typename, lineno, colno, fields, ...rest } = RawNode.parse(raw)
  const read = Object.fromEntries(fields.map((field) => [field, fieldOf(rest[field])]))
  return { type: typename, line: lineno + 1, column: colno + 1, fields: read }
}

function fieldOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fieldOf)
  return RawNode.safeParse(value).success ? nodeOf(value) : value
}
