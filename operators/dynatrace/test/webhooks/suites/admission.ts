/** What users see when they write DynaKubes and EdgeConnects to a cluster with the webhooks. */
import { ApiError, isNotFound, type KubeObject, resource, Secrets } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { type DynaKubeParts, dynakube, edgeConnect } from '../../../src/api/testing/build.ts'
import { DynaKubeCrd, type DynaKubeSpec, DynaKubes, EdgeConnectCrd, EdgeConnects } from '../../../src/index.ts'
import { kubectl, kubectlPath } from '../../support/kubectl.ts'
import type { WebhookStage } from '../../support/webhook-stage.ts'

const PLACEHOLDER = 'https://ENVIRONMENTID.live.dynatrace.com/api'

/** The suite; `at` gives the stage once it is set. */
export function admissionSuite(at: () => WebhookStage): void {
  const here = <T extends KubeObject>(object: T): T => ({
    ...object,
    metadata: { ...object.metadata, namespace: at().namespace },
  })
  const build = (spec: Partial<DynaKubeSpec>, parts: DynaKubeParts = {}) => here(dynakube(spec, parts))
  const key = (name: string) => ({ namespace: at().namespace, name })

  /** Why the object is refused, or nothing; one that got in is removed. */
  async function refusal(object: KubeObject): Promise<string> {
    const { group, kind, plural } = object.kind === 'DynaKube' ? DynaKubeCrd : EdgeConnectCrd
    const version = object.apiVersion.slice(group.length + 1)
    const resourceOfVersion = resource({ group, version, kind, plural, namespaced: true })
    try {
      const { metadata } = await at().client.create(resourceOfVersion, object)
      await at().client.delete(resourceOfVersion, key(metadata.name))
      return ''
    } catch (error) {
      if (error instanceof ApiError) return error.message
      throw error
    }
  }

  describe('admission', () => {
    it('denies in every served version, with all problems in one response', async () => {
      for (const version of ['v1beta4', 'v1beta5', 'v1beta6']) {
        const object = {
          ...build({ apiUrl: PLACEHOLDER, proxy: { value: '10.0.0.1:3128' } }),
          apiVersion: `dynatrace.com/${version}`,
        }
        const message = await refusal(object)
        expect(message).toContain(`"${version}.dynakube.webhook.dynatrace.com" denied the request`)
        expect(message).toMatch(/2 errors found in the DynaKube\n 1\. .*apiUrl.*\n 2\. .*proxy/)
      }
      for (const version of ['v1alpha1', 'v1alpha2']) {
        const object = { ...here(edgeConnect({ apiServer: 'doma.in' })), apiVersion: `dynatrace.com/${version}` }
        expect(await refusal(object)).toMatch(/edgeconnect\.webhook\.dynatrace\.com" denied[\s\S]*apiServer/)
      }
      expect(await refusal(build({}))).toBe('')
      expect(await refusal(here(edgeConnect()))).toBe('')
    })

    it('needs a collector image in the newest version only: older ones had a default', async () => {
      const object = build({ telemetryIngest: {} })
      expect(await refusal(object)).toContain('otelCollector')
      expect(await refusal({ ...object, apiVersion: 'dynatrace.com/v1beta5' })).toBe('')
    })

    it('refuses numbers that the schema admits as a bad request', async () => {
      const create = at().client.create(DynaKubes, build({ dynatraceApiRequestThreshold: 70_000 }))
      await expect(create).rejects.toMatchObject({ status: 400, message: expect.stringContaining('65535') })
      const proxy = { proxy: { host: 'p', port: -1 } }
      await expect(at().client.create(EdgeConnects, here(edgeConnect(proxy)))).rejects.toMatchObject({ status: 400 })
    })

    it('denies an object without a spec', async () => {
      const { spec: _, ...bare } = build({})
      expect(await refusal(bare as KubeObject)).toMatch(/2 errors[\s\S]*missing[\s\S]*not a valid tenant URL/)
    })

    it('checks other DynaKubes and at namespaces of the cluster', async () => {
      const { client } = at()
      const selector = { matchLabels: { 'kubernetes.io/metadata.name': 'default' } }
      const rival = build({ oneAgent: { cloudNativeFullStack: { namespaceSelector: selector } } }, { name: 'rival' })
      await client.create(DynaKubes, { ...rival, spec: { ...rival.spec, telemetryIngest: {}, templates: COLLECTOR } })
      try {
        expect(await refusal(build({ oneAgent: { hostMonitoring: {} } }))).toMatch(/same nodes.*rival/)
        const injected = build({ oneAgent: { applicationMonitoring: { namespaceSelector: selector } } })
        expect(await refusal(injected)).toMatch(/namespace default.*rival/)
        const clash = build({ telemetryIngest: { serviceName: 'rival-telemetry-ingest' }, templates: COLLECTOR })
        expect(await refusal(clash)).toContain('rival')
        const elsewhere = { matchLabels: { 'kubernetes.io/metadata.name': 'kube-public' } }
        expect(await refusal(build({ oneAgent: { applicationMonitoring: { namespaceSelector: elsewhere } } }))).toBe('')
      } finally {
        await client.delete(DynaKubes, key('rival'))
      }
    })

    it('reads the Secret of the proxy, and never repeats what is in it', async () => {
      const object = build({ proxy: { valueFrom: 'proxy' } })
      expect(await refusal(object)).toContain('the Secret proxy does not exist')
      const store = (stringData: Record<string, string>) => {
        const secret = { apiVersion: 'v1', kind: 'Secret', metadata: key('proxy'), stringData }
        return at().client.apply(Secrets, secret, { force: true })
      }
      await store({ other: 'x' })
      expect(await refusal(object)).toContain('has no key proxy')
      await store({ proxy: "http://user:hunter'2@host:3128" })
      const message = await refusal(object)
      expect(message).toContain('password')
      expect(message).not.toContain('hunter')
      await store({ proxy: 'http://user:hunter2@host:3128' })
      expect(await refusal(object)).toBe('')
    })

    it('requires Istio when it is enabled', async () => {
      expect(await refusal(build({ enableIstio: true }))).toContain('networking.istio.io')
    })

    it('does not let apiUrl change, in any version', async () => {
      const { client } = at()
      await client.create(DynaKubes, build({}, { name: 'fixed' }))
      try {
        for (const version of ['v1beta4', 'v1beta6'] as const) {
          const patch = { spec: { apiUrl: 'https://other.live.example.com/api' } }
          const change = client.patch(DynaKubeCrd.resource(version), key('fixed'), { type: 'merge', patch })
          await expect(change).rejects.toMatchObject({ status: 403, message: expect.stringContaining('immutable') })
        }
        const patch = { metadata: { labels: { team: 'a' } } }
        await client.patch(DynaKubes, key('fixed'), { type: 'merge', patch })
      } finally {
        await client.delete(DynaKubes, key('fixed'))
      }
    })

    it('has no effect in a dry run, and says the same', async () => {
      const { client } = at()
      await client.create(DynaKubes, build({}, { name: 'rehearsed' }), { dryRun: true })
      await expect(client.get(DynaKubes, key('rehearsed'))).rejects.toSatisfy(isNotFound)
      const invalid = client.create(DynaKubes, build({ apiUrl: PLACEHOLDER }), { dryRun: true })
      await expect(invalid).rejects.toMatchObject({ status: 403 })
    })

    it('does not stand in the way of a resource that became invalid: its status and its end', async () => {
      const { client, unregister, register, until } = at()
      await unregister()
      const invalid = build({ apiUrl: PLACEHOLDER }, { name: 'invalid' })
      const finalizers = ['dynatrace.com/test']
      await until(async () =>
        client.create(DynaKubes, { ...invalid, metadata: { ...invalid.metadata, finalizers } }).then(
          () => true,
          () => false,
        ),
      )
      await register()
      await until(async () => (await refusal(build({ apiUrl: PLACEHOLDER }))).includes('denied'))
      const touch = { type: 'merge', patch: { metadata: { labels: { team: 'a' } } } } as const
      await expect(client.patch(DynaKubes, key('invalid'), touch)).rejects.toMatchObject({ status: 403 })
      const stored = await client.get(DynaKubes, key('invalid'))
      const status = { ...stored, status: { ...stored.status, phase: 'Error' } }
      const written = await client.update(DynaKubes, status as typeof stored, { subresource: 'status' })
      expect(written.status?.phase).toBe('Error')
      await client.delete(DynaKubes, key('invalid'))
      await client.patch(DynaKubes, key('invalid'), { type: 'merge', patch: { metadata: { finalizers: null } } })
      await until(() =>
        client.get(DynaKubes, key('invalid')).then(
          () => false,
          (error: unknown) => isNotFound(error),
        ),
      )
    })
  })

  describe.skipIf(kubectlPath === undefined)('kubectl (skipped without kubectl)', () => {
    it('shows a denial with every problem, and fails', async () => {
      const object = build({ apiUrl: PLACEHOLDER, activeGate: { capabilities: ['routing', 'telepathy'] } })
      const { code, stderr } = await kubectl(at(), ['apply', '-f', '-'], object)
      expect(code).toBe(1)
      expect(stderr).toContain('admission webhook "v1beta6.dynakube.webhook.dynatrace.com" denied the request')
      expect(stderr).toMatch(/2 errors found in the DynaKube\n 1\. .*apiUrl.*\n 2\. .*telepathy/)
      // Said although it was denied.
      expect(stderr).toMatch(/Warning: .*memory/)
    })

    it('shows warnings and continues, and lists both kinds by their category', async () => {
      const object = build({ activeGate: { capabilities: ['routing'] } }, { name: 'warned' })
      const old = { ...object, apiVersion: 'dynatrace.com/v1beta5' }
      const { code, stdout, stderr } = await kubectl(at(), ['apply', '-f', '-'], old)
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'dynakube.dynatrace.com/warned created\n' })
      expect(stderr.match(/^Warning: .*memory/gm)).toHaveLength(1)
      await at().client.create(EdgeConnects, here(edgeConnect()))
      const table = await kubectl(at(), ['get', 'dk'])
      expect(table.stdout.split('\n')[0]).toMatch(/^NAME\s+APIURL\s+STATUS\s+AGE$/)
      const both = await kubectl(at(), ['get', 'dynatrace', '-o', 'name'])
      expect(both.stdout.trim().split('\n').sort()).toEqual([
        'dynakube.dynatrace.com/warned',
        'edgeconnect.dynatrace.com/ec',
      ])
      const deleted = await kubectl(at(), ['delete', 'dynatrace', '--all'])
      expect(deleted.code).toBe(0)
    })

    it('diffs and rehearses through the webhooks', async () => {
      const valid = await kubectl(at(), ['apply', '--dry-run=server', '-f', '-'], build({}))
      expect(valid).toMatchObject({ code: 0, stdout: expect.stringContaining('server dry run') })
      const invalid = await kubectl(at(), ['apply', '--dry-run=server', '-f', '-'], build({ apiUrl: PLACEHOLDER }))
      expect(invalid).toMatchObject({ code: 1, stderr: expect.stringContaining('denied the request') })
    })
  })
}

const COLLECTOR = { otelCollector: { imageRef: { repository: 'example.com/collector', tag: '1' } } }
