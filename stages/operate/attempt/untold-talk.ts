import type { TalkPart } from '#store/objects/attempt-record.ts'
import type { Transcript } from '../agent/open-transcript.ts'

type Followed = Pick<Transcript, 'messages' | 'exchanges' | 'toolRuns'>

/** Nobody can follow what is said in so short a time: of an attempt that is over by then nothing is told, which costs nothing. */
const quietMs = 1_000

/** Tells a transcript in parts, from the time at which `follow` was given it. */
export type UntoldTalk = ReturnType<typeof openUntoldTalk>

export function openUntoldTalk() {
  const startedAt = Date.now()
  let transcript: Followed = { messages: [], exchanges: [], toolRuns: [] }
  let told: TalkPart['after'] = { messages: 0, exchanges: 0, tools: 0 }
  const quietFor = () => startedAt + quietMs - Date.now()
  return {
    follow: (given: Followed) => void (transcript = given),
    /** Returns what is to be told now; undefined for nothing. */
    next(): TalkPart | undefined {
      return quietFor() > 0 ? undefined : this.rest()
    },
    /** Returns all that was not told yet. */
    rest(): TalkPart | undefined {
      const messages = transcript.messages.slice(told.messages)
      const exchanges = transcript.exchanges.slice(told.exchanges)
      const tools = transcript.toolRuns.slice(told.tools)
      const isNothing = messages.length + exchanges.length + tools.length === 0
      return isNothing ? undefined : { startedAt, after: told, messages, exchanges, tools }
    },
    wasTold(part: TalkPart | undefined) {
      if (part === undefined) return
      const { after, messages, exchanges, tools } = part
      told = {
        messages: after.messages + messages.length,
        exchanges: after.exchanges + exchanges.length,
        tools: after.tools + tools.length,
      }
    },
    /** Says when it is to be told for the first time; later it goes along with events. */
    dueInMs: () => (transcript.messages.length > 0 && quietFor() > 0 ? quietFor() : Infinity),
  }
}
