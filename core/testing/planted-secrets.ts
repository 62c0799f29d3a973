import { openRandom } from '#platform/seeded-random.ts'

/** A secret as it stands in a line of source code, and what of it must never be shown. */
export type PlantedSecret = { kind: string; code: string; value: string }

const random = openRandom(48)
const letters = 'abcdefghijklmnopqrstuvwxyz'
const digits = '0123456789'
const all = letters + letters.toUpperCase() + digits

function drawn(length: number, from = all): string {
  return Array.from({ length }, () => from[random.int(0, from.length - 1)]).join('')
}

const keyLines = Array.from({ length: 12 }, () => drawn(64, `${all}+/`))
const marks = ['BEGIN', 'END'].map((mark) => `-----${[mark, 'RSA PRIVATE KEY'].join(' ')}-----`)

/** A private key as a file has it, and one of its lines. */
export const privateKey = { text: [marks[0], ...keyLines, marks[1], ''].join('\n'), line: keyLines[5] ?? '' }

/**
 * Secrets of twelve kinds, none of them real. They are put together here, so that no scanner finds them in this repository,
 * and are the same in every run.
 */
export const plantedSecrets: readonly PlantedSecret[] = [
  token('AWS access key', `AKIA${drawn(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}`),
  token('GitHub token', `ghp_${drawn(36)}`),
  token('GitLab token', `glpat-${drawn(20)}`),
  token('Slack token', `xoxb-${drawn(12, digits)}-${drawn(12, digits)}-${drawn(24)}`),
  token('Stripe key', `sk_live_${drawn(32)}`),
  token('Google key', `AIza${drawn(35)}`),
  token('npm token', `npm_${drawn(36, letters + digits)}`),
  token('SendGrid key', `SG.${drawn(22)}.${drawn(43)}`),
  token('JSON web token', `eyJ${drawn(33)}.eyJ${drawn(60)}.${drawn(43)}`),
  assigned('password', drawn(18)),
  within('password of a database', drawn(14), (value) => `"postgres://shop:${value}@db.internal:5432/shop"`),
  { kind: 'private key', code: JSON.stringify(privateKey.text), value: privateKey.line },
]

function token(kind: string, value: string): PlantedSecret {
  return { kind, code: `"${value}"`, value }
}

function assigned(kind: string, value: string): PlantedSecret {
  return { kind, code: `dict(${kind}="${value}")`, value }
}

function within(kind: string, value: string, code: (value: string) => string): PlantedSecret {
  return { kind, code: code(value), value }
}
