/** Values of Secrets and credentials never leave the operator, whichever address of the console is read. */
import { Secrets } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { respond } from '../src/server/routes.ts'
import { openTestConsole } from './support/console-client.ts'
import { PLANTED, setVaultStage, type VaultStage, Vaults } from './support/vault-stage.ts'

let stage: VaultStage

beforeAll(async () => {
  stage = await setVaultStage()
  const { client } = stage
  const applied = JSON.stringify({ kind: 'Vault', spec: { text: 'hello', token: PLANTED.applied } })
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': applied }
  await stage.create('web', { token: PLANTED.token, tokens: [PLANTED.listed] }, annotations)
  await stage.create('echo', { token: PLANTED.token, echoes: true })
  await stage.create('broken', { fails: true })
  await stage.until(({ name, writes }) => name === 'web' && writes.some(({ kind }) => kind === 'Secret'))
  for (const failing of ['broken', 'echo']) {
    await stage.until(({ name, error }) => name === failing && error !== undefined)
  }
  // A user edits the Secret of the operator, as kubectl does it, and the operator corrects it.
  const edited = { password: btoa(PLANTED.user) }
  const stringData = { plain: PLANTED.text }
  const written = JSON.stringify({ data: edited, stringData })
  const annotation = { 'kubectl.kubernetes.io/last-applied-configuration': written }
  const patch = { data: edited, stringData, metadata: { annotations: annotation } }
  await client.patch(Secrets, { namespace: 'default', name: 'web' }, { type: 'merge', patch })
  await stage.until(
    ({ writes, causes }) =>
      writes.length > 0 && causes.some(({ kind, event }) => kind === 'Secret' && event === 'modified'),
  )
  const text = { spec: { text: 'changed' } }
  await client.patch(Vaults, { namespace: 'default', name: 'web' }, { type: 'merge', patch: text })
  await stage.until(({ writes }) =>
    writes.some(({ kind, changes = [] }) => kind === 'ConfigMap' && changes.some(({ after }) => after === 'changed')),
  )
})
afterAll(() => stage[Symbol.asyncDispose]())

/** Every form in which a value could be sent. */
function formsOf(value: string): readonly string[] {
  const base64 = Buffer.from(value).toString('base64')
  // Without the last characters, which depend on what follows.
  return [value, base64.slice(0, -4), encodeURIComponent(value), Buffer.from(value).toString('hex')]
}

function expectNoSecret(text: string): void {
  for (const [name, value] of Object.entries(PLANTED)) {
    for (const form of formsOf(value)) expect(text.includes(form), `${name} as ${form}`).toBe(false)
  }
}

const resource = (name: string) => `operator=vault-operator&kind=Vault&namespace=default&name=${name}`

