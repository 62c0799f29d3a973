import { fc } from '#testing/fast-check.ts'

/** A definition with its contents; the dialect decides how it is written, and `form` chooses among the dialect's forms. */
export type GeneratedDefinition = {
  shape: 'outer' | 'inner'
  name: string
  form: number
  parts: readonly GeneratedPart[]
}

/** Text that is no definition, by its number, and the definition that follows it. */
export type GeneratedPart = { gap: number; definition: GeneratedDefinition }

/** How a language writes nested definitions, each as one node: a new one needs only this and its pack. */
export type Dialect = {
  language: string
  path: string
  /** The number of texts that can be put between definitions: comments, statements, strings that look like definitions. */
  gapCount: number
  /** How deep definitions are nested. */
  deepest: number
  /** Whether what follows a definition, up to the next one, belongs to it. */
  ownsWhatFollows?: boolean
  write(parts: readonly GeneratedPart[]): string
}

const names = ['f', 'g', 'H', 'é', 'constructor', '__proto__', 'toString']

/** Files of nested definitions with many equal names. */
export function generatedParts(dialect: Dialect, depth = 1): fc.Arbitrary<GeneratedPart[]> {
  const definition = fc.record({
    shape: fc.constantFrom('outer' as const, 'inner' as const),
    name: fc.constantFrom(...names),
    form: fc.nat(2),
    parts: depth === dialect.deepest ? fc.constant([]) : generatedParts(dialect, depth + 1),
  })
  return fc.array(fc.record({ gap: fc.nat(dialect.gapCount - 1), definition }), { maxLength: depth === 1 ? 5 : 3 })
}

/** The same definitions with other text between them, at every depth; `gaps` is drawn from in turn. */
export function withOtherGaps(parts: readonly GeneratedPart[], gaps: readonly number[]): GeneratedPart[] {
  let next = 0
  const replace = (inside: readonly GeneratedPart[]): GeneratedPart[] =>
    inside.map(({ definition }) => {
      const gap = gaps[next++ % gaps.length] ?? 0
      return { gap, definition: { ...definition, parts: replace(definition.parts) } }
    })
  return replace(parts)
}
