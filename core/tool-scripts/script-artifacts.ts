import { sortedKeys } from '#domain/json.ts'
import { montyCode } from './monty-code.ts'
import type { ParsedScript } from './parse-script.ts'
import type { ExternalDeclaration, ExternalParameter, ScriptDeclarations, ScriptFault } from './script-declarations.ts'
import { inputSchema } from './script-schema.ts'

export type ArtifactParts = {
  /** What tracebacks and the line map call the script; without folders, so that it is the same on every machine. */
  name: string
  script: ParsedScript
  /** What its check found. */
  faults: readonly ScriptFault[]
  /** Inputs of these names are filled in by the host. */
  hostInputNames: ReadonlySet<string>
}

/** The names `scriptArtifacts` may give; what is left of an earlier script goes by them. */
export const scriptArtifactNames = [
  'check.json',
  'externals.json',
  'inputs.json',
  'monty_code.py',
  'source_map.json',
  'stubs.pyi',
] as const

/**
 * What the compiler of tool scripts makes of one, by file name (features.md G3). The same script gives the same bytes
 * everywhere. Of a script that does not parse there is `check.json` alone.
 */
export function scriptArtifacts(parts: ArtifactParts): ReadonlyMap<(typeof scriptArtifactNames)[number], string> {
  const { name, script, faults, hostInputNames } = parts
  const { declarations } = script
  const valid = faults.every(({ severity }) => severity === 'warning')
  const check = ['check.json', jsonText({ script: name, valid, faults })] as const
  if (faults.some(({ code }) => code === 'E000')) return new Map([check])
  const host = declarations.inputs.map((input) => input.name).filter((input) => hostInputNames.has(input))
  const code = montyCode(script)
  return new Map([
    check,
    ['externals.json', jsonText(declarations.externals.map(externalView))],
    ['inputs.json', jsonText({ schema: inputSchema(declarations), filled_in_by_host: host })],
    ['monty_code.py', code],
    ['source_map.json', jsonText({ code: 'monty_code.py', source: name, lines: lineNumbers(code) })],
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

/** For each line of the code the line of the source. They are the same: what is replaced keeps its line breaks. */
function lineNumbers(code: string): number[] {
  return Array.from(code.replace(/\n$/, '').split('\n'), (_line, index) => index + 1)
}

const stubHead = 'import typing\nfrom typing import Any, Dict, List, Literal, Optional, Union\n'

/** The inputs and externals as a Python stub file, for editors and type checkers. */
function stubs({ inputs, externals }: ScriptDeclarations): string {
  const variables = inputs.map(({ name, type }) => `${name}: ${type}\n`)
  const functions = externals.map(
    ({ name, isAsync, parameters, returns }) =>
      `${isAsync ? 'async ' : ''}def ${name}(${stubParameters(parameters)}) -> ${returns}: ...\n`,
  )
  return [stubHead, ...variables, ...functions].join('')
}

/** Python takes a parameter without a default after one with a default by its keyword only. */
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
