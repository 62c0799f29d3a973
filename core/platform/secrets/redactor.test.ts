import { describe, expect, it } from 'vitest'
import { plantedSecrets, privateKey } from '#testing/planted-secrets.ts'
import { openRedactor } from './redactor.ts'

const redactor = openRedactor(['configured value', 'none'])
const line = (code: string) => `def secret():\n    return ${code}\n`

describe('a redactor', () => {
  it.each(plantedSecrets)(
    'hides a $kind in source code, in a diff, and in JSON in a string of JSON',
    ({ code, value }) => {
      const source = line(code)
      const diff = source.replaceAll(/^/gm, ' ')
      const nested = { arguments: JSON.stringify({ text: source, more: JSON.stringify({ source }) }) }
      for (const text of [source, diff, JSON.stringify(nested), code]) {
        expect(text).toContain(value)
        const shown = redactor.text(text)
        expect(shown).toContain('[secret]')
        expect(shown).not.toContain(value)
        expect(redactor.text(shown)).toBe(shown)
      }
      expect(JSON.stringify(redactor.value(nested))).not.toContain(value)
      expect(JSON.parse(redactor.json(JSON.stringify(nested)))).toEqual(redactor.value(nested))
    },
  )

  it('hides what it was given, also in an address and in a string of JSON, but no short word', () => {
    const text = 'a configured value, ?key=configured%20value, none'
    expect(redactor.text(text)).toBe('a [secret], ?key=[secret], none')
    expect(openRedactor(['say "hush"']).text('{"a":"say \\"hush\\""}')).toBe('{"a":"[secret]"}')
  })

  it('hides in all strings of a value, and in the names of its fields, what one of them reveals', () => {
    const password = plantedSecrets.find(({ kind }) => kind === 'password')?.value ?? ''
    const value = { a: `password = "${password}"`, b: [`it is ${password}`, 1, null], [password]: true }
    expect(redactor.value(value)).toEqual({
      a: 'password = "[secret]"',
      b: ['it is [secret]', 1, null],
      '[secret]': true,
    })
  })

  it('hides what is left of a private key that was cut', () => {
    const { text, line: inside } = privateKey
    for (const [from, to] of [
      [0, text.length - 200],
      [200, text.length],
    ]) {
      expect(redactor.text(`before (${text.slice(from, to)}`)).not.toContain(inside)
    }
  })

  it('leaves code that only speaks of secrets as it is, and a value without secrets the same', () => {
    const code = `
      if (text.startsWith('-----BEGIN PRIVATE KEY-----')) throw new Error('no key')
      const token = process.env.REMORA_TOKEN ?? readToken(tokenFile)
      password: str = field(default="password")  # API_KEY=\${API_KEY}
      url = "postgres://user:password@localhost/db", f"redis://:{password}@{host}", "http://127.0.0.1:8000/a@b"
      sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08`
    expect(redactor.text(code)).toBe(code)
    const value = { run_id: 'r0k3bd5m1x8e7', cursor: 'eyJhIjoxfQ', record_hash: 'a'.repeat(64), tokens: 12 }
    expect(redactor.value(value)).toBe(value)
    expect(redactor.json('{ "a": 1.0 }')).toBe('{ "a": 1.0 }')
  })

  it('finds secrets in a text of any length, wherever its parts are cut', () => {
    const [secret] = plantedSecrets
    const { code, value } = secret ?? { code: '', value: '' }
    for (let before = 1_800; before < 2_400; before += 7) {
      const text = `${'word '.repeat(before / 5)}${line(code)}${'word '.repeat(2_000)}`
      expect(redactor.text(text)).not.toContain(value)
    }
  })
})
