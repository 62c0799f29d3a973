import { basename, join, posix, relative, resolve } from 'node:path'
import type { AgentBundle, BundleFile } from '#domain/agent-bundle.ts'
import { isTestCheck } from '#domain/checks.ts'
import type { YamlPath } from '#platform/yaml-source.ts'
import { parseRepoPath } from '#domain/repo-path.ts'
import { checkScript, type ScriptCheckOptions } from '#tool-scripts/check-script.ts'
import { type BundleFault, type BundleYaml, readBundleYaml } from './bundle-yaml.ts'
import type { CheckedScript } from './check-script-file.ts'
import { findNameFaults, type FindableNodes } from './findable-nodes.ts'
import { findPromptFaults } from './prompt-variables.ts'
import { readSource, shippedAgents } from './bundle-files.ts'
import { buildToolDefinition, type ScriptToolFile, submitTool, submitToolName } from './tool-definition.ts'

/** Node kinds and languages are only checked where they are given; `profile` replaces the bundle's own. */
export type BundleDeps = ScriptCheckOptions & Partial<FindableNodes>

/** A bundle folder that was read. `file` is set when `bundle.yaml` has no faults of its own, `bundle` when nothing has any. */
export type ReadBundle = {
  dir: string
  file: BundleFile | undefined
  bundle: AgentBundle | undefined
  faults: BundleFault[]
  warnings: BundleFault[]
  scripts: CheckedScript[]
  placeOf: BundleYaml['placeOf']
}

type Reading = { dir: string; path: string; yaml: BundleYaml; deps: BundleDeps; bundle: AgentBundle; read: ReadBundle }

/** Reads and checks one bundle folder. Never throws because of its content: errors are in `faults`. */
export async function readBundle(dir: string, deps: BundleDeps = {}): Promise<ReadBundle> {
  const path = join(dir, 'bundle.yaml')
  const text = await readSource(path)
  const source = 'source' in text ? text.source : undefined
  const yaml = readBundleYaml(path, source ?? '')
  const faults =
    'fault' in text ? [{ file: path, line: 1, column: 1, code: 'AGENT_001', message: text.fault }] : yaml.faults
  const { file, placeOf } = yaml
  const read: ReadBundle = { dir, file, bundle: undefined, faults, warnings: [], scripts: [], placeOf }
  if (file === undefined || source === undefined) return read
  const bundle: AgentBundle = { file, tools: [], scripts: {}, hostInputs: {}, warnings: [] }
  const reading: Reading = { dir, path, yaml, deps, bundle, read }
  for (const [index, tool] of file.tools.entries()) {
    if ('builtin' in tool) bundle.tools.push(submitTool)
    else await readTool(reading, tool, index)
  }
  checkNames(reading)
  checkSettings(reading)
  checkCallsByCode(reading)
  checkApprovals(reading)
  checkTestEvidence(reading)
  findPromptFaults(file, {
    fault: (at, inside, message) => report(reading, at, message, yaml.placeInText(at, inside)),
    warn: (at, message) => warn(reading, at, message),
  })
  bundle.warnings = read.warnings.map((warning) => warningText(reading, warning))
  return { ...read, bundle: faults.length === 0 ? bundle : undefined }
}

const onlyAgent = 'which in a bundle only the agent does'
const runningExternals = new Set(['run_command', 'run_tests', 'describe_tests', 'run_snippet', 'write_tests'])
const howToRun = 'name the programs in `programs`, or write programs: [] for tests alone'
const howToSubmit = `write - { builtin: ${submitToolName} }`

