import { openRandom, type Random } from '#platform/seeded-random.ts'
import { drawConductorFault } from './draw-conductor-fault.ts'
import { drawFault, drawHostFault, drawNetworkFault, type Fault, leaseMs, workerCount } from './fault.ts'

/** What a caller asks for, as it goes over the wire. */
export type Submission = {
  atMs: number
  request: {
    objective?: string
    agents: string[]
    priority: number
    error_policy: 'continue' | 'skip_downstream' | 'stop_run'
  }
}

/** A commit that somebody pushes to a branch of the history's repository at the code host. */
export type Push = { atMs: number; branch: string; files: GeneratedSource }

/** In the end somebody merges all that is proposed. `isMissed`: nobody takes the webhooks of it. */
export type Merge = { method: 'merge' | 'squash'; isMissed: boolean }

/** A repository with the history's source, and what is pushed to it. */
export type PushedRepository = { agents: string[]; pushes: readonly Push[]; merge: Merge }

/** All that the seed decides: the same seed gives the same history, whatever becomes of it. */
export type History = {
  seed: number
  source: GeneratedSource
  submissions: readonly Submission[]
  /** Undefined: there are no pushes. */
  repository: PushedRepository | undefined
  /** The script by which the rehearsal model decides about the runs, which have an objective; undefined: they have none. */
  policy: string | undefined
  /** How long the model takes for an answer while nothing is wrong with it. */
  latencyMs: number
  /** Whether the workers have replies streamed. */
  streams: boolean
  /** In the order of their times. */
  faults: readonly Fault[]
}

/** Faults begin in this time after the first submission; with the usual latency the runs last about as long. */
const windowMs = 2_500

/** Pushes and faults of webhooks begin in this time. */
const pushWindowMs = 5_000
/** The other faults of the code host: a publication is longer under way than its run. */
const hostWindowMs = 12_000
/** Of the histories, so many have pushes. */
const pushedShare = 1 / 3
/** Faults of who decides begin in this time: there is nobody before the nodes are found. */
const conductedWindowMs = 8_000
/** Of the histories, so many have runs with an objective. */
const conductedShare = 1 / 3
/** Of the runs with an objective, so many have an agent whose tool takes long. */
const slowShare = 1 / 3
/** Of what somebody asks, so much is asked after the end of the run. */
const lateShare = 0.4
/** Workers are lost in this time from when the first operation waits for its tool. */
const deferralsMs = 4_000
const policies: readonly [string, ...string[]] = ['basic', 'several', 'replan', 'one', 'hasty', 'invalid_once']

export type HistoryOptions = { machines?: boolean; pushes?: boolean | undefined; objectives?: boolean | undefined }

/**
 * With `machines` faults of the network take the place of all others but the first two, and nothing is pushed. With `pushes` every history
 * has some, without it one in three, and with false none; its runs and its other faults are the same. `objectives` is alike for runs that a
 * conductor decides about, and for faults of conductors.
 */
export function drawHistory(seed: number, { machines = false, pushes, objectives }: HistoryOptions = {}): History {
  const random = openRandom(seed)
  const source = generateSource(random)
  const submissions = Array.from({ length: random.int(1, 3) }, (_none, at) => drawSubmission(random, at))
  const faults = Array.from({ length: random.int(2, 7) }, (): Fault => {
    return { atMs: random.int(50, windowMs), ...drawFault(random, submissions.length) }
  })
  const latencyMs = random.int(30, 150)
  const streams = random.chance(0.4)
  if (machines) {
    const ofTheNetwork = Array.from({ length: random.int(1, 3) }, (): Fault => {
      return { atMs: random.int(500, 2 * windowMs), ...drawNetworkFault(random) }
    })
    faults.splice(2, Infinity, ...ofTheNetwork)
  }
  const ofHost = openRandom(seed ^ 0x5bd1e995)
  const isDrawn = ofHost.chance(pushedShare)
  const hasPushes = pushes ?? isDrawn
  const merge = drawMerge(openRandom(seed ^ 0x3779b9))
  const repository = hasPushes && !machines ? { ...drawRepository(ofHost), merge } : undefined
  if (repository !== undefined) {
    const drawn = Array.from({ length: ofHost.int(2, 4) }, (): Fault => {
      const fault = drawHostFault(ofHost)
      return { atMs: ofHost.int(0, fault.kind.endsWith('_webhooks') ? pushWindowMs : hostWindowMs), ...fault }
    })
    faults.push(...drawn)
  }
  const policy = machines ? undefined : conduct(seed, { submissions, faults, objectives })
  const inOrder = faults.toSorted((a, b) => a.atMs - b.atMs)
  return { seed, source, submissions, repository, policy, latencyMs, streams, faults: inOrder }
}

type Drawn = { submissions: readonly Submission[]; faults: Fault[]; objectives: boolean | undefined }

/** Gives the runs of some histories an objective, and adds faults of who decides about them. Returns the script of that. */
function conduct(seed: number, { submissions, faults, objectives }: Drawn): string | undefined {
  const random = openRandom(seed ^ 0x1f83d9ab)
  const isDrawn = random.chance(conductedShare)
  if (!(objectives ?? isDrawn)) return undefined
  for (const [at, { request }] of submissions.entries()) request.objective = `objective ${at} of history ${seed}`
  const drawn = Array.from({ length: random.int(2, 4) }, (): Fault => {
    const fault = drawConductorFault(random, { runs: submissions.length, leaseMs })
    return { atMs: random.int(500, conductedWindowMs), ...fault }
  })
  for (const [at, { request }] of submissions.entries()) {
    if (!random.chance(slowShare)) continue
    request.agents = ['slow', ...request.agents]
    faults.push(...Array.from({ length: random.int(1, 3) }, () => drawLoss(random, at)))
  }
  const policy = random.pick(policies)
  for (const fault of drawn) {
    if (fault.kind === 'ask' && random.chance(lateShare)) fault.after = ['ended', fault.run]
  }
  faults.push(...drawn)
  return policy
}

