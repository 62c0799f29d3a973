import { z } from 'zod'
import { Verdict } from '../decision.ts'
import { PublishedPull } from '../publication.ts'
import { event } from './event-row.ts'

const { number, url, branch, agent, state, head } = PublishedPull.shape
const Written = z.strictObject({
  number,
  url,
  branch,
  agent,
  change_sets: z.int(),
  carried: z.int(),
  commit: head,
  draft: z.boolean(),
})

const run_lifecycle = 'run_lifecycle'

/** The events of what people decide, and of what is published. They may come after the run's end. */
export const reviewEvents = {
  'decision.made': event('decision', 'Somebody has decided on a change set; `retry`: it is to be made once more.', {
    change_set_id: z.string(),
    verdict: Verdict,
    decided_by_name: z.string().optional(),
    reason: z.string().optional(),
    note: z.string().optional(),
    retry: z.literal(true).optional(),
    operation_id: z.string(),
    path: z.string(),
    qualified_name: z.string(),
  }),
  'publication.opened': { category: run_lifecycle, about: 'A pull request was opened.', data: Written },
  'publication.updated': {
    category: run_lifecycle,
    about: 'An open pull request has other changes now.',
    data: Written,
  },
  'publication.ended': event(run_lifecycle, 'A pull request was merged or closed.', {
    number,
    url,
    state,
    by: z.string().nullable(),
    change_sets: z.int(),
  }),
  'publication.refused': event(
    run_lifecycle,
    'Decisions that nobody has signed do not count. The first 50 change sets are named.',
    { error_code: z.string(), decisions: z.int(), change_set_ids: z.array(z.string()) },
  ),
  'publication.failed': event('failed', 'Nothing could be published, for this reason.', {
    error_code: z.string(),
    reason: z.string(),
  }),
} as const
