import { openModelLine, type ModelLine } from './model-line.ts'

/** The lines of all models that somebody waits for. */
export type ModelLines = {
  all: ReadonlyMap<string, ModelLine>
  of(model: string): ModelLine
  dropIfEmpty(line: ModelLine): void
  /** Of those that are not blocked, the one whose first has waited longest. */
  oldest(blocked: ReadonlySet<ModelLine>): ModelLine | undefined
  /** Sends everybody away. */
  dismiss(): void
}

export function openModelLines(): ModelLines {
  const all = new Map<string, ModelLine>()
  return {
    all,
    of(model) {
      const line = all.get(model) ?? openModelLine(model)
      all.set(model, line)
      return line
    },
    dropIfEmpty(line) {
      if (line.size() === 0 && all.get(line.model) === line) all.delete(line.model)
    },
    oldest(blocked) {
      let first: ModelLine | undefined
      for (const line of all.values()) {
        if (!blocked.has(line) && (first === undefined || line.since() < first.since())) first = line
      }
      return first
    },
    dismiss() {
      for (const line of all.values()) line.dismiss()
      all.clear()
    },
  }
}
