import { sortedKeys } from '#domain/json.ts'
import { montyCode } from './compiled-script.ts'
import type { ParsedScript } from './parse-script.ts'
import {
  type ExternalDeclaration,
  type ExternalParameter,
  inputSchema,
  type ScriptDeclarations,
  type ScriptFault,
} from './script-declarations.ts'

type ArtifactParts = {
  /** The script's name in tracebacks and the line map, without folders, so that it is the same on every machine. */
  name: string
  script: ParsedScript
  faults: readonly ScriptFault[]
  providedInputNames: ReadonlySet<string>
}

/** Lists all file names that `scriptArtifacts` may return: what an earlier check has written is removed by these names. */
export const scriptArtifactNames = [
  'check.json',
  'externals.json',
  'inputs.json',
  'monty_code.py',
  'source_map.json',
  'stubs.pyi',
] as const

/** The compiler's files for one script, the same on every machine. One that does not parse has only `check.json`. */
export function scriptArtifacts(parts: ArtifactParts): ReadonlyMap<(typeof scriptArtifactNames)[number], string> {
  const { name, script, faults, providedInputNames } = parts
  const { declarations } = script
  const valid = faults.every(({ severity }) => severity === 'warning')
  const check = ['check.json', jsonText({ script: name, valid, faults })] as const
  if (faults.some(({ code }) => code === 'E000')) return new Map([check])
  const provided = declarations.inputs.map((input) => input.name).filter((input) => providedInputNames.has(input))
  const code = montyCode(script)
  // The source line of each line of code. They are equal, since edits keep line breaks.
  const lines = Array.from(code.replace(/\n$/, '').split('\n'), (_line, index) => index + 1)
  return new Map([
    check,
    ['externals.json', jsonText(declarations.externals.map(externalView))],
    ['inputs.json', jsonText({ schema: inputSchema(declarations), filled_in_by_host: provided })],
    ['monty_code.py', code],
    ['source_map.json', jsonText({ code: 'monty_code.py', source: name, lines })],
    ['stubs.pyi', stubs(declarations)],
  ])
}

function externalView({ name, isAsync, parameters, returns, returnsSchema, line }: ExternalDeclaration) {
  return {
    name,
    async: isAsync,
    parameters: parameters.map(({ type, schema, ...rest }) => ({ ...rest, type, schema })),
    returns: { type: returns, schema: returnsSchema },
    line,
  }
}

const stubHead = 'import typing\nfrom typing import Any, Dict, List, Literal, Optional, Union\n'

function stubs({ inputs, externals }: ScriptDeclarations): string {
  const variables = inputs.map(({ name, type }) => `${name}: ${type}\n`)
  const functions = externals.map(
    ({ name, isAsync, parameters, returns }) =>
      `${isAsync ? 'async ' : ''}def ${name}(${stubParameters(parameters)}) -> ${returns}: ...\n`,
  )
  return [stubHead, ...variables, ...functions].join('')
}

/** Puts `*` before the first parameter without a default that follows one with a default, as Python demands. */
function stubParameters(parameters: readonly ExternalParameter[]): string {
  const firstDefault = parameters.findIndex((parameter) => 'default' in parameter)
  const star = parameters.findIndex(
    (parameter, at) => firstDefault >= 0 && at > firstDefault && !('default' in parameter),
  )
  const texts = parameters.map(
    (parameter) => `${parameter.name}: ${parameter.type}${'default' in parameter ? ' = ...' : ''}`,
  )
  return (star < 0 ? texts : texts.toSpliced(star, 0, '*')).join(', ')
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, sortedKeys, 2)}\n`
}
