import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Finding, Review } from '@reeve/cli/manifests'
import { describe, expect, it } from 'vitest'
import { runCli } from './testing/run-cli.ts'

/** What the command says about a text, as JSON. */
async function validate(stdin: string, env: Readonly<Record<string, string>> = {}) {
  const { code, stdout } = await runCli(['validate', '-f', '-', '-o', 'json'], { stdin, env })
  // The command prints this type.
  const { findings, ...counts } = JSON.parse(stdout) as Review
  const short = ({ line, column, severity, rule }: Finding) => `${line}:${column} ${severity} ${rule}`
  return { code, ...counts, findings, short: findings.map(short) }
}

const FIT = `apiVersion: dynatrace.com/v1beta6
kind: DynaKube
metadata:
  name: dynakube
  namespace: dynatrace
spec:
  apiUrl: https://abc12345.live.dynatrace.com/api
`
const VERSIONLESS = FIT.replace('dynatrace.com/v1beta6', 'dynatrace.com/VERSION')

describe('validate', () => {
  it('reports nothing about a valid resource', async () => {
    expect(await runCli(['validate', '-f', '-'], { stdin: FIT })).toEqual({
      code: 0,
      stdout: '1 resource checked, 0 errors, 0 warnings\n',
      stderr: '',
    })
  })

  it('prints file, line, column, severity, object, message and rule', async () => {
    const { code, stdout } = await runCli(['validate', '-f', '-'], { stdin: FIT.replace('/api', '') })
    expect(code).toBe(1)
    expect(stdout.split('\n')[0]).toMatch(
      /^<stdin>:7:3: error: DynaKube dynatrace\/dynakube: spec\.apiUrl: .* must end in \/api \[DK-URL-INVALID\]$/,
    )
  })

  it('colours on a terminal only', async () => {
    const stdin = FIT.replace('/api', '')
    const coloured = await runCli(['validate', '-f', '-'], { stdin, hasColors: true })
    const plain = await runCli(['validate', '-f', '-'], { stdin })
    expect(coloured.stdout).toContain('\u001b[31merror')
    expect(plain.stdout).not.toContain('\u001b')
  })

  it('points at each field, wherever it stands', async () => {
    const { short } = await validate(`${FIT}  activeGate:
    capabilities: [routing, dance]
  oneAgent:
    hostMonitoring:
      args:
        - --set-server=a
        - --set-server=b
`)
    expect(short.filter((text) => text.includes('error'))).toEqual([
      '9:5 error DK-AG-CAP-INVALID',
      '12:7 error DK-OA-ARGS-DUP',
    ])
  })

  it('reads several documents, Lists and JSON, and counts documents of other kinds', async () => {
    const list = `apiVersion: v1
kind: List
items:
  - ${FIT.trim().replaceAll('\n', '\n    ').replace('/api', '/wrong')}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}
`
    const json = '{"apiVersion":"v1","kind":"Service","metadata":{"name":"shop"}}'
    const { code, checked, skipped, short } = await validate([FIT, list, json].join('---\n'))
    expect({ code, checked, skipped }).toEqual({ code: 1, checked: 2, skipped: 2 })
    expect(short).toEqual(['18:7 error DK-URL-INVALID', '19:22 note kind', '21:20 note kind'])
  })

  it('reads several files', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'validate-'))
    const [one, other] = [join(folder, 'one.yaml'), join(folder, 'other.yaml')]
    await writeFile(one, FIT)
    await writeFile(other, FIT.replace('/api', ''))
    for (const args of [
      ['-f', one, other],
      ['-f', one, '-f', other],
    ]) {
      const { code, stdout } = await runCli(['validate', ...args])
      expect(code).toBe(1)
      expect(stdout).toContain(`${other}:7:3: error`)
      expect(stdout).toContain('2 resources checked, 1 error')
    }
  })

  it('reads YAML as kubectl does', async () => {
    expect((await validate(`${FIT}  skipCertCheck: yes\n  networkZone: 12:30\n  tokens: 2030-01-01\n`)).short).toEqual(
      [],
    )
    const merged = FIT.replace('metadata:', 'metadata:\n  <<: {labels: {a: b}}')
    expect((await validate(merged)).short).toEqual([])
    const annotated = FIT.replace('spec:', '  annotations: {a: on}\nspec:')
    expect((await validate(annotated)).short).toContain('6:17 error schema')
  })

  it('reports a missing file', async () => {
    const { code, stderr } = await runCli(['validate', '-f', '/nowhere/dynakube.yaml'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('/nowhere/dynakube.yaml')])
  })

  it('requires a file', async () => {
    const { code, stderr } = await runCli(['validate'])
    expect([code, stderr]).toEqual([64, expect.stringContaining('--filename')])
  })
})

