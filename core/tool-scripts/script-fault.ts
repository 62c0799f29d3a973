import type { LocatedFault, ScriptFaultCode } from './script-declarations.ts'
import { positionOf, type SyntaxNode } from './syntax-node.ts'

/** What of the source a message repeats may be long. */
const maxMessage = 300

/** A fault where the node begins; codes that start with W are warnings. */
export function scriptFault(node: SyntaxNode, code: ScriptFaultCode, message: string): LocatedFault {
  const severity = code.startsWith('W') ? 'warning' : 'error'
  const short = message.length > maxMessage ? `${message.slice(0, maxMessage)}…` : message
  return { ...positionOf(node), code, severity, message: short, endLine: node.endPosition.row + 1 }
}
