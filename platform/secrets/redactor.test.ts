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
    const quoted = openRedactor(['say "hush"'])
    const asJson = '{"a":"say \\"hush\\""}'
    expect([quoted.text(asJson), quoted.json(asJson)]).toEqual(['{"a":"[secret]"}', '{"a":"[secret]"}'])
    expect(quoted.json(JSON.stringify({ a: asJson }))).toBe(JSON.stringify({ a: '{"a":"[secret]"}' }))
    expect(redactor.json(String.raw`{"a":"\u0070assword = 'Zx9!kk2m'"}`)).toBe(`{"a":"password = '[secret]'"}`)
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

  it.each([
    ['DB_PASSWORD=hunter22', 'hunter22'],
    ['password: #exFf&RaT#%\\*zFgS', '#exFf&RaT#%\\*zFgS'],
    ["auth: { user: 'shop', pass: 'P@ss-w3rt' }", 'P@ss-w3rt'],
    ["const dbPass = 'P@sswrt9'", 'P@sswrt9'],
    ['password: str = "Zx9!kk2m"', 'Zx9!kk2m'],
    ['if password == "Zx9!kk2m":', 'Zx9!kk2m'],
    ['os.getenv("DB_PASSWORD", "Zx9!kk2m")', 'Zx9!kk2m'],
    ['<password>Zx9!kk2m</password>', 'Zx9!kk2m'],
    ['jdbc:pg://db/shop?user=shop&password=Zx9!kk2m&ssl=true', 'Zx9!kk2m'],
    ['Server=db;Password=Zx9!kk2m;Trusted=False', 'Zx9!kk2m'],
    ['curl -u admin:S3cr!t9 https://shop.internal', 'S3cr!t9'],
    ["SECRET_KEY = env('SECRET_KEY',\n    'h8+mu_iy6%5j%7+hp**+gsq$nmy!!mjd8')", 'h8+mu_iy6%5j%7+hp**+gsq$nmy!!mjd8'],
    ['"postgres://shop:pa$$@db/shop"', 'pa$$'],
    ['{"secretAccessKey": "h7Kq2mZx9Wv4Lp1Rt8Yc+Nb6Jd0Fg5Hs/UaEiOkQ"}', 'h7Kq2mZx9Wv4Lp1Rt8Yc+Nb6Jd0Fg5Hs/UaEiOkQ'],
    ['password: The value of password. Defaults to "S3cr3t!Pa$$w0rd".', 'S3cr3t!Pa$$w0rd'],
    ['parser.add_argument("--password", default="S3cr3t!Pa")', 'S3cr3t!Pa'],
  ])('hides what follows the name of a secret in %j', (text, secret) => {
    const shown = redactor.text(text)
    expect(shown).toBe(text.replace(secret, '[secret]'))
    expect(redactor.text(shown)).toBe(shown)
    expect(JSON.parse(redactor.json(JSON.stringify({ text })))).toEqual({ text: shown })
  })

  it.each([
    'password = user.passwords[0] or pw1',
    'password = request.POST["password1"]',
    'login(user, password=self.pw1, host=host2)',
    '  readonly password: string;\n  passwd?: string[],\n',
    'if (password !== confirmation2 && password.length >= 8) {',
    'user = User(password="password", new_password="new_password2")',
    'password="test123", passwd="changeme", pwd="Secret-1"',
    '{"password": "Password", "passwordHint": "Min. 8 characters!"}',
    '"password": "Bitte das Passwort eingeben", "password": "パスワード"',
    '<input type="password" name="password1" id="id_password1" placeholder="********">',
    'password: ${DB_PASSWORD}, password: "{{ vault_db1 }}", pass=$DB_PASS2, PASSWORD=$(cat /run/secret1)',
    'f"{user}:{password1}", "password=%s" % pw1, `password=${pw1}`, "password": "%(pw1)s"',
    "link.split('token=')[1].split('&')[0]; token: '+=', '=>'",
    'Authorization: Bearer <token>, Bearer ${token}, f"Bearer {token1}", "Basic " + encoded',
    'curl -u user:password, curl -u "$USER1:$PASSWORD1", curl --user name:${PW1}',
    '"http://host:8080?mail=a@b", "git+https://host:443#egg=a@b"',
    '"--password", default="password"; password: str. Defaults to "None"; def f(password, mode="default", x="a1!")',
    'token_path = "services/worker/Composition/v1/composer2/threads3"',
  ])('leaves %j as it is', (text) => {
    expect(redactor.text(text)).toBe(text)
  })

  it('ends with texts that are made to be slow', () => {
    for (const part of [
      'password="',
      'pass=',
      'password: a.',
      '_key = (',
      "authorization:'bearer ",
      '://a:',
      'pwd?: a[',
    ]) {
      expect(redactor.text(part.repeat(100_000 / part.length)).length).toBeGreaterThan(0)
    }
    // What looks like an example, but for its last character: seconds with one more way to read `pw`, or a row of `x`.
    for (const value of [`testadminguestrootuser${'pw'.repeat(28)}~`, `testadminguestrootuser${'x'.repeat(55)}~`]) {
      expect(redactor.text(`password="${value}"`)).toBe('password="[secret]"')
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