describe('before admission, validate refuses', () => {
  it.each([
    ['invalid YAML', 'a: [1', '1:6 error yaml'],
    ['keys given twice', 'a: 1\na: 2\n', '2:1 error yaml'],
    ['a scalar', 'hello\n', '1:1 error yaml'],
    ['an object without a kind', 'apiVersion: dynatrace.com/v1beta6\n', '1:1 error yaml'],
    ['an unknown kind', FIT.replace('DynaKube', 'DynaCube'), '2:1 error version'],
    ['an unknown version', VERSIONLESS, '1:1 error version'],
    ['a version that was removed', VERSIONLESS.replace('VERSION', 'v1beta2'), '1:1 error version'],
    ['a resource without a name', FIT.replace('  name: dynakube\n', ''), '3:1 error schema'],
    [
      'an annotation that is not a string',
      FIT.replace('spec:', '  annotations:\n    a/b: true\nspec:'),
      '7:5 error schema',
    ],
    ['a field of another type', `${FIT}  networkZone: [1]\n`, '8:3 error schema'],
    ['a number out of range', `${FIT}  dynatraceApiRequestThreshold: 65536\n`, '8:3 error schema'],
  ])('%s', async (_, text, expected) => {
    const { code, short } = await validate(text)
    expect(code).toBe(1)
    expect(short.filter((line) => line.includes('error'))).toEqual([expected])
  })

  it('aliases that multiply without end', async () => {
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]']
    for (const [name, last] of ['ba', 'cb', 'dc', 'ed', 'fe'].map((pair) => [...pair])) {
      bomb.push(`${name}: &${name} [${Array(9).fill(`*${last}`).join(', ')}]`)
    }
    const { code, short } = await validate(bomb.join('\n'))
    expect([code, short]).toEqual([1, ['1:1 error yaml']])
  })

  it('and then says that the rules were not checked', async () => {
    const { findings } = await validate(FIT.replace('https', '5 #'))
    expect(findings.map(({ severity, message }) => [severity, message])).toEqual([
      ['note', expect.stringContaining('rules of admission were not checked')],
      ['error', 'spec.apiUrl must be a string, not a number'],
    ])
  })
})

describe('like the API server, validate', () => {
  it('warns about unknown fields and continues', async () => {
    const { code, findings } = await validate(`${FIT}  oneAgent:\n    hostMonitoring:\n      autoUpdate: true\n`)
    expect(code).toBe(0)
    expect(findings.filter(({ severity }) => severity === 'warning')).toEqual([
      expect.objectContaining({ line: 10, column: 7, field: 'spec.oneAgent.hostMonitoring.autoUpdate' }),
    ])
  })

  it('fills in defaults before it judges', async () => {
    const edgeConnect = `apiVersion: dynatrace.com/v1alpha1
kind: EdgeConnect
metadata: {name: ec, namespace: dynatrace}
spec:
  apiServer: abc12345.apps.dynatrace.com
  oauth: {clientSecret: c, endpoint: https://sso.example.com, resource: urn:a}
`
    expect((await validate(edgeConnect)).short).toEqual([])
    expect((await validate(`${edgeConnect}  serviceAccountName: ""\n`)).short).toEqual(['7:3 error EC-SA'])
  })

  it('converts before it judges: an old collector needs no image', async () => {
    const withIngest = (version: string) => `${VERSIONLESS.replace('VERSION', version)}  telemetryIngest: {}\n`
    const errors = async (version: string) =>
      (await validate(withIngest(version))).short.filter((line) => line.includes('error'))
    expect(await errors('v1beta5')).toEqual([])
    expect(await errors('v1beta6')).toEqual(['6:1 error DK-OTELC-IMAGE'])
  })

  it('knows the modules that are installed', async () => {
    const text = `${FIT}  oneAgent: {hostMonitoring: {}}\n`
    const { short } = await validate(text, { 'modules.json': '{"activeGate": true}' })
    expect(short).toContain('8:3 error DK-MOD-OA')
  })
})

