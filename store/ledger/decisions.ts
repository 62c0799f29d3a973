import { z } from 'zod'
import { Decision, isByPerson, type Verdict } from '#domain/decision.ts'
import type { EventOrigin, NewEvent } from '#domain/event.ts'
import { parseJson } from '#domain/json.ts'
import { newToken, OperationId, type RunId } from '#domain/ids.ts'
import { runKeys } from './keys.ts'
import { NamedFields, runCommand, unknownRun } from './script.ts'
import { noteWanted } from './runs-to-retry.ts'
import type { LedgerStore } from './store.ts'
import { ownerOf, storedEvents } from './stored-events.ts'

const Kept = Decision.omit({ changeSetId: true, version: true, at: true })

/** Holds the number of the event, time, signature and what was decided, with a space between them (decide.lua). */
const storedForm = /^([1-9]\d{0,14}) (\d{1,15}) (\S+) (.*)$/s

/**
 * `last`: the number of the last one, 0 before the first. `forged`: change sets on which somebody without the key has written
 * something; only what a person has decided counts on these.
 */
export type Decisions = { last: number; byChangeSet: Map<string, Decision>; forged: string[] }

/** Reads the last decision on each change set: that of a person, else that of the run's policy. RUN_001 for an unknown run. */
export async function readDecisions(store: LedgerStore, runId: RunId): Promise<Decisions> {
  const keys = runKeys(store.namespace, runId)
  // In one transaction, so that `last` is the number of the last decision read.
  const reading = store.redis.multi().hmget(keys.run, 'schema', 'decided')
  const answers = await reading.hgetall(keys.decisions).hgetall(keys.policyDecisions).exec()
  const [[schema, last], ofPeople, ofPolicy] = Read.parse(answers)
  if (schema === null) throw unknownRun(runId)
  const policy = decisionsIn(ofPolicy, { runId, signer: undefined }, (decision) => !isByPerson(decision))
  const people = decisionsIn(ofPeople, { runId, signer: store.signer }, isByPerson)
  const forged = new Set([...policy.forged, ...people.forged])
  // Nothing that a worker can write takes away what a person has decided.
  const believed = [...policy.byChangeSet].filter(([id]) => !forged.has(id))
  const byChangeSet = new Map([...believed, ...people.byChangeSet])
  const inOrder = [...byChangeSet].toSorted(([, left], [, right]) => left.version - right.version)
  return { last: Number(last ?? 0), byChangeSet: new Map(inOrder), forged: [...forged].toSorted() }
}

/** Reads the decisions of one hash, by change set. A change set whose entry is no such decision, or has no valid signature, is in `forged`. */
function decisionsIn(
  stored: Readonly<Record<string, string>>,
  of: { runId: RunId } & Pick<LedgerStore, 'signer'>,
  isOfKind: (decision: Decision) => boolean,
): Pick<Decisions, 'byChangeSet' | 'forged'> {
  const read = Object.entries(stored).map(([id, text]) => [id, readDecision(id, text, of)] as const)
  const isKept = (decision: Decision | undefined) => decision !== undefined && isOfKind(decision)
  return {
    byChangeSet: new Map(read.flatMap(([id, decision]) => (decision && isOfKind(decision) ? [[id, decision]] : []))),
    forged: read.flatMap(([id, decision]) => (isKept(decision) ? [] : id)),
  }
}

function readDecision(
  changeSetId: string,
  text: string,
  { runId, signer }: { runId: RunId } & Pick<LedgerStore, 'signer'>,
): Decision | undefined {
  const [, version, at, signature, json = ''] = storedForm.exec(text) ?? []
  if (signer?.isSigned(signature, 'decision', runId, changeSetId, json) === false) return undefined
  const kept = Kept.safeParse(parseJson(json)).data
  return kept && { changeSetId, version: Number(version), at: Number(at), ...kept }
}

/** The number of the last decision that is kept in the run, 0 before the first: whether there is more to read than before. */
export async function lastDecision({ redis, namespace }: LedgerStore, runId: RunId): Promise<number> {
  return Number((await redis.hget(runKeys(namespace, runId).run, 'decided')) ?? 0)
}

const noError = z.null()
const Read = z
  .tuple([
    z.tuple([noError, z.tuple([z.string().nullable(), z.string().nullable()])]),
    z.tuple([noError, z.record(z.string(), z.string())]),
    z.tuple([noError, z.record(z.string(), z.string())]),
  ])
  .transform(([[, fields], [, ofPeople], [, ofPolicy]]) => [fields, ofPeople, ofPolicy] as const)

export type NewDecision = Omit<Decision, 'version' | 'at' | 'by' | 'byName'> & {
  before: Verdict
  node: { nodeId: string; path: string; qualifiedName: string }
}

/** Says who decides; `name` is what their token is called. */
export type Decider = EventOrigin & { name?: string }

const DecideReply = z.union([
  z.literal('changed'),
  NamedFields.pipe(z.object({ first: z.coerce.number(), at: z.coerce.number() })),
])
const writeDecisions = runCommand('decide', DecideReply, 'events')

export const maxDecisionsAtOnce = 500

