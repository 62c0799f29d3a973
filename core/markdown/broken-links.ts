import { distance } from 'fastest-levenshtein'
import { folderOf, RepoPath } from '#domain/repo-path.ts'
import { anchorsOf, maxArticleCharacters, readArticle, slugOf } from './read-article.ts'

/** What is asked of the repository: the text of a file, undefined where there is none. */
export type ReadText = (path: string) => Promise<string | undefined>

/** Only links to texts are judged: whether a picture is there, a reader of texts cannot say. Pages that a build makes are not there. */
const judged = /\.(?:md|markdown|rst|txt|py|pyi|js|ts|tsx|toml|ya?ml|json|cfg|ini|sh|go|rs|java|c|h|cpp|rb)$/i
const article = /\.(?:md|markdown)$/i

type Target = { path: string; anchor: string }

/** The file and anchor of a relative link; undefined for other links, and those that a template or a build completes. */
function targetOf(link: string, from: string): Target | undefined {
  const raw = decoded(link)
  if (/^(?:[a-z][a-z\d+.-]*:|\/)|[{}<>?*]/i.test(raw)) return undefined
  const [file = '', ...anchor] = raw.split('#')
  const parts = file === '' ? from.split('/') : [...folderOf(from).split('/'), ...file.split('/')].filter(Boolean)
  const path = parts.reduce<string[]>(
    (done, part) => (part === '.' ? done : part === '..' ? done.slice(0, -1) : [...done, part]),
    [],
  )
  const levels = file.split('/').filter((part) => part === '..').length
  const isInside = levels <= folderOf(from).split('/').filter(Boolean).length
  const joined = path.join('/')
  return isInside && RepoPath.safeParse(joined).success ? { path: joined, anchor: anchor.join('#') } : undefined
}

function decoded(link: string): string {
  try {
    return decodeURIComponent(link)
  } catch {
    return link
  }
}

/** Why a link of the file `from` leads nowhere, in words; undefined for one that leads somewhere, or cannot be judged. */
export async function reasonBroken(
  link: string,
  from: string,
  read: ReadText,
): Promise<{ why: string; target: Target } | undefined> {
  const target = targetOf(link, from)
  if (target === undefined || (target.path !== from && !judged.test(target.path))) return undefined
  const text = await read(target.path)
  if (text === undefined) return { why: `there is no file ${target.path}`, target }
  if (target.anchor === '' || !article.test(target.path) || text.length > maxArticleCharacters) return undefined
  if (/^L\d+/.test(target.anchor) || anchorsOf(readArticle(text)).has(target.anchor)) return undefined
  return { why: `${target.path} has no heading #${target.anchor}`, target }
}

/** The anchor that was meant: the only one that is spelled nearly like it. */
export function anchorMeant(anchor: string, text: string): string | undefined {
  const anchors = [...anchorsOf(readArticle(text))]
  const slug = slugOf(anchor)
  if (anchors.includes(slug)) return slug
  const near = anchors.filter((one) => distance(one, slug) <= Math.min(2, Math.floor(slug.length / 4)))
  return near.length === 1 ? near[0] : undefined
}
