import { apiDocument } from '../../services/api/reference/api-document.ts'
import {
  type EndpointReference,
  type FieldRow,
  readReference,
  type Reference,
} from '../../services/api/reference/read-reference.ts'

/** The text of docs/reference/api.md, made from what the routes are declared with. */
export function apiReference(): string {
  return apiMarkdown(readReference(apiDocument()))
}

/** docs/reference/api.md. */
function apiMarkdown({ intro, groups, schemas }: Reference): string {
  const sections = groups.flatMap(({ tag, endpoints }) => [`## ${tag}`, ...endpoints.flatMap(endpointParts)])
  const shown = schemas.flatMap(({ name, note, text, rows }) => [
    `### ${name}`,
    ...(note === '' ? [] : [note]),
    rows.length === 0 ? text : table(['field', 'is', ''], rows.map(cells)),
  ])
  const made = 'Made from the routes of `services/api` by `node scripts/write-reference.ts`; a running service has the'
  const where = 'same at `/docs`, and as OpenAPI 3.1 at `/openapi.json`.'
  return `${['# HTTP API', `${made}\n${where}`, intro, ...sections, '## Shapes', ...shown].join('\n\n')}\n`
}

function endpointParts(endpoint: EndpointReference): string[] {
  const { method, path, summary, description, scope, parameters, bodies, answers, problems } = endpoint
  const given = parameters.map((row) => [
    `${row.in}: \`${row.name}\`${row.isRequired ? ' (needed)' : ''}`,
    ...cells(row).slice(1),
  ])
  return [
    `### ${method} ${path}`,
    `${summary}. ${scope === undefined ? 'No token.' : `Scope \`${scope}\`.`}`,
    ...(description === '' ? [] : [description]),
    ...(given.length === 0 ? [] : [table(['parameter', 'takes', ''], given)]),
    ...bodies.flatMap(({ type, rows }) => [`Body, \`${type}\`:`, table(['field', 'takes', ''], rows.map(cells))]),
    table(
      ['answer', ''],
      [
        ...answers.map(({ status, text }) => [status, plain(text)]),
        ...problems.map(({ status, code, meaning }) => [`${status} ${code}`, meaning]),
      ],
    ),
  ]
}

function cells({ name, takes, isRequired, note }: FieldRow): string[] {
  return [`\`${name}\`${isRequired ? '' : ' (optional)'}`, plain(takes), plain(note)]
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
}

/** Text in a cell: no `|` ends it, nothing in it is taken for markup. */
function plain(text: string): string {
  return text.replaceAll('\n', ' ').replaceAll(/[\\|*_<>[\]]/g, '\\$&')
}
