import { openRandom } from '#platform/seeded-random.ts'

/** A secret as it stands in a line of source code, and what of it must never be shown. */
export type PlantedSecret = { kind: string; code: string; value: string }

const random = openRandom(48)
const letters = 'abcdefghijklmnopqrstuvwxyz'
const digits = '0123456789'
const all = letters + letters.toUpperCase() + digits
/** Of those that Django draws its key from. */
const signs = '!@#$%^&*(-_=+)'

function drawn(length: number, from = all): string {
  return Array.from({ length }, () => from[random.int(0, from.length - 1)]).join('')
}

const keyLines = Array.from({ length: 12 }, () => drawn(64, `${all}+/`))
const marks = ['BEGIN', 'END'].map((mark) => `-----${[mark, 'RSA PRIVATE KEY'].join(' ')}-----`)

/** A private key as a file has it, and one of its lines. */
export const privateKey = { text: [marks[0], ...keyLines, marks[1], ''].join('\n'), line: keyLines[5] ?? '' }

/** With signs that no name has, wherever chance puts the others. */
function mixed(length: number): string {
  return `${drawn(4)}!${drawn(length - 9, all + signs)}$^7${drawn(1)}`
}

/**
 * Secrets of 21 kinds, none of them real. They are put together here, so that no scanner finds them in this repository,
 * and are the same in every run.
 */
export const plantedSecrets: readonly PlantedSecret[] = [
  token('AWS access key', `AKIA${drawn(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}`),
  token('GitHub token', `ghp_${drawn(36)}`),
  token('GitLab token', `glpat-${drawn(20)}`),
  token('Slack token', `xoxb-${drawn(12, digits)}-${drawn(12, digits)}-${drawn(24)}`),
  token('Stripe key', `sk_live_${drawn(32)}`),
  token('Google key', `AIza${drawn(35)}`),
  token('Remora token', `rmr_${drawn(43)}`),
  token('npm token', `npm_${drawn(36, letters + digits)}`),
  token('SendGrid key', `SG.${drawn(22)}.${drawn(43)}`),
  token('JSON web token', `eyJ${drawn(33)}.eyJ${drawn(60)}.${drawn(43)}`),
  assigned('password', drawn(18)),
  within('password of a database', drawn(14), (value) => `"postgres://shop:${value}@db.internal:5432/shop"`),
  assigned('password', mixed(14), 'password with signs'),
  assigned('SECRET_KEY', `django-insecure-${mixed(50)}`, 'key of Django'),
  assigned('SECRET_KEY', mixed(50), 'key of Django drawn anew'),
  within('password in a comment', mixed(10), (value) => `(  # password: ${value}\n        0\n    )`),
  within('password in YAML', mixed(12), (value) => `"database:\\n  password: ${value}\\n  port: 5432\\n"`),
  within('password with signs of a database', `${drawn(2)}$$!${drawn(3)}`, (value) => `"redis://:${value}@cache:6379"`),
  within('bearer token', `${drawn(12)}7${drawn(8)}`, (value) => `{"Authorization": "Bearer ${value}"}`),
  within('basic credentials', Buffer.from(`shop:${mixed(14)}`).toString('base64'), (value) => {
    return `"curl -H 'Authorization: Basic ${value}' https://shop.internal"`
  }),
  assigned('aws_secret_access_key', `${drawn(20)}+${drawn(8)}/7${drawn(10)}`, 'AWS secret key'),
  { kind: 'private key', code: JSON.stringify(privateKey.text), value: privateKey.line },
]

function token(kind: string, value: string): PlantedSecret {
  return { kind, code: `"${value}"`, value }
}

function assigned(name: string, value: string, kind = name): PlantedSecret {
  return { kind, code: `dict(${name}="${value}")`, value }
}

function within(kind: string, value: string, code: (value: string) => string): PlantedSecret {
  return { kind, code: code(value), value }
}
