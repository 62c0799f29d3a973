import { describe, expect, it } from 'vitest'
import { exportsOf } from './exported-names.ts'

describe('the names that a module exports', () => {
  it.each([
    ['export function f() {}', 'f'],
    ['export const f = () => 1', 'f'],
    ['function f() {}\nexport { g, f }', 'f'],
    ['function f() {}\nexport { f as default }', 'default'],
    ['export default function f() {}', 'default'],
    ['export default f', 'default'],
    ['exports.f = () => 1', 'f'],
    ['module.exports.f = f', 'f'],
    ['module.exports = { g, f }', 'f'],
    ['module.exports = f', 'default'],
    ['function f() {}', undefined],
    ['function f() {}\nexport { f as g }', 'g'],
    ["export { f } from './g.js'", undefined],
    ['module.exports = { f: g }', undefined],
    ['module.exports = { g: f, h: { f } }', 'g'],
    ['exports.g = f;', 'g'],
    ['export = f', 'default'],
    ['exports.fg = 1', undefined],
  ])('of %j', (source, name) => {
    expect(exportsOf(source).get('f')).toBe(name)
  })

  it('are found soon in a text that is made to take long', () => {
    const started = process.cpuUsage()
    for (const text of [
      'export {f,',
      'module.exports = {',
      'export default ',
      'exports.f ',
      'exports.g=',
      'export   ',
      ' '.repeat(50),
    ])
      exportsOf(text.repeat(1_000_000 / text.length))
    expect(process.cpuUsage(started).user).toBeLessThan(10_000_000)
  })
})
