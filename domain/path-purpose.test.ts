import { describe, expect, it } from 'vitest'
import { isSecretByName, purposeOf } from './path-purpose.ts'

describe('what a file is for', () => {
  it.each([
    ['src/click/core.py', 'source'],
    ['src/click/testing.py', 'source'],
    ['werkzeug/test.py', 'source'],
    ['src/latest/core.py', 'source'],
    ['shop/docs/render.py', 'source'],
    ['tests/test_core.py', 'test'],
    ['numpydoc/tests/test_docscrape.py', 'test'],
    ['trio/_tests/test_io.py', 'test'],
    ['conftest.py', 'test'],
    ['shop/prices_test.py', 'test'],
    ['tests/fixtures/broken.py', 'fixture'],
    ['testing/data/E10.py', 'test'],
    ['testdata/E10.py', 'fixture'],
    ['examples/naval/naval.py', 'example'],
    ['typing-examples/baseline.py', 'example'],
    ['docs/conf.py', 'docs'],
    ['shop/migrations/0001_initial.py', 'migration'],
    ['asv_bench/benchmarks/io.py', 'benchmark'],
    ['scripts/release.py', 'script'],
    ['.github/workflows/pick.py', 'script'],
    ['setup.py', 'script'],
    ['site/manage.py', 'docs'],
    ['shop/manage.py', 'script'],
  ])('%s: %s', (path, purpose) => {
    expect(purposeOf(path)).toBe(purpose)
  })
})

describe('a file that is a secret by its name', () => {
  it.each(
    `.env .env.local .env.production prod.env .envrc config/.ENV deploy.pem tls/server.key id_rsa keys/deploy_ed25519 app.p12
    .npmrc .netrc .pgpass .git-credentials .aws/credentials credentials.json service-account-prod.json config/secrets.yml
    terraform.tfstate prod.auto.tfvars .docker/config.json .kube/config .gnupg/secring.gpg`.split(/\s+/),
  )('is %s', (path) => {
    expect(isSecretByName(path)).toBe(true)
  })

  it.each(
    `.env.example .env.sample env.py environment.ts id_rsa.pub keys.py secrets.py secret.ts token.go monkey.js config.json
    credentials.py test_rsa.py docs/keys.md .dockerignore src/env/index.ts my-env prod.env.template`.split(/\s+/),
  )('is not %s', (path) => {
    expect(isSecretByName(path)).toBe(false)
  })
})
