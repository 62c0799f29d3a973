import type { ConflictingSet, LeftOut } from '../api-views.ts'
import { nodePlace } from '../node-place.ts'

/** Why a change set is not in the patch, in one sentence that names what keeps it out. */
export function leftOutText(leftOut: LeftOut): string {
  const { error_code: code, path, reason, with: other } = leftOut
  const what = `${code}  ${setText(leftOut, path)}`
  if (code === 'WORK_001' && other !== undefined) return `${what} collides with ${setText(other, path)}`
  if (code === 'WORK_001') return `${what}: ${reason}`
  const together = other === undefined ? '' : ` together with ${setText(other, path)}`
  return `${what} breaks ${path}${together}: ${reason}`
}

/** `docstring o0123456789abcdef src/a.py f (lines 12-14)`; the file is named where it is another than the node's. */
function setText({ agent, operation_id: id, node, lines }: ConflictingSet, path: string): string {
  const place = node === undefined ? path : nodePlace(node.path, node.qualified_name)
  const elsewhere = node === undefined || node.path === path ? '' : ` in ${path}`
  return [agent, id, `${place}${elsewhere}`, linesText(lines)]
    .filter((part) => part !== undefined && part !== '')
    .join(' ')
}

function linesText(lines: ConflictingSet['lines']): string {
  if (lines === undefined) return ''
  return lines.first === lines.last ? `(line ${lines.first})` : `(lines ${lines.first}-${lines.last})`
}
