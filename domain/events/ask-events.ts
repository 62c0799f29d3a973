import { z } from 'zod'
import { RunAnswer } from '../agenda.ts'
import { AskId } from '../id-schemas.ts'
import { event } from './event-row.ts'

const ask_id = AskId
const tokens = { prompt_tokens: z.int(), completion_tokens: z.int() }

/** The events of what people ask about a run. They may come after its end. */
export const askEvents = {
  'ask.received': event('run_lifecycle', 'Somebody asks about the run.', { ask_id, text: z.string(), by: z.string() }),
  'ask.answered': event('run_lifecycle', 'A model has answered that, from what has happened in the run.', {
    ask_id,
    answer: RunAnswer,
    model: z.string(),
    prompt_hash: z.string(),
    schema_hash: z.string(),
    requests: z.int(),
    ...tokens,
  }),
  'ask.failed': event('failed', 'It was not answered. `given`: the answer that could not be taken.', {
    ask_id,
    error_code: z.string(),
    reason: z.string(),
    given: z.string().optional(),
    ...tokens,
  }),
} as const
