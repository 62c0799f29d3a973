import type { ParsedScript } from './parse-script.ts'
import type { ScriptFault, ScriptFaultCode, SourcePosition } from './script-declarations.ts'
import { uncalledFunctions, usedNames } from './script-uses.ts'

const maxLines = 200

/** W001 to W007: what is allowed, and hardly meant. */
export function shapeWarnings(script: ParsedScript, isSubmit: boolean): ScriptFault[] {
  const { declarations, source, uses } = script
  const names = usedNames(uses)
  const unused = <T extends { name: string }>(declared: readonly T[]): T[] =>
    declared.filter(({ name }) => !names.has(name))
  const lines = source.split('\n').length - (source.endsWith('\n') ? 1 : 0)
  const tooLong = `the script has ${lines} lines, more than ${maxLines}; split the tool`
  return [
    ...unused(declarations.externals).map((one) => warning('W002', one, `external ${one.name} is never used`)),
    ...unused(declarations.inputs).map((one) => warning('W003', one, `input ${one.name} is never used`)),
    ...(lines > maxLines ? [warning('W004', { line: maxLines + 1, column: 1 }, tooLong)] : []),
    ...hiddenWork(script),
    ...(isSubmit && !names.has('submit_result')
      ? [
          warning(
            'W006',
            { line: 1, column: 1 },
            'a submit_result.pym has to call submit_result(status, summary, …), and this one never does',
          ),
        ]
      : []),
    ...resultWarnings(script),
  ]
}

/** A tool that defines its work and never does it answers as if there were nothing to find. */
function hiddenWork({ uses, declarations }: ParsedScript): ScriptFault[] {
  return uncalledFunctions(uses).map((defined) => {
    const work = declarations.externals.filter(({ name }) => defined.names.has(name)).map(({ name }) => name)
    const lost = work.length === 0 ? '' : `, so its calls of ${work.join(', ')} never happen`
    return warning('W005', defined, `nothing calls ${defined.name}${lost}`)
  })
}

function resultWarnings({ last, uses, declarations }: ParsedScript): ScriptFault[] {
  const named = 'name' in last ? last.name : ''
  const known = [...uses.functions, ...declarations.externals].find(({ name }) => name === named)
  switch (last.kind) {
    case 'collection':
      return [warning('W001', last, 'the last expression is a bare dict or list; give it a name first')]
    case 'none':
    case 'statement':
      return [warning('W007', last, 'the script has no result; end it with an expression, such as the name of one')]
    case 'constant':
      return [warning('W007', last, 'the last expression is a constant, which is no result')]
    case 'name':
      return known === undefined ? [] : [warning('W007', last, `${named} is a function, which is no result; call it`)]
    case 'call':
      return known?.isAsync === true
        ? [warning('W007', last, `the result is a coroutine that never ran; write await ${named}(…)`)]
        : []
    case 'expression':
      return []
  }
}

function warning(code: ScriptFaultCode, { line, column }: SourcePosition, message: string): ScriptFault {
  return { code, severity: 'warning', line, column, message }
}
