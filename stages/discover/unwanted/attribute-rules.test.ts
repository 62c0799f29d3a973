import { describe, expect, it } from 'vitest'
import { readAttributeRules } from './attribute-rules.ts'

describe('.gitattributes', () => {
  it('may have macros that name each other twice, any number of times', () => {
    const macros = Array.from({ length: 40 }, (_, at) => `[attr]m${at + 1} m${at} m${at}`)
    const text = `[attr]m0 ident -diff\n${macros.join('\n')}\n*.py m40\n`
    const { attributesOf } = readAttributeRules([{ folder: '', text }])
    expect(Object.fromEntries(attributesOf('a.py'))).toEqual({ diff: false, ident: true })
  })
})
