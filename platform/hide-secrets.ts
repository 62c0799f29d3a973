const scheme = /^[a-z][\w+.-]*:\/\//i
/** A scheme follows each comma in a list of addresses, and none in a password. */
const betweenAddresses = /,(?=\s*[a-z][\w+.-]*:\/\/)/i
const addressInText = /[a-z][\w+.-]*:\/\/[^\s"'<>]+/gi
const secretName = /key|token|secret|password/i
const hidden = '***'

/** Returns one or several addresses without login, query values and fragment. In any other text all up to the last `@` is the login. */
export function withoutLogin(text: string): string {
  return text.split(betweenAddresses).map(shownAddress).join(',')
}

export function withoutLogins(message: string): string {
  return message.includes('://') ? message.replaceAll(addressInText, withoutLogin) : message
}

/** Is true when an address has a login, or by its name a secret in its query: such a one must not stand in a file. */
export function holdsSecret(address: string): boolean {
  if (parted(address).login !== 'none') return true
  return URL.canParse(address) && Array.from(new URL(address).searchParams.keys()).some((name) => secretName.test(name))
}

function shownAddress(address: string): string {
  const { login, rest } = parted(address)
  const [open = '', query] = rest.replace(/#.*$/s, '').split(/\?(.*)/s)
  const start = `${scheme.exec(address.trimStart())?.[0] ?? ''}${login === 'unsure' ? `${hidden}@` : ''}`
  return `${login === 'none' ? '' : start}${open}${query === undefined ? '' : hideValues(query)}`
}

/** `unsure`: no address, or an `@` in its path: a password with a slash, or none. `rest` follows the login. */
function parted(address: string): { login: 'none' | 'sure' | 'unsure'; rest: string } {
  const url = URL.canParse(address) ? new URL(address) : undefined
  const beforeQuery = url === undefined ? address : address.replace(/[?#].*$/s, '')
  const end = beforeQuery.lastIndexOf('@')
  if (end < 0) return { login: 'none', rest: address }
  const isSure = url !== undefined && !url.pathname.includes('@')
  return { login: isSure ? 'sure' : 'unsure', rest: address.slice(end + 1) }
}

function hideValues(query: string): string {
  const shown = query.split('&').map((part) => (part.includes('=') ? `${part.replace(/=.*$/s, '')}=${hidden}` : hidden))
  return `?${shown.join('&')}`
}

/** Shorter values, such as `none` or `EMPTY` where no key is needed, occur in ordinary words. */
const leastLength = 6

export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let shown = text
  for (const secret of secrets) if (secret.length >= leastLength) shown = shown.replaceAll(secret, '[secret]')
  return shown
}
