import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openReleaser } from '#platform/service-process.ts'
import { openPrograms } from '../tests/program.ts'
import { openPersonClone, startWithGitHub } from '../tests/github-host.ts'
import { type Column, saveReport, sectionHead, table } from './reports/markdown-report.ts'
import { benchPackages } from './repositories/bench-packages.ts'
import { runTests } from './repositories/check-tree.ts'
import { lostTests } from './repositories/compare-states.ts'
import { cacheFolder, preparePackage } from './repositories/prepare-package.ts'

/**
 * `node bench/push-bench.ts`: `git push` of packages of PyPI to a fake GitHub, and what git shows afterwards: the check run, the branch of
 * the pull request with the package's own tests, and how many operations a second push with one changed function has. Writes
 * results/push.md. With `--packages a,b`, or `--quick` (the smallest one), it only prints. Exit code 1 when a test is worse.
 */
const { packages, quick } = parseArgs({
  options: { packages: { type: 'string' }, quick: { type: 'boolean', default: false } },
}).values
const usual = ['pycodestyle', 'parso', 'packaging']
const named = quick ? ['pycodestyle'] : (packages?.split(',') ?? usual)
const waitMs = 30 * 60_000
const settings = 'github:\n  agents: [lint, docstring]\n  max_files: 3000\n  max_lines: 100000\n'

type Pushed = {
  name: string
  files: number
  operations: number
  changes: string
  commits: string
  secondsToPull: number
  worse: string[]
  passed: number
  second: number
  kept: boolean
}

const releaser = openReleaser()
const programs = openPrograms()
const results: Pushed[] = []
try {
  const { github, services, checked, stop } = await startWithGitHub(programs)
  releaser.add('stores and fake GitHub', stop)
  releaser.add('services', () => programs.end())
  for (const name of named) results.push(await pushPackage(name))
  async function pushPackage(name: string): Promise<Pushed> {
    const one = benchPackages.find((other) => other.name === name)
    if (one === undefined) throw new Error(`there is no package ${name}`)
    const prepared = await preparePackage(one, cacheFolder())
    const work = join(prepared.work, 'push')
    await rm(work, { recursive: true, force: true })
    await mkdir(work, { recursive: true })
    const repository = await github.addRepository({ owner: 'acme', name, files: { 'remora.yaml': settings } })
    github.install({ account: 'acme', repositories: [name] })
    const clone = await openPersonClone(repository.gitPath)
    const begunAt = performance.now()
    const first = await clone.pushFolder(prepared.tree, `${name} as its sdist has it`)
    const runId = await checked(repository, first, waitMs)
    const secondsToPull = Math.round((performance.now() - begunAt) / 1_000)
    const [pull] = repository.pulls()
    const before = join(work, 'before')
    const after = join(work, 'after')
    await clone.checkoutTo('main', before)
    await clone.checkoutTo(pull?.head.ref ?? 'main', after)
    const was = await runTests({ one, prepared, tree: before })
    const is = await runTests({ one, prepared, tree: after })
    const operations = await services.api.operations(runId)
    const stat = await clone.git('diff', '--shortstat', 'origin/main', `origin/${pull?.head.ref ?? 'main'}`)
    const commits = await clone.git('log', '--format=%s', `origin/main..origin/${pull?.head.ref ?? 'main'}`)
    const second = await clone.push(await oneFunctionMore(clone, pull?.head.ref ?? 'main'), 'One function more')
    const next = await checked(repository, second, waitMs)
    await clone.git('fetch', '--quiet', 'origin')
    const stays = await clone.git('diff', '--shortstat', 'origin/main', `origin/${pull?.head.ref ?? 'main'}`)
    return {
      name,
      files: (await clone.git('ls-files')).split('\n').length,
      operations: operations.length,
      changes: stat.trim(),
      commits: commits.split('\n').toReversed().join('; '),
      secondsToPull,
      worse: lostTests(was, is),
      passed: was.passed.length,
      second: (await services.api.operations(next)).length,
      kept: filesIn(stays) >= filesIn(stat) - 1,
    }
  }
} finally {
  await releaser.release()
}

function filesIn(stat: string): number {
  return Number(/(\d+) files? changed/.exec(stat)?.[1] ?? 0)
}

/** A module that the branch changes, else one of the package, with one more function, which has no docstring. */
async function oneFunctionMore({ path: root, git }: Awaited<ReturnType<typeof openPersonClone>>, branch: string) {
  const changed = await git('diff', '--name-only', 'origin/main', `origin/${branch}`)
  const all = await git('ls-files')
  const isCode = (path: string) => path.endsWith('.py') && !/(?:^|\/)(?:test|setup|doc|conf)/.test(path)
  const path = [...changed.split('\n'), ...all.split('\n')].find(isCode)
  if (path === undefined) throw new Error('the package has no module')
  const text = await readFile(join(root, path), 'utf8')
  return { [path]: `${text.trimEnd()}\n\n\ndef twice_as_many(number):\n    return number * 2\n` }
}

const columns: Column<Pushed>[] = [
  ['package', ({ name }) => name],
  ['files', ({ files }) => files],
  ['operations', ({ operations }) => operations],
  ['branch against main', ({ changes }) => changes],
  ['s to the end of the check run', ({ secondsToPull }) => secondsToPull],
  ['tests worse', ({ worse, passed }) => (worse.length === 0 ? `none of ${passed}` : worse.join(', '))],
  ['operations of the second push', ({ second }) => second],
  ['open changes kept', ({ kept }) => (kept ? 'yes' : 'no')],
]
const text = `${sectionHead('A push of real packages', { command: 'node bench/push-bench.ts' })}
Rehearsal model (no LLM). The sdist of each package is pushed with git to a fake GitHub, whose webhook
starts the run with the agents lint and docstring. Its pull request is read with git alone: the package's own tests on main and on
the branch. Then one function without a docstring is added to a module and pushed.

${table(columns, results)}
`
await saveReport('push', text, { quick: quick || packages !== undefined })
process.exitCode = results.every(({ worse, second }) => worse.length === 0 && second <= 5) ? 0 : 1
