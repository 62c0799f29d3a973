import { figure } from '../figure.ts'

type Waited = { kind: string; model?: string | undefined; questions?: number | undefined; of?: string | undefined }
type Doing = 'prepare' | 'slot' | 'model' | 'tool' | 'deferred' | 'proof' | 'person'
type UsedBudget = { of: string; limit: number; used: number; needs?: number | null | undefined }

/** `1 file`, `3 files`, `1,200 files`: for nouns that take an s. */
export function plural(count: number, noun: string): string {
  return `${figure(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** A duration as a person reads it: `850 ms`, `12.3 s`, `4 min 05 s`. */
export function formatSeconds(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 100_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`
}

/** `src/money.py Price.total`; for a file only its path. Unknown parts are left out. */
export function nodePlace(path: string, qualifiedName: string): string {
  const isFile = path === qualifiedName || path.endsWith(`/${qualifiedName}`)
  return isFile ? path : `${path} ${qualifiedName}`.trim()
}

/** Says in a few words what a run waits for, for a line of a list; empty for nothing. */
export function waitingText(waitingFor: readonly Waited[]): string {
  const parts = waitingFor.flatMap(({ kind, model = '', questions = 0, of }) => {
    if (kind === 'models') return [modelText(model)]
    if (kind === 'store') return ['the object store']
    if (kind === 'tool') return ['a tool that takes long']
    if (kind === 'approval') return ['the approval of its plan']
    if (kind === 'budget') return [of === 'project' ? 'tokens for its project' : 'tokens']
    return kind === 'answer' ? [plural(questions, 'answer')] : []
  })
  return parts.length === 0 ? '' : `waits for ${parts.join(' and ')}`
}

/** `default`: the one that the settings name, or the first that the servers offer. */
export function modelText(model: string): string {
  return model === 'default' ? 'the model' : `the model "${model}"`
}

/** `the run has used 9,345 of its 10,000 tokens, and needs up to 2,000 for a request` */
export function usedUpText({ of, limit, used, needs }: UsedBudget): string {
  const whose = of === 'project' ? 'its project has' : 'the run has'
  const what = of === 'project' ? `the ${plural(limit, 'token')} of today` : `its ${plural(limit, 'token')}`
  const more = typeof needs === 'number' ? `, and needs up to ${figure(needs)} for a request` : ''
  return `${whose} used ${figure(used)} of ${what}${more}`
}

const doingTexts: Readonly<Record<Doing, readonly [one: string, many: string]>> = {
  prepare: ['is made ready', 'are made ready'],
  slot: ['waits for a slot of the model servers', 'wait for a slot of the model servers'],
  model: ['waits for an answer of the model', 'wait for an answer of the model'],
  tool: ['runs a tool', 'run a tool'],
  deferred: ['waits for a long tool', 'wait for long tools'],
  proof: ['is proved', 'are proved'],
  person: ['waits for a person', 'wait for a person'],
}

/** Says what an operation does, or several of them do. */
export function doingText(doing: Doing, count = 1): string {
  return doingTexts[doing][count === 1 ? 0 : 1]
}
