import { ownBranchFor } from '#code-hosts/code-host.ts'
import { believedDecisions } from '#change-sets/accepted-sets.ts'
import { askPart, type AskPatchDeps, type PatchAnswer } from '#change-sets/ask-patch.ts'
import { AppError } from '#domain/error.ts'
import { modelKindOf } from '#domain/model-kind.ts'
import type { Publication } from '#domain/publication.ts'
import type { Run } from '#domain/run.ts'
import type { Composition } from '#store/objects/composition.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { nextWindow } from '#settings/schedule.ts'
import { choosePartsOf, type ChooseDeps } from './choose-parts-of.ts'
import { endLostPulls } from './noted-pulls.ts'
import { ownPulls, takenOverBy, withOpenPulls } from './open-pulls.ts'
import { headOf, type PartDeps, publishPart } from './publish-part.ts'
import type { Publishing, RunHost } from './run-host.ts'

export type PullsDeps = AskPatchDeps &
  ChooseDeps &
  PartDeps & {
    objects: ObjectStore
    /** Is true for a fake host, where changes of the rehearsal model may be published, too. */
    isFakeHost: boolean
  }

/** `held`: why nothing was published that people may expect. `coming`: the run is looked at anew. `waiting`: for the schedule. */
type Published = { kind: 'done' | 'waiting'; held: string | undefined } | { kind: 'coming' }

const held = (why: string | undefined): Published => ({ kind: 'done', held: why })

/** Publishes what of a completed run is accepted, as pull requests of at most the size that the repository wants. */
export async function publishPulls(
  run: Run,
  publishing: Publishing,
  deps: PullsDeps,
  signal: AbortSignal,
): Promise<Published> {
  const { publication, host } = publishing
  if (await endLostPulls(run.runId, host, deps)) return { kind: 'coming' }
  const refused = whyNot(run, publication, host, deps)
  if (refused !== undefined) return held(refused.shown)
  await tellForged(run, publishing, deps)
  const target = await targetOf(host)
  const settings = await host.settings()
  const open = await ownPulls(await host.openPulls(target), run, deps)
  const readTree = async () => host.readTree(await headOf(host, target))
  const chosen = await choosePartsOf(run, { settings, open, readTree }, deps)
  const isWork = chosen.parts.length > 0 || open.length > 0
  const { schedule, timezone } = settings
  const waits = publication.isAsked ? undefined : nextWindow(schedule, timezone, new Date())
  if (isWork && waits !== undefined) return { kind: 'waiting', held: `it waits for ${waits} (github.schedule)` }
  const begun = chosen.parts.length > 0 ? (run.publication?.pulls ?? []) : []
  const newer = await takenOverBy(run, [...open, ...begun], deps)
  if (newer !== undefined)
    return held(`run ${newer}, of a later push, takes over what is accepted here, as far as it still fits`)
  for (const part of withOpenPulls(chosen.parts, open, target)) {
    const branch = ownBranchFor(target, part.agent)
    const pull = open.find((known) => known.branch === branch)
    const patch = { changeSetIds: part.changeSetIds, carried: part.carried.map(({ set }) => set) }
    const answer = await askPart(run, patch, deps, { waitMs: 0, signal })
    if (answer.kind === 'coming') return { kind: 'coming' }
    const composition = compositionOf(answer)
    const { carriesFrom } = chosen
    await publishPart(run, { part, carriesFrom, target, branch, settings, composition, pull }, publishing, deps)
  }
  return held(chosen.why)
}

const origin = { kind: 'publisher', id: 'github' } as const
const mostNamed = 50

/** Says once on which change sets somebody has written decisions that do not count. The others are published. */
async function tellForged(run: Run, { publication, note }: Publishing, { ledger }: PullsDeps): Promise<void> {
  const { forged } = await believedDecisions(run, ledger)
  if (forged.length <= publication.refused) return
  const data = { error_code: 'PUBLISH_005', decisions: forged.length, change_set_ids: forged.slice(0, mostNamed) }
  await note({ refused: forged.length }, [{ event: 'publication.refused', phase: 'publication', origin, data }])
}

/** Says why nothing of the run is published; `shown` is what people are told of it. */
function whyNot(
  run: Run,
  { isAsked, isDismissed }: Publication,
  { source }: RunHost,
  { isFakeHost }: PullsDeps,
): { shown: string | undefined } | undefined {
  if (isDismissed || run.status !== 'completed') return { shown: undefined }
  if (source.isFork) return { shown: 'the code is of a fork' }
  // A person's own branch gets a pull request only when somebody asks for it.
  const isWanted = isAsked || (source.branch !== undefined && source.pullRequest === undefined)
  if (!isWanted) return { shown: undefined }
  if (modelKindOf(run.request.labels) === 'rehearsal' && !isFakeHost)
    return { shown: 'changes of the rehearsal model are not published: use `remora publish --to`' }
  return undefined
}

/** HOST_004 where the changes are for no branch. */
export async function targetOf({ source, findBranch }: RunHost): Promise<string> {
  if (source.branch !== undefined) return source.branch
  const named = source.ref.replace(/^refs\/heads\//, '')
  const branch = await findBranch(named === 'HEAD' ? null : named)
  if (branch !== undefined) return branch.name
  throw new AppError('HOST_004', `${named} is no branch: a pull request needs one`)
}

function compositionOf(answer: Exclude<PatchAnswer, { kind: 'coming' }>): Composition {
  if (answer.kind === 'faulty') throw answer.fault
  return answer.composition
}
