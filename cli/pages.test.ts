import { expect, it } from 'vitest'
import { pages, type PageStart } from './api-lists.ts'

/** A list of 1 to 5 in pages of two, and the cursors that its pages were asked for with. */
function listOfFive() {
  const asked: PageStart[] = []
  const read = async (from: PageStart) => {
    asked.push(from)
    const first = Number(from.cursor ?? 0)
    return { numbers: [1, 2, 3, 4, 5].slice(first, first + 2), next: first + 2 < 5 ? String(first + 2) : null }
  }
  return { asked, read }
}

it('yields the items of all pages in order, each page asked for with the cursor of the one before', async () => {
  const { asked, read } = listOfFive()
  expect(await Array.fromAsync(pages('numbers', read))).toEqual([1, 2, 3, 4, 5])
  expect(asked).toEqual([{}, { cursor: '2' }, { cursor: '4' }])
})

it('reads no page that nobody asks for', async () => {
  const { asked, read } = listOfFive()
  for await (const number of pages('numbers', read)) if (number === 2) break
  expect(asked).toEqual([{}])
})
