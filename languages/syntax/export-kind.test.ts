import { describe, expect, it } from 'vitest'
import { exportsOf } from './export-kind.ts'

describe('the names that a module exports', () => {
  it.each([
    ['export function f() {}', 'named'],
    ['export const f = () => 1', 'named'],
    ['function f() {}\nexport { g, f }', 'named'],
    ['function f() {}\nexport { f as default }', 'default'],
    ['export default function f() {}', 'default'],
    ['export default f', 'default'],
    ['exports.f = () => 1', 'named'],
    ['module.exports.f = f', 'named'],
    ['module.exports = { g, f }', 'named'],
    ['module.exports = f', 'default'],
    ['function f() {}', undefined],
    ['function f() {}\nexport { f as g }', undefined],
    ['module.exports = { f: g }', undefined],
    ['exports.fg = 1', undefined],
  ])('of %j', (source, kind) => {
    expect(exportsOf(source).get('f')).toBe(kind)
  })

  it('are found soon in a text that is made to take long', () => {
    const started = process.cpuUsage()
    for (const text of [
      'export {f,',
      'module.exports = {',
      'export default ',
      'exports.f ',
      'export   ',
      ' '.repeat(50),
    ])
      exportsOf(text.repeat(1_000_000 / text.length))
    expect(process.cpuUsage(started).user).toBeLessThan(10_000_000)
  })
})
