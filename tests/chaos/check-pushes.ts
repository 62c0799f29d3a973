import type { DeliveryInbox } from '#code-hosts/delivery-inbox.ts'
import type { HandledDelivery } from '#code-hosts/delivery.ts'
import type { RunId } from '#domain/ids.ts'
import { isEnded, type Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { FakeRepository } from '#testing/fake-github/host-repository.ts'
import type { PullRequest } from '#testing/fake-github/world.ts'
import { until } from '#testing/until.ts'
import type { RunApi } from '../run-api.ts'
import { sourceFolder } from '../source-folder.ts'
import { patchOf } from './chaos-clients.ts'
import type { PushedHistory } from './chaos-host.ts'
import { checkPatches, type HistoryRun } from './check-run.ts'
import type { GeneratedSource } from './draw-history.ts'
import type { FaultName } from './fault.ts'

export type PushStack = {
  api: Pick<RunApi, 'ask'>
  ledger: Pick<Ledger, 'getRun' | 'readDecisions'>
  inbox: Pick<DeliveryInbox, 'backlog' | 'listHandled'>
}

/** What was pushed, as far as it is checked. */
export type Pushed = Pick<PushedHistory, 'repository' | 'deliveries'>

/** What the publisher could not do, it tries again after 30 s; what nobody delivered, it asks for after 5 s. */
const settledWithinMs = 150_000
const mostHandled = 10_000

/**
 * Waits until the publisher has done all that the pushes of a history ask for. Returns their runs, and as violations what is still
 * open when the time is over.
 */
export async function settlePushes(pushed: Pushed, stack: PushStack): Promise<{ runs: Run[]; violations: string[] }> {
  let state: Awaited<ReturnType<typeof stateOfPushes>> = { runs: [], open: ['nothing is known yet'] }
  const isSettled = async () => (state = await stateOfPushes(pushed, stack)).open.length === 0
  await until(isSettled, { withinMs: settledWithinMs }).catch(() => {})
  return { runs: state.runs, violations: state.open.map((what) => `${pushed.repository.fullName}: ${what}`) }
}

/** The runs that the pushes of a history have led to by now, and what is still open. */
export async function stateOfPushes({ repository, deliveries }: Pushed, { ledger, inbox }: PushStack) {
  const handled = await handledOf(repository, inbox)
  const checks = repository.checkRuns()
  const ids = [...handled.map(({ runId }) => runId), ...checks.map(({ externalId }) => externalId)]
  const known = new Set(ids.filter((id): id is RunId => id !== null))
  const runs = await Promise.all([...known].map((runId) => ledger.getRun(runId)))
  const done = new Set(handled.map(({ deliveryId }) => deliveryId))
  const waiting = deliveries().filter(({ guid }) => !done.has(guid))
  const { count: left } = await inbox.backlog()
  const open = [
    ...waiting.map(({ event, guid, status }) => `the webhook ${event} ${guid} (${status}) was not handled`),
    ...(left > 0 ? [`${left} webhooks are left in the inbox`] : []),
    ...runs.flatMap(openIn),
    ...checks.flatMap(({ headSha, status }) =>
      status === 'completed' ? [] : [`the check run of ${headSha} is ${status}`],
    ),
  ]
  return { runs, open }
}

function openIn(run: Run): string[] {
  if (!isEnded(run.status)) return [`run ${run.runId} did not end: ${JSON.stringify(run)}`]
  if (run.publication?.isSettled === true) return []
  return [`the publication of run ${run.runId} is not settled: ${JSON.stringify(run.publication)}`]
}

async function handledOf({ fullName }: FakeRepository, inbox: PushStack['inbox']): Promise<HandledDelivery[]> {
  const all = await inbox.listHandled(mostHandled)
  return all.filter((one) => one.repository === fullName)
}

/** As `checkRun` wants them: the run of an older commit may have been cancelled for a newer one. */
export async function runsOfPushes(
  runs: readonly Run[],
  { repository }: Pushed,
  faults: readonly FaultName[],
): Promise<HistoryRun[]> {
  const heads = await headsOf(repository)
  return runs.map(({ runId, status, request }) => ({
    runId,
    request: { agents: request.agents, priority: request.priority, error_policy: request.errorPolicy },
    cancelled: status === 'cancelled' && !heads.has(request.repository?.commit ?? ''),
    faults,
  }))
}

/** The branches that people pushed to, by the commit that each has now. */
async function headsOf(repository: FakeRepository): Promise<Map<string, string>> {
  const branches = (await repository.branches()).filter((branch) => !branch.startsWith('remora/'))
  const tips = await Promise.all(
    branches.map(async (branch) => [(await repository.tip(branch)) ?? '', branch] as const),
  )
  return new Map(tips)
}

/** Finds what is wrong at the code host and in the inbox when all that was pushed is settled. */
export async function checkPushes(pushed: Pushed, runs: readonly Run[], stack: PushStack): Promise<string[]> {
  const { repository, deliveries } = pushed
  const handled = await handledOf(repository, stack.inbox)
  const pushedTo = new Set(deliveries().flatMap(({ event, payload }) => (event === 'push' ? [payload['ref']] : [])))
  const found = [
    ...twice(handled.map(({ deliveryId }) => `the webhook ${deliveryId} was ended`)),
    ...handled.flatMap(({ outcome, reason }) => (outcome === 'failed' ? [`a webhook failed: ${reason}`] : [])),
    ...twice(runs.map(({ request: { repository: of } }) => `${of?.branch} at ${of?.commit} was worked on`)),
    ...twice(repository.checkRuns().map(({ headSha }) => `a check run was made of ${headSha}`)),
    ...twice(repository.comments().map(({ number, body }) => `it was commented on #${number}: ${body}`)),
    ...(await badPatches(repository, runs, stack)),
    ...runs.flatMap((run) => wronglyNoted(run, repository)),
    ...(await emptyPulls(repository)),
  ]
  for (const [head, branch] of await headsOf(repository)) {
    if (!pushedTo.has(`refs/heads/${branch}`)) continue
    const wrong = await wrongInBranch({ branch, head, repository, runs }, stack)
    found.push(...wrong.map((what) => `${branch} at ${head}: ${what}`))
  }
  return found.map((what) => `${repository.fullName}: ${what}`)
}

/** What a run says of its pull requests is how they are. */
function wronglyNoted({ runId, publication }: Run, repository: FakeRepository): string[] {
  const pulls = new Map(repository.pulls().map((pull) => [pull.number, pull]))
  return (publication?.pulls ?? []).flatMap(({ number, state }) => {
    const pull = pulls.get(number)
    const isNow = pull?.merged === undefined ? pull?.state : 'merged'
    return state === isNow ? [] : [`run ${runId} has #${number} as ${state}, and it is ${isNow}`]
  })
}

/** Nothing that was merged is proposed again. */
async function emptyPulls(repository: FakeRepository): Promise<string[]> {
  const open = repository.pulls().filter(({ state }) => state === 'open')
  const found = await Promise.all(
    open.map(async ({ number, base, head }) => {
      const changed = await repository.git(['diff', '--name-only', base.ref, head.ref])
      return changed === '' ? [`#${number} changes nothing`] : []
    }),
  )
  return found.flat()
}

type Branch = { branch: string; head: string; repository: FakeRepository; runs: readonly Run[] }

/** The head of a branch has one completed run, with its check run and what is accepted of it in the one pull request. */
async function wrongInBranch({ branch, head, repository, runs }: Branch, stack: PushStack): Promise<string[]> {
  const run = runs.find(({ request: { repository: of } }) => of?.branch === branch && of.commit === head)
  if (run === undefined) return ['it has no run']
  const fault = run.publication?.fault ?? null
  const check = repository.checkRuns().find(({ headSha }) => headSha === head)
  const open = repository.pulls().filter(({ state, base }) => state === 'open' && base.ref === branch)
  const { byChangeSet } = await stack.ledger.readDecisions(run.runId)
  const accepted = [...byChangeSet.values()].flatMap((one) => (one.verdict === 'accepted' ? [one.changeSetId] : []))
  return [
    ...(run.status === 'completed' ? [] : [`its run is ${run.status}: ${run.errorCode} ${run.reason}`]),
    ...(check?.externalId === run.runId ? [] : [`its check run is of ${check?.externalId ?? 'no run'}`]),
    ...(fault === null ? [] : [`not published: ${JSON.stringify(fault)}`]),
    ...(open.length > 1 ? [`${open.length} pull requests are open`] : []),
    ...(await wrongInPull({ pull: open[0], run, head, accepted, repository }, stack)),
  ]
}

type Pull = { pull: PullRequest | undefined; run: Run; head: string; accepted: string[]; repository: FakeRepository }

async function wrongInPull({ pull, run, head, accepted, repository }: Pull, { api }: PushStack): Promise<string[]> {
  if (pull === undefined) return accepted.length === 0 ? [] : [`${accepted.length} changes are in no pull request`]
  const { ref } = pull.head
  const noted = run.publication?.pulls.find(({ number }) => number === pull.number)
  const tip = await repository.tip(ref)
  const isOnHead = (await repository.git(['merge-base', head, ref])) === head
  const isNoted = noted?.head === tip && noted?.base === head
  const wrong = [
    ...(ref === `remora/${pull.base.ref}` ? [] : [`it is of the branch ${ref}`]),
    ...(isNoted ? [] : [`it is at ${tip}, and noted as ${JSON.stringify(noted)}`]),
    ...(isOnHead ? [] : ['it is not on top of the head']),
    ...(pull.labels.join() === 'chaos' ? [] : [`its labels are ${pull.labels.join()}`]),
  ]
  const carried = noted?.carried.flatMap(({ changeSetIds }) => changeSetIds) ?? []
  if (carried.length === 0)
    wrong.push(...(await unlikePatch(await patchOf(api, run.runId, 'accepted'), head, ref, repository)))
  // One that an earlier run has made, too, is there as the other's.
  const missing = accepted.filter((id) => noted?.changeSetIds.includes(id) !== true)
  if (carried.length > 0 && missing.length > carried.length) wrong.push(`it has not the changes ${missing.join(', ')}`)
  return wrong.map((what) => `#${pull.number}: ${what}`)
}

/** In which files the branch differs from the head with this patch. */
async function unlikePatch(patch: string, head: string, branch: string, repository: FakeRepository): Promise<string[]> {
  const folder = await sourceFolder(await filesAt(head, repository))
  try {
    if (patch !== '') await folder.apply(patch)
    const after = await filesAt(branch, repository)
    const differing = await Promise.all(
      Object.entries(after).map(async ([path, text]) => {
        const patched = await folder.read(path).catch(() => 'nothing')
        return patched === text ? [] : [`its ${path} is\n${text}\n--- and not\n${patched}`]
      }),
    )
    return differing.flat()
  } finally {
    await folder.remove()
  }
}

/** Every completed run's patch applies to the commit of the run, and so does what the pull requests have. */
async function badPatches(repository: FakeRepository, runs: readonly Run[], { api }: PushStack): Promise<string[]> {
  const completed = runs.filter(({ status }) => status === 'completed')
  const found = await Promise.all(
    completed.map(async ({ runId, commit }) => {
      const files = await filesAt(commit ?? 'main', repository)
      return checkPatches(files, [{ runId, patch: await patchOf(api, runId) }])
    }),
  )
  return found.flat()
}

async function filesAt(commit: string, repository: FakeRepository): Promise<GeneratedSource> {
  const paths = (await repository.git(['ls-tree', '-r', '--name-only', commit])).split('\n')
  const texts = await Promise.all(
    paths.map(async (path) => [path, (await repository.read(commit, path)) ?? ''] as const),
  )
  return Object.fromEntries(texts)
}

function twice(facts: readonly string[]): string[] {
  const seen = Map.groupBy(facts, (fact) => fact)
  return [...seen].flatMap(([fact, all]) => (all.length > 1 ? [`${fact} ${all.length} times`] : []))
}
