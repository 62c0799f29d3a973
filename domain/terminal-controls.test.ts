import { expect, test } from 'vitest'
import { escapedCharacter, terminalControls } from './terminal-controls.ts'

const shown = (text: string) => text.replaceAll(terminalControls, escapedCharacter)

test('what turns the direction of a text, or is not seen in it, is shown', () => {
  const hidden = ['\u202e', '\u2066', '\u200b', '\u2060', '\ufeff', '\u00ad', '\u001b', '\u{e0041}', '\u200d', '\u200c']
  for (const char of hidden) expect(shown(`admin${char} = 1`)).toMatch(/^admin\\u[0-9a-f{}]+ = 1$/)
})

test('lines, tabs, and the joiners of scripts and emoji stay as they are', () => {
  for (const text of ['a\n\tb', 'می\u200cخواهم', '👩\u200d💻', 'naïve “text” …']) expect(shown(text)).toBe(text)
})
