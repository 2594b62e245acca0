/** What happens to the CRD of a chart, and to its objects, while the real helm upgrades, rolls back, uninstalls and installs. */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sleep } from '@reeve/http'
import { CustomResourceDefinitions, type KubeClient, type KubeObject, type Resource } from '@reeve/kube'
import { parse, stringify } from 'yaml'
import { BRIEF_CLIENT } from './find-client-binary.ts'

/** How long an operator may take to upgrade the CRD after its start. */
const START_TIMEOUT_MS = 60_000

/** A chart and how it is used. */
export interface CrdLifeOptions<T extends KubeObject> {
  /** The path of helm. */
  readonly helm: string
  readonly kubeconfig: string
  /** As the administrator. */
  readonly client: KubeClient
  /** The folder of the chart. */
  readonly chart: string
  /** Values that every release has. */
  readonly set: readonly string[]
  readonly resource: Resource<T>
  /** The member of the spec that the earlier chart lacks. */
  readonly field: string
  /** An object without the field, and one with it. */
  readonly objects: readonly [T, T]
  /** Runs the operator of a release as its account. */
  readonly start: (release: { readonly namespace: string; readonly name: string }) => Promise<AsyncDisposable>
}

/** What the cluster serves at one point in time. */
export interface Served {
  /** Whether the API server knows the field. */
  readonly hasField: boolean
  /** The names of the objects that can be read, with the field or without. */
  readonly objects: readonly string[]
}

/**
 * Installs an earlier release of the chart, whose CRD lacks a field and whose values say nothing about CRDs, and takes it
 * through its life. Returns what is served after each step.
 *
 * @example
 * const { 'after the rollback': served } = await crdLife({ helm, chart, start, … })
 */
export async function crdLife<T extends KubeObject>(
  options: CrdLifeOptions<T>,
): Promise<Readonly<Record<string, Served>>> {
  const { client, resource, chart, set, start } = options
  const [without, withField] = options.objects
  const namespace = without.metadata.namespace ?? ''
  const helm = (...args: readonly string[]) =>
    promisify(execFile)(options.helm, args, {
      env: { ...process.env, ...BRIEF_CLIENT, KUBECONFIG: options.kubeconfig },
    })
  const values = ['-n', namespace, ...set.map((value) => `--set=${value}`)]
  const served = () => servedBy(options, namespace)
  const folder = await mkdtemp(join(tmpdir(), 'reeve-crd-life-'))
  const life: Record<string, Served> = {}
  try {
    await writeEarlierChart(chart, folder, options.field)
    await helm('install', 'first', folder, ...values)
    // At once: nothing waits for the operator.
    await client.create(resource, without)
    life['after the first install'] = await served()
    await helm('upgrade', 'first', chart, '-n', namespace, '--reuse-values')
    life['after the upgrade, before the operator starts'] = await served()
    {
      await using _operator = await start({ namespace, name: 'first' })
      const deadline = AbortSignal.timeout(START_TIMEOUT_MS)
      while (!(await served()).hasField) await sleep(50, { signal: deadline })
      await client.create(resource, withField)
      life['after the operator has started'] = await served()
    }
    await helm('rollback', 'first', '1', '-n', namespace)
    life['after the rollback'] = await served()
    await helm('uninstall', 'first', '-n', namespace)
    life['after the uninstall'] = await served()
    // Under another name: what is kept belongs to no release.
    await helm('install', 'second', chart, ...values)
    {
      await using _operator = await start({ namespace, name: 'second' })
      life['after another install'] = await served()
    }
    await helm('uninstall', 'second', '-n', namespace)
    // Helm 3 skips a CRD that exists. Helm 4 applies it, which conflicts with what the operator wrote.
    await helm('install', 'third', folder, ...values).catch((error: Error) => {
      if (!error.message.includes('conflict')) throw error
    })
    await helm('upgrade', '--install', 'third', folder, ...values, '--skip-crds')
    life['after an install of the earlier chart'] = await served()
    await helm('uninstall', 'third', '-n', namespace)
    return life
  } finally {
    await client.delete(CustomResourceDefinitions, { name: `${resource.plural}.${resource.group}` })
    await rm(folder, { recursive: true, force: true })
  }
}

async function servedBy<T extends KubeObject>(
  { client, resource, field, objects: [, withField] }: CrdLifeOptions<T>,
  namespace: string,
): Promise<Served> {
  const probe = { ...withField, metadata: { namespace, generateName: 'probe-' } }
  const hasField = await client.create(resource, probe, { dryRun: true, fieldValidation: 'Strict' }).then(
    () => true,
    (error: Error) => {
      if (error.message.includes(`unknown field "spec.${field}`)) return false
      throw error
    },
  )
  const { items } = await client.listAll<KubeObject & { readonly spec?: object }>(resource, { namespace })
  const named = items.map(
    ({ metadata, spec = {} }) => `${metadata.name} ${field in spec ? 'with' : 'without'} ${field}`,
  )
  return { hasField, objects: named.toSorted() }
}

interface Schema {
  readonly properties: Record<string, Schema>
}

async function writeEarlierChart(chart: string, folder: string, field: string): Promise<void> {
  const edit = async (path: string, change: (content: never) => void) => {
    const content = parse(await readFile(join(folder, path), 'utf8'))
    change(content as never)
    await writeFile(join(folder, path), stringify(content))
  }
  await cp(chart, folder, { recursive: true })
  await edit('Chart.yaml', (about: { version: string }) => {
    about.version = '0.0.1'
  })
  await edit('values.yaml', (values: { crds?: object }) => {
    delete values.crds
  })
  for (const file of await readdir(join(folder, 'crds'))) {
    await edit(`crds/${file}`, ({ spec }: { spec: { versions: { schema: { openAPIV3Schema: Schema } }[] } }) => {
      for (const { schema } of spec.versions) delete schema.openAPIV3Schema.properties.spec?.properties[field]
    })
  }
}
