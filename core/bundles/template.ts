import nunjucks from 'nunjucks'
import { AppError } from '#domain/error.ts'
import { findTemplateFaults, namesIn } from './template-faults.ts'

export type Template = {
  /** Every name it reads or sets. */
  names: ReadonlySet<string>
  /** AGENT_001 when the template puts out a variable that has no value. */
  render(variables: Readonly<Record<string, unknown>>): string
}

/** No loader, so no file is ever read; nothing is escaped, since prompts are no HTML. */
const environment = new nunjucks.Environment([], { autoescape: false, throwOnUndefined: true })

/**
 * Builds a prompt template once, for any number of renderings. AGENT_001 when it does not parse or uses what no prompt
 * may.
 */
export function compileTemplate(source: string): Template {
  const [fault] = findTemplateFaults(source)
  if (fault !== undefined) throw new AppError('AGENT_001', `template, line ${fault.line}: ${fault.message}`)
  const template = new nunjucks.Template(source, environment, 'template', true)
  return {
    names: namesIn(source),
    render(variables) {
      try {
        return template.render(variables)
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        throw new AppError('AGENT_001', message, { cause: error })
      }
    },
  }
}
