import type { ChangeView } from '../api-views.ts'
import { nodePlace } from '../node-place.ts'
import { leftOutText } from '../progress/left-out-lines.ts'

/** Who made a change set, whether the patch has it, and what was proved about it, a line each. */
export function describeChange({
  agent,
  operation_id: id,
  path,
  qualified_name,
  evidence,
  conflict,
}: ChangeView): string {
  const lines = [
    `${agent} ${id}  ${nodePlace(path, qualified_name)}`,
    ...(conflict === undefined ? [] : [`  left out of the patch: ${leftOutText(conflict)}`]),
    ...evidence.map(evidenceLine),
  ]
  return `${lines.join('\n')}\n`
}

function evidenceLine({ check, of, path, ok, detail }: ChangeView['evidence'][number]): string {
  const more = detail === undefined ? '' : `: ${detail}`
  if (check === 'not_checked') return `  ${of ?? 'something'} not checked  ${path}${more}`
  return `  ${check} ${ok ? 'holds' : 'fails'}  ${path}${more}`
}
