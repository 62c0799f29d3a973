/**
 * As what a module in JavaScript or TypeScript exports a name: by itself, or as the whole. By its text alone, so that it may miss what is
 * exported in another way.
 */
export function exportKind(name: string, source: string): 'named' | 'default' | undefined {
  const word = name.replaceAll('$', '\\$')
  const has = (pattern: string) => new RegExp(pattern, 'm').test(source)
  if (has(`^\\s*export\\s+default\\s+(?:async\\s+)?(?:function\\s*\\*?|class)?\\s*${word}\\b`)) return 'default'
  if (has(`\\bmodule\\.exports\\s*=\\s*(?:(?:async\\s+)?function\\s*\\*?\\s*)?${word}\\b\\s*(?:[;(]|$)`))
    return 'default'
  const isNamed =
    has(
      `^\\s*export\\s+(?:declare\\s+|abstract\\s+|async\\s+)*(?:function\\s*\\*?|class|const|let|var)\\s+${word}\\b`,
    ) ||
    has(`\\bexport\\s*\\{[^}]*(?<!\\w\\s+as\\s+)\\b${word}\\b(?!\\s+as\\b)[^}]*\\}`) ||
    has(`\\bexports\\.${word}\\s*=`) ||
    has(`\\bmodule\\.exports\\s*=\\s*\\{[^}]*\\b${word}\\b[^}]*\\}`)
  return isNamed ? 'named' : undefined
}
