import type { TextEdit } from '../../lint/text-edit.ts'

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
 * - `no-explicit-any`, `no-wrapper-object-types`, `consistent-indexed-object-style`: other code may no longer have the type it needs;
 * - `no-unused-labels`: bundlers remove what stands behind a label (`DEV: check()`), and a text behind one becomes a directive;
 * - `no-extra-boolean-cast`: `Boolean` may be a function of the file, and a line that begins with `[` goes on with the line before;
 * - `throw-new-error`: what is called `FooError` may be a function that makes one, which `new` cannot call;
 * - `escape-case`: in a regular expression, a tagged template and JSX `\u{ab}` may be what it looks like, and no character;
 * - `no-useless-empty-export`: where all other imports are of types, it is what makes the file a module.
 */
const safeScriptRules: ReadonlySet<string> = new Set(
  (
    'no-array-constructor no-extra-label no-useless-computed-key no-useless-rename object-shorthand prefer-const prefer-numeric-literals ' +
    'react/jsx-boolean-value react/self-closing-comp ' +
    'typescript/array-type typescript/consistent-type-assertions typescript/no-extra-non-null-assertion ' +
    'typescript/prefer-as-const typescript/prefer-namespace-keyword ' +
    'unicorn/no-zero-fractions'
  ).split(' '),
)

type FixedText = { text: string; isTyped: boolean }

export function isSafeScriptFix(code: string, edits: readonly TextEdit[], file: FixedText): boolean {
  if (!safeScriptRules.has(code)) return false
  return edits.every((edit) => hasSafePlace(code, edit, file))
}

/** False for those fixes of a rule that may change what the program does, or that say less than the code they replace. */
function hasSafePlace(code: string, edit: TextEdit, { text, isTyped }: FixedText): boolean {
  const was = text.slice(edit.start, edit.end)
  if (/\/[/*]/.test(was) && was !== edit.text) return false // it may hold a comment, which the new text lacks
  switch (code) {
    // A function that becomes a method is no constructor any more.
    case 'object-shorthand':
      return /^\s*:\s*(?!function$|async$)[\w$]+$|^[\w$]+\s*:\s*$/.test(was) && edit.text === ''
    // In an object literal only the computed `['__proto__']` is an ordinary key.
    case 'no-useless-computed-key':
      return !/__proto__|constructor|prototype|\\/.test(was)
    // Programs that shorten the names of properties leave alone those in quotes.
    case 'no-useless-rename':
      return !/["'\\]/.test(was)
    // TypeScript reads `new Array()` as any array, and `[]` as one that has nothing.
    case 'no-array-constructor':
      return !(isTyped && /^\[\s*\]$/.test(edit.text))
    // `0b-1` is what oxlint makes of `parseInt('-1', 2)`.
    case 'prefer-numeric-literals':
      return !/[-+]/.test(edit.text)
    // A line that begins with a bracket goes on with the line before.
    case 'unicorn/no-zero-fractions':
      return !edit.text.includes('(')
    // `a={true}b` becomes one name.
    case 'react/jsx-boolean-value':
      return (
        was === '' || (/^\s*=\s*\{\s*true\s*\}$/.test(was) && !/^[\w$:.-]/.test(text.slice(edit.end, edit.end + 1)))
      )
    // JSX leaves out only spaces, tabs and line ends, and keeps every other white space.
    case 'react/self-closing-comp':
      return /^>[ \t\r\n]*<\//.test(was)
    // What decorators read of it, and what it is part of, may be another type with `readonly`.
    case 'typescript/array-type':
      return !/readonly/i.test(was + edit.text)
    // Decorators read the type that a field is declared with.
    case 'typescript/prefer-as-const':
      return edit.text === 'const'
    default:
      return true
  }
}
