import { folderOf } from '#domain/repo-path.ts'
import { stringsOf, type Table, tableAt, tablesOf } from './config-tree.ts'
import { ofAll, ofNone, patternTest, type ScriptConfig, type ScriptPart, type ScriptSources } from './script-files.ts'

const names = ['biome.json', 'biome.jsonc', '.biome.json', '.biome.jsonc']

/**
 * Rules of Biome that oxlint has, and with which it finds nothing that Biome does not mean, by group; `*` marks those that Biome recommends. The names are
 * those of Biome 2, which says of each from which rule of ESLint it comes.
 */
const equivalents = `
complexity: noExtraBooleanCast*=no-extra-boolean-cast noUselessCatch*=no-useless-catch noUselessConstructor*=no-useless-constructor
  noUselessRename*=no-useless-rename noStaticOnlyClass*=typescript/no-extraneous-class noVoid=no-void
  noUselessLoneBlockStatements*=no-lone-blocks noUselessThisAlias*=typescript/no-this-alias noCommaOperator*=no-sequences
  noUselessEmptyExport*=typescript/no-useless-empty-export useRegexLiterals*=prefer-regex-literals noBannedTypes*=typescript/ban-types
  noUselessLabel*=no-extra-label
correctness: noConstAssign*=no-const-assign noConstantCondition*=no-constant-condition noEmptyCharacterClassInRegex*=no-empty-character-class
  noEmptyPattern*=no-empty-pattern noGlobalObjectCalls*=no-obj-calls noInvalidConstructorSuper*=constructor-super
  noNonoctalDecimalEscape*=no-nonoctal-decimal-escape noPrecisionLoss*=no-loss-of-precision noSelfAssign*=no-self-assign
  noSetterReturn*=no-setter-return noUndeclaredVariables=no-undef noUnreachable*=no-unreachable noUnreachableSuper*=no-this-before-super
  noUnsafeFinally*=no-unsafe-finally noUnsafeOptionalChaining*=no-unsafe-optional-chaining noUnusedLabels*=no-unused-labels
  noUnusedVariables*=no-unused-vars useIsNan*=use-isnan useValidForDirection*=for-direction useYield*=require-yield
  useValidTypeof*=valid-typeof noSwitchDeclarations*=no-case-declarations useJsxKeyInIterable*=react/jsx-key
security: noGlobalEval*=no-eval
style: noNonNullAssertion*=typescript/no-non-null-assertion useConst*=prefer-const useAsConstAssertion*=typescript/prefer-as-const
  useConsistentArrayType=typescript/array-type noInferrableTypes=typescript/no-inferrable-types noNamespace=typescript/no-namespace
  useDefaultParameterLast=default-param-last useSelfClosingElements=react/self-closing-comp useThrowNewError=unicorn/throw-new-error
  useThrowOnlyError=no-throw-literal useImportType*=typescript/consistent-type-imports
suspicious: noAssignInExpressions*=no-cond-assign noAsyncPromiseExecutor*=no-async-promise-executor noCatchAssign*=no-ex-assign
  noClassAssign*=no-class-assign noCompareNegZero*=no-compare-neg-zero noConsole=no-console noControlCharactersInRegex*=no-control-regex
  noDebugger*=no-debugger noDoubleEquals*=eqeqeq noDuplicateCase*=no-duplicate-case noDuplicateClassMembers*=no-dupe-class-members
  noDuplicateObjectKeys*=no-dupe-keys noDuplicateElseIf*=no-dupe-else-if noEmptyBlockStatements=no-empty noExplicitAny*=typescript/no-explicit-any
  noFunctionAssign*=no-func-assign noGlobalAssign*=no-global-assign noImportAssign*=no-import-assign
  noMisleadingCharacterClass*=no-misleading-character-class noMisleadingInstantiator*=typescript/no-misused-new
  noPrototypeBuiltins*=no-prototype-builtins noRedeclare*=no-redeclare noSelfCompare*=no-self-compare
  noShadowRestrictedNames*=no-shadow-restricted-names noSparseArray*=no-sparse-arrays
  noUnsafeDeclarationMerging*=typescript/no-unsafe-declaration-merging noUnsafeNegation*=no-unsafe-negation noWith*=no-with
  useGetterReturn*=getter-return
`

