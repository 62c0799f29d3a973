import { basename } from 'node:path'
import type { ScriptProfile } from '#domain/agent-bundle.ts'
import { type ExternalSignature, signatureFault } from './external-signatures.ts'
import { montySyntaxFault } from './monty-errors.ts'
import { type ParsedScript, parseScript } from './parse-script.ts'
import { faultAt, type LocatedFault, type ScriptFault } from './script-declarations.ts'
import { applySourceEdits } from './source-edit.ts'
import type { TypeChecker } from './type-checker.ts'
import { uncalledFunctions, usedNames } from './script-uses.ts'

export type ScriptCheckOptions = {
  /** The externals there are. Without it, E013 is not checked. */
  knownExternals?: ReadonlyMap<string, ExternalSignature>
  profile?: ScriptProfile | undefined
  typeChecker?: Pick<TypeChecker, 'faults'>
}

/** Checks one script, and never throws on a bad one. Finds all faults, sorted by place; in a text that is no Python, those up to the syntax error. */
export async function checkScript(source: string, path: string, options: ScriptCheckOptions = {}) {
  const script = await parseScript(source, options.profile)
  const isSubmit = basename(path) === 'submit_result.pym'
  const faults = script.parses ? await faultsOfCode(script, isSubmit, options) : withMontyMessage(script)
  const shown = faults.map(({ code, severity, line, column, message }) => ({ code, severity, line, column, message }))
  const sorted = shown.toSorted((a, b) => a.line - b.line || a.column - b.column)
  return { faults: sorted, declarations: script.declarations }
}

async function faultsOfCode(
  script: ParsedScript,
  isSubmit: boolean,
  { knownExternals, typeChecker }: ScriptCheckOptions,
): Promise<ScriptFault[]> {
  const refused = [...script.faults, ...outsideOf(script.faults, sandboxFaults(script))]
  const warnings = shapeWarnings(script, isSubmit)
  return [
    ...refused,
    ...warnings.filter((warning) => !repeating.has(warning.code) || outsideOf(refused, [warning]).length > 0),
    ...externalFaults(script, isSubmit, knownExternals),
    ...outsideOf(refused, (await typeChecker?.faults(script)) ?? []),
  ]
}

const repeating: ReadonlySet<string> = new Set(['W005', 'W007'])

/** Leaves out what another parser found inside a construct that is refused anyway. */
function outsideOf<T extends ScriptFault>(refused: readonly LocatedFault[], faults: readonly T[]): T[] {
  return faults.filter(({ line }) => !refused.some((fault) => line >= fault.line && line <= fault.endLine))
}

function sandboxFaults({ source, runEdits }: ParsedScript): LocatedFault[] {
  const fault = montySyntaxFault(applySourceEdits(source, runEdits))
  return fault === undefined ? [] : [faultAt(fault, 'E000', fault.message)]
}

/** Monty's message for a syntax error is better than the tree's, except for a bracket or string that is not closed. */
function withMontyMessage({ faults, source, tooDeep }: ParsedScript): ScriptFault[] {
  const fault = tooDeep ? undefined : montySyntaxFault(source)
  const last = faults.at(-1)
  if (last === undefined || fault?.isSyntax !== true) return faults
  const position = fault.message.includes('unexpected EOF') ? last : fault
  const message = position === last ? 'invalid syntax: what begins here does not end' : fault.message
  return [...faults.slice(0, -1), { ...last, line: position.line, column: position.column, message }]
}

function externalFaults(
  script: ParsedScript,
  isSubmit: boolean,
  known: ScriptCheckOptions['knownExternals'],
): ScriptFault[] {
  if (known === undefined) return []
  return script.declarations.externals.flatMap((external) => {
    const signature = known.get(external.name)
    const isReserved = external.name === 'submit_result' && !isSubmit
    const why = isReserved ? 'is offered only to a submit_result.pym' : 'does not exist'
    const fault = signature === undefined || isReserved ? why : signatureFault(external, signature)
    return fault === undefined ? [] : [faultAt(external, 'E013', `external ${external.name} ${fault}`)]
  })
}

const maxLines = 200

function shapeWarnings(script: ParsedScript, isSubmit: boolean): ScriptFault[] {
  const { declarations, source, uses } = script
  const names = usedNames(uses)
  const unused = <T extends { name: string }>(declared: readonly T[]): T[] =>
    declared.filter(({ name }) => !names.has(name))
  const lines = source.split('\n').length - (source.endsWith('\n') ? 1 : 0)
  const tooLong = `the script has ${lines} lines, more than ${maxLines}; split the tool`
  const noSubmit = 'a submit_result.pym has to call submit_result(status, summary, …), and this one never does'
  return [
    ...unused(declarations.externals).map((external) =>
      faultAt(external, 'W002', `external ${external.name} is never used`),
    ),
    ...unused(declarations.inputs).map((input) => faultAt(input, 'W003', `input ${input.name} is never used`)),
    ...(lines > maxLines ? [faultAt({ line: maxLines + 1, column: 1 }, 'W004', tooLong)] : []),
    ...hiddenWork(script),
    ...(isSubmit && !names.has('submit_result') ? [faultAt({ line: 1, column: 1 }, 'W006', noSubmit)] : []),
    ...resultWarnings(script),
  ]
}

/** A tool whose functions are never called does nothing, without any error. */
function hiddenWork({ uses, declarations }: ParsedScript): ScriptFault[] {
  return uncalledFunctions(uses).map((defined) => {
    const work = declarations.externals.filter(({ name }) => defined.names.has(name)).map(({ name }) => name)
    const lost = work.length === 0 ? '' : `, so its calls of ${work.join(', ')} never happen`
    return faultAt(defined, 'W005', `nothing calls ${defined.name}${lost}`)
  })
}

function resultWarnings({ last, uses, declarations }: ParsedScript): ScriptFault[] {
  const named = 'name' in last ? last.name : ''
  const known = [...uses.functions, ...declarations.externals].find(({ name }) => name === named)
  switch (last.kind) {
    case 'collection':
      return [faultAt(last, 'W001', 'the last expression is a bare dict or list; give it a name first')]
    case 'none':
    case 'statement':
      return [faultAt(last, 'W007', 'the script has no result; end it with an expression, such as the name of one')]
    case 'constant':
      return [faultAt(last, 'W007', 'the last expression is a constant, which is no result')]
    case 'name':
      return known === undefined ? [] : [faultAt(last, 'W007', `${named} is a function, which is no result; call it`)]
    case 'call':
      return known?.isAsync === true
        ? [faultAt(last, 'W007', `the result is a coroutine that never ran; write await ${named}(…)`)]
        : []
    case 'expression':
      return []
  }
}
