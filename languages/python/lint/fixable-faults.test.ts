import { execFileSync } from 'node:child_process'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { getOrMake } from '#platform/cached-answers.ts'
import { loadLanguage } from '../../syntax/parser.ts'
import { lacks } from '#testing/this-machine.ts'
import { fixableFaults, judgeFixes } from './fixable-faults.ts'
import { type FixEffect, fixEffects } from './fix-effects.fixture.ts'
import { openTestPythonLinter } from '../../lint/test-linter.fixture.ts'

const python = await loadLanguage('python')
const linter = await openTestPythonLinter()
afterAll(linter.close)

/** All of them are on at once, since each selection of rules is a configuration of its own. */
const ruleCodes = [...new Set(fixEffects.map(({ rule }) => rule))]

/** The text with the fixes that are made without a person. */
const fixed = (effect: FixEffect) => getOrMake(fixedTexts, effect, () => fixedText(effect))
const fixedTexts = new Map<FixEffect, Promise<string>>()

async function fixedText({ rule, text, target = 'py311', modules = {} }: FixEffect): Promise<string> {
  const options = { ...(target !== null && { 'target-version': target }), lint: { select: ruleCodes } }
  const own = { source: 'ruff.toml', options, ignored: [], isExcluded: false }
  const report = await linter.lint(text, own)
  const diagnostics = report.diagnostics.filter(({ code }) => code === rule)
  expect(diagnostics.map(({ code }) => code)).toContain(rule)
  const file = { path: 'run.py', text, keptNames: [], ownModules: Object.keys(modules) }
  const edits = fixableFaults(diagnostics, file, python).flatMap(({ fix = [] }) => fix)
  const last = edits.toSorted((one, other) => other.start - one.start)
  return last.reduce((whole, edit) => whole.slice(0, edit.start) + edit.text + whole.slice(edit.end), text)
}

describe('a fix that is made without a person', () => {
  it.each(fixEffects)('of $rule is $fix: $what', async (effect) => {
    expect((await fixed(effect)) === effect.text ? 'kept' : 'made').toBe(effect.fix)
  })

  it.skipIf(lacks('python3'))('leaves what each program prints', async () => {
    const texts = await Promise.all(fixEffects.map(async (effect) => [effect.text, await fixed(effect)]))
    const programs = texts.flatMap((pair, at) =>
      pair.map((program) => ({ text: program, modules: fixEffects[at]?.modules ?? {} })),
    )
    const printed = run(programs)
    for (const [at, effect] of fixEffects.entries()) {
      expect({ ...effect, printed: printed[2 * at + 1] }).toEqual({ ...effect, printed: printed[2 * at] })
    }
  })
})

describe('an unused import', () => {
  const found = async (text: string) => {
    const rules = { source: 'x', options: { lint: { select: ['F'] } }, ignored: [], isExcluded: false }
    return { file: { path: 'shop/stock.py', text }, diagnostics: (await linter.lint(text, rules)).diagnostics }
  }
  const offers = async (text: string) => {
    const { file, diagnostics } = await found(text)
    return judgeFixes(diagnostics, file, python).flatMap((judged) => [...judged.offers])
  }
  const fixes = async (text: string, keptNames: string[]) => {
    const { file, diagnostics } = await found(text)
    return fixableFaults(diagnostics, { ...file, keptNames }, python).map(({ code, line }) => `${code} ${line}`)
  }

  it.each([
    ['from json import loads', ['loads']],
    ['from .errors import StockError', ['StockError']],
    ['from typing import List', ['List']],
    ['from json import loads as read', ['read']],
    ['import simplejson as json', ['json']],
    ['import simplejson', ['simplejson']],
    ['import os as system', ['system']],
    ['import os', []],
    ['import os, sys', []],
    ['from json import loads as _loads', []],
    ['from __future__ import print_function', []],
    ['def f(x):\n    from json import loads\n    print(x)\n    return x', []],
    ['__all__ = ["f"]\nfrom json import loads\n\n\ndef f():\n    return 1', []],
    ['from json import loads\n__all__ = [name for name in dir() if not name.startswith("_")]', ['loads']],
    ['from json import loads\n__all__ = []', ['loads']],
  ])('is one whose name users of a public module may import, or is none: %s', async (text, names) => {
    expect(await offers(`${text}\n`)).toEqual(names)
  })

  it('is not removed with another of its statement, of which others use the name', async () => {
    expect(await fixes('from json import dumps, loads\n', [])).toEqual(['F401 1', 'F401 1'])
    expect(await fixes('from json import dumps, loads\n', ['loads'])).toEqual([])
    expect(await fixes('from json import dumps\nfrom json import loads\n', ['loads'])).toEqual(['F401 1'])
  })

  it('goes where a second one binds the same, whoever uses the name', async () => {
    expect(await fixes('from json import loads\nfrom json import loads\n\nprint(loads)\n', ['loads'])).toEqual([
      'F811 2',
    ])
  })
})

/** Runs each program with its modules, and prints what it prints, with the exception that ends it. */
const runner = `
import contextlib, importlib.abc, importlib.util, io, json, sys

def say(value):
    print("say", value if isinstance(value, (int, str)) else type(value).__name__)
    return value

class Modules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, texts):
        self.texts = texts
    def find_spec(self, name, path=None, target=None):
        if name in self.texts:
            return importlib.util.spec_from_loader(name, self, is_package=any(one.startswith(name + ".") for one in self.texts))
    def exec_module(self, module):
        exec(self.texts[module.__name__], module.__dict__)

def run(program):
    finder = Modules(program["modules"])
    sys.meta_path.insert(0, finder)
    main = sys.modules["__main__"]
    kept = dict(main.__dict__)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            main.__dict__["say"] = say
            exec(compile(program["text"], "run.py", "exec", dont_inherit=True), main.__dict__)
        except BaseException as error:
            print(type(error).__name__)
    sys.meta_path.remove(finder)
    for name in program["modules"]:
        sys.modules.pop(name, None)
    main.__dict__.clear()
    main.__dict__.update(kept)
    vars(sys).pop("found", None)
    return printed.getvalue()

print(json.dumps([run(program) for program in json.load(sys.stdin)]))
`

function run(programs: readonly { text: string; modules: Record<string, string> }[]): string[] {
  const answer = execFileSync('python3', ['-c', runner], { input: JSON.stringify(programs), encoding: 'utf8' })
  return z.array(z.string()).parse(JSON.parse(answer))
}
