/** The models, and adapters, that one server offers. */
export type OfferedList = {
  /** Undefined while nobody knows. */
  models(): readonly string[] | undefined
  /** Whether a request for the model may be sent there: it is offered, or may be. Ollama lists `x` as `x:latest`. */
  mayOffer(model: string): boolean
  /** What `GET /models` has answered. Does nothing where the operator has named the models. */
  learn(models: readonly string[]): void
  /** The server said that it does not have the model, until it says otherwise. */
  lacks(model: string): void
}

/** `named` are the operator's; none: what the server says. */
export function openOfferedList(named: readonly string[] = []): OfferedList {
  let known = named.length === 0 ? undefined : new Set(named)
  const lacking = new Set<string>()
  return {
    models: () => (known === undefined ? undefined : [...known]),
    mayOffer: (model) =>
      (known === undefined || known.has(model) || known.has(`${model}:latest`)) && !lacking.has(model),
    learn(models) {
      if (named.length > 0) return
      known = new Set(models)
      lacking.clear()
    },
    lacks: (model) => void lacking.add(model),
  }
}