async function readTool(reading: Reading, tool: ScriptToolFile, index: number): Promise<void> {
  const { bundle, deps, read } = reading
  const at = ['tools', index] as const
  if (tool.name === submitToolName)
    return report(reading, [...at, 'name'], `${submitToolName} is the builtin tool; ${howToSubmit}`)
  const text = await readScript(reading, tool.script)
  if ('fault' in text) return report(reading, [...at, 'script'], text.fault)
  const { source, file } = text
  const profile = deps.profile ?? bundle.file.profile
  const { faults, declarations } = await checkScript(source, file, { ...deps, profile })
  const owner = { dir: reading.dir, bundle: bundle.file.name, tool: tool.name }
  read.scripts.push({ file, source, profile, owner, faults })
  for (const { severity, ...found } of faults) {
    const list = severity === 'error' ? read.faults : read.warnings
    list.push({ file, ...found })
  }
  if (declarations.externals.some(({ name }) => name === submitToolName))
    report(reading, [...at, 'script'], `${tool.script} calls ${submitToolName}, ${onlyAgent}; ${howToSubmit}`)
  const runs = declarations.externals.find(({ name }) => runningExternals.has(name))
  if (runs !== undefined && bundle.file.programs === undefined)
    report(reading, [...at, 'script'], `${tool.script} calls ${runs.name}: ${howToRun}`)
  const built = buildToolDefinition(tool, declarations)
  for (const { key, message } of built.faults) report(reading, [...at, 'inputs_override', key], message)
  for (const { key, message } of built.warnings) warn(reading, [...at, 'inputs_override', key], message)
  bundle.tools.push(built.definition)
  bundle.scripts[tool.name] = { path: posix.join(bundle.file.name, tool.script), source }
  bundle.hostInputs[tool.name] = built.providedInputs
}

type ScriptText = { file: string; source: string }

/** Reads a script of the bundle's own folder, or one of the tools of a bundle beside it, or else of a shipped one. */
async function readScript({ dir }: Reading, script: string): Promise<ScriptText | { fault: string }> {
  const shared = sharedScript.test(script) ? [join(dir, script), join(shippedAgents, basename(dir), script)] : []
  const within = repoPathOf(script)
  const files = within === undefined ? shared : [join(dir, within)] // else the path leads out of the folder
  for (const file of files) {
    const read = await readSource(file)
    if ('source' in read) return { file, source: read.source }
    if (!read.isMissing) return { fault: `script ${script}: ${read.fault}` }
  }
  const where = shared.length === 0 ? "in the bundle's folder" : 'beside the bundle, and none of a shipped one'
  return { fault: `there is no script ${script} ${where}` }
}

const sharedScript = /^\.\.\/[a-z][a-z0-9_-]*\/tools\/\w+\.pym$/

function repoPathOf(script: string): string | undefined {
  try {
    return parseRepoPath(script, 'AGENT_001')
  } catch {
    return undefined
  }
}

function checkNames(reading: Reading): void {
  const { file } = reading.bundle
  const folder = basename(resolve(reading.dir))
  if (file.name !== folder)
    report(reading, ['name'], `the name ${file.name} differs from that of its folder, ${folder}`)
  const seen = new Set<string>()
  for (const [index, tool] of file.tools.entries()) {
    const name = 'builtin' in tool ? tool.builtin : tool.name
    if (seen.has(name)) report(reading, ['tools', index], `two tools are named ${name}`)
    seen.add(name)
  }
  if (!file.tools.some((tool) => 'builtin' in tool)) {
    report(reading, ['tools'], `no submit tool; add - { builtin: ${submitToolName} }`)
  }
  for (const key of ['after', 'after_optional'] as const) {
    for (const [index, other] of file[key].entries()) {
      if (other === file.name) report(reading, [key, index], `${other} waits for itself`)
      else if (key === 'after_optional' && file.after.includes(other))
        report(reading, [key, index], `${other} is named in after, too`)
    }
  }
  for (const [index, check] of (file.accept_when ?? []).entries()) {
    if (!file.evidence.includes(check)) report(reading, ['accept_when', index], `${check} is not one of its evidence`)
  }
  for (const { at, message } of findNameFaults(file, reading.deps)) report(reading, at, message)
}

function checkSettings(reading: Reading): void {
  for (const [name, setting] of Object.entries(reading.bundle.file.settings)) {
    if (setting.enum?.includes(setting.default) !== false) continue
    report(reading, ['settings', name, 'default'], `the default of ${name} is not one of its values`)
  }
}

