import fc from 'fast-check'

/** A definition with what lies in it; how it is written is the dialect's. `form` chooses among its ways of writing one. */
export type GeneratedDefinition = {
  shape: 'outer' | 'inner'
  name: string
  form: number
  parts: readonly GeneratedPart[]
}

/** Text that is no definition, by its number, and the definition that follows it. */
export type GeneratedPart = { gap: number; definition: GeneratedDefinition }

/** How a language writes nested definitions: a new one needs only this and its pack. */
export type Dialect = {
  language: string
  path: string
  /** Text between definitions: comments, statements, strings that look like definitions. */
  gaps: readonly string[]
  write(parts: readonly GeneratedPart[]): string
}

const names = ['f', 'g', 'H', 'é', 'constructor', '__proto__', 'toString']

const deepest = 3

/** Files of nested definitions, up to three deep, with many equal names. */
export function generatedParts({ gaps }: Pick<Dialect, 'gaps'>, depth = 1): fc.Arbitrary<GeneratedPart[]> {
  const definition = fc.record({
    shape: fc.constantFrom('outer' as const, 'inner' as const),
    name: fc.constantFrom(...names),
    form: fc.nat(2),
    parts: depth === deepest ? fc.constant([]) : generatedParts({ gaps }, depth + 1),
  })
  return fc.array(fc.record({ gap: fc.nat(gaps.length - 1), definition }), { maxLength: depth === 1 ? 5 : 3 })
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

const pythonGaps = [
  '',
  '# a comment 😀\n',
  '# def f(): pass\n',
  'x = [1,\n 2]\n',
  'if x:\n    y = 1\n',
  '\n\f\n',
  '"""\ndef f(): pass\n"""\n',
  'f = g = lambda H: H\n',
]

export const python: Dialect = {
  language: 'python',
  path: 'pkg/mod.py',
  gaps: pythonGaps,
  write: (parts) => parts.map((part) => indented(writePython(part), '')).join(''),
}

function writePython({ gap, definition }: GeneratedPart): string {
  const { shape, name, form, parts } = definition
  const decorator = form === 1 ? '@decorated("é")\n' : ''
  const head = shape === 'outer' ? `class ${name}:` : `${form === 2 ? 'async ' : ''}def ${name}(x):`
  const inside = parts.map((part) => indented(writePython(part), '    ')).join('')
  return `${pythonGaps[gap] ?? ''}${decorator}${head}\n${inside}    pass\n`
}

function indented(text: string, indent: string): string {
  return text.replaceAll(/^(?=[^\n\f])/gm, indent)
}
