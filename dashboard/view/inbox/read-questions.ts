import type { Connection } from '#client/connection.ts'
import type { Question } from '#client/wire.ts'
import type { QuestionPage } from '#schemas/question-schema.ts'
import type { RunPage, RunSummary } from '#schemas/run-schema.ts'
import type { z } from 'zod'

export type AskedInRun = { run: RunSummary; questions: readonly Question[] }

/** Older runs than these have long ended. */
const mostRunPages = 5

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

/** Reads what people are asked in all runs: open questions, and plans that wait. What was shown as open before (`seen`) stays, with its answer. */
export async function readInbox(
  connection: Connection,
  seen: Map<string, Set<string>>,
  signal: AbortSignal,
): Promise<AskedInRun[]> {
  const asked: AskedInRun[] = []
  for (const run of await readRuns(connection, signal)) {
    const before = seen.get(run.run_id) ?? new Set()
    if (run.open_questions === 0 && before.size === 0 && !waitsForApproval(run)) continue
    const all = await readQuestions(connection, run.run_id, { signal, ...(before.size === 0 && { status: 'open' }) })
    const questions = all.filter((one) => one.status === 'open' || before.has(one.request_id))
    seen.set(run.run_id, new Set(questions.map((one) => one.request_id)))
    asked.push({ run, questions })
  }
  return asked
}

export function waitsForApproval({ waiting_for: waiting }: RunSummary): boolean {
  return waiting.some(({ kind }) => kind === 'approval')
}

async function readRuns(connection: Connection, signal: AbortSignal): Promise<RunSummary[]> {
  const runs: RunSummary[] = []
  let before: string | undefined
  for (let page = 0; page < mostRunPages; page += 1) {
    const part = await connection.json<z.infer<typeof RunPage>>('/v1/runs', { query: { limit: 100, before }, signal })
    runs.push(...part.runs)
    if (part.next === null) break
    before = part.next
  }
  return runs
}
