/** The webhook server while its certificates change and while it comes and goes, under traffic. */
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { sleep } from '@reeve/http'
import {
  CustomResourceDefinitions,
  isNotFound,
  type KubeObject,
  type Resource,
  Secrets,
  ValidatingWebhookConfigurations,
} from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { dynakube } from '../../../src/api/testing/build.ts'
import { CERTIFICATES_SECRET, DynaKubeCrd, EdgeConnectCrd, WEBHOOK_NAME } from '../../../src/index.ts'
import type { WebhookStage } from '../../support/webhook-stage.ts'

/** The suite; `at` gives the stage once it is set. */
export function lifeSuite(at: () => WebhookStage): void {
  const secret = async () => {
    const { data = {} } = await at().client.get(Secrets, { namespace: at().namespace, name: CERTIFICATES_SECRET })
    return (key: string) => Buffer.from(data[key] ?? '', 'base64').toString()
  }

  /** Every bundle that the API server works with, each once. */
  async function bundles(): Promise<readonly string[]> {
    const { client } = at()
    const { webhooks = [] } = await client.get(ValidatingWebhookConfigurations, { name: WEBHOOK_NAME })
    const definitions = await Promise.all(
      [DynaKubeCrd, EdgeConnectCrd].map(({ name }) => client.get(CustomResourceDefinitions, { name })),
    )
    const configs = [
      ...webhooks.map(({ clientConfig }) => clientConfig),
      ...definitions.map(({ spec }) => spec.conversion?.webhook?.clientConfig),
    ]
    return [...new Set(configs.map((config) => Buffer.from(config?.caBundle ?? '', 'base64').toString()))]
  }

  /** A write that needs validation and conversion, and stores nothing. Rejects if either is unavailable. */
  const rehearse = () => {
    const { namespace, client } = at()
    const object = { ...dynakube({}, { name: 'rehearsed' }), apiVersion: 'dynatrace.com/v1beta5' }
    const old: Resource<KubeObject> = DynaKubeCrd.resource('v1beta5')
    return client.create(old, { ...object, metadata: { ...object.metadata, namespace } }, { dryRun: true })
  }
  const works = () =>
    rehearse().then(
      () => true,
      () => false,
    )
  const served = () => readFile(join(at().directory, 'tls.crt'), 'utf8')

  describe('the life of the webhook server', () => {
    it('serves without one failed request while authority and certificate are replaced', async () => {
      const before = await secret()
      const stop = new AbortController()
      const failures: unknown[] = []
      let requests = 0
      const traffic = async () => {
        while (!stop.signal.aborted) {
          await rehearse().catch((error: unknown) => failures.push(error))
          requests++
          // Both would leave no time to the server, which is in this process.
          await sleep(10)
        }
      }
      const streams = [traffic(), traffic()]
      try {
        await at().until(async () => requests > 10)
        await at().renew()
        const after = await secret()
        expect(after('ca.crt')).not.toBe(before('ca.crt'))
        expect(after('ca.crt.old')).toBe(before('ca.crt'))
        expect(await bundles()).toEqual([`${after('ca.crt')}${before('ca.crt')}`])
        await at().until(async () => (await shown(at().port)) === new X509Certificate(after('tls.crt')).fingerprint256)
        const enough = requests + 50
        await at().until(async () => requests > enough)
      } finally {
        stop.abort()
        await Promise.all(streams)
      }
      expect(failures).toEqual([])
    })

    it('handles a burst of more writes than its concurrency', async () => {
      const answers = await Promise.all(Array.from({ length: 150 }, works))
      expect(answers.filter((isAnswered) => !isAnswered)).toEqual([])
    })

    it('writes nothing when everything is right', async () => {
      const { client, namespace } = at()
      const version = async () => {
        const [stored, configuration, definition] = await Promise.all([
          client.get(Secrets, { namespace, name: CERTIFICATES_SECRET }),
          client.get(ValidatingWebhookConfigurations, { name: WEBHOOK_NAME }),
          client.get(CustomResourceDefinitions, { name: DynaKubeCrd.name }),
        ])
        return [stored, configuration, definition].map(({ metadata }) => metadata.resourceVersion)
      }
      const before = await version()
      await at().renew()
      expect(await version()).toEqual(before)
    })

    it('recovers when the CA bundles are removed, or the Secret is deleted', async () => {
      const { client, namespace } = at()
      await at().unregister()
      await at().register()
      await at().until(works)
      await client.delete(Secrets, { namespace, name: CERTIFICATES_SECRET })
      await at().renew()
      const after = await secret()
      await at().until(async () => (await served()) === after('tls.crt'))
      await at().until(works)
      expect(await bundles()).toEqual([after('ca.crt')])
    })

    it('while it is down, writes are refused with the reason; reads in the stored version and deletions are not', async () => {
      const { client, namespace } = at()
      const kept = dynakube({}, { name: 'kept' })
      const latest = DynaKubeCrd.resource('v1beta6')
      await client.create(latest, { ...kept, metadata: { ...kept.metadata, namespace } })
      await at().stopWebhooks()
      try {
        await expect(rehearse()).rejects.toThrow(/failed calling webhook|conversion webhook/)
        await expect(client.get(latest, { namespace, name: 'kept' })).resolves.toBeDefined()
        await client.delete(latest, { namespace, name: 'kept' })
        await expect(client.get(latest, { namespace, name: 'kept' })).rejects.toSatisfy(isNotFound)
      } finally {
        await at().startWebhooks()
      }
      await at().until(works)
    })
  })
}

/** The certificate that a new connection is shown. */
async function shown(port: number): Promise<string> {
  const socket = connect({ port, host: 'localhost', rejectUnauthorized: false })
  await new Promise<void>((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
  const { fingerprint256 } = socket.getPeerCertificate()
  socket.destroy()
  return fingerprint256
}
