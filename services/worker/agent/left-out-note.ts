import type { Message } from '#domain/turn.ts'
import { foldContext } from '../context/fold-context.ts'
import { joinSections, renderContext } from '../context/render-context.ts'
import { retoldEvents } from './retold-events.ts'
import type { Transcript } from './transcript.ts'

/** Whatever is left out to make room, what stands for it must not take much of that. */
const maxTokens = 500

/**
 * What is said in place of messages that are left out: what was done in them, and what the attempt has learned and what
 * failed last, up to now. Of one conversation and one piece of it always the same.
 */
export function leftOutNote(
  { messages, toolRuns }: Pick<Transcript, 'messages' | 'toolRuns'>,
  leftOut: readonly Message[],
): string {
  const { lastError, knowledge } = foldContext(retoldEvents(messages, toolRuns))
  const { shortTrack } = foldContext(retoldEvents(leftOut, toolRuns))
  const nothing = { longTrack: [], relatedCode: { excerpts: [], more: 0 } }
  const told = renderContext({ lastError, shortTrack, knowledge, ...nothing }, { maxTokens })
  return joinSections([`(${leftOut.length} messages that followed are left out here.)`, told])
}
