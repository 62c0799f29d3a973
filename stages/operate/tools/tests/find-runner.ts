import { AppError } from '#domain/error.ts'
import { scriptTestRunnerOf } from '#domain/script-test-runner.ts'
import type { Workspace } from '../../workspace/open-workspace.ts'
import type { AttemptPrograms } from '../programs/attempt-programs.ts'
import { type TestRunner, vitest } from '../programs/run-tests.ts'
import { testsNear, textOf } from './find-tests.ts'

/** Says what runs the tests of a language here, as evidence names it. */
export type FoundRunner = { runner: Exclude<TestRunner, 'auto'>; tool: string; version: string }

type Deps = { workspace: Pick<Workspace, 'list' | 'readText' | 'exists'>; run: AttemptPrograms['run'] }

/** Finds the repository's runner: pytest or unittest, vitest or node:test. TOOL_005 for one that the sandbox lacks or nobody here knows. */
export async function findRunner(language: string, near: string, deps: Deps): Promise<FoundRunner> {
  return language === 'python' ? pythonRunner(near, deps) : scriptRunner(near, deps)
}

const probe = `import importlib.util, platform
print(platform.python_version())
if importlib.util.find_spec("pytest"):
    import pytest
    print(pytest.__version__)
`

async function pythonRunner(near: string, deps: Deps): Promise<FoundRunner> {
  const { ending, output } = await deps.run({ command: ['python3', '-c', probe] })
  const [version = '', pytest] = output.trim().split('\n')
  if (ending.kind === 'stopped' || ending.code !== 0 || !isVersion(version))
    throw new AppError('TOOL_005', `tests cannot be run: the sandbox has no python3 that works (${clipped(output)})`)
  if (pytest !== undefined && isVersion(pytest) && (await usesPytest(near, deps.workspace)))
    return { runner: 'pytest', tool: 'pytest', version: pytest }
  return { runner: 'unittest', tool: 'unittest', version }
}

const pytestSections: Readonly<Record<string, RegExp>> = {
  'pytest.ini': /./,
  'conftest.py': /./,
  'pyproject.toml': /^\[tool\.pytest\b/m,
  'setup.cfg': /^\[tool:pytest\]/m,
  'tox.ini': /^\[pytest\]/m,
}
const maxLookedAt = 20

async function usesPytest(near: string, workspace: Deps['workspace']): Promise<boolean> {
  for (const [path, section] of Object.entries(pytestSections)) {
    if (section.test(await textOf(workspace, path))) return true
  }
  for (const path of testsNear(workspace, near).slice(0, maxLookedAt)) {
    if (/(?:^|\/)conftest\.py$/.test(path)) return true
    if (/^\s*(?:import|from) pytest\b/m.test(await textOf(workspace, path))) return true
  }
  return false
}

async function scriptRunner(near: string, { workspace, run }: Deps): Promise<FoundRunner> {
  const named = await scriptTestRunnerOf(near, (path) => textOf(workspace, path))
  if (named.kind === 'vitest') return foundVitest(named.path, run)
  if (named.kind === 'node') return foundNode(run)
  throw new AppError('TOOL_005', `the tests of ${named.path} run with ${named.name}, which Remora cannot run`)
}

async function foundNode(run: Deps['run']): Promise<FoundRunner> {
  const { ending, output } = await run({ command: ['node', '--version'] })
  const version = output.trim().replace(/^v/, '')
  if (ending.kind === 'exited' && ending.code === 0 && isVersion(version))
    return { runner: 'node', tool: 'node:test', version }
  throw new AppError('TOOL_005', `tests cannot be run: the sandbox has no node that works (${clipped(output)})`)
}

async function foundVitest(path: string, run: Deps['run']): Promise<FoundRunner> {
  const { ending, output } = await run({ command: vitest('--version') })
  const version = /\d+\.\d+\.\d+\S*/.exec(output)?.[0]
  if (ending.kind === 'exited' && ending.code === 0 && version !== undefined)
    return { runner: 'vitest', tool: 'vitest', version }
  throw new AppError('TOOL_005', `the tests of ${path} run with vitest, which the sandbox does not have (node_modules)`)
}

function isVersion(text: string): boolean {
  return /^\d+\.\d[\w.+-]*$/.test(text)
}

function clipped(output: string): string {
  return output.trim().slice(-200)
}
