import { type Connection, RemoraProblem } from '#client/connection.ts'
import type { Question } from '#client/wire.ts'
import type { QuestionPage } from '#schemas/question-schema.ts'
import type { RunPage, RunSummary } from '#schemas/run-schema.ts'
import type { z } from 'zod'

export type AskedInRun = { run: RunSummary; questions: readonly Question[] }

/** Reads all questions of a run, or the open ones. */
export async function readQuestions(
  connection: Connection,
  runId: string,
  { status, signal }: { status?: 'open'; signal: AbortSignal },
): Promise<Question[]> {
  const all: Question[] = []
  for (let cursor: string | undefined; ;) {
    const query = { status, cursor, limit: 500 }
    const page = await connection.json<z.infer<typeof QuestionPage>>(`/v1/runs/${runId}/questions`, { query, signal })
    all.push(...page.questions)
    if (page.next === null) return all
    cursor = page.next
  }
}

/**
 * Reads what people are asked in all runs, which only those ask that have not ended: open questions, and plans that wait. What was shown
 * `before` stays, with its answer.
 */
export async function readInbox(
  connection: Connection,
  before: readonly AskedInRun[],
  signal: AbortSignal,
): Promise<AskedInRun[]> {
  const shown = new Map(before.map((asked) => [asked.run.run_id, asked]))
  const unended = await readUnendedRuns(connection, signal)
  const ids = new Set(unended.map((run) => run.run_id))
  const ended = before.flatMap(({ run }) =>
    ids.has(run.run_id) ? [] : [{ ...run, open_questions: 0, waiting_for: [] }],
  )
  const asked: AskedInRun[] = []
  for (const run of [...unended, ...ended]) {
    const known = new Set(shown.get(run.run_id)?.questions.map((one) => one.request_id))
    if (run.open_questions === 0 && known.size === 0 && !waitsForApproval(run)) continue
    const which = { signal, ...(known.size === 0 && { status: 'open' as const }) }
    const all = await readQuestions(connection, run.run_id, which).catch(noneOfDeleted)
    const questions = all.filter((one) => one.status === 'open' || known.has(one.request_id))
    if (questions.length > 0 || waitsForApproval(run)) asked.push({ run, questions })
  }
  return asked
}

function noneOfDeleted(error: unknown): Question[] {
  if (error instanceof RemoraProblem && error.code === 'RUN_001') return []
  throw error
}

export function waitsForApproval({ waiting_for: waiting }: RunSummary): boolean {
  return waiting.some(({ kind }) => kind === 'approval')
}

async function readUnendedRuns(connection: Connection, signal: AbortSignal): Promise<RunSummary[]> {
  const runs: RunSummary[] = []
  for (let before: string | undefined; ;) {
    const query = { limit: 100, ended: 'false', before }
    const page = await connection.json<z.infer<typeof RunPage>>('/v1/runs', { query, signal })
    runs.push(...page.runs)
    if (page.next === null) return runs
    before = page.next
  }
}
