import { createVerify, randomBytes } from 'node:crypto'
import { refuse } from './answers.ts'
import { valueAt } from './github-document.ts'
import {
  type AccessToken,
  type HostedRepository,
  type Installation,
  type Level,
  type Permissions,
  type World,
  covers,
} from './world.ts'

/** Who asks: nobody, the app itself with a JWT, or one of its installations with a token. */
export type Viewer = { kind: 'nobody' } | { kind: 'app' } | { kind: 'installation'; token: AccessToken }

const hourMs = 3_600_000
const longestJwtSeconds = 600

/** 401 for credentials that GitHub would not take. */
export function authenticate(world: World, header: string | undefined): Viewer {
  if (header === undefined) return { kind: 'nobody' }
  const [, scheme = '', credentials = ''] = /^(\S+) (\S+)$/.exec(header) ?? []
  if (/^bearer$/i.test(scheme) && credentials.split('.').length === 3) {
    checkJwt(world, credentials)
    return { kind: 'app' }
  }
  const token = /^(?:token|bearer)$/i.test(scheme) ? world.tokens.get(credentials) : undefined
  if (token === undefined || token.expiresAt <= world.now()) return refuse(401, 'Bad credentials')
  const { installation } = token
  if (!world.installations.has(installation.id)) return refuse(401, 'Bad credentials')
  if (installation.suspendedAt !== undefined) return refuse(403, 'This installation has been suspended')
  return { kind: 'installation', token }
}

/** The messages are GitHub's: clients tell by them that their clock is wrong. */
function checkJwt(world: World, jwt: string): void {
  const [head = '', payload = '', signature = ''] = jwt.split('.')
  const header = decoded(head)
  const claims = decoded(payload)
  const signed = createVerify('RSA-SHA256').update(`${head}.${payload}`)
  if (valueAt(header, 'alg') !== 'RS256' || !signed.verify(world.app.publicKey, signature, 'base64url'))
    refuse(401, 'A JSON web token could not be decoded')
  const now = world.now().getTime() / 1_000
  const [issuer, issuedAt, expires] = ['iss', 'iat', 'exp'].map((name) => valueAt(claims, name))
  if (![String(world.app.id), world.app.clientId].includes(String(issuer))) refuse(401, 'Integration not found')
  if (typeof issuedAt !== 'number' || issuedAt > now)
    refuse(401, "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued")
  if (typeof expires !== 'number' || expires <= now)
    refuse(
      401,
      "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
    )
  if (expires > now + longestJwtSeconds) refuse(401, "'Expiration time' claim ('exp') is too far in the future")
}

function decoded(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString())
  } catch {
    return undefined
  }
}

const order: Level[] = ['none', 'read', 'write', 'admin']

/** Whether `has` is enough for `needed`. */
export function allows(has: Level | undefined, needed: Level): boolean {
  return order.indexOf(has ?? 'none') >= order.indexOf(needed)
}

type Wish = { repository_ids?: number[] | undefined; permissions?: Permissions | undefined }

/** A token of an installation, narrowed to what was wished; it is never wider than the installation. */
export function issueToken(world: World, installation: Installation, wish: Wish): AccessToken {
  if (installation.suspendedAt !== undefined) refuse(403, 'This installation has been suspended')
  const permissions = wish.permissions ?? installation.permissions
  for (const [name, level] of Object.entries(permissions))
    if (!allows(installation.permissions[name], level))
      refuse(422, 'The permissions requested are not granted to this installation.')
  const missing =
    'There is at least one repository that does not exist or is not accessible to the parent installation.'
  const repositories = wish.repository_ids?.map((id) => {
    const one = world.repositories.get(id)
    return one !== undefined && covers(installation, one) ? one.id : refuse(422, missing)
  })
  const token: AccessToken = {
    token: `ghs_${randomBytes(27).toString('base64url').replaceAll(/[-_]/g, '0')}`,
    installation,
    ...(repositories === undefined ? {} : { repositories: new Set(repositories) }),
    permissions: { ...permissions, metadata: 'read' },
    expiresAt: new Date(Math.floor((world.now().getTime() + hourMs) / 1_000) * 1_000),
  }
  world.tokens.set(token.token, token)
  return token
}

/** Says what both the token and, by now, its installation allow. */
export function granted(token: AccessToken, name: string): Level {
  const has = token.permissions[name] ?? 'none'
  const installed = token.installation.permissions[name] ?? 'none'
  return allows(installed, has) ? has : installed
}

export function reaches(token: AccessToken, repository: HostedRepository): boolean {
  return covers(token.installation, repository) && (token.repositories?.has(repository.id) ?? true)
}
