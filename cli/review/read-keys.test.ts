import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { readKeys } from './read-keys.ts'

/** What is read of these chunks, each of which comes by itself. */
async function keysOf(...chunks: string[]): Promise<string[]> {
  const input = new PassThrough()
  const keys: string[] = []
  const reader = readKeys(input, {
    onKey: ({ name, text }) => keys.push(text === '' ? name : `"${text}"`),
    onPaste: (text) => keys.push(`pasted "${text}"`),
  })
  reader.start()
  for (const chunk of chunks) {
    input.write(chunk)
    await new Promise(setImmediate)
  }
  input.end()
  await once(input, 'end')
  return keys
}

const esc = '\u001B'

describe('the keys of a terminal', () => {
  it('are named, with the text that they write', async () => {
    expect(await keysOf('a', 'É', ' ', `${esc}[C`, '\r', '\u007F', '\u0015')).toEqual([
      '"a"',
      '"É"',
      '" "',
      'right',
      'return',
      'backspace',
      'ctrl-u',
    ])
  })

  it('are one where Escape and a character come together', async () => {
    const sent = [`${esc}\u007F`, `${esc}b`, `${esc}f`, `${esc}[1;3D`, `${esc}${esc}[D`, `${esc}[1;5C`, `${esc}a`]
    const keys = ['alt-backspace', 'alt-b', 'alt-f', 'alt-left', 'alt-left', 'ctrl-right', 'alt-a']
    expect(await keysOf(...sent)).toEqual(keys)
    expect(await keysOf(sent.join(''))).toEqual(keys)
    expect(await keysOf(`x${esc}\u007Fall`)).toEqual(['"x"', 'alt-backspace', '"a"', '"l"', '"l"'])
  })

  it('are an Escape, whatever key comes just behind it by itself', async () => {
    expect(await keysOf(esc, 'a', 'b')).toEqual(['escape', '"b"'])
    expect(await keysOf(esc, '[D')).toEqual(['left'])
    const input = new PassThrough()
    const { promise, resolve } = Promise.withResolvers<string>()
    readKeys(input, { onKey: ({ name }) => resolve(name), onPaste: () => undefined }).start()
    input.write(esc)
    expect(await promise).toBe('escape')
  })

  it('are no part of what is pasted', async () => {
    expect(await keysOf(`${esc}[200~a${esc}[0mb${esc}[201~r`)).toEqual([`pasted "a${esc}[0mb"`, '"r"'])
  })
})
