/** A shorter one, as `none` or `EMPTY` where no key is needed, stands in ordinary words. */
const leastLength = 6

/** A text in which `[secret]` stands for each of these values. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let shown = text
  for (const secret of secrets) if (secret.length >= leastLength) shown = shown.replaceAll(secret, '[secret]')
  return shown
}
