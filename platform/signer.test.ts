import { describe, expect, it } from 'vitest'
import { openSigner, SigningKeys } from './signer.ts'

const key = 'a-key-that-is-long-enough-for-this'
const other = 'another-key-that-is-as-long-as-it'

describe('a signature', () => {
  const { sign, isSigned } = openSigner([key])
  const signature = sign('decision', 'run', 'set', '{"verdict":"accepted"}')

  it('is right for the same words in the same place alone', () => {
    expect(isSigned(signature, 'decision', 'run', 'set', '{"verdict":"accepted"}')).toBe(true)
    const moved = [
      isSigned(signature, 'decision', 'another run', 'set', '{"verdict":"accepted"}'),
      isSigned(signature, 'decision', 'run', 'another set', '{"verdict":"accepted"}'),
      isSigned(signature, 'decision', 'run', 'set', '{"verdict":"rejected"}'),
      isSigned(signature, 'publication', 'run', 'set', '{"verdict":"accepted"}'),
      isSigned(signature, 'decision', 'runset', '{"verdict":"accepted"}'),
      isSigned(signature, 'decision', 'run","set', '{"verdict":"accepted"}'),
    ]
    expect(moved).toEqual(moved.map(() => false))
  })

  it.each([undefined, '', '-', 'x'.repeat(43), 'A'.repeat(42)])('is not %j', (given) => {
    expect(isSigned(given, 'decision', 'run', 'set', '{"verdict":"accepted"}')).toBe(false)
  })

  it('of a former key counts while that is named after the new one', () => {
    const changing = openSigner([other, key])
    expect(changing.isSigned(signature, 'decision', 'run', 'set', '{"verdict":"accepted"}')).toBe(true)
    expect(openSigner([other]).isSigned(changing.sign('token', 'x'), 'token', 'x')).toBe(true)
    expect(openSigner([key]).isSigned(changing.sign('token', 'x'), 'token', 'x')).toBe(false)
  })
})

it('A signing key that is too short is refused, and so are three', () => {
  expect(SigningKeys.parse(`${other}, ${key}`)).toEqual([other, key])
  for (const bad of ['', 'short', `${key},short`, `${key},`, `${key},${key},${other}`])
    expect(SigningKeys.safeParse(bad).success).toBe(false)
})
