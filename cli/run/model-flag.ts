import { modelKindOf } from '#domain/model-kind.ts'
import type { RunView } from '../api-views.ts'
import { kindOfModel } from '../model-server.ts'

/** What a command that goes on with a run takes from the one before it: the `--model` that was given, with a blank before it. */
export function sameModelFlag(model: string | undefined): string {
  return model === undefined ? '' : ` --model ${/^[\w@%+=:,./[\]-]+$/.test(model) ? model : `'${model}'`}`
}

/** The command that goes on with a run nobody works on: it names a model when the environment's is of another kind. */
export function resumeCommand({ run_id: runId, request }: Pick<RunView, 'run_id' | 'request'>, modelUrls?: string) {
  const kind = modelKindOf(request.labels)
  const isOther = kind !== undefined && kind !== kindOfModel(modelUrls)
  return `remora run --resume ${runId}${isOther ? ` --model ${kind === 'rehearsal' ? kind : 'URL'}` : ''}`
}
