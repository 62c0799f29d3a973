import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { delay } from '#platform/clock.ts'
import { lastDocument, openPrograms, remora } from '../../tests/program.ts'
import { openRunApi } from '../../tests/run-api.ts'
import { applyPatch } from '../repositories/run-remora.ts'
import { runCommand } from '../repositories/run-command.ts'
import { type Subject, unpackSubject } from './subjects.ts'

export const agents = ['lint', 'docstring', 'test', 'sample_data']

const Ready = z.object({ url: z.string(), token: z.string() })
const Funnel = z.looseObject({
  agent: z.string(),
  generated: z.int(),
  valid: z.int(),
  verified: z.int().nullable(),
  accepted: z.int(),
})
const Run = z.looseObject({
  status: z.string(),
  funnel: z.array(Funnel),
  gate: z.looseObject({ verdict: z.string(), tests: z.int().nullable(), left_out: z.int(), runs: z.int() }).nullable(),
})
const Change = z.looseObject({
  agent: z.string(),
  verdict: z.string().nullish(),
  evidence: z.array(
    z.looseObject({ check: z.string(), ok: z.boolean(), before: z.number().optional(), after: z.number().optional() }),
  ),
})
export type MeasuredSubject = {
  subject: Subject
  funnel: z.infer<typeof Funnel>[]
  gate: z.infer<typeof Run>['gate']
  /** Of all tests that were written: faults planted in their functions, and those that a test noticed. */
  mutants: number
  killed: number
  /** Accepted change sets without evidence, or with a check that failed or could not be made. */
  unproved: number
  patchApplies: boolean
  /** What running its tests says, before and with the accepted patch. */
  before: TestState
  after: TestState
  wallMs: number
}
type TestState = { passes: boolean; tests: number }

/** Runs the agents over the subject with its tests as the gate, takes what is accepted by policy, and runs the tests. */
export async function measureSubject(subject: Subject, work: string): Promise<MeasuredSubject> {
  const place = join(work, subject.name.replaceAll('/', '-'))
  await rm(place, { recursive: true, force: true })
  await mkdir(place, { recursive: true })
  const source = join(place, 'source')
  await unpackSubject(subject, source, join(work, 'cache'))
  const programs = openPrograms()
  try {
    const started = performance.now()
    const up = remora(programs, { path: place }, ['up', '--port', '0', '--model', 'rehearsal', '--json'], {
      REMORA_SETUP: 'asked',
    })
    for (; !up.out().includes('\n'); await delay(50)) if (!up.running()) throw new Error(up.err())
    const access = Ready.parse(JSON.parse(up.out()))
    const setup = subject.setup === undefined ? [] : ['--setup', subject.setup]
    const options = ['--agents', agents.join(','), '--accept', 'auto', '--verify', subject.tests, ...setup, '--json']
    const env = { REMORA_API_URL: access.url, REMORA_TOKEN: access.token }
    const submit = remora(programs, { path: place }, ['submit', 'source', ...options], env)
    if ((await submit.exited) !== 0) throw new Error(`${subject.name}: ${submit.err()}`)
    const { run_id: runId } = z.object({ run_id: z.string() }).parse(lastDocument(submit.out()))
    const api = openRunApi(access)
    await api.follow(runId)
    const wallMs = performance.now() - started
    const run = Run.parse(await (await api.ask(`/v1/runs/${runId}`)).json())
    const changes = z.array(Change).parse(await api.changes(runId))
    const patch = join(place, 'accepted.patch')
    await writeFile(patch, await (await api.ask(`/v1/runs/${runId}/patch?of=accepted`)).text())
    const after = join(place, 'after')
    await cp(source, after, { recursive: true })
    const patchApplies = await applyPatch(patch, after, place)
    const mutants = changes.flatMap(({ evidence }) => evidence.filter(({ check }) => check === 'tests_kill_mutants'))
    const accepted = changes.filter(({ verdict }) => verdict === 'accepted')
    return {
      subject,
      funnel: run.funnel,
      gate: run.gate,
      mutants: sum(mutants.map(({ before = 0 }) => before)),
      killed: sum(mutants.map(({ after: killed = 0 }) => killed)),
      unproved: accepted.filter(({ evidence }) => !isProved(evidence)).length,
      patchApplies,
      before: await runTests(subject, source, place),
      after: await runTests(subject, after, place),
      wallMs,
    }
  } finally {
    await programs.end()
  }
}

/** As `proofOf` has it: every check was made, and passed. */
function isProved(evidence: z.infer<typeof Change>['evidence']): boolean {
  return evidence.length > 0 && evidence.every(({ check, ok }) => ok && check !== 'not_checked')
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

async function runTests({ setup = 'true', tests }: Subject, cwd: string, place: string): Promise<TestState> {
  const { HOME = '' } = process.env
  // The tests as in the sandbox: with the node of this process, and the system's python3.
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME, PYTHONDONTWRITEBYTECODE: '1' }
  const command = `(${setup}) >/dev/null && PATH="$0:$PATH" && export PATH && ${tests}`
  const logFile = join(place, `tests-${cwd.split('/').at(-1)}`)
  const end = await runCommand({
    argv: ['sh', '-c', command, join(process.execPath, '..')],
    cwd,
    env,
    limitMs: 15 * 60_000,
    logFile,
  })
  const count = /^(?:Ran (\d+) tests?|(?:#|ℹ) tests (\d+))/m.exec(`${end.err}\n${end.out}`)
  return { passes: end.code === 0, tests: Number(count?.[1] ?? count?.[2] ?? 0) }
}
