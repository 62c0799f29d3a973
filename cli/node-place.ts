/** `src/money.py Price.total`; a file is named by its path alone. Parts that are not known are left out. */
export function nodePlace(path: string, qualifiedName: string): string {
  const isFile = path === qualifiedName || path.endsWith(`/${qualifiedName}`)
  return isFile ? path : `${path} ${qualifiedName}`.trim()
}
