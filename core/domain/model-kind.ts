import { z } from 'zod'
import { AppError } from './error.ts'
import { rehearsalLabel } from './rehearsal-label.ts'

/** What answers the agents of an embedded stack: the rehearsal model that comes with Remora, or servers of the user's. */
export const ModelKind = z.enum(['rehearsal', 'servers'])
export type ModelKind = z.infer<typeof ModelKind>

/** The label in which an embedded stack notes on a run what answers it, so that no stack of the other kind goes on with it. */
export const modelLabel = 'remora.model'

type Labels = Readonly<Record<string, string>> | undefined

/** Undefined for a run that does not say: one of a service with workers of its own, or of an older version. */
export function modelKindOf(labels: Labels): ModelKind | undefined {
  return ModelKind.safeParse(labels?.[modelLabel]).data
}

/** Whether a stack of `kind` may go on with a run of these labels. Where either does not say, it may. */
export function mayGoOn(labels: Labels, kind: ModelKind | undefined): boolean {
  const noted = modelKindOf(labels)
  return noted === undefined || kind === undefined || noted === kind
}

/** RUN_009 unless a stack of `kind` may go on with the run: a patch that two kinds of model made would pass for one. */
export function requireSameModel({ runId, labels }: { runId: string; labels: Labels }, kind: ModelKind | undefined) {
  const noted = modelKindOf(labels)
  if (noted === undefined || kind === undefined || noted === kind) return
  const [begun, here] = [describeModelKind(noted), describeModelKind(kind)]
  const wayOn = noted === 'rehearsal' ? '--model rehearsal' : '--model or REMORA_MODEL_URLS'
  throw new AppError(
    'RUN_009',
    `Run "${runId}" was begun with ${begun}, the services here have ${here}: start them with ${wayOn}.`,
  )
}

export function describeModelKind(kind: ModelKind): string {
  return kind === 'rehearsal' ? `the ${rehearsalLabel}` : 'model servers'
}
