import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { variablesOf } from '#settings/setting.ts'
import { readEnv } from './env.ts'

const { LIST } = variablesOf({ LIST: { owners: ['api'], type: z.array(z.string()), default: [], about: '' } }, 'api')

describe('readEnv', () => {
  it.each(['', ' '])('takes a variable that is %j for one that is not set', (none) => {
    const shape = { COUNT: z.coerce.number().default(7), NAME: z.string().optional(), LIST }
    expect(readEnv(shape, { COUNT: none, NAME: none, LIST: none })).toEqual({ COUNT: 7, LIST: [] })
    expect(() => readEnv({ NEEDED: z.string() }, { NEEDED: none })).toThrow(/NEEDED/)
  })
})
