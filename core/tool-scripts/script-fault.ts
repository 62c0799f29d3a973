import type { LocatedFault, ScriptFaultCode } from './script-declarations.ts'
import { positionOf, type SyntaxNode } from './syntax-node.ts'

/** A fault where the node begins; codes that start with W are warnings. */
export function scriptFault(node: SyntaxNode, code: ScriptFaultCode, message: string): LocatedFault {
  const severity = code.startsWith('W') ? 'warning' : 'error'
  return { ...positionOf(node), code, severity, message, endLine: node.endPosition.row + 1 }
}
