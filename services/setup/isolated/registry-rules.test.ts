import { describe, expect, it } from 'vitest'
import { permitted, registryRules } from './registry-rules.ts'

const rules = registryRules(
  ['PyPI.org', 'mirror.example:8443', 'http://plain.example/simple'],
  ['https://own.example/npm'],
)
const leadsTo =
  (...addresses: string[]) =>
  async () =>
    addresses
const ask = (host: string, port: number, addresses: readonly string[] = ['93.184.215.14']) =>
  permitted({ host, port }, rules, leadsTo(...addresses))

describe('what a setup may reach', () => {
  it.each([
    ['pypi.org', 443],
    ['PYPI.ORG.', 443],
    ['mirror.example', 8443],
    ['plain.example', 80],
    ['own.example', 443],
  ])('is %s at %i', async (host, port) => {
    expect(await ask(host, port)).toEqual({ address: '93.184.215.14' })
  })

  it.each([
    ['evil.example', 443],
    ['pypi.org.evil.example', 443],
    ['notpypi.org', 443],
    ['pypi.org', 80],
    ['pypi.org', 22],
    ['plain.example', 443],
    ['93.184.215.14', 443],
    ['169.254.169.254', 80],
    ['', 0],
  ])('is not %s at %i', async (host, port) => {
    expect(await ask(host, port)).toEqual({ refusal: `port ${port} is not one of setup.registries` })
  })

  it.each([
    ...'127.0.0.1 10.1.2.3 172.20.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 ::1 :: fd00::1'.split(' '),
    ...'fe80::1 192.88.99.1 ::ffff:10.0.0.1 ::ffff:93.184.215.14 ::ffff:0:10.0.0.1 ::10.0.0.1'.split(' '),
    ...'64:ff9b::a00:1 64:ff9b:1::a00:1 2002:a00:1::1 2001:0:a00:1::1 2001:db8::1 100::1 4000::1'.split(' '),
    ...'fe80::1%eth0 nonsense'.split(' '),
  ])('is no name that leads to %s, unless it is one of our own', async (address) => {
    const refusal = expect.stringContaining('which is of no public machine')
    expect(await ask('pypi.org', 443, [address])).toEqual({ refusal })
    expect(await ask('pypi.org', 443, ['93.184.215.14', address])).toEqual({ refusal })
    expect(await ask('own.example', 443, [address])).toEqual({ address })
  })

  it('is a name that leads to a public address of IPv6', async () => {
    expect(await ask('pypi.org', 443, ['2a04:4e42::223'])).toEqual({ address: '2a04:4e42::223' })
  })

  it('is no name without an address', async () => {
    expect(await ask('pypi.org', 443, [])).toEqual({ refusal: 'has no address here' })
  })
})
