import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineOperator } from '@reeve/runtime'
import { conversionWebhook } from '@reeve/runtime/webhooks'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { runOperatorCommandLine } from './operator-commands.ts'
import { runCaptured } from './testing/captured-process.ts'

const version = (name: string, field: string, storage: boolean) => ({
  name,
  served: true,
  storage,
  schema: {
    openAPIV3Schema: { type: 'object', properties: { spec: { properties: { [field]: { type: 'integer' } } } } },
  },
})
const operator = defineOperator({
  name: 'backups',
  crds: [
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'backups.example.com' },
      spec: {
        group: 'example.com',
        names: { kind: 'Backup', plural: 'backups' },
        scope: 'Namespaced',
        versions: [version('v2', 'retentionDays', true), version('v1', 'retention', false)],
      },
    },
  ],
  webhooks: [conversionWebhook('/convert', [{ group: 'example.com', kind: 'Backup', convert: (object) => object }])],
  controllers: [],
})

const about = { version: '1.0.0', description: 'Keeps backups.' }
const crd = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCaptured((argv, parts) => runOperatorCommandLine(operator, about, argv, parts), ['crd', ...args], { env })
const conversionIn = (text: string) => parse(text).spec.conversion

describe('crd', () => {
  it('refuses to print a CRD without the conversion that keeps its data, and names the options', async () => {
    expect(await crd([])).toEqual({
      code: 64,
      stdout: '',
      stderr:
        'backups: backups.example.com: converted by a webhook, whose address is needed: ' +
        'use --namespace <name> for the Service backups, or --webhook-url <url>\n',
    })
  })

  it.each([
    ['the Service of the operator', ['--namespace', 'ops'], {}, { service: { namespace: 'ops', name: 'backups' } }],
    ['the namespace of its pod', [], { POD_NAMESPACE: 'pods' }, { service: { namespace: 'pods', name: 'backups' } }],
    [
      'another Service',
      ['--namespace', 'ops', '--webhook-service', 'hooks'],
      {},
      { service: { namespace: 'ops', name: 'hooks' } },
    ],
  ])('prints the conversion by %s', async (_, args, env, { service }) => {
    const { code, stdout, stderr } = await crd(args, env)
    expect([code, stderr]).toEqual([0, ''])
    expect(conversionIn(stdout)).toEqual({
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { service: { ...service, path: '/convert' } } },
    })
  })

  it('prints the conversion by an operator outside the cluster, with its authority', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'crd-command-'))
    const authority = join(folder, 'ca.crt')
    await writeFile(authority, 'PEM')
    const { stdout } = await crd(['--webhook-url', 'https://10.0.0.1:9443/', '--webhook-ca-file', authority])
    await rm(folder, { recursive: true })
    expect(conversionIn(stdout).webhook.clientConfig).toEqual({
      url: 'https://10.0.0.1:9443/convert',
      caBundle: Buffer.from('PEM').toString('base64'),
    })
  })

  it('rejects an address that no API server would call', async () => {
    for (const url of ['http://10.0.0.1', 'example', 'https://a@b', 'https://b?c=d']) {
      const { code, stderr } = await crd(['--webhook-url', url])
      expect([code, stderr]).toEqual([64, expect.stringContaining('It must be an https URL')])
    }
  })
})
