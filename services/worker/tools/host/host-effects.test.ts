import { describe, expect, it } from 'vitest'
import { effectsOf } from './host-effects.ts'

const declaring = (...names: string[]) => effectsOf(names.map((name) => ({ name })))

describe('what a tool script does', () => {
  it('is reading while all that it declares only reads', () => {
    expect(declaring()).toBe('reads')
    expect(declaring('read_file', 'list_dir', 'file_exists', 'run_linter', 'describe_definition', 'log')).toBe('reads')
  })

  it.each(['write_file', 'apply_lint_fix', 'insert_docstring', 'ask_user', 'something_new'])(
    'is writing as soon as it declares %s',
    (name) => expect(declaring('read_file', name)).toBe('writes'),
  )
})
