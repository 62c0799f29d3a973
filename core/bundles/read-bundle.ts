import { basename, join, relative, resolve } from 'node:path'
import type { AgentBundle, BundleFile } from '#domain/agent-bundle.ts'
import { parseRepoPath } from '#domain/repo-path.ts'
import type { ScriptProfile } from '#domain/script-profile.ts'
import { checkScript } from '#tool-scripts/check-script.ts'
import type { ExternalSignature } from '#tool-scripts/external-signature.ts'
import { nearest } from '#platform/nearest.ts'
import type { TypeChecker } from '#tool-scripts/type-checker.ts'
import type { BundleFault, BundleWarning } from './bundle-fault.ts'
import { readBundleYaml, type BundleYaml } from './bundle-yaml.ts'
import type { CheckedScript } from './check-script-file.ts'
import { hostInputNames } from './host-inputs.ts'
import { findPromptFaults } from './prompt-faults.ts'
import { readSource } from './read-source.ts'
import { submitTool, submitToolName } from './submit-tool.ts'
import { buildToolDefinition, type ScriptToolFile } from './tool-definition.ts'
import { unservedFields } from './unserved-fields.ts'

export type BundleDeps = {
  /** Without it, scripts are not checked against what the host offers (E013). */
  knownExternals?: ReadonlyMap<string, ExternalSignature>
  hostInputNames?: ReadonlySet<string>
  /** Kinds that query packs find. Without it, node kinds are not checked. */
  nodeKinds?: ReadonlySet<string>
  /** Languages there are. Without it, they are not checked. */
  languages?: ReadonlySet<string>
  /** In place of what the bundle says. */
  profile?: ScriptProfile
  /** Without it, the types of scripts are not checked (E100). */
  typeChecker?: Pick<TypeChecker, 'faults'>
}

/** A bundle folder as it was read. `bundle` is there when there are no faults. */
export type ReadBundle = {
  dir: string
  file: BundleFile | undefined
  bundle: AgentBundle | undefined
  faults: BundleFault[]
  warnings: BundleWarning[]
  /** Of its tools, those that could be read. */
  scripts: CheckedScript[]
  placeOf: BundleYaml['placeOf']
}

type Reading = { dir: string; path: string; yaml: BundleYaml; deps: BundleDeps; bundle: AgentBundle; read: ReadBundle }

/** Reads and checks one bundle folder. Everything wrong with it is in `faults`; throws for nothing in the folder. */
export async function readBundle(dir: string, deps: BundleDeps = {}): Promise<ReadBundle> {
  const path = join(dir, 'bundle.yaml')
  const text = await readSource(path)
  const source = 'source' in text ? text.source : undefined
  const yaml = readBundleYaml(path, source ?? '')
  const faults =
    'fault' in text ? [{ file: path, line: 1, column: 1, code: 'AGENT_001', message: text.fault }] : yaml.faults
  const { file, placeOf } = yaml
  const read: ReadBundle = { dir, file, bundle: undefined, faults, warnings: [], scripts: [], placeOf }
  if (yaml.file === undefined || source === undefined) return read
  const bundle: AgentBundle = { file: yaml.file, tools: [], scripts: {}, hostInputs: {}, warnings: [] }
  const reading: Reading = { dir, path, yaml, deps, bundle, read }
  for (const [index, tool] of yaml.file.tools.entries()) {
    if ('builtin' in tool) bundle.tools.push(submitTool)
    else await readTool(reading, tool, index)
  }
  checkNames(reading)
  checkSettings(reading)
  for (const at of unservedFields(yaml.file)) {
    read.warnings.push(faultAt(reading, at, `${at.join('.')} has no effect yet`))
  }
  findPromptFaults(yaml.file, {
    fault: (at, inside, message) =>
      faults.push({ file: path, ...yaml.placeInText(at, inside), code: 'AGENT_001', message }),
    warn: (at, message) => read.warnings.push(faultAt(reading, at, message)),
  })
  bundle.warnings = read.warnings.map((warning) => warningText(reading, warning))
  return { ...read, bundle: faults.length === 0 ? bundle : undefined }
}

