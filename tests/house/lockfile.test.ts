import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readRepositoryFile } from './source-files.ts'

const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({ optionalDependencies: z.record(z.string(), z.string()).default({}), engines: z.unknown().optional() }),
  ),
})

/** `npm ci` refuses a lock that leaves out an optional package, also one for another platform. */
describe('package-lock.json', () => {
  const text = readRepositoryFile('package-lock.json')
  const { packages } = Lock.parse(JSON.parse(text))

  it('names every optional package (node scripts/complete-lock.ts adds those npm left out)', () => {
    const wanted = Object.values(packages).flatMap(({ optionalDependencies }) => Object.keys(optionalDependencies))
    const missing = wanted.filter(
      (name) => !Object.keys(packages).some((place) => place.endsWith(`node_modules/${name}`)),
    )
    expect(missing).toEqual([])
  })

  it('says of no dependency which Node it needs: they run on the one Remora brings (scripts/complete-lock.ts)', () => {
    const said = Object.entries(packages).filter(([place, { engines }]) => place !== '' && engines !== undefined)
    expect(said).toEqual([])
  })

  it('names no registry, so that it works with any', () => {
    expect(text).not.toContain('"resolved": "http')
  })
})
