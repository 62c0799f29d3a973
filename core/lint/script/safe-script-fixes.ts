import type { TextEdit } from '../safe-fixes.ts'

/**
 * Rules of JavaScript and TypeScript whose fixes are made without a review by a person: those that oxlint calls safe, less
 * what changes how the program runs, needs a newer engine, or writes code that its formatter would change. Left out, among others:
 * - `no-var`: a `var` is hoisted, shared by the turns of a loop, and at the top of a script a global;
 * - `use-isnan`, `valid-typeof`, `no-unsafe-negation`, `no-compare-neg-zero`: the fix does what was meant, not what is done;
 * - `yoda`, `no-else-return`, `curly`, `one-var`, `sort-*`: they reshape or reorder code;
 * - `prefer-template`, `no-implicit-coercion`: `${x}` and `String(x)` convert objects and symbols otherwise than `'' + x`;
 * - `prefer-arrow-callback`: `this`, `arguments` and `new` change their meaning;
 * - `prefer-object-has-own`, `prefer-string-replace-all`, `prefer-node-protocol` …: older engines lack what they use;
 * - rules of test frameworks: they change what a test asserts;
 * - `consistent-type-imports`: it writes a semicolon, also in files without any; decorators read what is imported as a type;
 * - `number-literal-case`: Prettier writes these the other way;
 * - `consistent-generic-constructors`: declarations that are made file by file need the type where it was;
 * - `no-explicit-any`, `no-wrapper-object-types`, `consistent-indexed-object-style`: other code may no longer have the type it needs.
 */
const safeScriptRules: ReadonlySet<string> = new Set(
  (
    'no-array-constructor no-extra-boolean-cast no-extra-label no-unused-labels no-useless-computed-key no-useless-rename ' +
    'object-shorthand prefer-const prefer-numeric-literals ' +
    'react/jsx-boolean-value react/self-closing-comp ' +
    'typescript/array-type typescript/consistent-type-assertions typescript/no-extra-non-null-assertion typescript/no-useless-empty-export ' +
    'typescript/prefer-as-const typescript/prefer-namespace-keyword ' +
    'unicorn/escape-case unicorn/no-zero-fractions unicorn/throw-new-error'
  ).split(' '),
)

export function isSafeScriptFix(code: string, edits: readonly TextEdit[], text: string): boolean {
  if (!safeScriptRules.has(code)) return false
  return edits.every((edit) => hasSafePlace(code, edit, text))
}

/** False for those fixes of a rule that may change what the program does, or that say less than the code they replace. */
function hasSafePlace(code: string, edit: TextEdit, text: string): boolean {
  const was = text.slice(edit.start, edit.end)
  if (/\/[/*]/.test(was) && was !== edit.text) return false // it may hold a comment, which the new text lacks
  // A function that becomes a method is no constructor any more.
  if (code === 'object-shorthand')
    return /^\s*:\s*(?!function$|async$)[\w$]+$|^[\w$]+\s*:\s*$/.test(was) && edit.text === ''
  // In an object literal only the computed `['__proto__']` is an ordinary key.
  if (code === 'no-useless-computed-key') return !/__proto__|constructor|prototype/.test(was)
  return true
}
