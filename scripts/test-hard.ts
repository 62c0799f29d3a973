import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { hardListPath, hardListText, hashOf, isWaiting, readHardList } from '../tests/house/hard-list.ts'
import { readRepositoryFile, repositoryRoot } from '../tests/house/source-files.ts'

/**
 * `npm run test:hard FILE…` repeats test files beside eight busy processes: twenty times each, three times where a run takes
 * over 30 s. It stops at the first failure, with its output and exit code 1. What passed is noted in tests/hard.json, without
 * which `npm run check` refuses a new or changed test that waits.
 */
const busyProcesses = 8
const longMs = 30_000

/** They end with this process, also when it is killed. */
const busy = 'while (process.ppid === Number(process.argv[1])) for (let spins = 0; spins < 1e8; spins += 1);'

const files = process.argv.slice(2)
const wrong = files.filter((file) => !file.endsWith('.test.ts') || !existsSync(resolve(repositoryRoot, file)))
for (const file of wrong)
  console.error(`${file} is no test file: name one by its path from the root, as domain/a.test.ts`)
if (files.length === 0) console.error('usage: npm run test:hard FILE…')
if (files.length === 0 || wrong.length > 0) process.exit(2)

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
const burners = Array.from({ length: busyProcesses }, () =>
  spawn(process.execPath, ['-e', busy, String(process.pid)], { stdio: 'ignore' }),
)
try {
  for (const file of files) await repeat(file)
} catch (error) {
  console.error(stop.signal.aborted ? 'stopped' : error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  for (const burner of burners) burner.kill('SIGKILL')
}

async function repeat(file: string): Promise<void> {
  const text = readRepositoryFile(file)
  let runs = 20
  for (let run = 1; run <= runs; run += 1) {
    const startedAt = performance.now()
    const { passed, output } = await runOnce(file)
    const tookMs = performance.now() - startedAt
    console.log(`${passed ? 'pass' : 'FAIL'}  ${file}, run ${run}: ${(tookMs / 1000).toFixed(1)} s`)
    if (!passed) throw new Error(`${output}\n${file} failed in run ${run}`)
    if (run === 1 && tookMs > longMs) runs = 3
  }
  if (isWaiting(text)) note({ file, hash: hashOf(text), runs, date: new Date().toISOString().slice(0, 10) })
}

/** A run of which nothing is left but skipped tests has not passed: the machine lacks what the file needs. */
async function runOnce(file: string): Promise<{ passed: boolean; output: string }> {
  const mode = file.endsWith('.long.test.ts') ? ['--mode', 'all'] : []
  const child = spawn('vitest', ['run', file, '--reporter=dot', ...mode], {
    cwd: repositoryRoot,
    env: { ...process.env, CI: '1', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: stop.signal,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  const [code] = await once(child, 'close')
  return { passed: code === 0 && /Test Files +1 passed \(1\)/.test(output), output }
}

function note(entry: { file: string; hash: string; runs: number; date: string }): void {
  const isOther = ({ file }: { file: string }) => file !== entry.file
  const { tried, before } = readHardList()
  const sorted = [...tried.filter(isOther), entry].toSorted((one, other) => (one.file < other.file ? -1 : 1))
  writeFileSync(resolve(repositoryRoot, hardListPath), hardListText({ tried: sorted, before: before.filter(isOther) }))
}
