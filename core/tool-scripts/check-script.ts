import { basename } from 'node:path'
import type { ScriptProfile } from '#domain/script-profile.ts'
import { signatureFault, type ExternalSignature } from './external-signature.ts'
import { montySyntaxFault } from './monty-syntax-fault.ts'
import { parseScript, type ParsedScript } from './parse-script.ts'
import type { LocatedFault, ScriptDeclarations, ScriptFault } from './script-declarations.ts'
import { shapeWarnings } from './shape-warnings.ts'
import { applySourceEdits } from './source-edit.ts'
import type { TypeChecker } from './type-checker.ts'

export type ScriptCheckOptions = {
  /** What the host answers. Without it E013 is not checked. */
  knownExternals?: ReadonlyMap<string, ExternalSignature>
  profile?: ScriptProfile
  /** Without it E100 is not checked. */
  typeChecker?: Pick<TypeChecker, 'faults'>
}

export type ScriptCheck = {
  path: string
  /** No errors; warnings are allowed. */
  valid: boolean
  /** Sorted by line and column. */
  faults: ScriptFault[]
  declarations: ScriptDeclarations
}

/**
 * Checks one script against the rules of features.md G2. Never throws on a bad script. Every fault is found in one pass;
 * where the text is no Python, those up to the syntax error.
 */
export async function checkScript(
  source: string,
  path: string,
  options: ScriptCheckOptions = {},
): Promise<ScriptCheck> {
  const script = await parseScript(source, options.profile)
  const isSubmit = basename(path) === 'submit_result.pym'
  const faults = script.parses ? await faultsOfCode(script, isSubmit, options) : withMontysWords(script)
  return {
    path,
    valid: faults.every((fault) => fault.severity === 'warning'),
    faults: faults.map(shown).toSorted((a, b) => a.line - b.line || a.column - b.column),
    declarations: script.declarations,
  }
}

async function faultsOfCode(
  script: ParsedScript,
  isSubmit: boolean,
  { knownExternals, typeChecker }: ScriptCheckOptions,
): Promise<ScriptFault[]> {
  const refused = [...script.faults, ...outsideOf(script.faults, sandboxFaults(script))]
  return [
    ...refused,
    ...shapeWarnings(script, isSubmit).filter(
      (found) => !saysItAgain.has(found.code) || outsideOf(refused, [found]).length > 0,
    ),
    ...hostFaults(script, isSubmit, knownExternals),
    ...outsideOf(refused, (await typeChecker?.faults(script)) ?? []),
  ]
}

/** Of a construct that is refused. */
const saysItAgain: ReadonlySet<string> = new Set(['W005', 'W007'])

function shown({ code, severity, line, column, message }: ScriptFault): ScriptFault {
  return { code, severity, line, column, message }
}

/** What another parser found inside a construct that is refused anyway says the same again. */
function outsideOf<T extends ScriptFault>(refused: readonly LocatedFault[], found: readonly T[]): T[] {
  return found.filter(({ line }) => !refused.some((fault) => line >= fault.line && line <= fault.endLine))
}

/** E000 for what only Monty refuses. */
function sandboxFaults({ source, runEdits }: ParsedScript): LocatedFault[] {
  const found = montySyntaxFault(applySourceEdits(source, runEdits))
  if (found === undefined) return []
  const { line, column, message } = found
  return [{ code: 'E000', severity: 'error', line, column, message, endLine: line }]
}

/** Monty says better than the tree what is wrong, but not where something begins that never ends. */
function withMontysWords({ faults, source, tooDeep }: ParsedScript): ScriptFault[] {
  const found = tooDeep ? undefined : montySyntaxFault(source)
  const last = faults.at(-1)
  if (last === undefined || found?.isSyntax !== true) return faults
  const place = found.message.includes('unexpected EOF') ? last : found
  const message = place === last ? 'invalid syntax: what begins here does not end' : found.message
  return [...faults.slice(0, -1), { ...last, line: place.line, column: place.column, message }]
}

function hostFaults(
  script: ParsedScript,
  isSubmit: boolean,
  known: ScriptCheckOptions['knownExternals'],
): ScriptFault[] {
  if (known === undefined) return []
  return script.declarations.externals.flatMap((external): ScriptFault[] => {
    const signature = known.get(external.name)
    const isKept = external.name === 'submit_result' && !isSubmit
    const why = isKept ? 'is offered to a submit_result.pym alone' : 'is not one the host offers'
    const fault = signature === undefined || isKept ? why : signatureFault(external, signature)
    const at = { line: external.line, column: external.column }
    return fault === undefined
      ? []
      : [{ ...at, code: 'E013', severity: 'error', message: `external ${external.name} ${fault}` }]
  })
}
