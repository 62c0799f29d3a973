import { signatureFault, type ExternalSignature } from './external-signature.ts'
import { parseScript, type ParsedScript } from './parse-script.ts'
import type { ScriptDeclarations, ScriptFault, ScriptFaultCode, SourcePosition } from './script-declarations.ts'
import { typeFaults } from './type-check-script.ts'

const maxLines = 200

export type ScriptCheckOptions = {
  /** What the host answers. Without it E013 is not checked. */
  knownExternals?: ReadonlyMap<string, ExternalSignature>
  /** The script is its bundle's submit tool: it must call `submit_result`. */
  isSubmit?: boolean
  /** E100 takes about 30 ms a script; on unless it is false. */
  typeCheck?: boolean
}

export type ScriptCheck = {
  path: string
  /** No errors; warnings are allowed. */
  valid: boolean
  /** Sorted by line and column. */
  faults: ScriptFault[]
  declarations: ScriptDeclarations
}

/** Checks one script against the rules of features.md G2. Never throws on a bad script. */
export async function checkScript(
  source: string,
  path: string,
  options: ScriptCheckOptions = {},
): Promise<ScriptCheck> {
  const script = await parseScript(source)
  const faults = [...script.faults]
  if (!faults.some((fault) => fault.code === 'E000')) {
    faults.push(...unusedFaults(script), ...shapeFaults(script, options), ...hostFaults(script, options.knownExternals))
    const isSound = faults.every((fault) => fault.severity === 'warning' || fault.code === 'E013')
    if (isSound && options.typeCheck !== false) faults.push(...typeFaults(script))
  }
  faults.sort((a, b) => a.line - b.line || a.column - b.column)
  return {
    path,
    valid: faults.every((fault) => fault.severity === 'warning'),
    faults,
    declarations: script.declarations,
  }
}

function unusedFaults(script: ParsedScript): ScriptFault[] {
  const { externals, inputs } = script.declarations
  return [
    ...externals
      .filter(({ name }) => !script.usedNames.has(name))
      .map((external) => warning('W002', external, `external ${external.name} is never used`)),
    ...inputs
      .filter(({ name }) => !script.usedNames.has(name))
      .map((input) => warning('W003', input, `input ${input.name} is never used`)),
  ]
}

function shapeFaults(script: ParsedScript, options: ScriptCheckOptions): ScriptFault[] {
  const faults: ScriptFault[] = []
  const lines = script.source.split('\n').length - (script.source.endsWith('\n') ? 1 : 0)
  if (script.last.kind === 'bare_collection') {
    faults.push(warning('W001', script.last, 'the last expression is a bare dict or list; give it a name first'))
  }
  if (lines > maxLines) {
    faults.push(
      warning('W004', { line: maxLines + 1, column: 1 }, `the script has ${lines} lines, more than ${maxLines}`),
    )
  }
  if (options.isSubmit === true && !script.usedNames.has('submit_result')) {
    faults.push(warning('W006', { line: 1, column: 1 }, 'the submit script never calls submit_result'))
  }
  return faults
}

function hostFaults(script: ParsedScript, known: ScriptCheckOptions['knownExternals']): ScriptFault[] {
  if (known === undefined) return []
  return script.declarations.externals.flatMap((external): ScriptFault[] => {
    const signature = known.get(external.name)
    const fault = signature === undefined ? 'is not one the host offers' : signatureFault(external, signature)
    const at = { line: external.line, column: external.column }
    return fault === undefined
      ? []
      : [{ ...at, code: 'E013', severity: 'error', message: `external ${external.name} ${fault}` }]
  })
}

function warning(code: ScriptFaultCode, at: SourcePosition, message: string): ScriptFault {
  return { code, severity: 'warning', line: at.line, column: at.column, message }
}
