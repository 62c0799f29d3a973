import nunjucks from 'nunjucks'
import { z } from 'zod'

/** A node of nunjucks' syntax tree. `line` and `column` are 1-based; `fields` hold nodes, lists of nodes and values. */
export type TemplateNode = { type: string; line: number; column: number; fields: Readonly<Record<string, unknown>> }

/** Why and where a template does not parse. Nunjucks does not always know where. */
export type TemplateSyntaxFault = { line: number; column: number; message: string }

// Nunjucks does not declare its parser's types: what is read of it is checked here, and nowhere else.
const Parser = z.object({ parser: z.object({ parse: z.custom<Parse>((value) => typeof value === 'function') }) })
type Parse = (source: string) => unknown
const RawNode = z.looseObject({
  typename: z.string(),
  lineno: z.number(),
  colno: z.number(),
  fields: z.array(z.string()),
})
const RawFault = z.object({ message: z.string(), lineno: z.number().optional(), colno: z.number().optional() })

const { parser } = Parser.parse(nunjucks)

/** The template's tree, or why there is none. */
export function parseTemplate(source: string): { root: TemplateNode } | { fault: TemplateSyntaxFault } {
  try {
    return { root: nodeOf(parser.parse(source)) }
  } catch (error) {
    const { message, lineno, colno } = RawFault.parse(error)
    return { fault: { line: lineno ?? 1, column: colno ?? 1, message } }
  }
}

/** The nodes directly under `node`, in the order of its fields. */
export function childrenOf(node: TemplateNode): TemplateNode[] {
  return Object.values(node.fields).flat().filter(isNode)
}

export function isNode(value: unknown): value is TemplateNode {
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
