import { LRUCache } from 'lru-cache'
import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/hash.ts'
import type { LintReport } from './lint-report.ts'
import { openRuffLink, type RuffAnswer, type RuffLink } from './ruff-link.ts'

export type PythonLinter = {
  version: string
  /** TOOL_006 for a text that Ruff cannot take: nested too deep for its stack, or too slow. The next text is unharmed. */
  lint(text: string): Promise<LintReport>
  /** Ends the thread; what is under way and waiting fails. Safe to call twice. */
  close(): Promise<void>
}

type KnownAnswer = Exclude<RuffAnswer, { kind: 'unread' }>

/** Answers kept: every operation on a file starts from the same text. Sizes in about one character. */
const kept = { max: 500, maxSize: 20_000_000, sizeCalculation: sizeOf }

/** One linter serves the whole process; texts are linted in the order they come. */
export async function openPythonLinter(options: { limitMs?: number } = {}): Promise<PythonLinter> {
  const { version, ask, close } = await openLastingRuff(options.limitMs ?? 10_000)
  const answers = new LRUCache<string, KnownAnswer>(kept)
  const underWay = new Map<string, Promise<KnownAnswer>>()

  async function askOnce(key: string, text: string): Promise<KnownAnswer> {
    const asked = ask(text)
    underWay.set(key, asked)
    try {
      const answer = await asked
      answers.set(key, answer)
      return answer
    } finally {
      underWay.delete(key)
    }
  }

  return {
    version: `ruff ${version}`,
    async lint(text) {
      const key = sha256(text)
      const answer = answers.get(key) ?? (await (underWay.get(key) ?? askOnce(key, text)))
      if (answer.kind === 'report') return answer.report
      throw new AppError('TOOL_006', `the file cannot be linted: ${answer.why}`, { phase: 'execution' })
    },
    async close() {
      await close()
      await Promise.allSettled(underWay.values())
    },
  }
}

/**
 * Ruff in a thread of its own, which a text may destroy: then another is started for those that waited behind it, and
 * the text is not tried again while it is remembered.
 */
async function openLastingRuff(limitMs: number) {
  let link: Promise<RuffLink> | undefined = openRuffLink(limitMs)
  const { version } = await link
  let closed = false

  /** A thread that did not start, or has ended, is not kept. */
  const drop = (asked: Promise<RuffLink>) => {
    if (link === asked) link = undefined
  }
  return {
    version,
    async ask(text: string): Promise<KnownAnswer> {
      for (;;) {
        if (closed) throw closedError()
        const asked = (link ??= openRuffLink(limitMs))
        const answer = await asked
          .then((thread) => thread.lint(text))
          .catch((error: unknown) => {
            drop(asked)
            throw error
          })
        if (closed) throw closedError()
        if (answer.kind !== 'report') drop(asked)
        if (answer.kind !== 'unread') return answer
      }
    },
    async close(): Promise<void> {
      closed = true
      const thread = await link?.catch(() => undefined)
      await thread?.close()
    },
  }
}

function closedError(): AppError {
  return new AppError('AGENT_010', 'the linter was closed')
}

function sizeOf(answer: KnownAnswer): number {
  if (answer.kind === 'lost') return 1
  const fixes = answer.report.diagnostics.flatMap((one) => one.fix ?? [])
  return 1 + 200 * answer.report.diagnostics.length + fixes.reduce((sum, edit) => sum + edit.text.length, 0)
}