/** While operations of this run wait for their tools, a worker that runs some of these is lost, or stops. */
function drawLoss(random: Random, run: number): Fault {
  const [atMs, worker] = [random.int(0, deferralsMs), random.int(0, workerCount - 1)]
  const kind = random.pick<'kill_worker' | 'drain_worker' | 'freeze_worker'>([
    'kill_worker',
    'kill_worker',
    'drain_worker',
    'freeze_worker',
  ])
  const after: Fault['after'] = ['deferred', run]
  if (kind === 'freeze_worker') return { atMs, after, kind, worker, forMs: leaseMs + random.int(200, 1_200) }
  return { atMs, after, kind, worker, backAfterMs: random.int(0, 1_200) }
}

const agentChoices: readonly [string[], ...string[][]] = [
  ['lint'],
  ['docstring'],
  ['lint', 'docstring'],
  ['lint', 'docstring', 'purpose'],
  ['docstring', 'rival'],
  ['lint', 'docstring', 'rival'],
]

function drawSubmission(random: Random, at: number): Submission {
  return {
    atMs: at === 0 ? 0 : random.int(0, 1_500),
    request: {
      agents: random.pick(agentChoices),
      priority: random.int(0, 9),
      error_policy: random.pick(['continue', 'skip_downstream', 'stop_run']),
    },
  }
}

const pushedBranches = ['main', 'work', 'next'] as const
const pushedAgents: readonly [string[], ...string[][]] = [
  ['lint'],
  ['docstring'],
  ['lint', 'docstring'],
  ['docstring', 'rival'],
]

/** One to five pushes to one to three branches; each adds functions to the branch's own file, and some change one that was there. */
function drawRepository(random: Random): Omit<PushedRepository, 'merge'> {
  const branches = random.int(1, pushedBranches.length)
  const functionsOf = new Map<string, string[]>()
  const times = Array.from({ length: random.int(1, 5) }, () => random.int(0, pushWindowMs)).toSorted((a, b) => a - b)
  const pushes = times.map((atMs): Push => {
    const branch = pushedBranches[random.int(0, branches - 1)] ?? 'main'
    const functions = functionsOf.get(branch) ?? []
    functionsOf.set(branch, functions)
    if (functions.length > 0 && random.chance(0.4)) {
      const at = random.int(0, functions.length - 1)
      functions[at] = pythonFunction(random, `${branch}_${at}`)
    }
    for (let added = random.int(1, 3); added > 0; added -= 1)
      functions.push(pythonFunction(random, `${branch}_${functions.length}`))
    // No two pushes have the same files: git would make one commit of them.
    const text = `# ${atMs}\n\n\n${functions.join('\n\n\n')}\n`
    return { atMs, branch, files: { [`shop/${branch}.py`]: text } }
  })
  return { agents: random.pick(pushedAgents), pushes }
}

function drawMerge(random: Random): Merge {
  return { method: random.pick(['merge', 'squash']), isMissed: random.chance(0.4) }
}

/** A small Python repository: file → text. */
export type GeneratedSource = Readonly<Record<string, string>>

/** Function bodies, with and without lint faults. */
const bodies = [
  'return f"price"',
  'return f"shelf" + str(1)',
  'if not 1 in items:\n        return None\n    return items',
  'total = 0\n    for item in items:\n        total += item\n    return total',
  'return [item for item in items if item]',
  'return "größe"',
] as const

/** 8 to 25 functions and methods over one to three files; some have no fault, so that agents find nothing to do there. */
function generateSource(random: Random): GeneratedSource {
  const functions = random.int(8, 25)
  const fileCount = random.int(1, 3)
  const files: Record<string, string> = { 'README.md': '# generated\n' }
  for (let file = 0; file < fileCount; file += 1) {
    const share = Math.floor((functions + file) / fileCount)
    files[`shop/part_${file}.py`] = pythonFile(random, share)
  }
  return files
}

function pythonFile(random: Random, functions: number): string {
  const head = random.chance(0.4) ? ['import os'] : []
  const inClass = random.chance(0.5) ? random.int(0, Math.min(4, functions - 1)) : 0
  const free = Array.from({ length: functions - inClass }, (_none, at) => pythonFunction(random, `price_${at}`))
  const methods = Array.from({ length: inClass }, (_none, at) => pythonFunction(random, `count_${at}`, 'self, '))
  const body = methods.map((method) => method.replaceAll(/^(?=.)/gm, '    ')).join('\n\n')
  return `${[...head, ...free, ...(inClass > 0 ? [`class Stock:\n${body}`] : [])].join('\n\n\n')}\n`
}

function pythonFunction(random: Random, name: string, first = ''): string {
  const docstring = random.chance(0.3) ? '"""Return what the name says."""\n    ' : ''
  return `def ${name}(${first}items):\n    ${docstring}${random.pick(bodies)}`
}
