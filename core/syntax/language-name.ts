/** Languages whose name is more than their id with a capital letter. */
const names: ReadonlyMap<string, string> = new Map([
  ['c_sharp', 'C#'],
  ['cpp', 'C++'],
  ['css', 'CSS'],
  ['html', 'HTML'],
  ['javascript', 'JavaScript'],
  ['json', 'JSON'],
  ['php', 'PHP'],
  ['toml', 'TOML'],
  ['tsx', 'TSX'],
  ['typescript', 'TypeScript'],
  ['unknown', 'other'],
  ['yaml', 'YAML'],
])

/** A language as a sentence writes it: `Python` for `python`, `other` for files of no known language. */
export function languageName(language: string): string {
  return names.get(language) ?? `${language.charAt(0).toUpperCase()}${language.slice(1)}`
}
