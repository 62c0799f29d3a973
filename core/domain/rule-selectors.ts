/** Whether `code` (`F401`) falls under one of `selectors` (`F401`, `F4`, `F`, `ALL`), as Ruff and flake8 read them. */
export function isSelected(code: string, selectors: readonly string[]): boolean {
  return selectors.some((selector) => selector === 'ALL' || isUnder(code, selector))
}

/** `E` selects E501, but not ERA001; a whole prefix of letters ends where the digits begin. */
function isUnder(code: string, selector: string): boolean {
  if (!code.startsWith(selector)) return false
  const isLettersOnly = /^[A-Z]+$/.test(selector)
  return !isLettersOnly || /^\d/.test(code.slice(selector.length))
}
