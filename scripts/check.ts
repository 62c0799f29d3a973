import { spawn } from 'node:child_process'

/**
 * `npm run check`: everything that is checked without running the system. Every step runs, also after a failure;
 * one line per step, the output of those that failed, exit code 1 if any did. With `--fix`, the linter and the
 * formatter first repair what they can.
 */
interface Step {
  name: string
  command: string
  args: readonly string[]
  /** Lines of the output that are shown even when the step passes. */
  shows?: RegExp
  /** What the output must hold: a command that does nothing also exits with 0. */
  proof?: RegExp
}

const mending: readonly Step[] = [
  { name: 'fix lint', command: 'oxlint', args: ['--type-aware', '--fix'] },
  { name: 'fix format', command: 'oxfmt', args: [] },
]

const steps: readonly Step[] = [
  { name: 'types', command: 'tsc', args: ['--noEmit'] },
  { name: 'types of the page', command: 'tsc', args: ['--noEmit', '-p', 'dashboard'] },
  { name: 'lint', command: 'oxlint', args: ['--type-aware', '--deny-warnings'] },
  { name: 'format', command: 'oxfmt', args: ['--check'] },
  {
    name: 'house rules',
    command: 'vitest',
    args: ['run', '--project', 'house', '--reporter', 'dot'],
    shows: /^aim: /,
    proof: /^aim: /m,
  },
  { name: 'dead code', command: 'knip', args: [] },
  { name: 'query packs', command: 'node', args: ['cli/remora.mjs', 'queries', 'check'] },
  {
    name: 'bundles',
    command: 'node',
    args: ['cli/remora.mjs', 'check', 'agents', 'examples/agents', '--strict'],
    proof: /lint: PASS[^]*article_section: PASS/,
  },
]

/** No step takes a minute; one that hangs must not block the others. */
const stepLimitMs = 180_000

interface StepResult {
  passed: boolean
  output: string
}

/** npm puts node_modules/.bin, with the pinned tools and the right Node, before everything else on the path. */
function runStep({ command, args, proof }: Step): Promise<StepResult> {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1' },
    timeout: stepLimitMs,
    killSignal: 'SIGKILL',
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ passed: false, output: error.message }))
    child.once('close', (code, signal) => {
      const output = Buffer.concat(chunks).toString('utf8')
      const proved = proof === undefined || proof.test(output)
      const remark =
        signal === null ? (proved ? '' : `nothing in the output matches ${proof}\n`) : `stopped by ${signal}\n`
      resolve({ passed: code === 0 && proved, output: output + remark })
    })
  })
}

const given = process.argv.slice(2)
if (given.some((argument) => argument !== '--fix')) {
  console.error('usage: npm run check [-- --fix]')
  process.exit(2)
}

const failed: string[] = []
for (const step of [...(given.includes('--fix') ? mending : []), ...steps]) {
  const startedAt = performance.now()
  const { passed, output } = await runStep(step)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`${passed ? 'pass' : 'FAIL'}  ${step.name.padEnd(12)} ${seconds.padStart(6)} s`)
  const lines = output.trimEnd().split('\n')
  for (const line of lines) if (!passed || step.shows?.test(line)) console.log(`      ${line}`)
  if (!passed && !mending.includes(step)) failed.push(step.name)
}

console.log(failed.length === 0 ? 'all checks passed' : `failed: ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1
