import { basename } from 'node:path'
import type { ScriptProfile } from '#domain/agent-bundle.ts'
import { type ExternalSignature, signatureFault } from './external-signatures.ts'
import { montySyntaxFault } from './monty-errors.ts'
import { type ParsedScript, parseScript } from './parse-script.ts'
import type {
  LocatedFault,
  ScriptDeclarations,
  ScriptFault,
  ScriptFaultCode,
  SourcePosition,
} from './script-declarations.ts'
import { applySourceEdits } from './source-edit.ts'
import type { TypeChecker } from './type-checker.ts'
import { uncalledFunctions, usedNames } from './script-uses.ts'

export type ScriptCheckOptions = {
  /** The externals there are. Without it, E013 is not checked. */
  knownExternals?: ReadonlyMap<string, ExternalSignature>
  profile?: ScriptProfile
  /** Without it, E100 is not checked. */
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
 * Checks one script against the rules of docs/guide/tool-scripts.md. Never throws on a bad script. Finds
 * all faults at once; in a text that is not Python, those up to the syntax error.
 */
export async function checkScript(
  source: string,
  path: string,
  options: ScriptCheckOptions = {},
): Promise<ScriptCheck> {
  const script = await parseScript(source, options.profile)
  const isSubmit = basename(path) === 'submit_result.pym'
  const faults = script.parses ? await faultsOfCode(script, isSubmit, options) : withMontyMessage(script)
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
      (found) => !repeating.has(found.code) || outsideOf(refused, [found]).length > 0,
    ),
    ...externalFaults(script, isSubmit, knownExternals),
    ...outsideOf(refused, (await typeChecker?.faults(script)) ?? []),
  ]
}

/** Warnings that would only repeat the refusal of a construct. */
const repeating: ReadonlySet<string> = new Set(['W005', 'W007'])

function shown({ code, severity, line, column, message }: ScriptFault): ScriptFault {
  return { code, severity, line, column, message }
}

/** Leaves out what another parser found inside a construct that is refused anyway. */
function outsideOf<T extends ScriptFault>(refused: readonly LocatedFault[], found: readonly T[]): T[] {
  return found.filter(({ line }) => !refused.some((fault) => line >= fault.line && line <= fault.endLine))
}

/** E000 for code that only Monty rejects. */
function sandboxFaults({ source, runEdits }: ParsedScript): LocatedFault[] {
  const found = montySyntaxFault(applySourceEdits(source, runEdits))
  if (found === undefined) return []
  const { line, column, message } = found
  return [{ code: 'E000', severity: 'error', line, column, message, endLine: line }]
}

/**
 * Monty's message for a syntax error is better than the tree's, except for a bracket or string that is never closed.
 */
function withMontyMessage({ faults, source, tooDeep }: ParsedScript): ScriptFault[] {
  const found = tooDeep ? undefined : montySyntaxFault(source)
  const last = faults.at(-1)
  if (last === undefined || found?.isSyntax !== true) return faults
  const place = found.message.includes('unexpected EOF') ? last : found
  const message = place === last ? 'invalid syntax: what begins here does not end' : found.message
  return [...faults.slice(0, -1), { ...last, line: place.line, column: place.column, message }]
}

function externalFaults(
  script: ParsedScript,
  isSubmit: boolean,
  known: ScriptCheckOptions['knownExternals'],
): ScriptFault[] {
  if (known === undefined) return []
  return script.declarations.externals.flatMap((external): ScriptFault[] => {
    const signature = known.get(external.name)
    const isReserved = external.name === 'submit_result' && !isSubmit
    const why = isReserved ? 'is offered to a submit_result.pym alone' : 'is not one the host offers'
    const fault = signature === undefined || isReserved ? why : signatureFault(external, signature)
    const at = { line: external.line, column: external.column }
    return fault === undefined
      ? []
      : [{ ...at, code: 'E013', severity: 'error', message: `external ${external.name} ${fault}` }]
  })
}

const maxLines = 200

/** W001 to W007: code that is allowed but probably not intended. */
function shapeWarnings(script: ParsedScript, isSubmit: boolean): ScriptFault[] {
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

/** A tool whose functions are never called does nothing, without any error. */
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
