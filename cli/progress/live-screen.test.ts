import { describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { openLiveScreen } from './live-screen.ts'

function recordingTerminal() {
  const writes: string[] = []
  return { writes, rows: 6, columns: 80, write: (text: string) => writes.push(text) }
}

describe('the live screen', () => {
  it('draws over its last frame in one write', () => {
    const terminal = recordingTerminal()
    const screen = openLiveScreen(terminal)
    screen.draw(() => ['one', 'two'])
    screen.draw(() => ['three'])
    screen.close()
    expect(terminal.writes).toEqual([
      '\u001B[?25l\rone\u001B[K\ntwo\u001B[K\n\u001B[J',
      '\u001B[?25l\r\u001B[2Athree\u001B[K\n\u001B[J',
      '\u001B[?25h',
    ])
  })

  it('draws the latest of many pictures, not each of them', async () => {
    const terminal = recordingTerminal()
    const screen = openLiveScreen(terminal)
    for (let count = 0; count < 1000; count++) screen.draw(() => [`picture ${count}`])
    await until(() => terminal.writes, { holds: ({ length }) => length === 2 })
    expect(terminal.writes[1]).toContain('picture 999')
    screen.close()
  })

  it('draws no more lines than the terminal has, so that it never scrolls', () => {
    const terminal = recordingTerminal()
    const screen = openLiveScreen(terminal)
    screen.draw(() => Array.from({ length: 20 }, (_, index) => `line ${index}`))
    screen.close()
    expect(terminal.writes[0]?.match(/\n/g)).toHaveLength(5)
  })
})
