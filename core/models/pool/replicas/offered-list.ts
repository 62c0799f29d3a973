import { systemClock, type Clock } from '#platform/clock.ts'

/** The models, and adapters, that one server offers. */
export type OfferedList = {
  /** Without those it lacks; undefined while nobody knows. */
  models(): readonly string[] | undefined
  /** Whether a request for the model may be sent there: it is offered, or may be. Ollama lists `x` as `x:latest`. */
  mayOffer(model: string): boolean
  /** What `GET /models` has answered. Does nothing where the operator has named the models. */
  learn(models: readonly string[]): void
  /** The server said that it does not have the model: it is not asked for it for a minute, or until it says otherwise. */
  lacks(model: string): void
  isLacking(model: string): boolean
}

/** An adapter is loaded, or a gateway's new version is there, after about so long. */
const lackingMs = 60_000

/** `named` are the operator's; none: what the server says. */
export function openOfferedList(named: readonly string[] = [], { now }: Pick<Clock, 'now'> = systemClock): OfferedList {
  let known = named.length === 0 ? undefined : new Set(named)
  const lackingUntil = new Map<string, number>()
  const isLacking = (model: string) => {
    const until = lackingUntil.get(model)
    if (until !== undefined && now() >= until) lackingUntil.delete(model)
    return lackingUntil.has(model)
  }
  return {
    models: () => (known === undefined ? undefined : [...known].filter((model) => !isLacking(model))),
    mayOffer: (model) => (known === undefined || known.has(model) || known.has(`${model}:latest`)) && !isLacking(model),
    learn(models) {
      if (named.length > 0) return
      known = new Set(models)
      lackingUntil.clear()
    },
    lacks: (model) => void lackingUntil.set(model, now() + lackingMs),
    isLacking,
  }
}
