import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { runCli } from './testing/run-cli.ts'

const OLD = `apiVersion: dynatrace.com/v1beta5
kind: DynaKube
metadata:
  name: dynakube
  namespace: dynatrace
spec:
  apiUrl: https://abc12345.live.dynatrace.com/api
  oneAgent:
    hostMonitoring:
      autoUpdate: false
`
const SETTINGS = `# written by hand
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings # of the shop
`
const convert = (stdin: string, to: string) => runCli(['convert', '-f', '-', '--to', to], { stdin })

describe('convert', () => {
  it('prints the other version as YAML, without a generated status', async () => {
    const { code, stdout, stderr } = await convert(OLD, 'v1beta6')
    expect([code, stderr]).toEqual([0, ''])
    expect(parse(stdout)).toMatchObject({
      apiVersion: 'dynatrace.com/v1beta6',
      metadata: { annotations: { 'conversion.internal.dynatrace.com/auto-update': 'false' } },
      spec: { oneAgent: { hostMonitoring: {} } },
    })
    expect(parse(stdout)).not.toHaveProperty('status')
    expect(stdout.indexOf('apiVersion')).toBe(0)
  })

  it('quotes words that kubectl would not parse as strings', async () => {
    const text = OLD.replace('spec:', '  annotations: {switch: "on", time: "12:30", mode: "0777"}\nspec:')
    const { stdout } = await convert(text, 'v1beta6')
    expect(stdout).toContain('switch: "on"')
    expect(stdout).toContain('mode: "0777"')
  })

  it('says the same every time', async () => {
    expect(await convert(OLD, 'v1beta6')).toEqual(await convert(OLD, 'v1beta6'))
  })

  it('converts there and back', async () => {
    const { stdout } = await convert(OLD, 'v1beta6')
    const { stdout: back } = await convert(stdout, 'v1beta5')
    expect(parse(back)).toMatchObject(parse(OLD))
  })

  it.each(['v1beta3', 'v1beta4', 'v1beta6'])('converts through the stored version, to %s', async (version) => {
    const { code, stdout } = await convert(OLD, version)
    expect([code, parse(stdout).apiVersion]).toEqual([0, `dynatrace.com/${version}`])
  })

  it('keeps documents of other kinds with their comments, and in their place', async () => {
    const { stdout } = await convert(`${SETTINGS}---\n${OLD}---\n${SETTINGS}`, 'v1beta6')
    expect(stdout.startsWith(`${SETTINGS}---\n`)).toBe(true)
    expect(stdout.endsWith(`---\n${SETTINGS}`)).toBe(true)
    expect(parseAllDocuments(stdout)).toHaveLength(3)
  })

  it('keeps what has the version already, comments included', async () => {
    const text = `# mine\n${OLD}`
    expect((await convert(text, 'v1beta5')).stdout).toBe(text)
  })

  it('converts inside Lists', async () => {
    const item = OLD.trim().replaceAll('\n', '\n    ')
    const list = `apiVersion: v1\nkind: List\nitems:\n  - ${item}\n  - {apiVersion: v1, kind: Secret, metadata: {name: s}}\n`
    const { stdout } = await convert(list, 'v1beta6')
    expect(parse(stdout)).toMatchObject({
      kind: 'List',
      items: [{ apiVersion: 'dynatrace.com/v1beta6' }, { kind: 'Secret' }],
    })
  })

  it('reports what the other version has no place for, with its place in the file', async () => {
    const text = OLD.replace('v1beta5', 'v1beta6').replace(
      /oneAgent.*/s,
      'otlpExporterConfiguration:\n    signals: {metrics: {}}\n  kspm: {mappedHostPaths: [/etc]}\n',
    )
    const { code, stderr } = await convert(text, 'v1beta5')
    expect(code).toBe(0)
    expect(stderr.trim().split('\n')).toEqual([
      expect.stringMatching(/^<stdin>:8:3: warning: DynaKube dynatrace\/dynakube: spec\.otlpExporterConfiguration has/),
      expect.stringMatching(/^<stdin>:10:10: warning: .*spec\.kspm\.mappedHostPaths has no place in v1beta5/),
    ])
  })

  it.each([
    [
      'an unknown version in the file',
      OLD.replace('v1beta5', 'v1beta2'),
      /^<stdin>:1:1: error: .*v1beta2; known versions/,
    ],
    ['what the schema refuses', OLD.replace('https:', '5 # '), /^<stdin>:7:3: error: .*spec\.apiUrl must be a string/],
    ['invalid YAML', 'a: [', /^<stdin>:1:5: error/],
    ['a scalar', 'hello', /^<stdin>:1:1: error: is not a Kubernetes object/],
  ])('prints nothing but the reason for %s', async (_, text, reason) => {
    const { code, stdout, stderr } = await convert(text, 'v1beta6')
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(reason)
  })

  it('lists the versions', async () => {
    const { code, stderr } = await convert(OLD, 'v2')
    expect(code).toBe(64)
    expect(stderr).toContain('v1beta6, v1beta5, v1beta4, v1beta3 (DynaKube), v1alpha2, v1alpha1 (EdgeConnect)')
  })

  const folder = fileURLToPath(new URL('../../samples/', import.meta.url))
  it.each(globSync('**/*.yaml', { cwd: folder }).sort())(
    'converts the sample %s to every version and back',
    async (file) => {
      const [kind, own = ''] = file.split('/')
      const versions = kind === 'dynakube' ? ['v1beta3', 'v1beta4', 'v1beta5', 'v1beta6'] : ['v1alpha1', 'v1alpha2']
      for (const version of versions) {
        const there = await runCli(['convert', '-f', `${folder}${file}`, '--to', version])
        expect([there.code, parseAllDocuments(there.stdout).flatMap(({ errors }) => errors)]).toEqual([0, []])
        const back = await convert(there.stdout, own)
        expect(back.code).toBe(0)
      }
    },
  )
})
