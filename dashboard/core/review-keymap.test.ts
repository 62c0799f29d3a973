import { expect, test } from 'vitest'
import { actionOf, reviewKeys } from './review-keymap.ts'
import { markOf, readViewed, withViewed } from './review-viewed.ts'

const plain = { ctrlKey: false, metaKey: false, altKey: false, isElsewhere: false, isOnControl: false }

test('each key of the sheet does what the sheet says, and no two are the same', () => {
  for (const { keys, action } of reviewKeys) for (const key of keys) expect(actionOf({ ...plain, key })).toBe(action)
  const all = reviewKeys.flatMap(({ keys }): readonly string[] => keys)
  expect(new Set(all).size).toBe(all.length)
})

test('keys belong to the browser with Ctrl, to a text while somebody types, and Enter to a button', () => {
  expect(actionOf({ ...plain, key: 'r', ctrlKey: true })).toBeUndefined()
  expect(actionOf({ ...plain, key: 'a', isElsewhere: true })).toBeUndefined()
  expect(actionOf({ ...plain, key: 'Enter', isOnControl: true })).toBeUndefined()
  expect(actionOf({ ...plain, key: 'a', isOnControl: true })).toBe('accept')
  expect(actionOf({ ...plain, key: 'x' })).toBeUndefined()
})

test('what was viewed is known by its content, and kept', () => {
  let text = ''
  const store = { getItem: () => text, setItem: (_key: string, value: string) => void (text = value) }
  const mark = markOf('+a\n')
  expect([mark, markOf('+b\n')]).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/), expect.not.stringMatching(mark)])
  withViewed(readViewed(store), { mark, isViewed: true }, store)
  expect([...readViewed(store)]).toEqual([mark])
  withViewed(readViewed(store), { mark, isViewed: false }, store)
  expect([...readViewed(store)]).toEqual([])
})

test('a browser that keeps nothing, or something else, has no marks and no fault', () => {
  const refusing = {
    getItem: () => '<b> nonsense',
    setItem: () => {
      throw new Error('full')
    },
  }
  expect([...withViewed(readViewed(refusing), { mark: markOf('x'), isViewed: true }, refusing)]).toEqual([markOf('x')])
})
