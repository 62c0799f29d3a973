import { createHash } from 'node:crypto'
import type { EndpointReference, FieldRow, Reference } from './read-reference.ts'

const style = `
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --mark: #0a7a64 }
body { font: 15px/1.55 system-ui, sans-serif; margin: 0 auto; max-width: 62rem; padding: 1.5rem 1.25rem 6rem }
h1 { font-size: 1.6rem; margin: 0 0 .5rem } h2 { border-bottom: 1px solid var(--line); margin-top: 3rem; padding-bottom: .3rem }
h3 { font: 600 1rem/1.4 ui-monospace, monospace; margin: 2.2rem 0 .3rem; overflow-wrap: anywhere }
h3 b { color: var(--mark); display: inline-block; min-width: 4.2rem }
code, pre { background: var(--soft); border-radius: 4px; font: 13px/1.5 ui-monospace, monospace }
code { overflow-wrap: anywhere; padding: .1em .3em } pre { overflow-x: auto; padding: .7rem .9rem }
table { border-collapse: collapse; font-size: 14px; margin: .6rem 0; width: 100% }
th, td { border-top: 1px solid var(--line); padding: .3rem .6rem .3rem 0; text-align: left; vertical-align: top }
th { border-top: 0; font-weight: 600 } td { overflow-wrap: anywhere } td:first-child { width: 30% }
nav { columns: 2 18rem; font: 13px/1.8 ui-monospace, monospace } nav a { display: block; overflow-wrap: anywhere }
a { color: inherit } .scope { color: var(--mark) }
`

/**
 * The reference as one page that loads nothing: no script, no font, nothing from another host. Its `policy` allows only
 * its own style, by the hash of that.
 */
export function docsPage({ intro, groups, schemas }: Reference) {
  const endpoints = groups.flatMap((group) => group.endpoints)
  const links = endpoints.map((one) => `<a href="#${anchorOf(one)}">${one.method} ${escapeHtml(one.path)}</a>`)
  const sections = groups.map(
    ({ tag, endpoints: own }) => `<h2>${escapeHtml(tag)}</h2>${own.map(endpointHtml).join('')}`,
  )
  const shapes = schemas.map(({ name, note, text, rows }) => {
    const shape = rows.length === 0 ? `<p>${escapeHtml(text)}</p>` : fieldTable('field', rows)
    return `<h3 id="${escapeHtml(name)}">${escapeHtml(name)}</h3>${note === '' ? '' : proseHtml(note)}${shape}`
  })
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Remora: HTTP API</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${style}</style></head><body>
<h1>Remora: HTTP API</h1><p>The same as OpenAPI 3.1: <a href="/openapi.json">/openapi.json</a></p>
${proseHtml(intro)}<nav>${links.join('')}</nav>${sections.join('')}<h2>Shapes</h2>${shapes.join('')}</body></html>`
  const hash = createHash('sha256').update(style).digest('base64')
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`
  return { html, policy }
}

function endpointHtml(endpoint: EndpointReference): string {
  const { method, path, summary, description, scope, parameters, bodies, answers, problems } = endpoint
  const access = scope === undefined ? 'No token.' : `Scope <span class="scope">${escapeHtml(scope)}</span>.`
  const results = [
    ...answers.map(({ status, text }) => [status, escapeHtml(text)]),
    ...problems.map(({ status, code, meaning }) => [`${status} ${code}`, escapeHtml(meaning)]),
  ]
  return [
    `<h3 id="${anchorOf(endpoint)}"><b>${method}</b> ${escapeHtml(path)}</h3>`,
    `<p>${spanHtml(summary)}. ${access}</p>`,
    proseHtml(description),
    parameters.length === 0 ? '' : fieldTable('parameter', parameters),
    ...bodies.map(({ type, rows }) => `<p>Body, <code>${escapeHtml(type)}</code>:</p>${fieldTable('field', rows)}`),
    tableHtml(['answer', ''], results),
  ].join('')
}

function fieldTable(title: string, rows: readonly (FieldRow & { in?: string })[]): string {
  const cells = rows.map(({ name, takes, isRequired, note, in: place }) => [
    `<code>${escapeHtml(name)}</code>${place === undefined ? '' : ` ${place}`}${isRequired ? '' : ' (optional)'}`,
    escapeHtml(takes),
    spanHtml(note),
  ])
  return tableHtml([title, title === 'parameter' ? 'takes' : 'is', ''], cells)
}

function tableHtml(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`
  return `<table>${row(head, 'th')}${rows.map((cells) => row(cells, 'td')).join('')}</table>`
}

function anchorOf({ method, path }: EndpointReference): string {
  return `${method}${path}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes text for elements and attributes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? '')
}

/**
 * The Markdown of the descriptions as HTML: paragraphs, lists, fenced and inline code. Of links only the text is shown,
 * because the service does not serve the files they lead to. Everything else is text.
 */
export function proseHtml(markdown: string): string {
  const parts = markdown.split(/^```\n?(.*?)^```$/ms)
  return parts
    .map((part, index) => (index % 2 === 1 ? `<pre>${escapeHtml(part)}</pre>` : paragraphsHtml(part)))
    .join('')
}

/** One line of such Markdown as HTML. */
export function spanHtml(markdown: string): string {
  const parts = markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').split('`')
  return parts.map((part, index) => (index % 2 === 1 ? `<code>${escapeHtml(part)}</code>` : escapeHtml(part))).join('')
}

function paragraphsHtml(markdown: string): string {
  const blocks = markdown.split(/\n{2,}/).filter((block) => block.trim() !== '')
  return blocks
    .map((block) => {
      const items = block.trim().split(/^- /m)
      if (items.length === 1) return `<p>${spanHtml(block.trim())}</p>`
      return `<ul>${items.flatMap((item) => (item === '' ? [] : `<li>${spanHtml(item.trim())}</li>`)).join('')}</ul>`
    })
    .join('')
}
