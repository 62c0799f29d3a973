const scheme = /^[a-z][\w+.-]*:\/\//i
/** The comma of a list of addresses stands before the scheme of the next one; one in a password does not. */
const betweenAddresses = /,(?=\s*[a-z][\w+.-]*:\/\/)/i
const addressInText = /[a-z][\w+.-]*:\/\/[^\s"'<>]+/gi
const secretName = /key|token|secret|password/i
const hidden = '***'

/**
 * An address, or several separated by commas, as it may be shown: without login, without the values of its query and
 * without what follows `#`. Of what is no address all up to the last `@` is taken for the login. What hides nothing is
 * answered as it is.
 */
export function withoutLogin(text: string): string {
  return text.split(betweenAddresses).map(shownAddress).join(',')
}

/** The addresses in a message, or a log's text, as `withoutLogin` shows them. */
export function withoutLogins(message: string): string {
  return message.includes('://') ? message.replaceAll(addressInText, withoutLogin) : message
}

/** Whether an address has a login, or by its name a secret in its query: such a one must not stand in a file. */
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

/**
 * `unsure`: what is no address, or becomes one with an `@` in its path, has a password with a slash or the like in it,
 * or none. `rest` is what follows a login.
 */
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

/** A shorter one, as `none` or `EMPTY` where no key is needed, stands in ordinary words. */
const leastLength = 6

/** A text in which `[secret]` stands for each of these values. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let shown = text
  for (const secret of secrets) if (secret.length >= leastLength) shown = shown.replaceAll(secret, '[secret]')
  return shown
}
