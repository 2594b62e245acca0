/** What holds for the manifests of every variant: against Helm, kubectl and a cluster. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { findClientBinary, renderChart } from '@reeve/client-binaries'
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import type { UnknownObject } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments, stringify } from 'yaml'
import { mergeValues, type Values } from '../../src/merge-values.ts'
import { chartFolder, type FilesOptions, operatorFiles } from '../../src/operator-files.ts'
import { operatorManifests } from '../../src/variants.ts'

/** One set of manifests. */
export interface Case {
  readonly operator: string
  readonly variant: string
  /** Further values. */
  readonly values: Values
}

const [helm = '', kubectl = ''] = await Promise.all([findClientBinary('helm'), findClientBinary('kubectl')])
const run = promisify(execFile)
const LARGE = { maxBuffer: 32 * 1024 * 1024 }

const key = ({ kind, metadata }: UnknownObject) => `${kind} ${metadata.name}`
const byKey = (a: UnknownObject, b: UnknownObject) => key(a).localeCompare(key(b))
/** As a parser of YAML 1.1 reads it, such as that of kubectl. */
const parsed = (text: string) =>
  parseAllDocuments(text, { version: '1.1' })
    .map((document) => document.toJS() as UnknownObject)
    .toSorted(byKey)

/** Defines the suite for these cases. */
export function manifestsSuite(cases: readonly Case[]): void {
  let folder: string
  let cluster: ClusterUnderTest
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'reeve-manifests-'))
    cluster = await openCluster()
  })
  afterAll(async () => {
    await cluster?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const skipped = helm === '' || kubectl === ''
  describe.skipIf(skipped).each(cases)(
    'manifests of $operator, $variant (skipped without helm and kubectl)',
    ({ operator, variant, values }) => {
      const { release, namespace, variants } = operatorManifests(operator)
      const own = variants.find(({ name }) => name === variant)?.values ?? {}
      const chart = chartFolder(operator)
      const files = async (options: Omit<FilesOptions, 'helm'> = {}) => {
        const all = await operatorFiles(operator, { helm, values, only: variant, ...options })
        return new Map(all.map(({ path, content }) => [path, content]))
      }
      const objectsOf = (all: ReadonlyMap<string, string>) => parsed(all.get(`${variant}.yaml`) ?? '')
      let written: ReadonlyMap<string, string>
      beforeAll(async () => {
        written = await files()
        for (const [path, content] of written) {
          await mkdir(dirname(join(folder, operator, path)), { recursive: true })
          await writeFile(join(folder, operator, path), content)
        }
      })

      it('are what Helm creates, without its labels', async () => {
        const { objects } = await renderChart(chart, { helm, release, namespace, values: mergeValues(own, values) })
        const labels = / *(?:helm\.sh\/chart|app\.kubernetes\.io\/managed-by): .*\n/g
        const expected = objects.flatMap((object) => parsed(stringify(object).replaceAll(labels, '')))
        const crds = (await readdir(chart)).includes('crds') ? (await readdir(join(chart, 'crds'))).length : 0
        const found = objectsOf(written)
        expect(found.filter((one) => expected.some((other) => key(one) === key(other)))).toEqual(
          expected.toSorted(byKey),
        )
        expect(found).toHaveLength(expected.length + crds)
        expect(expected.length).toBeGreaterThan(10)
      })

      it('can be moved to another namespace and registry by kustomize', async () => {
        const overlay = join(folder, `overlay-${operator}-${variant}`)
        await mkdir(overlay)
        const [imageRepository, imageTag] = ['registry.example.com/team/operator', '9.9.9']
        const kustomization = {
          namespace: 'elsewhere',
          resources: [`../${operator}/kustomize/${variant}`],
          images: [{ name: `localhost/${operator}-operator`, newName: imageRepository, newTag: imageTag }],
        }
        await writeFile(join(overlay, 'kustomization.yaml'), stringify(kustomization))
        const { stdout } = await run(kubectl, ['kustomize', overlay], LARGE)
        const moved = parsed(stdout).map(withoutForeignNamespace)
        expect(moved).toEqual(objectsOf(await files({ namespace: 'elsewhere', imageRepository, imageTag })))
      })

      it('are accepted by an API server', async () => {
        const client = ['--kubeconfig', cluster.kubeconfigPath]
        await run(kubectl, [...client, 'create', 'namespace', namespace]).catch((error: Error) => {
          if (!error.message.includes('AlreadyExists')) throw error
        })
        const file = join(folder, operator, `${variant}.yaml`)
        const { stdout } = await run(kubectl, [...client, 'apply', '--server-side', '--validate=strict', '-f', file])
        expect(stdout.trim().split('\n')).toHaveLength(objectsOf(written).length)
      })
    },
  )
}

/** Kustomize takes policies, which it does not know, for objects of a namespace. API servers ignore it. */
function withoutForeignNamespace(object: UnknownObject): UnknownObject {
  if (!object.kind.startsWith('ValidatingAdmissionPolicy')) return object
  const { namespace: _, ...metadata } = object.metadata
  return { ...object, metadata }
}
