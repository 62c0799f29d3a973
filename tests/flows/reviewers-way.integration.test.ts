import { expect, describe, it } from 'vitest'
import { z } from 'zod'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { sourceFolder } from '../source-folder.ts'
import { useOneProcess, useSourceFolder } from '../use-services.ts'

const source = `import os


def price(amount):
    return f"price"


def discount(amount):
    return amount / 2
`

const Started = z.looseObject({ run_id: z.string() })
const Counted = z.looseObject({ funnel: z.array(z.unknown()) })
describe.skipIf(lacks('git'))('the way of a reviewer', () => {
  const folder = useSourceFolder({ 'shop.py': source })
  const services = useOneProcess()

  it('goes from a run over decisions and a second try to a working copy, and back', async () => {
    const cli = (...args: string[]) => services.remora(folder, args)
    const verdictsOf = async (run: string) =>
      (await services.api.changes(run))
        .map(({ agent, qualified_name: name, verdict }) => `${agent} ${name} ${verdict}`)
        .toSorted()

    const submitted = await cli('submit', '.', '--agents', 'lint,docstring', '--json')
    const { run_id: run } = Started.parse(JSON.parse(submitted.out))
    await services.api.follow(run)
    const listed = await cli('review', run, '--json')
    expect(z.object({ changes: z.array(z.unknown()) }).parse(JSON.parse(listed.out)).changes).toHaveLength(4)

    // The docstring of price is built on the fix of its f-string; the unused import stays for now.
    const accepted = await cli('accept', run, 'docstring', 'shop.py', 'price')
    expect(accepted).toMatchObject({ code: 0, err: '' })
    expect(accepted.out).toMatch(/accepted too +lint +shop\.py \(F541\)/)
    const kept = await cli('reject', run, 'lint', 'shop.py')
    expect(kept.code).toBe(3)
    expect(kept.err).toContain('WORK_001')
    const because = 'Say what the amount is.'
    const rejected = await cli('reject', run, 'docstring', 'shop.py', 'discount', '--because', because, '--retry')
    expect(rejected).toMatchObject({ code: 0, err: '' })

    // It runs again, with what was said in its prompt.
    const generation = async () => (await services.api.run(run)).generation
    await until(generation, { holds: (number) => number === 2, withinMs: 30_000 })
    expect((await services.api.follow(run)).status).toBe('completed')
    const again = (await services.api.operations(run)).find((one) => one.generation === 2)
    const transcript = await cli('transcript', run, again?.operation_id ?? '')
    expect(transcript.out).toContain(because)
    // The rehearsal model makes the same once more, and so that stays rejected.
    expect(new Set(await verdictsOf(run))).toEqual(
      new Set([
        'docstring discount rejected',
        'docstring price accepted',
        'lint shop.py accepted',
        'lint shop.py rejected',
      ]),
    )

    const counted = Counted.parse(await (await services.api.ask(`/v1/runs/${run}`)).json())
    const decided = { accepted: 1, accepted_unverified: 0, rejected: 1, merged: 0 }
    const made = { generated: 2, valid: 2, verified: 2, ...decided }
    expect(counted.funnel).toEqual([
      // A person has accepted what says nothing.
      { agent: 'docstring', ...made, verified: 0, accepted: 0, accepted_unverified: 1 },
      { agent: 'lint', ...made },
    ])

    const copy = await sourceFolder({ 'shop.py': source })
    const applied = await cli('apply', run, '--to', copy.path)
    expect(applied).toMatchObject({ code: 0, err: '' })
    const text = await copy.read('shop.py')
    expect(text).toMatch(/def price\(amount\):\n {4}"""/)
    expect(text).toContain('return "price"')
    expect(text).toContain('import os')
    expect(text).toContain('def discount(amount):\n    return amount / 2\n')

    // What is taken back is in no patch any more; the folder stays as it is.
    const undone = await cli('undo', run, 'docstring', 'shop.py', 'price')
    expect(undone).toMatchObject({ code: 0, err: '' })
    const fresh = await sourceFolder({ 'shop.py': source })
    await cli('apply', run, '--to', fresh.path)
    expect(await fresh.read('shop.py')).toBe(source.replace('f"price"', '"price"'))
    expect(await copy.read('shop.py')).toBe(text)
    await Promise.all([copy.remove(), fresh.remove()])

    expect(await services.verify(run)).toMatchObject({ code: 0, err: '' })
  })
})