describe('the console', () => {
  it.each([
    '/api/overview',
    '/api/resources',
    '/api/reconciles',
    '/api/reconciles?telling=true',
    '/api/health',
    `/api/resource?${resource('web')}`,
    `/api/resource?${resource('broken')}`,
    `/api/resource?${resource('echo')}`,
    '/api/session',
    '/api/view?operator=vault-operator&id=vaults',
  ])('sends no secret at %s', async (path) => {
    await using opened = await openTestConsole(stage.model)
    const { status, body } = await opened.get(path)
    expect(status).toBe(200)
    expect(body.length).toBeGreaterThan(2)
    expectNoSecret(body)
  })

  it('sends no secret when a view fails', async () => {
    await using opened = await openTestConsole(stage.model)
    const { status, body } = await opened.get('/api/view?operator=vault-operator&id=broken')
    expect([status, body]).toEqual([500, expect.stringContaining('the log of the operator has the reason')])
    expectNoSecret(body)
  })

  it('shows what it does not conceal', async () => {
    await using opened = await openTestConsole(stage.model)
    const { body } = await opened.get(`/api/resource?${resource('web')}`)
    const { yaml } = JSON.parse(body) as { yaml: string }
    expect(yaml).toContain('text: changed')
    expect(yaml).toContain('(sensitive)')
    const { body: failed } = await opened.get(`/api/resource?${resource('echo')}`)
    expect(failed).toContain('the token [redacted] was rejected')
  })

  it.each([
    ['a rule that repeats a field', { 'text: changed': 'text: forbidden' }, 'forbidden together with [redacted]'],
    ['another token', { 'token: (sensitive)': 'token: another' }, 'spec.token'],
    ['YAML that is not valid', { 'spec:': 'spec: [' }, 'not valid YAML'],
  ])('sends no secret in a plan with %s', async (_, replaced, expected) => {
    await using opened = await openTestConsole(stage.model)
    const { body: detail } = await opened.get(`/api/resource?${resource('web')}`)
    let { yaml: manifest } = JSON.parse(detail) as { yaml: string }
    for (const [before, after] of Object.entries(replaced)) manifest = manifest.replace(before, after)
    const { status, body } = await opened.send('/api/plan', {
      method: 'POST',
      headers: { authorization: `Bearer ${opened.token}` },
      body: { operator: 'vault-operator', kind: 'Vault', namespace: 'default', name: 'web', manifest },
    })
    expect([status, body]).toEqual([200, expect.stringContaining(expected)])
    expectNoSecret(body)
  })

  it('sends no secret in a plan, and keeps what the page did not show', async () => {
    await using opened = await openTestConsole(stage.model)
    const { body: detail } = await opened.get(`/api/resource?${resource('web')}`)
    const { yaml } = JSON.parse(detail) as { yaml: string }
    expect(yaml).toContain('token: (sensitive)')
    const { status, body } = await opened.send('/api/plan', {
      method: 'POST',
      headers: { authorization: `Bearer ${opened.token}` },
      body: {
        operator: 'vault-operator',
        kind: 'Vault',
        namespace: 'default',
        name: 'web',
        manifest: yaml.replace('text: changed', 'text: planned'),
      },
    })
    expect(status).toBe(200)
    expectNoSecret(body)
    const plan = JSON.parse(body) as { changes: { kind: string; fields: { path: string }[] }[]; problem?: string }
    expect(plan.problem).toBeUndefined()
    expect(plan.changes.map(({ kind, fields }) => [kind, fields.map(({ path }) => path)])).toEqual([
      ['ConfigMap', ['data.text', 'data[settings.yaml]', 'data[values.json]']],
      ['Deployment', expect.anything()],
      ['Secret', ['data.password']],
      ['Vault', ['spec.text']],
    ])
  })

  it('makes one plan at a time', async () => {
    const request = {
      method: 'POST',
      url: new URL('http://console/api/plan'),
      body: { operator: 'vault-operator', kind: 'Vault', namespace: 'default', name: 'web' },
      signal: AbortSignal.timeout(50_000),
    }
    const both = await Promise.all([respond(stage.model, request), respond(stage.model, request)])
    expect(both.map((response) => response?.status)).toEqual([200, 429])
    expect((await respond(stage.model, request))?.status).toBe(200)
  })

  it('sends no secret in the stream', async () => {
    await using opened = await openTestConsole(stage.model)
    const controller = new AbortController()
    const response = await fetch(`http://127.0.0.1:${opened.port}/api/stream`, {
      headers: { authorization: `Bearer ${opened.token}` },
      signal: controller.signal,
    })
    await stage.create('live', { token: PLANTED.token })
    let text = ''
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString('utf8')
      if (/"name":"live".*"kind":"Secret"/.test(text)) break
    }
    controller.abort()
    expect(text).toContain('"verb":"create"')
    expectNoSecret(text)
  })

  it('shows which keys of a Secret changed, without their values', async () => {
    const changes = stage.model.journal
      .list({ limit: 1_000 })
      .flatMap(({ writes }) => writes)
      .filter(({ kind, verb }) => kind === 'Secret' && verb !== 'create')
      .flatMap((write) => write.changes ?? [])
    expect(changes).toContainEqual({ path: 'data.password', before: '(sensitive)', after: '(sensitive)' })
  })
})
