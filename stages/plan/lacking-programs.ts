import { type BundleFile, provesTests } from '#domain/agent-bundle.ts'
import { allowedPrograms } from '#domain/allowed-programs.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { type GateRequest, settingsBefore } from '#domain/gate.ts'
import { type ProgramReport, soughtPrograms } from '#domain/program-report.ts'
import { folderOf } from '#domain/repo-path.ts'
import type { RunEnvironment } from '#domain/setup.ts'
import type { ScriptRunner } from '#domain/script-test-runner.ts'

export type ProgramFacts = {
  /** Reports what the workers have; undefined where that is not known: then nothing is left out for it. */
  programs?: ProgramReport | undefined
  /** The run's setup, which may install more. */
  environment?: RunEnvironment | undefined
  runnerOf?: ((path: string) => ScriptRunner | undefined) | undefined
  /** Is true when the snapshot has the file. */
  has?(path: string): boolean
}

type Needs = Pick<BundleFile, 'when' | 'evidence' | 'programs' | 'settings'>

/** Says why a bundle cannot do its work on a node here, so that no model is asked in vain; undefined where it can, or may. */
export function programLack(
  file: Needs,
  node: Pick<CodeNode, 'path' | 'language'>,
  facts: ProgramFacts,
): string | undefined {
  const { programs, environment } = facts
  const isTesting = provesTests(file)
  if (!isTesting && allowedPrograms(file).length === 0) return undefined
  const runner = isTesting ? facts.runnerOf?.(node.path) : undefined
  if (runner?.kind === 'other') return `its tests run with ${runner.name}, which Remora cannot run`
  if (environment?.kind === 'failed') return `the setup of its run failed: ${environment.reason}`
  if (programs === undefined) return undefined
  if (programs.lack !== undefined) return `no worker can run programs: ${programs.lack}`
  if (!isTesting || environment !== undefined) return undefined
  const needed = programOf(node.language, runner)
  if (needed === undefined || programs.names.includes(needed)) return undefined
  if (needed !== 'vitest') return `its tests need ${needed}, which the sandbox of no worker has`
  const folders = runner?.kind === 'vitest' ? [`${folderOf(runner.path)}/`, ''] : []
  const isThere = folders.some((folder) => facts.has?.(`${folder}node_modules/vitest/package.json`) === true)
  return isThere ? undefined : 'its tests run with vitest, which only a setup can install (--setup "npm ci")'
}

function programOf(language: string, runner: ScriptRunner | undefined): string | undefined {
  if (language === 'python') return 'python3'
  return runner?.kind === 'other' ? undefined : runner?.kind
}

/** Says before a run starts that its gate has not what it starts with, and what to do about it. A setup may install more. */
export function gateNotice(
  verify: Pick<GateRequest, 'command'> | undefined,
  { programs, environment }: Pick<ProgramFacts, 'programs' | 'environment'>,
): string | undefined {
  if (verify === undefined || programs === undefined) return undefined
  const head = `the gate "${verify.command}" cannot run`
  if (programs.lack !== undefined) return `${head}: no worker can run programs (${programs.lack})`
  const [first = ''] = verify.command.replace(settingsBefore, '').split(/\s/)
  const name = soughtPrograms.find((program) => program === first)
  if (environment !== undefined || name === undefined || programs.names.includes(name)) return undefined
  return `${head}: the sandbox of no worker has ${name}; see that the workers have it on their PATH, or name its folder in sandbox.paths and start it by its whole path`
}
