const jsonNames =
  /(?:^|\/)(?:\.oxlintrc\.jsonc?|\.?biome\.jsonc?|\.eslintrc(?:\.json)?|package\.json|\.prettierrc(?:\.json)?)$/
const yamlNames = /(?:^|\/)(?:\.eslintrc|\.prettierrc)\.ya?ml$/
const otherNames = /(?:^|\/)(?:\.eslintignore|\.eslintrc\.c?js|(?:eslint|oxlint)\.config\.[cm]?[jt]s)$/

/** Configurations of linters for JavaScript and TypeScript, and of Prettier. */
export function isScriptConfig(path: string): boolean {
  return jsonNames.test(path) || yamlNames.test(path) || otherNames.test(path)
}

export function isYaml(path: string): boolean {
  return yamlNames.test(path)
}

/** A list of patterns, or a program, which is never run: there is no table in it. */
export function isProgram(path: string): boolean {
  return otherNames.test(path)
}
