import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, globSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { applyMutation, drawMutations } from './draw-mutations.ts'

/**
 * `node tests/mutations/mutations-main.ts --suite old|new --in FOLDER [--mode MODE] [--limit-s N]`: tries each mutation of
 * `results.jsonl` against the tests in FOLDER that import the mutated file, until the first fails, and writes who that was. What is
 * there already is not tried again, unless a longer limit is given, so it can be stopped at any time. FOLDER is a clone for this alone,
 * with node_modules: a mutated file is restored there from git. If `results.jsonl` is missing, its mutations are drawn first, from FOLDER.
 *
 * The old suite is that of commit 9a1e3608, with `--mode all`. Long tests belong to neither suite.
 *
 * Looked at instead: Stryker with its vitest runner. It runs the tests once before the first mutation, draws no sample, turns mutants on
 * in the process of the test (services are processes of their own here), and compares no suites.
 */
const { values } = parseArgs({
  options: {
    suite: { type: 'string', default: 'new' },
    in: { type: 'string', default: '' },
    mode: { type: 'string', default: 'test' },
    'limit-s': { type: 'string', default: '720' },
  },
})
const suite = z.enum(['old', 'new']).parse(values.suite)
const folder = realpathSync(values.in)
const limitMs = Number(values['limit-s']) * 1000
if (process.cwd().startsWith(folder)) throw new Error('FOLDER must be a clone for this alone.')

const Verdict = z.object({ noticedBy: z.string().nullable(), untried: z.number() })
/**
 * `untried`: so many test files were not run to their end, since one failed or the limit was reached; -1: it was reached before they were
 * known. `gone`: the mutated lines have changed.
 */
const Result = z.union([Verdict.extend({ seconds: z.number() }), z.literal('gone')]).nullable()
type Result = z.infer<typeof Result>
const Entry = z.object({
  id: z.number(),
  file: z.string(),
  line: z.number(),
  operator: z.string(),
  before: z.string(),
  after: z.string(),
  old: Result,
  new: Result,
})
type Entry = z.infer<typeof Entry>

const list = join(import.meta.dirname, 'results.jsonl')
const entries = existsSync(list) ? readEntries() : drawEntries()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130))
const failing: string[] = []
const passing = new Set<string>()
copyFileSync(join(import.meta.dirname, 'related-main.ts'), join(folder, 'related-main.ts'))
await restore()
const other = suite === 'old' ? 'new' : 'old'
const open = entries.filter((entry) => isOpen(entry[suite]))
// Those that the other suite noticed come first: they are quickly tried, and say most.
for (const entry of open.toSorted((a, b) => testFile(b[other]).length - testFile(a[other]).length)) {
  const path = join(folder, entry.file)
  const mutated = existsSync(path) ? applyMutation(readFileSync(path, 'utf8'), entry) : undefined
  const result = mutated === undefined ? 'gone' : await tryMutation(entry, path, mutated)
  // Somebody else may have added results of the other suite meanwhile.
  save(readEntries().map((one) => (one.id === entry.id ? { ...one, [suite]: result } : one)))
  process.stdout.write(
    `${suite} ${entry.id} ${entry.file}:${entry.line} ${entry.operator}: ${JSON.stringify(result)}\n`,
  )
}

/** What an earlier, shorter limit has left is tried again. */
function isOpen(result: Result): boolean {
  if (result === null || result === 'gone') return result === null
  return result.noticedBy === null && result.untried !== 0 && result.seconds * 1000 < limitMs
}

/**
 * Counts a failure only if the test file passes without the mutation, which is tried where it depends on the machine; else the file is
 * left out from then on. The tests beside the file, and the one that noticed the mutation in the other suite, are run first, since to
 * find all tests that import the file takes a while.
 */
async function tryMutation(entry: Entry, path: string, mutated: string) {
  const { file } = entry
  const startedAt = performance.now()
  const beside = ['.test.ts', '.integration.test.ts'].map((end) => file.replace(/\.ts$/, end))
  let only = [...beside, ...testFile(entry[other])].filter((test) => existsSync(join(folder, test)))
  for (;;) {
    writeFileSync(path, mutated)
    const verdict = await runRelated({ file, without: failing, only }, startedAt + limitMs)
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    await restore()
    const noticing = testFile(verdict)
    const doubtful = noticing.filter((test) => /\.(integration|e2e)\./.test(test) && !passing.has(test))
    for (const test of doubtful) {
      const { noticedBy } = await runRelated({ file, without: [], only: [test] }, performance.now() + limitMs)
      if (noticedBy === null) passing.add(test)
      else failing.push(test)
    }
    if (noticing.length === 0 ? only.length === 0 : !noticing.some((test) => failing.includes(test)))
      return { ...verdict, seconds }
    only = []
  }
}

function testFile(result: Pick<z.infer<typeof Verdict>, 'noticedBy'> | 'gone' | null): string[] {
  return result === null || result === 'gone' ? [] : (/^\S+\.test\.ts/.exec(result.noticedBy ?? '') ?? [])
}

async function runRelated(request: { file: string; only: string[]; without: string[] }, deadline: number) {
  const child = spawn(process.execPath, ['related-main.ts', JSON.stringify({ ...request, mode: values.mode })], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, PATH: `${join(folder, 'node_modules/.bin')}:${process.env['PATH']}` },
    timeout: Math.max(1, Math.round(deadline - performance.now())),
  })
  const exited = once(child, 'exit')
  const closed = once(child, 'close')
  const end = () => killGroup(child.pid)
  process.once('exit', end)
  const lines: string[] = []
  child.stdout.on('data', (chunk: Buffer) => lines.push(String(chunk)))
  await exited
  end()
  process.off('exit', end)
  await closed
  const verdict = lines.join('').trim().split('\n').at(-1)
  return Verdict.parse(JSON.parse(verdict || '{"noticedBy":null,"untried":-1}'))
}

/** What the tests have started and left is in the same process group. */
function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // Nothing is left of it.
  }
}

async function restore(): Promise<void> {
  await once(spawn('git', ['checkout', '--quiet', '--force', '--', '.'], { cwd: folder, stdio: 'inherit' }), 'close')
}

function readEntries() {
  const lines = readFileSync(list, 'utf8').trim().split('\n')
  return lines.map((line) => Entry.parse(JSON.parse(line)))
}

function drawEntries() {
  const exclude = ['**/*.{test,fixture}.ts']
  const files = globSync('{core,services,cli}/**/*.ts', { cwd: folder, exclude }).toSorted()
  const sources = files.map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }))
  const drawn = drawMutations(sources, 60, 39)
  const fresh = drawn.map((mutation, at) => ({ id: at + 1, ...mutation, old: null, new: null }))
  save(fresh)
  return fresh
}

function save(changed: Entry[]): void {
  writeFileSync(`${list}.part`, changed.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
  renameSync(`${list}.part`, list)
}
