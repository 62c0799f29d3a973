import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import { rehearsalLabel } from '#domain/model-kind.ts'
import type { Conversation } from './conversation.ts'

// The rehearsal model as the one that decides about a run. It follows a script, chosen by the name of the model (`rehearsal/<policy>`), and reads no
// word of the objective: only what it was asked, which capabilities there are, and how far the agenda is.

const View = z.object({
  question: z.enum(['bootstrap', 'decide', 'refine']),
  asked: z.object({ agents: z.array(z.string()).nullable(), paths: z.array(z.string()).nullable() }),
  objective: z.string(),
  capabilities: z.array(z.object({ name: z.string() })),
  agenda: z.array(
    z.object({
      item_id: z.string(),
      status: z.string(),
      capability: z.string(),
      where: z.record(z.string(), z.unknown()),
      depends_on: z.array(z.string()),
      success_criteria: z.array(z.unknown()).optional(),
    }),
  ),
  decisions: z.number(),
  heard: z.array(z.object({ kind: z.string() })),
})
type View = z.infer<typeof View>

type Details = Record<string, unknown>
/** `tries`: how many answers to the same question were refused. */
type Policy = { bootstrap(view: View): Details; decide(view: View, tries: number): Details }

const noFolder = 'there/is/no/such/folder'

const rationale = { text: `Follows the script of the ${rehearsalLabel}.`, events: [], confidence: 0.5 }

const plan = (items: Details[]): Details => ({ kind: 'plan', items, rationale })
const block = (reason: string): Details => ({ kind: 'block', reason, rationale })
const followUp = (items: Details[]): Details => ({ kind: 'follow_up', items, rationale })

function complete(paths: readonly string[] = []): Details {
  const text = `The ${rehearsalLabel} has carried out its script. Nobody has read the objective.`
  return { kind: 'complete', answer: { text, events: [1], paths, findings: [] }, rationale }
}

function item(name: string, capability: string, paths: readonly string[] | null, more: Details = {}): Details {
  return {
    item_id: name,
    capability,
    where: paths === null ? {} : { paths },
    objective: `Run ${capability} (${rehearsalLabel}).`,
    success_criteria: [],
    depends_on: [],
    budget: {},
    priority: 5,
    ...more,
  }
}

const itemOf = ({ asked: { paths } }: View, capability: string) =>
  item(capability.replaceAll(/[^a-z0-9_-]/g, '-').slice(0, 40), capability, paths)

/** The agents that were given, or as many of all capabilities as a script wants. */
function agentsOf({ asked, capabilities }: View, most: number): string[] {
  return (asked.agents ?? capabilities.map(({ name }) => name)).slice(0, most)
}

const usual: Policy = {
  bootstrap: (view) =>
    view.asked.agents === null
      ? block(`the ${rehearsalLabel} plans only agents that are named, and none was`)
      : plan(view.asked.agents.map((name) => itemOf(view, name))),
  decide: () => complete(),
}

const several = (count: number): Policy => ({
  bootstrap: (view) => plan(agentsOf(view, count).map((name) => itemOf(view, name))),
  decide: () => complete(),
})

/** The first item finds nothing to change, so that the one which depends on it cannot begin; another way is taken in its place. */
const replan: Policy = {
  bootstrap: (view) => {
    const [first = ''] = agentsOf(view, 1)
    const nothing = { success_criteria: [{ kind: 'proved_changes', least: 1 }] }
    return plan([
      item('first', first, [noFolder], nothing),
      item('second', first, view.asked.paths, { depends_on: ['first'] }),
    ])
  },
  decide: (view) => {
    const other = itemOf(view, agentsOf(view, 1)[0] ?? '')
    return view.agenda.some(({ item_id: id }) => id === other['item_id']) ? complete() : followUp([other])
  },
}

const policies: Readonly<Record<string, Policy>> = {
  basic: usual,
  replan,
  blocked: { bootstrap: () => block(`the script of the ${rehearsalLabel} blocks`), decide: () => complete() },
  /** Cites a file that is not there, and when that is refused those that the run was asked for. */
  citing: { ...usual, decide: ({ asked }, tries) => complete(tries === 0 ? [noFolder] : (asked.paths ?? [])) },
  none: { bootstrap: () => plan([]), decide: () => complete() },
  one: several(1),
  /** Gives its items so little time that some of what they would do never begins. */
  hasty: {
    ...usual,
    bootstrap: (view) => plan(agentsOf(view, 3).map((name) => ({ ...itemOf(view, name), budget: { seconds: 1 } }))),
  },
  several: several(3),
  /** Goes on for ever without anything new. */
  fruitless: {
    bootstrap: (view) => plan(agentsOf(view, 1).map((name) => itemOf(view, name))),
    decide: (view) => followUp([item(`again-${view.decisions}`, agentsOf(view, 1)[0] ?? '', [noFolder])]),
  },
  /** Adds an item for each message that wakes it, and answers when none is left. */
  wake: {
    bootstrap: (view) => plan(agentsOf(view, 1).map((name) => itemOf(view, name))),
    decide: (view) =>
      view.heard.some(({ kind }) => kind === 'escalation')
        ? followUp([item(`wake-${view.agenda.length}`, agentsOf(view, 1)[0] ?? '', view.asked.paths)])
        : complete(),
  },
}

/** What a policy answers once, or twice, in place of a decision: an item whose capability and dependency do not exist. */
const invalid = plan([item('wrong', 'no_such_capability', null, { depends_on: ['nobody'] })])
const invalidTimes: Readonly<Record<string, number>> = { invalid_once: 1, invalid_twice: 2 }

/** Is true for `rehearsal/` and a name that no script has. */
export function isUnknownPolicy(model: string): boolean {
  const name = model.startsWith('rehearsal/') ? model.slice('rehearsal/'.length) : undefined
  return name !== undefined && policies[name] === undefined && invalidTimes[name] === undefined
}

/** Returns the decision that the model of this name makes; undefined where no decision is asked for. */
export function plannerDetails(model: string, { userText, steps }: Conversation): Details | undefined {
  const view = viewIn(userText)
  if (view === undefined) return undefined
  const name = model.replace(/^rehearsal\//, '')
  const tries = steps.length
  return tries < (invalidTimes[name] ?? 0) ? invalid : detailsOf(policies[name] ?? usual, view, tries)
}

function detailsOf(policy: Policy, view: View, tries: number): Details {
  if (view.question === 'refine') return refined(view)
  return view.question === 'decide' ? policy.decide(view, tries) : policy.bootstrap(view)
}

/** Plans the same again: what a refinement does not name is not done. */
function refined({ objective, agenda }: View): Details {
  const notBegun = agenda.filter(({ status }) => status === 'waiting' || status === 'stale')
  const items = notBegun.map(({ item_id: id, capability, status: _, ...kept }) => item(id, capability, null, kept))
  return { kind: 'refine', objective, items, rationale }
}

function viewIn(text: string): View | undefined {
  const [, json = ''] = /^`{3,}json\n(.*)\n`{3,}$/m.exec(text) ?? []
  return View.safeParse(parseJson(json)).data
}
