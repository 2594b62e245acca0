/** Every sample goes through the webhooks in its own version and is read back in all others. */
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { AnyCrd } from '@reeve/crd'
import { resource, type UnknownObject } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { meaning } from '../../../src/api/testing/same-meaning.ts'
import { convertDynaKube, convertEdgeConnect, DynaKubeCrd, EdgeConnectCrd } from '../../../src/index.ts'
import type { WebhookStage } from '../../support/webhook-stage.ts'

const FOLDER = fileURLToPath(new URL('../../../samples/', import.meta.url))
const FILES = globSync('**/*.yaml', { cwd: FOLDER }).sort()

const inVersion = ({ group, kind, plural }: AnyCrd, version: string) =>
  resource<UnknownObject>({ group, kind, plural, version, namespaced: true })

/** The resources of ours in a sample, with the tenant filled in. */
async function resourcesIn(file: string, namespace: string): Promise<readonly UnknownObject[]> {
  const text = (await readFile(`${FOLDER}${file}`, 'utf8')).replaceAll('ENVIRONMENTID', 'abc12345')
  return parseAllDocuments(text)
    .map((document) => document.toJS() as UnknownObject)
    .filter(({ apiVersion }) => apiVersion.startsWith('dynatrace.com/'))
    .map((object) => ({ ...object, metadata: { ...object.metadata, namespace } }))
}

/** The suite; `at` gives the stage once it is set. */
export function samplesSuite(at: () => WebhookStage): void {
  describe('samples', () => {
    it.each(FILES)('%s is admitted and read back in every served version', async (file) => {
      const { client, namespace } = at()
      const objects = await resourcesIn(file, namespace)
      expect(objects.length).toBeGreaterThan(0)
      for (const object of objects) {
        const { crd, convert } =
          object.kind === 'DynaKube'
            ? { crd: DynaKubeCrd, convert: convertDynaKube }
            : { crd: EdgeConnectCrd, convert: convertEdgeConnect }
        const key = { namespace, name: object.metadata.name ?? '' }
        const own = inVersion(crd as AnyCrd, object.apiVersion.split('/')[1] ?? '')
        const applied = await client.apply(own, object, { force: true })
        for (const [version, { served = true }] of Object.entries(crd.versions)) {
          if (!served) continue
          const read = await client.get(inVersion(crd as AnyCrd, version), key)
          expect(read.apiVersion).toBe(`dynatrace.com/${version}`)
          const expected = convert(applied, version) as UnknownObject
          expect(meaning({ spec: read.spec })).toEqual(meaning({ spec: expected.spec }))
          expect(read.metadata.annotations ?? {}).toEqual(expected.metadata.annotations ?? {})
        }
      }
      // The next sample may need the same nodes.
      for (const { kind, metadata } of objects) {
        const crd: AnyCrd = kind === 'DynaKube' ? DynaKubeCrd : EdgeConnectCrd
        const stored = inVersion(crd, kind === 'DynaKube' ? 'v1beta6' : 'v1alpha2')
        await client.delete(stored, { namespace, name: metadata.name ?? '' })
      }
    })
  })
}
