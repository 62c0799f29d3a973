import { dirname, relative } from 'node:path'
import { createVitest, type TestSpecification } from 'vitest/node'
import { z } from 'zod'

/**
 * Runs the tests that import a file, nearest first, until one fails, and writes after each group a verdict as a line of stdout.
 * The current folder decides whose tests are run by whose vitest: `mutations-main.ts` puts a copy of this program there.
 */
const Request = z.object({
  file: z.string(),
  /** Unless this is empty, these test files alone are run. */
  only: z.array(z.string()),
  /** These test files are left out: they fail without a mutation. */
  without: z.array(z.string()),
  mode: z.string(),
})

const { file, only, without, mode } = Request.parse(JSON.parse(process.argv[2] ?? ''))
/** In the order in which they are run. Long tests belong to neither suite. */
const projects = ['unit', 'house', 'programs', 'integration', 'e2e']
const vitest = await createVitest('test', {
  ...(only.length === 0 && { related: [file] }),
  mode,
  run: true,
  watch: false,
  bail: 1,
  fsModuleCache: true,
  maxWorkers: 1,
  reporters: [],
})
let isStopped = false
process.once('SIGTERM', () => {
  isStopped = true
  AbortSignal.timeout(15_000).addEventListener('abort', () => process.exit())
  void vitest.close().finally(() => process.exit())
})

const all = await vitest.getRelevantTestSpecifications(only)
const wanted = all.filter((one) => projects.includes(one.project.name) && !without.includes(pathOf(one)))
let untried = wanted.length
let noticedBy: string | null = null
tell()
for (const [, group] of [...Map.groupBy(wanted, rank)].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
  noticedBy ??= await firstFailure(group)
  if (noticedBy === null) untried -= group.length
  tell()
}
await vitest.close()
process.exit()

function tell(): void {
  if (!isStopped) process.stdout.write(`${JSON.stringify({ noticedBy, untried })}\n`)
}

function pathOf({ moduleId }: { moduleId: string }): string {
  return relative(process.cwd(), moduleId)
}

function rank(specification: TestSpecification): string {
  const path = pathOf(specification)
  const part = file.split('/', 2).join('/')
  const distance = dirname(path) === dirname(file) ? 0 : path.startsWith(`${part}/`) ? 1 : 2
  return `${projects.indexOf(specification.project.name)} ${distance}`
}

async function firstFailure(specifications: TestSpecification[]): Promise<string | null> {
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications)
  const failed = testModules.find((module) => module.state() === 'failed')
  if (failed === undefined) return unhandledErrors.length > 0 ? 'an unhandled error' : null
  const [test] = failed.children.allTests('failed')
  return `${pathOf(failed)} > ${test?.fullName ?? 'the file as a whole'}`
}
