import { type OperationId, ProjectId, RunId } from '#domain/ids.ts'

/** The braces put all keys of a run into one slot of a cluster. `scripted`: in the order of keys.lua. */
export function runKeys(namespace: string, runId: RunId) {
  const prefix = `${namespace}:{${runId}}:`
  const [named, apart] = [scriptedKeys(prefix), keysApart(prefix)]
  return {
    ...named,
    ...apart,
    scripted: Object.values(named),
    all: [...Object.values(named), ...Object.values(apart)],
    operation: (id: OperationId) => `${prefix}op:${id}`,
    /** The operation's node, apart from it: Redis keeps a hash of short values in a third of the memory. */
    node: (id: OperationId) => `${prefix}node:${id}`,
    /** The operations that wait for `id`, in plan order. */
    after: (id: OperationId) => `${prefix}after:${id}`,
    /** What the running attempt of an operation has said, in parts; of `<operation>:<attempt>`, what one has said that is over. */
    talk: (of: string) => `${prefix}talk:${of}`,
  }
}

function scriptedKeys(prefix: string) {
  return {
    run: `${prefix}run`,
    events: `${prefix}events`,
    operations: `${prefix}operations`,
    ready: `${prefix}ready`,
    leases: `${prefix}leases`,
    ended: `${prefix}ended`,
    outbox: `${prefix}outbox`,
    cascade: `${prefix}cascade`,
    commands: `${prefix}commands`,
    /** Ready operations that are not dispatched before a time. */
    delayed: `${prefix}delayed`,
    /** Dispatched operations by the time of their dispatch. */
    dispatched: `${prefix}dispatched`,
    /** Ready operations whose next loss would be their last. */
    suspects: `${prefix}suspects`,
    /** Operations that wait for an answer, by the time they wait until. */
    waiting: `${prefix}waiting`,
    /** Field `q<N>`: what was asked; `q<N>:end`: how that ended. Both JSON. `allowed:<bundle hash>:<tool>`: who has allowed the tool for the run. */
    questions: `${prefix}questions`,
    /** Failed operations, and blocked ones, by their place in the plan. */
    failed: `${prefix}failed`,
    blocked: `${prefix}blocked`,
    /** Field `<code>`: how many operations failed or were blocked with it; `<code>:first`: the first. Empty: no code. */
    failures: `${prefix}failures`,
    /** Ready operations that need a model that is away, in the order in which they run. */
    held: `${prefix}held`,
    /** Field: the id of a change set that an operation of the run made; value: the last operation that made it. */
    changeSets: `${prefix}change-sets`,
    /** Field `<verdict> <agent>`: how many change sets of the agent have that verdict, accepted or rejected. */
    verdicts: `${prefix}verdicts`,
    /** Field: the id of a change set; value: those that are built on it. */
    builtOn: `${prefix}built-on`,
    /** Operations that reported findings, by their place in the plan. */
    reported: `${prefix}reported`,
    /** Field: the name of an event; value: how many of it the run has had. */
    tally: `${prefix}tally`,
    /** Field: a running operation; value: what its attempt does now, as JSON. */
    doing: `${prefix}doing`,
    /** What the last minute has had, in a ring of seven times ten seconds: when each began, operations ended, tokens in and out. */
    pace: `${prefix}pace`,
    /** `<operation>:<attempt>` for what attempts have said that are over, until it is in the object store (talk.ts). */
    past: `${prefix}past`,
    /** Field `<item>:<what>`: what an item of the agenda has come to since it was dispatched last (conductor-steps.ts). */
    items: `${prefix}items`,
    /** What the conductor must hear, in order: JSON of `InboxMessage`. */
    inbox: `${prefix}inbox`,
  }
}

