import { type Column, median, sectionHead, spread, table, verdict } from './markdown-report.ts'

/** One run's review, in ms: all decisions in one request, the patch of it, then one more decision and the patch after it. */
export type Reviewed = {
  decideMs: number
  patchMs: number
  acceptMs: readonly number[]
  nextPatchMs: readonly number[]
}

export type ReviewFigures = { sets: number; files: number; rounds: readonly Reviewed[]; redisVersion: string }

type Row = { name: string; values: readonly number[]; aimMs: number | undefined }

const columns: readonly Column<Row>[] = [
  ['', ({ name }) => name],
  ['ms', spread(({ values }) => values, 0)],
  ['aim', ({ values, aimMs }) => (aimMs === undefined ? '' : `≤ ${aimMs}: ${verdict(median(values) <= aimMs)}`)],
]

/** results/review.md */
export function renderReview({ sets, files, rounds, redisVersion }: ReviewFigures): string {
  const rows: Row[] = [
    { name: `${sets} change sets accepted in one request`, values: rounds.map((one) => one.decideMs), aimMs: 1_000 },
    {
      name: `the accepted patch of ${sets} sets in ${files} files`,
      values: rounds.map((one) => one.patchMs),
      aimMs: 3_000,
    },
    { name: 'one more accepted', values: rounds.flatMap((one) => one.acceptMs), aimMs: undefined },
    { name: 'the accepted patch after it', values: rounds.flatMap((one) => one.nextPatchMs), aimMs: undefined },
    {
      name: 'both together',
      values: rounds.flatMap(({ acceptMs, nextPatchMs }) => acceptMs.map((ms, at) => ms + (nextPatchMs[at] ?? 0))),
      aimMs: 200,
    },
  ]
  return `${sectionHead('Reviewing a run', { command: 'node bench/review-bench.ts', redisVersion })}
Runs of ${sets} change sets, each a docstring for one of five functions of its file, with records of 25 kB. Over HTTP with an API that
has read nothing of the run before; one worker composes the patch and makes all checks of each file again. Redis, the object
store, API and worker share the machine. Medians (least–most).

${table(columns, rows)}
`
}