async function readTool(reading: Reading, tool: ScriptToolFile, index: number): Promise<void> {
  const { bundle, deps, read } = reading
  const at = ['tools', index] as const
  if (tool.name === submitToolName)
    return report(
      reading,
      [...at, 'name'],
      `${submitToolName} is the builtin tool; write - { builtin: ${submitToolName} }`,
    )
  const text = await readScript(reading, tool.script)
  if ('fault' in text) return report(reading, [...at, 'script'], text.fault)
  const { source } = text
  const file = join(reading.dir, tool.script)
  const profile = deps.profile ?? bundle.file.profile
  const { faults, declarations } = await checkScript(source, file, { ...deps, profile })
  const owner = { dir: reading.dir, bundle: bundle.file.name, tool: tool.name }
  read.scripts.push({ file, source, profile, owner, faults })
  for (const fault of faults) {
    const { severity, ...found } = fault
    const list = severity === 'error' ? read.faults : read.warnings
    list.push({ file, ...found })
  }
  if (declarations.externals.some(({ name }) => name === submitToolName))
    report(
      reading,
      [...at, 'script'],
      `${tool.script} calls ${submitToolName}, which in a bundle only the agent does; write - { builtin: ${submitToolName} }`,
    )
  const built = buildToolDefinition(tool, declarations, deps.hostInputNames ?? hostInputNames)
  for (const { key, message } of built.faults) report(reading, [...at, 'inputs_override', key], message)
  for (const { key, message } of built.warnings) {
    read.warnings.push(faultAt(reading, [...at, 'inputs_override', key], message))
  }
  bundle.tools.push(built.definition)
  bundle.scripts[tool.name] = { path: `${bundle.file.name}/${tool.script}`, source }
  bundle.hostInputs[tool.name] = built.hostInputs
}

async function readScript({ dir }: Reading, script: string): Promise<{ source: string } | { fault: string }> {
  const within = repoPathOf(script)
  const missing = { fault: `there is no script ${script} in the bundle's folder` }
  if (within === undefined) return missing // a path out of the folder is as good as none
  const read = await readSource(join(dir, within))
  if ('source' in read) return read
  return read.isMissing ? missing : { fault: `script ${script}: ${read.fault}` }
}

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
  for (const [index, other] of file.after.entries()) {
    if (other === file.name) report(reading, ['after', index], `${other} waits for itself`)
  }
  const { nodeKinds, languages } = reading.deps
  for (const [index, kind] of file.node_kinds.entries()) {
    if (nodeKinds?.has(kind) === false)
      report(reading, ['node_kinds', index], `no query pack finds nodes of kind ${kind}${meant(kind, nodeKinds)}`)
  }
  for (const [index, language] of file.languages.entries()) {
    if (languages?.has(language) === false)
      report(reading, ['languages', index], `there is no language ${language}${meant(language, languages)}`)
  }
}

function meant(given: string, known: ReadonlySet<string>): string {
  const near = nearest(given, [...known])
  return near === undefined ? '' : `; did you mean ${near}?`
}

function checkSettings(reading: Reading): void {
  for (const [name, setting] of Object.entries(reading.bundle.file.settings)) {
    if (setting.enum?.includes(setting.default) !== false) continue
    report(reading, ['settings', name, 'default'], `the default of ${name} is not one of its values`)
  }
}

/** Without the folder's own place: the same bundle has the same hash wherever it lies. */
function warningText({ dir, bundle }: Reading, { file, line, column, code, message }: BundleWarning): string {
  return `${bundle.file.name}/${relative(dir, file)}:${line}:${column} ${code} ${message}`
}

function report(reading: Reading, at: readonly (string | number)[], message: string): void {
  reading.read.faults.push(faultAt(reading, at, message))
}

function faultAt({ path, yaml }: Reading, at: readonly (string | number)[], message: string): BundleFault {
  return { file: path, ...yaml.placeOf(at), code: 'AGENT_001', message }
}