/** Keys that only the script which writes them gets, since a script may write to each of its keys: workers may not write to all of these. */
function keysApart(prefix: string) {
  return {
    /** Field: the id of a change set; value: the last decision of a person on it (decisions.ts). */
    decisions: `${prefix}decisions`,
    /** The same of the run's policy, which a worker carries out. It counts where no person has decided. */
    policyDecisions: `${prefix}policy-decisions`,
    /** Holds what the conductor has decided: the JSON of `AgendaState`, and who holds the present step, until when, with which reply. */
    agenda: `${prefix}agenda`,
    /** Field `<ask>`: the number of the event of what somebody asks about the run; `<ask>:end`: of how that ended (asks.ts). Besides, who answers now. */
    asks: `${prefix}asks`,
    answering: `${prefix}answering`,
    /** Holds what was made of the run at its code host: the version, the signature and the JSON of a `Publication`. */
    publication: `${prefix}publication`,
    /** Holds what the watcher knows of the run (watch.ts), and which of its processes looks at it now. */
    watch: `${prefix}watch`,
    watching: `${prefix}watching`,
  }
}

export type RunKeys = ReturnType<typeof runKeys>

/** Names the format of what is kept in Redis (redis-check.ts). */
export const storeFormat = '1'

/**
 * Holds the run index, in one slot, and the mark of the store's format. `active`, `ended`, `deleted`: `<project>/<run>` by the
 * time of acceptance, of the end, of the request. `projects`: those with a run that ended. `patching`: `<project>/<run>/<token>`
 * by the time until which it holds. `heldBy`: the active runs of a token with a limit. `retrying`: runs whose decisions may ask
 * for a retry.
 */
export function indexKeys(namespace: string) {
  const prefix = `${namespace}:{all}:`
  return {
    format: `${prefix}format`,
    active: `${prefix}active`,
    ended: `${prefix}ended`,
    deleted: `${prefix}deleted`,
    projects: `${prefix}projects`,
    patching: `${prefix}patching`,
    retrying: `${prefix}retrying`,
    runsOf: (project: string) => `${prefix}runs:${project}`,
    heldBy: (tokenId: string) => `${prefix}held-by:${tokenId}`,
  }
}

export function runOfMember(member: string): { projectId: ProjectId; runId: RunId } {
  const [projectId, runId] = member.split('/')
  return { projectId: ProjectId.parse(projectId), runId: RunId.parse(runId) }
}

/** Holds who collects, who deletes runs, which ledger this is, and the collection window (collection-window.ts). */
export function collectionKeys(namespace: string) {
  const prefix = `${namespace}:{all}:collection:`
  return {
    lease: `${prefix}lease`,
    deleting: `${prefix}deleting`,
    rest: `${prefix}rest`,
    ledgerId: `${prefix}ledger`,
    window: `${prefix}window`,
    permits: `${prefix}permits`,
    epoch: `${prefix}epoch`,
  }
}

/**
 * Holds the ranges of the events of all runs, which programs read, and in the same slot the number of the last event that is in
 * them by run, and by project the position behind its last range that was trimmed.
 */
export function toldKeys(namespace: string) {
  const slot = `{${namespace}:events}`
  return { ranges: `${namespace}:events`, told: `${slot}:told`, trimmed: `${slot}:trimmed` }
}

/** Has a message `<run> <number of its last event>` for every command that has written events, and `toldNotice` for a new range. */
export function toldChannel(namespace: string): string {
  return `${namespace}:told`
}

export function toldNotice(projectId: ProjectId): string {
  return `+${projectId}`
}

export function stopsChannel(namespace: string): string {
  return `${namespace}:stops`
}

/**
 * Holds the results stream and, in the same slot, by run the last seq published and the tokens counted, and by project the usage
 * of a day, its tokens, what its runs hold of the day (count-spent.lua), and the budgets as `<project> operator` and `<project> own`.
 */
export function resultKeys(namespace: string) {
  const slot = `{${namespace}:results}`
  return {
    results: `${namespace}:results`,
    published: `${slot}:published`,
    usageOf: (projectId: string, day: string) => `${slot}:usage:${projectId}:${day}`,
    counted: `${slot}:counted`,
    spentOf: (projectId: string, day: string) => `${slot}:spent:${projectId}:${day}`,
    grantsOf: (projectId: string) => `${slot}:grants:${projectId}`,
    budgets: `${slot}:budgets`,
  }
}