/**
 * Makes at most 500 decisions in one step, each with its event, if the last one is still number `last`; undefined when somebody
 * else has decided since. The same `command` again changes nothing and answers the same. RUN_001 for an unknown run.
 */
export async function decide(
  store: LedgerStore,
  runId: RunId,
  step: { last: number; decisions: readonly NewDecision[]; by: Decider; command?: string },
): Promise<Decision[] | undefined> {
  const { last, decisions, by, command = newToken() } = step
  if (decisions.length === 0) return []
  if (decisions.some(({ retry }) => retry !== undefined)) await noteWanted(store, runId)
  const made = decisions.map((decision) => ({ ...keptOf(decision, by), changeSetId: decision.changeSetId }))
  const events = decisions.map((decision) => eventOf(decision, by))
  const bodies = (await storedEvents(store, ownerOf(store, runId), events)).filter((_, at) => at % 2 === 1)
  const keys = runKeys(store.namespace, runId)
  const isOfPerson = by.kind === 'human'
  const args = decisions.flatMap((decision, at) => {
    const json = JSON.stringify(keptOf(decision, by))
    const signature = isOfPerson ? store.signer?.sign('decision', runId, decision.changeSetId, json) : undefined
    return [decision.changeSetId, `${signature ?? '-'} ${json}`, bodies[at] ?? '']
  })
  const all = [last, command, ...countersOf(decisions), ...args]
  const reply = await writeDecisions(store, runId, all, [isOfPerson ? keys.decisions : keys.policyDecisions])
  if (reply === 'changed') return undefined
  return made.map((decision, at) => ({ ...decision, version: reply.first + at, at: reply.at }))
}

function countersOf(decisions: readonly NewDecision[]): (string | number)[] {
  const changes = new Map<string, number>()
  const count = (verdict: Verdict, agent: string, change: number) => {
    if (verdict === 'pending') return
    const counter = `${verdict} ${agent}`
    changes.set(counter, (changes.get(counter) ?? 0) + change)
  }
  for (const { before, verdict, agent } of decisions) {
    count(before, agent, -1)
    count(verdict, agent, 1)
  }
  return [changes.size, ...[...changes].flat()]
}

export type VerdictCounts = Record<'accepted' | 'rejected', number>

const Counter = z.tuple([z.string().regex(/^(?:accepted|rejected) /), z.coerce.number()])

/** Counts the accepted and rejected change sets of each agent: what it costs does not grow with their number. */
export async function countVerdicts({ redis, namespace }: Pick<LedgerStore, 'redis' | 'namespace'>, runId: RunId) {
  const stored = await redis.hgetall(runKeys(namespace, runId).verdicts)
  const counts = new Map<string, VerdictCounts>()
  for (const entry of Object.entries(stored)) {
    const [counter, count] = Counter.parse(entry)
    const [verdict = '', ...agent] = counter.split(' ')
    const known = counts.get(agent.join(' ')) ?? { accepted: 0, rejected: 0 }
    counts.set(agent.join(' '), { ...known, [verdict]: count })
  }
  return counts
}

function keptOf(decision: NewDecision, by: Decider): z.infer<typeof Kept> {
  const { verdict, reason, note, agent, operationId, recordHash, retry } = decision
  const who = { by: `${by.kind}/${by.id}`, ...(by.name === undefined ? {} : { byName: by.name }) }
  const kept = { verdict, reason, ...who, agent, operationId, recordHash }
  return { ...kept, ...(note === undefined ? {} : { note }), ...(retry === undefined ? {} : { retry }) }
}

function eventOf(decision: NewDecision, { kind, id, name }: Decider): NewEvent {
  const { changeSetId, verdict, reason, note, operationId, node, agent, retry } = decision
  return {
    event: 'decision.made',
    phase: 'review',
    origin: { kind, id },
    agent,
    nodeId: node.nodeId,
    data: {
      change_set_id: changeSetId,
      verdict,
      ...(name === undefined ? {} : { decided_by_name: name }),
      ...(reason === null ? {} : { reason }),
      ...(note === undefined ? {} : { note }),
      ...(retry === undefined ? {} : { retry: true }),
      operation_id: operationId,
      path: node.path,
      qualified_name: node.qualifiedName,
    },
  }
}

const Ids = z.array(OperationId.nullable())

/** The operations of the run that made these change sets, in the same order; undefined for a set that none of them made. */
export async function operationsOfSets(
  { redis, namespace }: LedgerStore,
  runId: RunId,
  changeSetIds: readonly string[],
): Promise<(OperationId | undefined)[]> {
  if (changeSetIds.length === 0) return []
  const operationIds = Ids.parse(await redis.hmget(runKeys(namespace, runId).changeSets, ...changeSetIds))
  return operationIds.map((id) => id ?? undefined)
}

const Lists = z.array(z.string().nullable())

/** Returns for each of these change sets those of the run that need it (`ChangeSet.builtOn`), in the same order. */
export async function setsBuiltOn({ redis, namespace }: LedgerStore, runId: RunId, changeSetIds: readonly string[]) {
  if (changeSetIds.length === 0) return []
  const lists = Lists.parse(await redis.hmget(runKeys(namespace, runId).builtOn, ...changeSetIds))
  return lists.map((list) => list?.split(' ') ?? [])
}
