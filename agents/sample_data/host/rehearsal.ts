import { z } from 'zod'
import { type Conversation, lastResult } from '#rehearsal/conversation.ts'
import { casesFor } from './rehearsal/sample-cases.ts'
import { call, offering, type Rule } from '#rehearsal/rule.ts'

const Parameters = z.object({
  qualified_name: z.string(),
  schema: z.record(z.string(), z.unknown()),
  samples: z.string().nullable(),
  left_out: z.array(z.string()).default([]),
})
const Written = z.object({ path: z.string() })

export const sampleData: Rule = {
  // A bundle of one turn may offer it alone.
  plays: offering('write_samples'),
  next(conversation) {
    if (!conversation.steps.some(({ tool }) => tool === 'read_parameters')) return call('read_parameters')
    const read = readParameters(conversation)
    const isWritten = conversation.steps.some(({ tool }) => tool === 'write_samples')
    return read === undefined || read.samples !== null || isWritten
      ? undefined
      : call('write_samples', casesFor(read.schema, read.left_out))
  },
  conclude(conversation) {
    const read = readParameters(conversation)
    if (read === undefined) return { status: 'skipped', summary: 'No samples can be made.', changedFiles: [] }
    const name = read.qualified_name
    if (read.samples !== null) return { status: 'skipped', summary: `${name} has samples.`, changedFiles: [] }
    const written = Written.safeParse(lastResult(conversation, 'write_samples')).data
    if (written === undefined) {
      const status = isRefusedByCode(conversation) ? 'skipped' : 'failed'
      return { status, summary: `No samples were written for ${name}.`, changedFiles: [] }
    }
    return { status: 'success', summary: `Wrote samples for ${name}.`, changedFiles: [written.path] }
  },
}

function isRefusedByCode({ steps }: Conversation): boolean {
  const answer = steps.findLast(({ tool }) => tool === 'write_samples')?.result
  return JSON.stringify(answer ?? '').includes('the code itself refuses every valid case')
}

function readParameters(conversation: Conversation) {
  return Parameters.safeParse(lastResult(conversation, 'read_parameters')).data
}
