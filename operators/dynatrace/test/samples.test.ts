/** Every sample is accepted in its own version and can be read in all others that are served. */
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type AnyCrd, objectSchema, validate } from '@reeve/crd'
import { type KubeObject, resource, type UnknownObject } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { meaning } from '../src/api/testing/same-meaning.ts'
import { convertDynaKube, convertEdgeConnect, DynaKubeCrd, EdgeConnectCrd } from '../src/index.ts'
import { type ClusterWithCrds, clusterWithCrds } from './support/cluster-with-crds.ts'

const FOLDER = fileURLToPath(new URL('../samples/', import.meta.url))
const FILES = globSync('**/*.yaml', { cwd: FOLDER }).sort()

let cluster: ClusterWithCrds
beforeAll(async () => {
  cluster = await clusterWithCrds()
})
afterAll(() => cluster.stop())

/** The resources of ours in a sample, under names that no other sample uses. */
async function resourcesIn(file: string): Promise<readonly UnknownObject[]> {
  const documents = parseAllDocuments(await readFile(`${FOLDER}${file}`, 'utf8'))
  const objects = documents.map((document) => document.toJS() as UnknownObject)
  const unique = file
    .replace(/^.*?\//, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/-yaml$/, '')
  return objects
    .filter(({ apiVersion }) => apiVersion.startsWith('dynatrace.com/'))
    .map((object, index) => ({ ...object, metadata: { ...object.metadata, name: `${unique}-${index}` } }))
}

const crdOf = ({ kind }: KubeObject): AnyCrd => (kind === 'DynaKube' ? DynaKubeCrd : EdgeConnectCrd)
const versionOf = ({ apiVersion }: KubeObject): string => apiVersion.split('/')[1] ?? ''
const inVersion = ({ group, kind, plural }: AnyCrd, version: string) =>
  resource<UnknownObject>({ group, kind, plural, version, namespaced: true })

/** What the user wrote, without what a server adds. */
function written(object: KubeObject): unknown {
  const { spec, status, metadata } = object as UnknownObject
  const { labels, annotations } = metadata
  return meaning({
    spec,
    ...(status === undefined ? {} : { status }),
    ...(annotations && { annotations }),
    ...(labels && { labels }),
  })
}

describe.each(FILES)('the sample %s', (file) => {
  it('is valid in the version of its folder', async () => {
    const objects = await resourcesIn(file)
    expect(objects.length).toBeGreaterThan(0)
    for (const object of objects) {
      expect(file).toContain(`/${versionOf(object)}/`)
      expect(validate(objectSchema(crdOf(object), versionOf(object)), object)).toEqual([])
    }
  })

  it('is stored by a cluster and read back in every served version', async () => {
    for (const object of await resourcesIn(file)) {
      const crd = crdOf(object)
      const convert = crd === DynaKubeCrd ? convertDynaKube : convertEdgeConnect
      const stored = await cluster.client.create(inVersion(crd, versionOf(object)), object)
      expect(written(stored)).toMatchObject(written(object) as object)
      const served = Object.entries(crd.versions).filter(([, { served = true }]) => served)
      expect(served.length).toBeGreaterThan(1)
      for (const [version] of served) {
        const key = { namespace: 'dynatrace', name: object.metadata.name ?? '' }
        const read = await cluster.client.get(inVersion(crd, version), key)
        expect(read.apiVersion).toBe(`dynatrace.com/${version}`)
        expect(written(read)).toEqual(written(convert(stored, version)))
        expect(validate(objectSchema(crd, version), read)).toEqual([])
      }
    }
  })

  it('can be converted to every version, the unserved one included', async () => {
    for (const object of await resourcesIn(file)) {
      const crd = crdOf(object)
      const convert = crd === DynaKubeCrd ? convertDynaKube : convertEdgeConnect
      for (const version of Object.keys(crd.versions)) {
        expect(validate(objectSchema(crd, version), convert(object, version))).toEqual([])
      }
    }
  })
})

it('there is a sample of every served version', () => {
  const versions = new Set(FILES.map((file) => file.split('/')[1]))
  const served = [DynaKubeCrd, EdgeConnectCrd].flatMap(({ versions: all }) => Object.keys(all))
  expect([...versions].sort()).toEqual(served.sort())
})
