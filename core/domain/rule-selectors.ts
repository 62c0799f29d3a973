/** Whether `code` (`F401`) falls under one of `selectors` (`F401`, `F4`, `F`, `ALL`), as Ruff and flake8 read them. */
export function isSelected(code: string, selectors: readonly string[]): boolean {
  return selectors.some((selector) => isUnder(code, selector))
}

/**
 * Whether `selector` means `code`, which may be a narrower selector. `E` means E501, but not ERA001: a whole prefix of
 * letters ends where the digits begin. Only `PL` stands for several: PLC, PLE, PLR and PLW. `TCH` is the old name of `TC`.
 */
export function isUnder(code: string, selector: string): boolean {
  if (selector === 'ALL' || selector === code) return true
  if (selector.startsWith('TCH')) return isUnder(code, `TC${selector.slice(3)}`)
  if (selector === 'PL') return /^PL[CERW](?:\d|$)/.test(code)
  if (!code.startsWith(selector)) return false
  const isLettersOnly = /^[A-Z]+$/.test(selector)
  return !isLettersOnly || /^\d/.test(code.slice(selector.length))
}
