import { z } from 'zod'
import { AppError } from './error.ts'

/** Says what an embedded stack's agents use: the rehearsal model that comes with Remora, or the user's model servers. */
export const ModelKind = z.enum(['rehearsal', 'servers'])
export type ModelKind = z.infer<typeof ModelKind>

/** The label of a run that records its kind of model, so that a stack with the other kind does not continue it. */
export const modelLabel = 'remora.model'

type Labels = Readonly<Record<string, string>> | undefined

export function modelKindOf(labels: Labels): ModelKind | undefined {
  return ModelKind.safeParse(labels?.[modelLabel]).data
}

/** Is true when a stack of `kind` may continue a run with these labels. It may when either kind is unknown. */
export function mayGoOn(labels: Labels, kind: ModelKind | undefined): boolean {
  const noted = modelKindOf(labels)
  return noted === undefined || kind === undefined || noted === kind
}

/** Throws RUN_009 unless a stack of `kind` may continue the run: nobody could tell which model made which change. */
export function requireSameModel({ runId, labels }: { runId: string; labels: Labels }, kind: ModelKind | undefined) {
  const noted = modelKindOf(labels)
  if (noted === undefined || kind === undefined || noted === kind) return
  const [begun, here] = [describeModelKind(noted), describeModelKind(kind)]
  const wayOn = noted === 'rehearsal' ? '--model rehearsal' : '--model or REMORA_MODEL_URLS'
  const message = `Run "${runId}" was begun with ${begun}, the services here have ${here}: start them with ${wayOn}.`
  throw new AppError('RUN_009', message)
}

/** Only the service says which kind of model answers a run: a label of that name in the request does not count. */
export function withModelKind<Request extends { labels?: Labels }>(request: Request, kind: ModelKind | undefined) {
  return kind === undefined ? request : { ...request, labels: { ...request.labels, [modelLabel]: kind } }
}

export function describeModelKind(kind: ModelKind): string {
  return kind === 'rehearsal' ? `the ${rehearsalLabel}` : 'model servers'
}

/** The rehearsal model's name in its replies and all output, so that nobody takes its texts for those of a model. */
export const rehearsalLabel = 'rehearsal model (no LLM)'
