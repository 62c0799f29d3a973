import { existsSync } from 'node:fs'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BenchPackage } from '../bench-packages.ts'
import { runTests } from '../check-tree.ts'
import { lostTests } from '../compare-states.ts'
import { checksBefore } from '../measure-package.ts'
import { preparePackage } from '../prepare-package.ts'
import { runCommand } from '../run-command.ts'
import { fixTree, restoreTree, type Corpus } from './fix-tree.ts'
import type { TestBed } from './try-on-tests.ts'

/** What the tests of the eleven read as data: a fix there changes the test's question, not the code. */
const testData = ['normalizer_issue_files', 'tinybuild', 'failing_examples.py', 'test/test_files']
const foreign = ['vendor', '_vendor', 'third_party', 'extern']

export type Bench = { corpus: Corpus; openBed: () => Promise<TestBed> }

/** A package of the table, with the tests of its sdist. */
export async function packageBench(one: BenchPackage, cache: string): Promise<Bench> {
  const prepared = await preparePackage(one, cache)
  const corpus: Corpus = {
    name: one.name,
    pristine: prepared.tree,
    tree: join(prepared.work, 'rules'),
    ruff: join(prepared.python, '..', 'ruff'),
    python: prepared.python,
    logs: prepared.work,
    exclude: [...foreign, ...testData],
  }
  const openBed = async (): Promise<TestBed> => {
    const { passed } = await checksBefore(one, prepared)
    const only = join(prepared.work, 'rules-only.jsonl')
    return {
      name: one.name,
      passing: passed,
      apply: (rules) => applyRules(corpus, rules),
      async lost(ids) {
        await writeFile(only, ids.map((id) => `${JSON.stringify(id)}\n`).join(''))
        const all = ids.length === passed.length
        const after = await runTests({ one, prepared, tree: corpus.tree }, all ? undefined : only)
        return lostTests({ passed: [...ids] }, after)
      },
    }
  }
  return { corpus, openBed }
}

async function applyRules(corpus: Corpus, rules: readonly string[]): Promise<void> {
  await restoreTree(corpus)
  if (rules.length > 0) await fixTree(corpus, rules, ['.'])
}

/** Modules of the standard library's own test suite that say much about its Python code, and end soon. */
const libraryTests =
  'test_abc test_argparse test_ast test_base64 test_bdb test_calendar test_cgi test_cmd test_code ' +
  'test_codecs test_collections test_configparser test_contextlib test_copy test_csv test_dataclasses test_datetime ' +
  'test_decimal test_difflib test_dis test_doctest test_email test_enum test_fileinput test_fnmatch test_fractions ' +
  'test_functools test_genericpath test_getopt test_gettext test_glob test_gzip test_hashlib test_heapq test_html ' +
  'test_htmlparser test_http_cookiejar test_http_cookies test_httplib test_importlib test_inspect test_ipaddress test_json ' +
  'test_linecache test_locale test_logging test_mailbox test_mimetypes test_minidom test_modulefinder test_netrc ' +
  'test_ntpath test_nntplib test_optparse test_operator test_os test_pathlib test_pdb test_pickle test_pickletools ' +
  'test_pkgutil test_platform test_plistlib test_posixpath test_pprint test_profile test_pstats test_pyclbr test_pydoc ' +
  'test_queue test_quopri test_random test_re test_reprlib test_rlcompleter test_robotparser test_runpy test_sax ' +
  'test_sched test_shelve test_shlex test_shutil test_site test_smtplib test_socketserver test_statistics test_string ' +
  'test_stringprep test_symtable test_sysconfig test_tabnanny test_tarfile test_tempfile test_textwrap test_timeit ' +
  'test_tokenize test_trace test_traceback test_types test_typing test_unittest test_unparse test_urllib test_urllib2 ' +
  'test_urlparse test_userdict test_userlist test_userstring test_uuid test_warnings test_wave test_weakref test_weakset ' +
  'test_webbrowser test_wsgiref test_xml_etree test_xmlrpc test_zipapp test_zipfile test_zipimport'

const libraryLimitMs = 25 * 60_000

/** A copy of the interpreter with its library, but what is not the library's own code. */
export async function libraryBench(
  interpreter: { prefix: string; library: string; ruff: string },
  cache: string,
): Promise<Bench> {
  const work = join(cache, 'work', 'standard-library')
  await mkdir(work, { recursive: true })
  const copy = join(work, 'python')
  if (!existsSync(join(copy, 'bin/python3'))) {
    const unwanted = new Set(['site-packages', 'share', '__pycache__'])
    const filter = (path: string) => !unwanted.has(path.split('/').at(-1) ?? '')
    await cp(interpreter.prefix, copy, { recursive: true, verbatimSymlinks: true, filter })
  }
  const tree = join(copy, interpreter.library)
  const pristine = join(work, 'pristine')
  // Its own tests stay as they are, so the copy that is restored from lacks them.
  const isCode = (path: string) => path !== join(tree, 'test') && !path.endsWith('__pycache__')
  if (!existsSync(pristine)) {
    await cp(tree, pristine, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, filter: isCode })
  }
  const python = join(copy, 'bin/python3')
  const exclude = ['test', 'tests', 'idlelib', 'lib2to3', 'ensurepip', 'turtledemo', 'config-*', '__phello__']
  // Comments are compared by the interpreter that has its library unchanged.
  const base = { name: 'library', pristine, tree, ruff: interpreter.ruff, python: 'python3' }
  const corpus: Corpus = { ...base, logs: work, exclude }
  return { corpus, openBed: () => libraryBed(corpus, python) }
}

async function libraryBed(corpus: Corpus, python: string): Promise<TestBed> {
  const program = { python, logs: corpus.logs }
  const modules = libraryTests
    .split(' ')
    .filter((name) => ['', '.py'].some((ending) => existsSync(join(corpus.tree, 'test', name + ending))))
  const apply = (rules: readonly string[]) => applyRules(corpus, rules)
  await apply([])
  const passing = await passedCases(program, modules)
  return {
    name: corpus.name,
    passing,
    apply,
    async lost(ids) {
      const wanted = ids.length === passing.length ? modules : [...new Set(ids.map((id) => id.split('.')[1] ?? ''))]
      const passed = new Set(await passedCases(program, wanted))
      return ids.filter((id) => !passed.has(id))
    },
  }
}

/** `test.MODULE.CASE` of each test case that passed. Modules that are frozen are read from their files instead. */
async function passedCases(
  { python, logs }: { python: string; logs: string },
  modules: readonly string[],
): Promise<string[]> {
  const passed: string[] = []
  const xml = join(logs, 'library.xml')
  await rm(xml, { force: true })
  const options = ['-m', 'test', '-j2', '--timeout', '240', '--junit-xml', xml]
  const end = await runCommand({
    argv: [python, '-X', 'frozen_modules=off', ...options, ...modules],
    cwd: logs,
    env: { PATH: process.env['PATH'] ?? '', HOME: logs, LANG: 'C.UTF-8', PYTHONHASHSEED: '0' },
    limitMs: libraryLimitMs,
    logFile: join(logs, 'library-tests'),
  })
  const text = await readFile(xml, 'utf8').catch(() => '')
  if (text === '') console.log(`library: no test report, exit code ${end.code}: ${end.err.slice(-500)}`)
  for (const [, name = '', body = ''] of text.matchAll(/<testcase name="([^"]*)"[^>]*?(?:\/>|>([^]*?)<\/testcase>)/g)) {
    if (!/<(?:failure|error|skipped)\b/.test(body)) passed.push(name)
  }
  return passed
}