describe('without a cluster, validate', () => {
  const secret = (data: string) => `---
apiVersion: v1
kind: Secret
metadata: {name: proxy, namespace: dynatrace}
${data}
`
  const withProxy = `${FIT}  proxy: {valueFrom: proxy}\n`

  it('says which rule it could not check', async () => {
    const { code, findings } = await validate(`${withProxy}  enableIstio: true\n`)
    expect(code).toBe(0)
    expect(findings.map(({ severity, rule, message }) => [severity, rule, message])).toEqual([
      ['note', 'DK-PROXY', 'DK-PROXY was not checked: there is no Secret proxy in the files'],
      ['note', 'DK-ISTIO', expect.stringContaining('DK-ISTIO was not checked')],
    ])
  })

  it.each([
    ['as text', "stringData: {proxy: 'http://user:a%27b@host:1'}"],
    ['in Base64', `data: {proxy: ${Buffer.from('http://user:a%27b@host:1').toString('base64')}}`],
  ])('reads Secrets of the files, %s', async (_, data) => {
    const { short } = await validate(`${withProxy}${secret(data)}`)
    expect(short).toContain('8:11 error DK-PROXY')
  })

  it('does not repeat the content of a Secret', async () => {
    const { stdout } = await runCli(['validate', '-f', '-', '-o', 'json'], {
      stdin: `${withProxy}${secret("stringData: {proxy: 'http://user:pass word@host:1'}")}`,
    })
    expect(stdout).toContain('DK-PROXY')
    expect(stdout).not.toContain('pass word')
  })

  it('detects conflicts between DynaKubes of the files, and notes that others are unknown', async () => {
    const one = `${FIT}  oneAgent: {hostMonitoring: {}}\n`
    const { code, findings } = await validate([one, one.replace('dynakube', 'other')].join('---\n'))
    expect(code).toBe(1)
    expect(findings.filter(({ severity }) => severity === 'error').map(({ line, rule }) => [line, rule])).toEqual([
      [8, 'DK-NODESEL'],
      [17, 'DK-NODESEL'],
    ])
    expect(findings.map(({ message }) => message)).toContain(
      'DK-NODESEL was checked against the DynaKubes in the files only',
    )
  })

  it('ignores DynaKubes of other namespaces, and never reports a conflict of a DynaKube with itself', async () => {
    const one = `${FIT}  oneAgent: {hostMonitoring: {}}\n`
    const text = [one, one, one.replace('namespace: dynatrace', 'namespace: elsewhere').replace('dynakube', 'other')]
    expect((await validate(text.join('---\n'))).code).toBe(0)
  })

  it('finds Namespaces of the files that two DynaKubes would inject', async () => {
    const one = `${FIT}  oneAgent: {applicationMonitoring: {}}\n`
    const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n'
    const { short } = await validate([one, one.replace('dynakube', 'other'), namespace].join('---\n'))
    expect(short.filter((line) => line.includes('error'))).toEqual([
      '8:3 error DK-NSCONFLICT',
      '17:3 error DK-NSCONFLICT',
    ])
  })
})
