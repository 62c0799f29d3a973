import type { RunId } from '#domain/ids.ts'
import { decisionEvent, anItem, aPlannedItem, conductedRun, dispatchItems } from '#testing/conducted-run.ts'
import { anEvent, type TestLedger } from '#testing/open-test-ledger.ts'
import { child, origin, root, type Client, type ResendCase } from './resend-case.fixture.ts'
import { runKeys } from './keys.ts'

async function claimed({ ledger }: Pick<TestLedger, 'ledger'>): Promise<RunId> {
  const runId = await conductedRun(ledger)
  await ledger.claimStep(runId, { token: 'the-token', leaseMs: 60_000 })
  return runId
}

const state = {
  objective: 'Every function is explained.',
  items: [anItem('lint', { status: 'planning' }), anItem('other')],
  decisions: 0,
  bootstrap: null,
  fruitless: 0,
  approval: null,
  answer: null,
}

export const agendaCases: readonly ResendCase[] = [
  {
    script: 'claim-step',
    what: 'of a conductor',
    async prepare({ ledger }) {
      const runId = await conductedRun(ledger)
      const message = { kind: 'said', text: 'and tests', by: 'human/t1' } as const
      await ledger.sendToConductor(runId, message, { command: 'the-word', origin })
      const claim = { token: 'the-token', leaseMs: 60_000 }
      return { runId, send: (client) => client.ledger.claimStep(runId, claim) }
    },
  },
  {
    script: 'note-reply',
    what: 'of a planner',
    async prepare(test) {
      const runId = await claimed(test)
      await test.ledger.setBudget(runId, { tokens: 100, origin })
      await test.ledger.reserve(runId, { of: { by: 'agenda', token: 'the-token' }, tokens: 60 })
      const reply = { token: 'the-token', version: 0, recordHash: 'r', tokens: 40 }
      return { runId, send: ({ ledger }) => ledger.noteReply(runId, reply) }
    },
  },
  {
    script: 'reserve',
    what: 'for the step of a conductor',
    async prepare(test) {
      const runId = await claimed(test)
      await test.ledger.setBudget(runId, { tokens: 100, origin })
      return {
        runId,
        send: ({ ledger }) => ledger.reserve(runId, { of: { by: 'agenda', token: 'the-token' }, tokens: 60 }),
      }
    },
  },
  {
    script: 'commit-step',
    what: 'that waits for tokens',
    async prepare(test) {
      const runId = await claimed(test)
      await test.ledger.setBudget(runId, { tokens: 100, origin })
      await test.ledger.reserve(runId, { of: { by: 'agenda', token: 'the-token' }, tokens: 60 })
      const waits = { kind: 'budget', needs: 101 } as const
      const step = { token: 'the-token', version: 0, state, consumed: 0, dispatch: [], waits, events: [] }
      return { runId, send: ({ ledger }) => ledger.commitStep(runId, step) }
    },
  },
  {
    script: 'commit-step',
    what: 'that dispatches an item',
    async prepare(test) {
      const runId = await claimed(test)
      const step = { token: 'the-token', version: 0, state, consumed: 0, dispatch: ['lint'], estimate: ['other'] }
      const send = ({ ledger }: Client) => ledger.commitStep(runId, { ...step, events: [decisionEvent(state.items)] })
      return { runId, send }
    },
  },
  {
    script: 'commit-step',
    what: 'that is the last one',
    async prepare(test) {
      const runId = await claimed(test)
      const close = { kind: 'blocked', code: 'POLICY_001', reason: 'no way on' } as const
      const step = { token: 'the-token', version: 0, state, consumed: 0, dispatch: [], close, events: [] }
      return { runId, send: ({ ledger }) => ledger.commitStep(runId, step) }
    },
  },
  {
    script: 'send-inbox',
    what: 'of what a person says',
    async prepare({ ledger }) {
      const runId = await conductedRun(ledger)
      const message = { kind: 'said', text: 'and tests', by: 'human/t1' } as const
      const sent = { command: 'the-word', origin }
      return { runId, send: (client) => client.ledger.sendToConductor(runId, message, sent) }
    },
  },
  {
    script: 'note-ask',
    what: 'that somebody asks',
    async prepare({ ledger }) {
      const runId = await conductedRun(ledger)
      const asked = { askId: 'a0123456789abcdef', text: 'Why?', by: 'human/t1', phase: 'execution', origin } as const
      return { runId, send: (client) => client.ledger.receiveAsk(runId, asked) }
    },
  },
  {
    script: 'note-ask',
    what: 'that has ended',
    async prepare({ ledger, redis, namespace }) {
      const runId = await conductedRun(ledger)
      const askId = 'a0123456789abcdef'
      await ledger.receiveAsk(runId, { askId, text: 'Why?', by: 'human/t1', phase: 'execution', origin })
      const fault = { error_code: 'POLICY_001', reason: 'away', prompt_tokens: 3, completion_tokens: 1 }
      const event = { event: 'ask.failed', phase: 'execution', origin, data: { ask_id: askId, ...fault } } as const
      const token = 'who-answers'
      await redis.set(runKeys(namespace, runId).answering, token)
      return { runId, send: (client) => client.ledger.endAsk(runId, { token, event }), again: 'known' }
    },
  },
  {
    script: 'note-item',
    what: 'that cannot be planned',
    async prepare({ ledger }) {
      const runId = await conductedRun(ledger)
      const version = await dispatchItems(ledger, runId, anItem('lint'))
      const fault = { error_code: 'INTAKE_006', reason: 'no such agent' }
      const events = [anEvent({ event: 'item.blocked', phase: 'execution', data: { item_id: 'lint', ...fault } })]
      const item = { itemId: 'lint', version, fault, events }
      return { runId, send: (client) => client.ledger.noteItem(runId, item), again: 'already' }
    },
  },
  {
    script: 'plan',
    what: 'of an item of the agenda',
    async prepare({ ledger }) {
      const runId = await conductedRun(ledger)
      const slice = aPlannedItem('lint', await dispatchItems(ledger, runId, anItem('lint')), [root, child])
      return { runId, send: (client) => client.ledger.plan(runId, slice), again: 'already' }
    },
  },
  {
    script: 'sweep',
    what: 'of an item whose seconds are over',
    async prepare({ ledger, redis, namespace }) {
      const runId = await conductedRun(ledger)
      const item = anItem('lint', { budget: { seconds: 60 } })
      await ledger.plan(runId, aPlannedItem('lint', await dispatchItems(ledger, runId, item), [root, child]))
      await redis.hset(`${namespace}:{${runId}}:run`, 'deadlines', JSON.stringify({ lint: { at: 1, looked_at: 0 } }))
      return { runId, send: (client) => client.ledger.sweep(runId) }
    },
  },
  {
    script: 'plan',
    what: 'of an item without work',
    async prepare({ ledger }) {
      const runId = await conductedRun(ledger)
      const slice = aPlannedItem('lint', await dispatchItems(ledger, runId, anItem('lint')), [])
      return { runId, send: (client) => client.ledger.plan(runId, slice), again: 'already' }
    },
  },
]
