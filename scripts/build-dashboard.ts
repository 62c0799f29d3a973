import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

/**
 * `node scripts/build-dashboard.ts`: makes the page of `dashboard/`, which the API serves. `npm ci` runs it, and `npm run dev` after each change. The names of its files hold
 * the hash of their content, so a browser keeps them.
 *
 * Vite was looked at: of what it brings the page needs Rolldown alone, which the project has.
 */
const root = fileURLToPath(new URL('../', import.meta.url))
const source = join(root, 'dashboard')
const out = join(source, 'dist')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Returns the name of the first script, and the ids of all modules. */
async function writeScripts() {
  const bundle = await rolldown({
    cwd: root,
    platform: 'browser',
    input: { main: join(source, 'main.tsx') },
    transform: {
      define: { PAGE_VERSION: JSON.stringify(version), 'process.env.NODE_ENV': '"production"' },
    },
  })
  const { output } = await bundle.write({
    dir: out,
    minify: true,
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
  })
  await bundle.close()
  const chunks = output.filter((part) => part.type === 'chunk')
  return {
    first: chunks.find(({ isEntry }) => isEntry)?.fileName ?? '',
    modules: chunks.flatMap(({ moduleIds }) => moduleIds),
  }
}

function writeStyle(): string {
  const files = globSync('style/*.css', { cwd: source }).toSorted()
  const css = [...files.map((file) => join(source, file)), join(root, 'node_modules/uplot/dist/uPlot.min.css')]
  const text = css.map((file) => readFileSync(file, 'utf8')).join('\n')
  const name = `style-${createHash('sha256').update(text).digest('hex').slice(0, 8)}.css`
  writeFileSync(join(out, name), text)
  return name
}

rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
const page = readFileSync(join(source, 'index.html'), 'utf8')
const [{ first, modules }, style] = [await writeScripts(), writeStyle()]
writeFileSync(
  join(out, 'index.html'),
  page.replace('main.js', `assets/${first}`).replace('style.css', `assets/${style}`),
)

/** Ids of the modules in the page, whose packages have licenses. */
export const pageModules: readonly string[] = modules
