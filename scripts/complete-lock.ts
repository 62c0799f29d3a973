import { readFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'

/**
 * `node scripts/complete-lock.ts`, after every `npm install`: adds to package-lock.json the optional packages for other
 * platforms that npm left out because the registry it asked did not have them. `npm ci` refuses a lock without them.
 * They get no integrity, since nothing was downloaded.
 *
 * It also removes the `engines` of the dependencies. They run on the Node that Remora brings, but npm would
 * compare it with the one that runs npm: warn of each, and silently leave out optional packages, such as the native parts of
 * the linter. Remora's own `engines` stay. Running the script twice changes nothing the second time.
 */
const LockedPackage = z.looseObject({
  version: z.string().optional(),
  dev: z.boolean().optional(),
  engines: z.unknown().optional(),
  optionalDependencies: z.record(z.string(), z.string()).optional(),
})
const Lock = z.looseObject({ packages: z.record(z.string(), LockedPackage) })

const lockUrl = new URL('../package-lock.json', import.meta.url)
const lock = Lock.parse(JSON.parse(readFileSync(lockUrl, 'utf8')))

/** The platform at the end of a package's name: `binding-linux-arm-gnueabihf`, `darwin-arm64`, `wasm32-wasi`. */
function platformOf(name: string): { os?: string[]; cpu: string[]; libc?: string[] } {
  const match =
    /(android|darwin|freebsd|linux|openharmony|win32|aix|netbsd|openbsd|sunos)-([a-z0-9]+)(?:-([a-z]+))?$/.exec(name)
  if (match === null) {
    if (/wasm32-wasi(?:p\d)?$/.test(name)) return { cpu: ['wasm32'] }
    throw new Error(`the name of ${name} says no platform`)
  }
  const [, os = '', cpu = '', abi = ''] = match
  const libc = abi.startsWith('musl') ? ['musl'] : abi.startsWith('gnu') ? ['glibc'] : undefined
  return { os: [os], cpu: [cpu], ...(libc && { libc }) }
}

/** The path at which Node would find `name` from the package at `place`, if the lock has it. */
function isLocked(place: string, name: string): boolean {
  const above = place.split('/node_modules/').map((_, index, parts) => parts.slice(0, index + 1).join('/node_modules/'))
  return [...above, ''].some((parent) => `${parent}${parent && '/'}node_modules/${name}` in lock.packages)
}

const added: string[] = []
for (const [place, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    if (isLocked(place, name)) continue
    if (!/^\d+\.\d+\.\d+/.test(version)) throw new Error(`${place} wants ${name} ${version}, which is no exact version`)
    lock.packages[`node_modules/${name}`] = { version, ...platformOf(name), ...(dev && { dev }), optional: true }
    added.push(name)
  }
}
const withEngines = Object.entries(lock.packages).filter(
  ([place, { engines }]) => place !== '' && engines !== undefined,
)
for (const [, locked] of withEngines) delete locked.engines
lock.packages = Object.fromEntries(Object.entries(lock.packages).toSorted(([a], [b]) => a.localeCompare(b, 'en')))
if (added.length > 0 || withEngines.length > 0) writeFileSync(lockUrl, `${JSON.stringify(lock, null, 2)}\n`)
console.log(added.length === 0 ? 'no package was missing' : `added ${added.length}: ${added.join(', ')}`)
console.log(`removed the engines of ${withEngines.length} packages`)
