/** Entry of a thread that echoes what it is asked, one item after the other, or does what an item says instead. */
import { answerRequests } from './thread-entry.ts'

let isSpent = false

answerRequests<readonly string[], string>(
  (items, begin) => {
    for (const [at, item] of items.entries()) {
      begin(at)
      if (item === 'crash') throw new Error('it broke')
      if (item === 'hang') for (;;);
      if (item === 'sleep') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600)
      isSpent = item === 'spend'
    }
    return items.join(' ')
  },
  () => isSpent,
)