/** These options make the rules mean what Biome's do. */
const options: Readonly<Record<string, readonly unknown[]>> = {
  eqeqeq: ['always', { null: 'ignore' }],
  'no-unused-vars': [{ args: 'none' }],
  'prefer-const': [{ destructuring: 'all' }],
}

const switchedOn = (rule: string) => ['error', ...(options[rule] ?? [])]

type Equivalent = { group: string; biome: string; oxlint: string; isRecommended: boolean }

const known: readonly Equivalent[] = [...equivalents.matchAll(/(?<group>\w+):(?<list>[^:]+)(?=\n\w+:|\n$)/g)].flatMap(
  ({ groups = {} }) => {
    const rules = (groups['list'] ?? '').trim().split(/\s+/)
    return rules.map((rule) => {
      const { biome = '', star, oxlint = '' } = /^(?<biome>\w+)(?<star>\*?)=(?<oxlint>\S+)$/.exec(rule)?.groups ?? {}
      return { group: groups['group'] ?? '', biome, oxlint, isRecommended: star === '*' }
    })
  },
)

/** Reads Biome's configuration in a folder, as far as oxlint has its rules. */
export function biomeConfig(folder: string, sources: ScriptSources): ScriptConfig | undefined {
  const { tree, notice } = sources
  const config = tree.firstIn(folder, names)
  if (config === undefined) return undefined
  const { path, table } = config
  notice(
    `${path}: of Biome's rules, the ${known.length} that oxlint has as well are checked; options given here are not read`,
  )
  if (table['extends'] !== undefined) notice(`${path}: "extends" is not read`)
  const linter = tableAt(table['linter']) ?? {}
  if (linter['enabled'] === false) return { source: path, parts: [], isIgnored: ofAll }
  const patterns = { folder: folderOf(path), source: path, notice }
  const parts = tablesOf(table['overrides']).map((override): ScriptPart => {
    const isMeant = filesTest(override, patterns) ?? ofNone
    const own = tableAt(override['linter'])
    const isOff = own?.['enabled'] === false
    const rules = isOff
      ? Object.fromEntries(known.map(({ oxlint }) => [oxlint, 'off']))
      : namedRules(tableAt(own?.['rules']) ?? {})
    return { isMeant, rules }
  })
  const rules = tableAt(linter['rules']) ?? {}
  const base: ScriptPart = { isMeant: ofAll, rules: { ...recommendedRules(rules), ...namedRules(rules) } }
  const tests = [filesTest(tableAt(table['files']) ?? {}, patterns), filesTest(linter, patterns)]
  return { source: path, parts: [base, ...parts], isIgnored: (file) => tests.some((isIn) => isIn?.(file) === false) }
}

/** Returns a test by `includes` of Biome 2, with exceptions, or `include` and `ignore` of Biome 1; undefined where none says anything. */
function filesTest(table: Table, patterns: Parameters<typeof patternTest>[1]) {
  const listed = stringsOf(table['includes'] ?? table['include'])
  const ignored = [
    ...stringsOf(table['ignore']),
    ...listed.flatMap((pattern) => (pattern.startsWith('!') ? pattern.replace(/^!+/, '') : [])),
  ]
  const included = listed.filter((pattern) => !pattern.startsWith('!'))
  if (included.length === 0 && ignored.length === 0) return undefined
  const isIn = included.length === 0 ? ofAll : patternTest(included, patterns)
  const isOut = patternTest(ignored, patterns)
  return (file: string) => isIn(file) && !isOut(file)
}

function recommendedRules(rules: Table): Table {
  const isOn = ({ group }: Equivalent) => {
    const own = tableAt(rules[group])?.['recommended']
    return own === undefined ? rules['recommended'] !== false : own === true
  }
  const rulesOn = known.filter((rule) => rule.isRecommended && isOn(rule))
  return Object.fromEntries(rulesOn.map(({ oxlint }) => [oxlint, switchedOn(oxlint)]))
}

function namedRules(rules: Table): Table {
  const named: Record<string, unknown> = {}
  for (const { group, biome, oxlint } of known) {
    const value = tableAt(rules[group])?.[biome]
    const level = tableAt(value)?.['level'] ?? value
    if (level !== undefined) named[oxlint] = level === 'off' ? 'off' : switchedOn(oxlint)
  }
  return named
}
