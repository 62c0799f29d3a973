import { z } from 'zod'
import { type DecisionsView, refusals, type WantedVerdict } from '#schemas/decision-schema.ts'
import { answerFits } from '#schemas/wire-parts.ts'
import { ApiProblem } from './api-connection.ts'

/**
 * Asks for decisions on the change sets with these ids, or on all that meet a filter, `{}` for all; `alsoDecided`: also on those of them that
 * people have decided before. `withDependents`: what is built on them is
 * rejected or taken back with them.
 */
export type WantedDecisions = {
  verdict: WantedVerdict
  reason?: string | undefined
  withDependents?: true | undefined
  /** The agents try again what is rejected. */
  retry?: true | undefined
} & ({ sets: readonly string[] } | { where: Readonly<Record<string, string>>; alsoDecided?: true | undefined })

/** A request takes as many, and a retry repeats as many. With the longest reason they are less than the 64 KiB of a request. */
const decisionsAtOnce = 1_000

/** Decides in requests of a thousand; what a later request made possible is asked for again, as long as that decides more. */
export async function decideInSlices(
  runId: string,
  { verdict, reason, retry, withDependents, ...chosen }: WantedDecisions,
  send: (document: object) => Promise<DecisionsView>,
): Promise<DecisionsView> {
  const same = { verdict, reason, retry, with_dependents: withDependents }
  if ('where' in chosen) return send({ where: chosen.where, also_decided: chosen.alsoDecided, ...same })
  const made: DecisionsView[] = []
  for (let open = chosen.sets; ;) {
    const answers: DecisionsView[] = []
    for (const slice of slicesOf(open)) {
      const decisions = slice.map((id) => ({ change_set_id: id }))
      answers.push(await send({ decisions, ...same }))
    }
    const decided = new Set(answers.flatMap(({ decisions }) => decisions.map((decision) => decision.change_set_id)))
    const left = open.filter((id) => !decided.has(id))
    const isDone = left.length === 0 || left.length === open.length
    if (isDone || verdict === 'accept' || open.length <= decisionsAtOnce)
      return allDecided(runId, [...made, ...answers])
    made.push(...answers.map(withoutRefusals))
    open = left
  }
}

function slicesOf(sets: readonly string[]): (readonly string[])[] {
  return Array.from({ length: Math.ceil(sets.length / decisionsAtOnce) }, (_none, at) =>
    sets.slice(at * decisionsAtOnce, (at + 1) * decisionsAtOnce),
  )
}

const Refusals = z.looseObject(refusals)

/** Makes an answer of a problem that has all its refusals. */
export function nothingDecided(runId: string): (error: unknown) => DecisionsView {
  return (error) => {
    if (!(error instanceof ApiProblem) || !answerFits(Refusals, error.document)) throw error
    const { refused_count, refused } = error.document
    return { ...nothing(runId), refused_count, refused }
  }
}

function withoutRefusals(answer: DecisionsView): DecisionsView {
  const counts = Object.entries(answer.by_agent).map(([agent, made]) => [agent, { ...made, refused: 0 }] as const)
  return { ...answer, refused_count: 0, refused: [], by_agent: Object.fromEntries(counts) }
}

function nothing(runId: string): DecisionsView {
  const none = { made: 0, by_agent: {}, decisions: [], left_alone: 0, retry: null, refused_count: 0, refused: [] }
  return { run_id: runId, ...none }
}

function allDecided(runId: string, answers: readonly DecisionsView[]): DecisionsView {
  const all = nothing(runId)
  for (const answer of answers) {
    all.made += answer.made
    all.decisions.push(...answer.decisions)
    all.refused_count += answer.refused_count
    all.refused.push(...answer.refused)
    all.retry = answer.retry ?? all.retry
    for (const [agent, { made, before, refused }] of Object.entries(answer.by_agent)) {
      const counts = (all.by_agent[agent] ??= { made: 0, before: 0, refused: 0 })
      counts.made += made
      counts.before += before
      counts.refused += refused
    }
  }
  return all
}
