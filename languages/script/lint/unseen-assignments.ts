/** Holds what may assign the variables of a text besides the code that the linter sees. */
export type UnseenFacts = {
  /** Holds the places of the names that all scripts of a page share. */
  shared: ReadonlySet<number>
  hasEval: boolean
  /** Names in `ref={name}`, of which Solid's compiler makes an assignment. */
  refs: ReadonlySet<string>
}

export const nothingUnseen: UnseenFacts = { shared: new Set(), hasEval: false, refs: new Set() }

/**
 * The configuration with which oxlint finds what may assign. It gives a scope of their own to files with imports or exports, and to `.mjs`,
 * `.cjs` and their like. CommonJS in a `.js` file counts as a script: many a page loads such a file, which has exports only for its tests.
 */
export const unseenConfiguration = {
  categories: { correctness: 'off' },
  rules: { 'no-implicit-globals': ['error', { lexicalBindings: true }], 'no-eval': 'error' },
}

/** The text with every character at its place, and without comments that switch rules off. */
export function withoutSwitches(text: string): string {
  return text.replaceAll(/(?<=eslint|oxlint)-(?=disable|enable)/g, '_')
}

/** `faults` are those that oxlint finds with that configuration. */
export function unseenFactsOf(faults: readonly { code: string; start: number }[], text: string): UnseenFacts {
  return {
    shared: new Set(faults.flatMap(({ code, start }) => (code === 'no-implicit-globals' ? [start] : []))),
    hasEval: faults.some(({ code }) => code === 'no-eval'),
    refs: new Set(Array.from(text.matchAll(/\bref=\{\s*([\w$]+)\s*\}/g), ([, name = '']) => name)),
  }
}

/** UTF-16 units, end-exclusive. */
type Range = { start: number; end: number }

type Declared = { text: string; isTyped: boolean; nameAt: number; unseen: UnseenFacts }

/**
 * Says why a declaration with `let` has to stay one although nothing in the file assigns the name at `nameAt`; undefined where it may
 * become one with `const`. TypeScript's `export let` is a member that others assign where it is in a namespace; elsewhere its type is wider
 * than that of the constant, and other files may need that.
 */
export function whyVariable(declaration: Range, { text, isTyped, nameAt, unseen }: Declared): string | undefined {
  const { start, end } = declaration
  if (unseen.hasEval) return 'code that eval runs may assign it'
  if (unseen.shared.has(nameAt)) return 'other scripts of the page may assign it'
  if (isTyped && /\bexport\s+$/.test(text.slice(Math.max(0, start - 40), start)))
    return 'other files may assign it or need its type'
  const words = text.slice(start, end).match(/[\w$]+/g) ?? []
  return words.some((word) => unseen.refs.has(word)) ? 'a ref of JSX may assign it' : undefined
}