/** Reports checks that run tests in a bundle without `programs`, which gets no sandbox, or without an agent's change. */
function checkTestEvidence(reading: Reading): void {
  const { evidence, programs, mechanical } = reading.bundle.file
  for (const [index, check] of evidence.entries()) {
    if (!isTestCheck(check)) continue
    if (programs === undefined) report(reading, ['evidence', index], `${check} runs tests: ${howToRun}`)
    if (mechanical !== 'none') report(reading, ['evidence', index], `${check} is not made of mechanical work`)
  }
}

/** Reports the tools that code is to call and that it cannot call, or that are none. */
function checkCallsByCode(reading: Reading): void {
  const { gather, turns, one_turn: oneTurn } = reading.bundle.file
  for (const [index, name] of gather.entries()) {
    const at = ['gather', index]
    checkNamedTool(reading, name, at)
    if (gather.indexOf(name) < index) report(reading, at, `gather names ${name} twice`)
    const submits = reading.bundle.file.tools.some((tool) => 'submits' in tool && tool.submits && tool.name === name)
    if (submits) report(reading, at, `${name} submits, so the model would never be asked: leave it out of gather`)
  }
  if (turns === 'one' && oneTurn === undefined)
    report(reading, ['turns'], 'turns: one needs one_turn, with the tool that carries the answer out')
  if (oneTurn !== undefined) checkOneTurn(reading, oneTurn)
}

/** Reports tools that wait for approval although code calls them, or goes on in place of the model after them. */
function checkApprovals(reading: Reading): void {
  const { tools, gather, one_turn: oneTurn } = reading.bundle.file
  const byCode = new Set([...gather, ...(oneTurn?.gather ?? [])])
  for (const [index, tool] of tools.entries()) {
    if (!('approval' in tool) || tool.approval === undefined) continue
    const refuse = (why: string) =>
      report(reading, ['tools', index, 'approval'], `${tool.name} cannot wait for approval: ${why}`)
    if (byCode.has(tool.name)) refuse('code calls it, for every operation: leave it out of gather')
    if (tool.submits) refuse('it submits, and what it changes is reviewed after the run')
    if (oneTurn?.carry_out === tool.name)
      refuse('one_turn.carry_out ends the work, and what it changes is reviewed after the run')
  }
}

function checkNamedTool(reading: Reading, name: string, at: readonly (string | number)[]): void {
  const tool = reading.bundle.tools.find((known) => known.name === name && name !== submitToolName)
  const required = tool?.parameters['required']
  if (tool === undefined) report(reading, at, `${at[0]} names ${name}, which is no tool with a script of this bundle`)
  else if (at.includes('gather') && Array.isArray(required) && required.length > 0)
    report(
      reading,
      at,
      `${name} cannot be called by code: it requires ${required.join(', ')}; give it a default, or leave the tool out of gather`,
    )
}

function checkOneTurn(reading: Reading, oneTurn: NonNullable<BundleFile['one_turn']>): void {
  const { tools } = reading.bundle
  for (const [index, name] of (oneTurn.gather ?? []).entries())
    checkNamedTool(reading, name, ['one_turn', 'gather', index])
  checkNamedTool(reading, oneTurn.carry_out, ['one_turn', 'carry_out'])
  const properties = tools.find(({ name }) => name === oneTurn.carry_out)?.parameters['properties'] ?? {}
  for (const input of Object.keys(oneTurn.answer)) {
    if (!Object.hasOwn(properties, input))
      report(
        reading,
        ['one_turn', 'answer', input],
        `one_turn names ${input}, which is no input of ${oneTurn.carry_out}`,
      )
  }
}

/** Leaves out the path of the folder, so that the same bundle has the same hash everywhere. */
function warningText({ dir, bundle }: Reading, { file, line, column, code, message }: BundleFault): string {
  return `${bundle.file.name}/${relative(dir, file)}:${line}:${column} ${code} ${message}`
}

function report({ path, yaml, read }: Reading, at: YamlPath, message: string, place = yaml.placeOf(at)): void {
  read.faults.push({ file: path, ...place, code: 'AGENT_001', message })
}

function warn({ path, yaml, read }: Reading, at: YamlPath, message: string): void {
  read.warnings.push({ file: path, ...yaml.placeOf(at), code: 'AGENT_001', message })
}
